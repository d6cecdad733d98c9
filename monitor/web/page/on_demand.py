"""What the page of a group shows only on request, as it costs time: an explanation, a simulation, a forecast."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from starlette.datastructures import QueryParams

from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.explain.statements import Explanation
from monitor.messages.notification import utc
from monitor.model import GroupVerdict, Value
from monitor.scaling.explanation import fully_explained
from monitor.web.page.member_labels import Holders
from monitor.web.page.options import PageOptions
from monitor.web.page.past import PastPart
from monitor.web.page.rollout_form import RolloutAnswer, RolloutForm, rollout_answer, rollout_form
from monitor.web.page.scale_form import ScaleAnswer, ScaleForm, scale_answer, scale_form
from monitor.web.page.sparkline import Sparkline
from monitor.web.page.what_if_form import WhatIfAnswer, WhatIfForm, what_if_answer, what_if_form
from monitor.web.views.ended_lines import NONE_ENDED, EndedPart

Answer = TypeVar("Answer")


class Forms(Value):
    """The forms of a page, as they were sent."""

    what_if: WhatIfForm
    rollout: RolloutForm
    scale: ScaleForm


class Asked(Value):
    """The questions of a reader with their answers; where one has none, ``problem`` says why in a sentence.

    ``as_of`` is when the group was judged that the answers are about. ``past`` is there where there is a recording.
    ``ended`` are the findings that ended lately.
    """

    form: WhatIfForm = WhatIfForm(assignors=(), topics=())
    answer: WhatIfAnswer | None = None
    answer_problem: str | None = None
    rollout: RolloutForm = RolloutForm()
    forecast: RolloutAnswer | None = None
    forecast_problem: str | None = None
    scale: ScaleForm = ScaleForm()
    plan: ScaleAnswer | None = None
    plan_problem: str | None = None
    explanation: Explanation | None = None
    explanation_problem: str | None = None
    as_of: str = ""
    lag: Sparkline | None = None
    past: PastPart | None = None
    ended: EndedPart = NONE_ENDED


def forms_of(verdict: GroupVerdict, query: QueryParams) -> Forms:
    """The forms that a page of this group has."""
    return Forms(what_if_form(verdict, query), rollout_form(verdict, query), scale_form(verdict, query))


def answered(inputs: Callable[[], GroupInputs], verdict: GroupVerdict, options: PageOptions, forms: Forms) -> Asked:
    """The answers to what the options and the forms request; ``inputs`` are fetched only if there is anything."""
    form, rollout, scale = forms.what_if, forms.rollout, forms.scale
    if not (options.explain or form.is_asked or rollout.is_asked or scale.is_asked):
        return Asked(form=form, rollout=rollout, scale=scale)
    found = inputs()
    explanation = _tried(
        options.explain, lambda: fully_explained(found, options.topic or None, options.partition or None)
    )
    answer = _tried(form.is_asked, lambda: what_if_answer(found, form, Holders(verdict.members)))
    forecast = _tried(rollout.is_asked, lambda: rollout_answer(found, rollout))
    plan = _tried(scale.is_asked, lambda: scale_answer(found, scale))
    return Asked(
        form=form,
        answer=answer[0],
        answer_problem=answer[1],
        rollout=rollout,
        forecast=forecast[0],
        forecast_problem=forecast[1],
        scale=scale,
        plan=plan[0],
        plan_problem=plan[1],
        explanation=explanation[0],
        explanation_problem=explanation[1],
        as_of=utc(found.now_ms),
    )


def _tried(is_asked: bool, question: Callable[[], Answer]) -> tuple[Answer | None, str | None]:
    """The answer, or the sentence that says why there is none; neither if it is not asked."""
    if not is_asked:
        return None, None
    try:
        return question(), None
    except QuestionError as error:
        return None, str(error)
