"""A chronicle as rows of the tables for questions in SQL (monitor.history.tables.TOLD)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from monitor.history.chronicle.values import Chronicle, MemberThen
from monitor.history.tables import (
    FINDING_MEMBERS,
    FINDINGS,
    GROUP_MINUTES,
    MEMBER_CHANGES,
    PARTITION_MINUTES,
    REBALANCES,
    REWINDS,
    SKIPS,
    FindingMembersRow,
    FindingsRow,
    GroupMinutesRow,
    MemberChangesRow,
    PartitionMinutesRow,
    RebalancesRow,
    RewindsRow,
    SkipsRow,
    Table,
    build_from,
    day_of,
)
from monitor.model import Value

MINUTE_MS: Final = 60_000

CONTINUES: Final = "continues"
"""The event of a row whose finding was as it is before."""


def rows_of(chronicle: Chronicle) -> Iterator[tuple[Table, list[Value]]]:
    """The rows of each table.

    What happened at the first instant of the chronicle belongs to the one before.
    """
    for table, tell in _TELLERS.items():
        yield table, list(tell(chronicle))


def _place(chronicle: Chronicle, at_ms: int) -> dict[str, str]:
    return {"cluster": chronicle.cluster, "day": day_of(at_ms), "group": chronicle.group}


def _findings(chronicle: Chronicle) -> Iterator[FindingsRow]:
    for span in (*chronicle.findings, *chronicle.cluster_findings):
        yield build_from(
            FindingsRow,
            span.told,
            span,
            **_place(chronicle, span.from_ms),
            event=CONTINUES if span.was_open else span.told.event.value,
            topics=",".join(entry.topic for entry in span.told.partitions),
        )


def _finding_members(chronicle: Chronicle) -> Iterator[FindingMembersRow]:
    known = {member.member_id: member for member in chronicle.members}
    for span in chronicle.findings:
        place = _place(chronicle, span.from_ms)
        for name in span.told.members:
            member = known.get(name) or MemberThen(name)
            yield build_from(FindingMembersRow, span.told, span, member, **place, library=member.library.label)


def _rebalances(chronicle: Chronicle) -> Iterator[RebalancesRow]:
    libraries = ",".join(sorted({member.library.label for member in chronicle.members}))
    for each in chronicle.rebalances:
        ended_ms = each.ended_ms or each.started_ms
        yield build_from(
            RebalancesRow,
            each,
            **_place(chronicle, ended_ms),
            kind=chronicle.kind,
            ended_ms=ended_ms,
            causes=",".join(cause.value for cause in each.causes),
            libraries=libraries,
        )


def _member_changes(chronicle: Chronicle) -> Iterator[MemberChangesRow]:
    for changed in chronicle.changes:
        place = _place(chronicle, changed.at_ms)
        for change, members in (("left", changed.left), ("joined", changed.joined)):
            for member in members:
                label = member.library.label
                yield build_from(MemberChangesRow, changed, member, **place, change=change, library=label)


def _rewinds(chronicle: Chronicle) -> Iterator[RewindsRow]:
    for each in chronicle.rewinds:
        place = _place(chronicle, each.at_ms)
        yield build_from(RewindsRow, each, **place, partition=str(each.partition), cause=each.cause.value)


def _skips(chronicle: Chronicle) -> Iterator[SkipsRow]:
    known = {member.member_id: member for member in chronicle.members}
    for each in chronicle.skips:
        owner = known.get(each.owner or "")
        yield build_from(
            SkipsRow,
            each,
            **_place(chronicle, each.at_ms),
            partition=str(each.partition),
            cause=each.cause.value,
            client_id=None if owner is None else owner.client_id,
            host=None if owner is None else owner.host,
        )


def _group_minutes(chronicle: Chronicle) -> Iterator[GroupMinutesRow]:
    for point in chronicle.points:
        if point.at_ms % MINUTE_MS == 0 and point.at_ms > chronicle.since_ms:
            yield build_from(GroupMinutesRow, point, **_place(chronicle, point.at_ms), kind=chronicle.kind)


def _partition_minutes(chronicle: Chronicle) -> Iterator[PartitionMinutesRow]:
    for point in chronicle.partition_points:
        if point.at_ms > chronicle.since_ms:
            place = _place(chronicle, point.at_ms)
            yield build_from(PartitionMinutesRow, point, **place, partition=str(point.partition))


_TELLERS: Final[Mapping[Table, Callable[[Chronicle], Iterator[Value]]]] = {
    FINDINGS: _findings,
    FINDING_MEMBERS: _finding_members,
    REBALANCES: _rebalances,
    MEMBER_CHANGES: _member_changes,
    REWINDS: _rewinds,
    SKIPS: _skips,
    GROUP_MINUTES: _group_minutes,
    PARTITION_MINUTES: _partition_minutes,
}
