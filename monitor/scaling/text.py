"""How many members a group needs, in words, wherever it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from monitor.messages.formatting import age, counted, lasted, rate
from monitor.messages.names import shown, shown_group
from monitor.model.scaling import Scaling
from monitor.scaling.answer import ScalePlan
from monitor.scaling.plan import PlanRow

UNKNOWN = "unknown"
NEVER = "never"
TOO_SLOW = "too slow"
NO_HEADROOM = "no headroom"


class PlanLine(NamedTuple):
    """A number of members with what it comes to, as texts."""

    members: str
    partitions: str
    busiest: str
    wait: str
    drain: str
    moves: str
    remark: str


def plan_heading(plan: ScalePlan) -> str:
    """Whose number it is, and the number. While it is held, it is not known that so many are needed."""
    name = f"{shown_group(plan.group)} of cluster {shown(plan.cluster)}"
    return f"{name} {needed_text(plan.scaling)}"


def needed_text(scaling: Scaling) -> str:
    """What a group has and needs, behind its name.

    >>> needed_text(Scaling(60_000, "3 members are enough.", members=2, wanted_members=3))
    'has 2 members and needs 3. 3 members are enough.'
    """
    wanted, has = scaling.wanted_members, f"has {counted(scaling.members, 'member')}"
    if wanted is None:
        return f"{has}. How many it needs is unknown. {scaling.sentence}"
    if scaling.hold is not None:
        return f"{has}, and the number stays at {wanted:,}. {scaling.sentence}"
    return f"{has} and needs {wanted:,}. {scaling.sentence}"


def measured_text(scaling: Scaling) -> str:
    """What the number is made of: what waits, what comes in, what a member reads."""
    waiting = UNKNOWN if scaling.waiting is None else f"{scaling.waiting:,} records"
    incoming = UNKNOWN if scaling.incoming_per_s is None else f"{rate(scaling.incoming_per_s)} records/s"
    reads = UNKNOWN
    if scaling.capacity_per_s is not None:
        measured = counted(scaling.capacity_samples, "measurement")
        reads = f"{rate(scaling.capacity_per_s)} records/s ({measured})"
    return f"Lag: {waiting}. Incoming: {incoming}. A member reads: {reads}."


def plan_line(row: PlanRow, scaling: Scaling) -> PlanLine:
    """A number of members as a line of a table."""
    needed = scaling.wanted_members if scaling.hold is None else None
    remarks = [word for number, word in ((scaling.members, "now"), (needed, "needed")) if row.members == number]
    if row.members != needed and not row.is_enough:
        remarks.append(NO_HEADROOM if row.is_in_time else TOO_SLOW)
    return PlanLine(
        members=f"{row.members:,}",
        partitions=f"{row.partitions:,}",
        busiest=f"{row.busiest:.0%}",
        wait=lasted(row.wait_ms),
        drain=NEVER if row.drain_ms is None else lasted(row.drain_ms),
        moves=f"{row.moves:,}",
        remark=", ".join(remarks),
    )


def plan_remarks(plan: ScalePlan) -> Iterator[str]:
    """What else is known: skew, hosts that differ, what a rebalance costs, replicas."""
    yield from (f"{each.sentence()}" for each in plan.skews)
    for host in plan.hosts:
        yield f"On {shown(host.host.removeprefix('/'))}, a member reads {rate(host.per_s)} records/s."
    if plan.pause_ms is not None:
        spread = f"{plan.pause_ms.median / 1000:.1f} s, at most {plan.pause_ms.most / 1000:.1f} s"
        yield f"A rebalance of this group stopped each partition for {spread}."
    yield from _replicas_text(plan.scaling)


def _replicas_text(scaling: Scaling) -> Iterator[str]:
    wanted, replicas, each = scaling.wanted_members, scaling.wanted_replicas, scaling.members_per_replica
    if wanted is not None and each is None:
        yield "Several members have one host, so set members_per_replica to have a number of replicas."
    if replicas is not None and each is not None and replicas != wanted:
        verb = "is" if replicas == 1 else "are"
        yield f"A replica has {counted(each, 'member')}, so {counted(replicas, 'replica')} {verb} needed."


def plan_caption(plan: ScalePlan) -> str:
    """What the columns and the remarks say."""
    slow = f"Too slow: a record would wait longer than {age(plan.scaling.target_ms)}, now or if the load stays."
    busy = "Busiest: what comes in for the busiest member, of what it reads."
    return f"{busy} {slow} No headroom: it has been so busy for minutes."
