"""A chronicle as rows of the tables for questions in SQL (monitor.history.tables.TOLD)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Final

from monitor.history.chronicle.values import Chronicle, FindingSpan, MemberThen
from monitor.history.tables import (
    FINDING_MEMBERS,
    FINDINGS,
    GROUP_MINUTES,
    MEMBER_CHANGES,
    PARTITION_MINUTES,
    REBALANCES,
    REWINDS,
    Table,
    day_of,
)

Row = tuple[object, ...]

MINUTE_MS: Final = 60_000

CONTINUES: Final = "continues"
"""The event of a row whose finding was as it is before."""


def rows_of(chronicle: Chronicle) -> Iterator[tuple[Table, list[Row]]]:
    """The rows of each table, the values in the order of its columns.

    What happened at the first instant of the chronicle belongs to the one before.
    """
    for table, tell in _TELLERS.items():
        yield table, list(tell(chronicle))


def _place(chronicle: Chronicle, at_ms: int) -> Row:
    return chronicle.cluster, day_of(at_ms), chronicle.group


def _findings(chronicle: Chronicle) -> Iterator[Row]:
    for span in chronicle.findings:
        told = span.told
        yield (
            *_finding(chronicle, span),
            CONTINUES if span.was_open else told.event.value,
            span.is_closed,
            told.since_ms,
            told.partition_count,
            told.member_count,
            ",".join(entry.topic for entry in told.partitions),
            told.cause,
            span.sentence,
        )


def _finding(chronicle: Chronicle, span: FindingSpan) -> Row:
    told = span.told
    place = _place(chronicle, span.from_ms)
    return *place, told.id, told.kind, told.reason, span.severity.value, span.from_ms, span.until_ms


def _finding_members(chronicle: Chronicle) -> Iterator[Row]:
    known = {member.member_id: member for member in chronicle.members}
    for span in chronicle.findings:
        for name in span.told.members:
            yield *_finding(chronicle, span), *_member(known.get(name) or MemberThen(name))


def _member(member: MemberThen) -> Row:
    return member.member_id, member.instance_id, member.client_id, member.host, member.library.label


def _rebalances(chronicle: Chronicle) -> Iterator[Row]:
    libraries = ",".join(sorted({member.library.label for member in chronicle.members}))
    for each in chronicle.rebalances:
        ended_ms = each.ended_ms or each.started_ms
        yield (
            *_place(chronicle, ended_ms),
            chronicle.kind.value,
            each.generation,
            each.started_ms,
            ended_ms,
            ",".join(cause.value for cause in each.causes),
            each.joined,
            each.left,
            each.moved,
            each.avoidable,
            each.paused_partitions,
            each.pause_ms,
            each.burst_records,
            libraries,
        )


def _member_changes(chronicle: Chronicle) -> Iterator[Row]:
    for changed in chronicle.changes:
        for change, members in (("left", changed.left), ("joined", changed.joined)):
            for member in members:
                place = _place(chronicle, changed.at_ms)
                yield *place, changed.at_ms, change, changed.generation, *_member(member)


def _rewinds(chronicle: Chronicle) -> Iterator[Row]:
    for each in chronicle.rewinds:
        place = _place(chronicle, each.at_ms)
        yield *place, each.topic, str(each.partition), each.at_ms, each.before, each.after


def _group_minutes(chronicle: Chronicle) -> Iterator[Row]:
    for point in chronicle.points:
        if point.at_ms % MINUTE_MS == 0 and point.at_ms > chronicle.since_ms:
            yield (
                *_place(chronicle, point.at_ms),
                point.at_ms,
                chronicle.kind.value,
                point.phase.value,
                point.generation,
                point.members,
                point.partitions,
                point.orphaned,
                point.lag,
                point.lag_ms,
                point.imbalance_ratio,
                point.is_rebalancing,
            )


def _partition_minutes(chronicle: Chronicle) -> Iterator[Row]:
    for point in chronicle.partition_points:
        if point.at_ms > chronicle.since_ms:
            yield (
                *_place(chronicle, point.at_ms),
                point.topic,
                str(point.partition),
                point.at_ms,
                point.committed,
                point.end,
                point.lag,
                point.lag_ms,
                point.owner,
                point.orphan,
            )


_TELLERS: Final[Mapping[Table, Callable[[Chronicle], Iterator[Row]]]] = {
    FINDINGS: _findings,
    FINDING_MEMBERS: _finding_members,
    REBALANCES: _rebalances,
    MEMBER_CHANGES: _member_changes,
    REWINDS: _rewinds,
    GROUP_MINUTES: _group_minutes,
    PARTITION_MINUTES: _partition_minutes,
}
