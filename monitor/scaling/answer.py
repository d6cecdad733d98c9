"""How many members a group needs, for a command, the page or an agent: a table of numbers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from math import inf
from typing import Final

from msgspec.structs import replace

from monitor.detection.evaluate import judge
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.explain.rollout_cost import Spread, measured_pause
from monitor.messages.formatting import age
from monitor.messages.names import shown, shown_group
from monitor.model import GroupVerdict, Value
from monitor.model.scaling import ScaleMemory, ScaleTarget, Scaling
from monitor.scaling.capacity import Capacity
from monitor.scaling.plan import MANY_PARTITIONS, PlanRow, Situation, plan_row, rising_numbers
from monitor.scaling.shares import ShareTable
from monitor.scaling.signal import KNOWN_MS, ScaleCase, judge_measured, judge_scaling, measure
from monitor.scaling.skew import PartitionSkew, skews_of

_DURATION: Final = re.compile(r"(\d{1,7})(ms|s|m|h)?")
_UNITS_MS: Final = {"ms": 1, "s": 1_000, None: 1_000, "m": 60_000, "h": 3_600_000}
MOST_ROWS: Final = 24
"""So many numbers of members are shown."""
LEAST_TARGET_MS: Final = 1_000


class HostCapacity(Value):
    """How fast a member on a host reads, where hosts differ."""

    host: str
    """The host that members connect from."""
    per_s: float
    """Records per second."""


class ScalePlan(Value):
    """How many members a group needs, and what other numbers would come to."""

    cluster: str
    group: str
    evaluated_ms: int
    scaling: Scaling
    """The number that it needs now, or why that is unknown."""
    rows: tuple[PlanRow, ...] = ()
    """What the present and the needed number of members come to, and those at which members have less to do or records
    wait less; absent: unknown."""
    hosts: tuple[HostCapacity, ...] = ()
    """How fast members read, by host; absent: hosts do not differ, or it is unknown."""
    skews: tuple[PartitionSkew, ...] = ()
    """Partitions that bring more than one member reads; absent: none."""
    pause_ms: Spread | None = None
    """For how long a rebalance of this group stopped each partition, on average (ms); absent: none was measured."""
    assumptions: tuple[str, ...] = ()
    """The assumptions, in sentences."""


def asked_target(inputs: GroupInputs, duration: str | None = None, most: int | None = None) -> ScaleTarget:
    """The target of the group's entry ``[[scale]]``, or the default one, with what a person typed.

    Raises:
        QuestionError: the duration is none, or the target or the largest number is too low.
    """
    target = inputs.settings.scale or ScaleTarget()
    target = target if duration is None else replace(target, target_ms=_duration_ms(duration))
    target = target if most is None else replace(target, most=most)
    if target.target_ms < LEAST_TARGET_MS:
        raise QuestionError(f"The target is at least {age(LEAST_TARGET_MS)}.")
    if target.most is not None and target.most < target.least:
        raise QuestionError(f"The entry [[scale]] of the group has a min of {target.least}, which is more.")
    return target


def _duration_ms(text: str) -> int:
    """A duration as it is typed.

    >>> _duration_ms("90"), _duration_ms("90s"), _duration_ms("2m"), _duration_ms("1500ms")
    (90000, 90000, 120000, 1500)

    Raises:
        QuestionError: it is none.
    """
    found = _DURATION.fullmatch(text.strip())
    if found is None:
        raise QuestionError(f"{shown(text)} is no duration; give for example 60s or 5m.")
    return int(found[1]) * _UNITS_MS[found[2]]


def scale_plan(inputs: GroupInputs, target: ScaleTarget) -> ScalePlan:
    """How many members the group needs, by what is known of it now and by what its job remembers.

    Raises:
        QuestionError: the group has no members, or its assignment cannot be computed.
    """
    case, memory = case_of(inputs, target), _memory_for(inputs, target)
    if not case.group.members:
        raise QuestionError(f"Group {shown_group(inputs.group.group)} has no members.")
    measured, memory = measure(case, memory)
    situation = measured.situation(target)
    plan = ScalePlan(
        cluster=inputs.group.cluster,
        group=inputs.group.group,
        evaluated_ms=inputs.now_ms,
        scaling=judge_measured(case, measured, memory).scaling,
        pause_ms=measured_pause(inputs.group, len(case.owners)),
    )
    if situation is None:
        return plan
    rows = tuple(_rows(case.table, situation, plan.scaling.wanted_members))
    others = [row.members for row in rows if row.members != case.table.present]
    return replace(
        plan,
        rows=rows,
        hosts=_hosts(situation.capacity),
        skews=skews_of(situation),
        assumptions=(*_assumptions(), *(case.table.of(others[-1]).assumptions if others else ())),
    )


def scaling_now(inputs: GroupInputs, target: ScaleTarget) -> Scaling:
    """The number of the group now, by what is known of it and by what its job remembers."""
    return judge_scaling(case_of(inputs, target), _memory_for(inputs, target)).scaling


def _memory_for(inputs: GroupInputs, target: ScaleTarget) -> ScaleMemory:
    """What the job remembers of the group; for another target than its own, only how fast members read.

    Where no job remembers anything, as in a recording, the group counts as known.
    """
    memory = inputs.scale_memory
    if memory is not None and target == inputs.settings.scale:
        return memory
    memory = memory or ScaleMemory()
    return ScaleMemory(since_ms=KNOWN_MS, rates=memory.rates, latest=len(inputs.group.members) or None)


def case_of(inputs: GroupInputs, target: ScaleTarget) -> ScaleCase:
    """The group with its verdict, as the signal looks at it."""
    topics, group = Topics(inputs.catalog), inputs.group
    view = view_assignment(group, inputs.catalog)
    verdict: GroupVerdict = judge(group, topics, view, inputs.now_ms, inputs.settings)
    owners = view.ownership.owners
    return ScaleCase(view.named(group), verdict, topics, owners, ShareTable(inputs, owners), target)


def _rows(table: ShareTable, situation: Situation, wanted: int | None) -> Iterator[PlanRow]:
    """The present number, the needed one, and those at which the busiest member or the wait is less than before."""
    busiest, wait_ms, shown = inf, inf, 0
    always = {table.present} if wanted is None else {table.present, wanted}
    for members in sorted(always.union(_numbers_to_try(table, situation.target))):
        row = plan_row(members, table.of(members), situation)
        has_less = row.busiest < busiest or row.wait_ms < wait_ms
        busiest, wait_ms = min(busiest, row.busiest), min(wait_ms, row.wait_ms)
        if members in always or (has_less and shown < MOST_ROWS):
            shown += 1
            yield row


def _numbers_to_try(table: ShareTable, target: ScaleTarget) -> Iterable[int]:
    most = max(target.least, target.most or table.partitions)
    return range(target.least, most + 1) if most <= MANY_PARTITIONS else rising_numbers(target.least, most, most)


def _hosts(capacity: Capacity) -> tuple[HostCapacity, ...]:
    return tuple([HostCapacity(host, per_s) for host, per_s in sorted(capacity.by_host.items())])


def _assumptions() -> tuple[str, ...]:
    return (
        "A member reads as fast as members of this group did while they had lag: what nine of ten measurements did not "
        "exceed.",
        "As much comes in as in the last two minutes, or between the last polls if that was more.",
        "The headroom is for what has come in for ten minutes.",
    )
