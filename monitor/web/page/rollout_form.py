"""The form that asks what a rollout will cost, and the forecast as the page of a group shows it. Pure."""

from __future__ import annotations

from typing import Final

from starlette.datastructures import QueryParams

from monitor.detection.evaluation_input import GroupInputs
from monitor.explain.rollout_cost import CONSUMER, RolloutQuestion, forecast, forecasts_kind
from monitor.explain.rollout_plan import RECREATE, Rollout, rollout_typed
from monitor.explain.rollout_text import CostLine, cost_line, forecast_heading, remarks
from monitor.model import GroupKind, GroupVerdict, Value
from monitor.web.views.what_if_limits import require_small_group

ASKED: Final = "forecast"
"""In the query of an address that asks."""
AS_IT_IS: Final = ""
STATIC: Final = "static"
KIP_848: Final = "kip-848"


class RolloutChoice(Value):
    """An entry of a list: what the address has, and the words that the list shows."""

    value: str
    label: str


WAYS: Final = (
    RolloutChoice(AS_IT_IS, "unchanged"),
    RolloutChoice(STATIC, "static members"),
    RolloutChoice(KIP_848, "KIP-848 protocol"),
)
ORDERS: Final = (
    RolloutChoice("surge=1", "one by one, new first"),
    RolloutChoice("surge=0", "one by one, old first"),
    RolloutChoice("surge=all", "all at once, new first"),
    RolloutChoice(RECREATE, "all at once, old first"),
)


class RolloutForm(Value):
    """The form with what was filled in. ``orders`` and ``ways`` can be chosen; a group without them has no forecast."""

    orders: tuple[RolloutChoice, ...] = ()
    ways: tuple[RolloutChoice, ...] = ()
    is_asked: bool = False
    order: str = ORDERS[0].value
    start: str = ""
    way: str = AS_IT_IS

    def rollout(self) -> Rollout:
        """The rollout that was filled in.

        Raises:
            QuestionError: something that was filled in cannot be so.
        """
        start = self.start.strip()
        return rollout_typed(f"{self.order},start={start}" if start else self.order)


class RolloutAnswer(Value):
    """The forecast in words: whose, its numbers, how they were found, and what was assumed."""

    heading: str
    lines: tuple[CostLine, ...]
    remarks: tuple[str, ...]
    assumptions: tuple[str, ...]


def rollout_form(verdict: GroupVerdict, query: QueryParams) -> RolloutForm:
    """The form for this group, as it was sent."""
    if not (verdict.members and verdict.traits.assignors and forecasts_kind(GroupKind(verdict.kind))):
        return RolloutForm()
    return RolloutForm(
        orders=ORDERS,
        ways=tuple(each for each in WAYS if each.value != KIP_848 or not verdict.traits.broker_chooses_owners),
        is_asked=ASKED in query,
        order=query.get("order", ORDERS[0].value),
        start=query.get("start", ""),
        way=query.get("way", AS_IT_IS),
    )


def rollout_answer(inputs: GroupInputs, form: RolloutForm) -> RolloutAnswer:
    """The forecast.

    Raises:
        QuestionError: something that was filled in cannot be so, or the rollout cannot be replayed here.
    """
    require_small_group(inputs)
    protocol = CONSUMER if form.way == KIP_848 else None
    found = forecast(inputs, RolloutQuestion(form.rollout(), None, protocol, form.way == STATIC), is_alone=True)
    return RolloutAnswer(
        heading=forecast_heading(found),
        lines=tuple(map(cost_line, found.ways)),
        remarks=tuple(remarks(found)),
        assumptions=found.assumptions,
    )
