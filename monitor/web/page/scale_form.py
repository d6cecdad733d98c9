"""The form that asks how many members a group needs, and the plan as the page of a group shows it. Pure."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import QueryParams

from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.messages.names import shown
from monitor.model import GroupVerdict, Value
from monitor.scaling.answer import asked_target, scale_plan
from monitor.scaling.text import PlanLine, measured_text, plan_caption, plan_heading, plan_line, plan_remarks
from monitor.web.views.what_if_limits import require_plannable

ASKED: Final = "scale"
"""In the query of an address that asks."""


class ScaleForm(Value):
    """The form with what was filled in. A group without members has none."""

    is_there: bool = False
    is_asked: bool = False
    target: str = ""
    most: str = ""

    def most_members(self) -> int | None:
        """The largest number of members that was filled in; None: none was.

        Raises:
            QuestionError: it is no number.
        """
        text = self.most.strip()
        if not text:
            return None
        if not (text.isascii() and text.isdigit() and int(text[:9]) > 0 and len(text) < 10):
            raise QuestionError(f"{shown(text)} is no number of members.")
        return int(text)


class ScaleAnswer(Value):
    """The plan in words: the number, what it is made of, its lines, and what was assumed."""

    heading: str
    measured: str
    lines: tuple[PlanLine, ...]
    caption: str
    remarks: tuple[str, ...]
    assumptions: tuple[str, ...]


def scale_form(verdict: GroupVerdict, query: QueryParams) -> ScaleForm:
    """The form for this group, as it was sent."""
    if not verdict.members or not verdict.traits.commits_partitions:
        return ScaleForm()
    return ScaleForm(
        is_there=True,
        is_asked=ASKED in query,
        target=query.get("target", ""),
        most=query.get("most", ""),
    )


def scale_answer(inputs: GroupInputs, form: ScaleForm) -> ScaleAnswer:
    """The plan.

    Raises:
        QuestionError: something that was filled in cannot be so, or the group cannot be planned here.
    """
    require_plannable(inputs)
    plan = scale_plan(inputs, asked_target(inputs, form.target.strip() or None, form.most_members()))
    return ScaleAnswer(
        heading=plan_heading(plan),
        measured=measured_text(plan.scaling),
        lines=tuple([plan_line(row, plan.scaling) for row in plan.rows]),
        caption=plan_caption(plan),
        remarks=tuple(plan_remarks(plan)),
        assumptions=plan.assumptions,
    )
