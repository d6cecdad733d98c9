"""What the page of a group shows only on request, as it costs time: an explanation, and the answer to a what-if."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.explain.query import explained
from monitor.explain.statements import Explanation
from monitor.messages.notification import utc
from monitor.model import GroupVerdict, Value
from monitor.web.page.member_labels import Holders
from monitor.web.page.options import PageOptions
from monitor.web.page.past import PastPart
from monitor.web.page.sparkline import Sparkline
from monitor.web.page.what_if_form import WhatIfAnswer, WhatIfForm, what_if_answer
from monitor.web.views.ended_lines import NONE_ENDED, EndedPart

Answer = TypeVar("Answer")


class Asked(Value):
    """The questions of a reader with their answers; where one has none, ``problem`` says why in a sentence.

    ``as_of`` is when the group was judged that the answers are about. ``past`` is there where there is a recording.
    ``ended`` are the findings that ended lately.
    """

    form: WhatIfForm = WhatIfForm(assignors=(), topics=())
    answer: WhatIfAnswer | None = None
    answer_problem: str | None = None
    explanation: Explanation | None = None
    explanation_problem: str | None = None
    as_of: str = ""
    lag: Sparkline | None = None
    past: PastPart | None = None
    ended: EndedPart = NONE_ENDED


def answered(inputs: Callable[[], GroupInputs], verdict: GroupVerdict, options: PageOptions, form: WhatIfForm) -> Asked:
    """The answers to what the options and the form request; ``inputs`` are fetched only if there is anything."""
    if not options.explain and not form.is_asked:
        return Asked(form=form)
    found = inputs()
    explanation = (
        _tried(lambda: explained(found, options.topic or None, options.partition or None))
        if options.explain
        else (None, None)
    )
    answer = _tried(lambda: what_if_answer(found, form, Holders(verdict.members))) if form.is_asked else (None, None)
    return Asked(
        form=form,
        answer=answer[0],
        answer_problem=answer[1],
        explanation=explanation[0],
        explanation_problem=explanation[1],
        as_of=utc(found.now_ms),
    )


def _tried(question: Callable[[], Answer]) -> tuple[Answer | None, str | None]:
    """The answer, or the sentence that says why there is none."""
    try:
        return question(), None
    except QuestionError as error:
        return None, str(error)
