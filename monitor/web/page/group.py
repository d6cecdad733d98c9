"""The page of one group: findings, members, and partitions, those with remarks first. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from monitor.findings.alerts import worst_first
from monitor.findings.table import spec_of
from monitor.messages.client_libraries import REMARKS, library_name
from monitor.messages.formatting import age, lasted, rate
from monitor.messages.units import unit_of
from monitor.messages.unknown_versions import group_sentence
from monitor.model import (
    KINDS,
    STATIC_LEAVE_EPOCH,
    Certainty,
    ClientLibrary,
    Finding,
    FindingKind,
    GroupSummary,
    GroupVerdict,
    KindTraits,
    MemberState,
    MemberVerdict,
    OrphanReason,
    PartitionVerdict,
    Sharing,
    Source,
    TopicLag,
    TopicPartition,
    Value,
)
from monitor.web.page.assignment_map import TopicMap, assignment_map
from monitor.web.page.connect import NOTHING, ConnectPart, connect_part
from monitor.web.page.delivery_lines import DeliveryLine, delivery_lines
from monitor.web.page.member_labels import Holder, Holders
from monitor.web.page.task_map import TaskPart, task_map
from monitor.web.views.overview import FindingLine, finding_line

SHOWN_PARTITIONS: Final = 500
"""How many partitions the page lists, unless all are requested."""

NEVER: Final = "never: the lag of a partition does not shrink"

_NO_FINDING: Final = {
    OrphanReason.NO_MEMBERS: "no owner: group is empty",
    OrphanReason.UNSUBSCRIBED: "no owner: not subscribed",
}
"""Why partitions have no owner where that alone is no finding."""

_STANDINGS: Final = {
    MemberState.UNREVOKED_PARTITIONS: "revoking partitions",
    MemberState.UNRELEASED_PARTITIONS: "waiting for partitions",
}

_JUDGEMENTS: Final = {
    "exact": "The expected owners are the assignor's result for the current members and topics.",
    "checked": (
        "The result of this library's assignor depends on what only the leader knows. groupwatch checks its invariants."
    ),
    "target": "The expected owners are the coordinator's target assignment; members reach it step by step.",
    "invariants": "groupwatch does not support this assignor, so the expected owners are unknown.",
    "none": "The group has no members with readable subscriptions, so no owner is expected.",
}


_UNJUDGED: Final = "The group is not evaluated, so its lag and the expected owners are unknown."

_CONSUMED_TOGETHER: Final = (
    "Members of a share group consume partitions together; a partition needs no exclusive owner."
)
_WITHOUT_MEMBERS: Final = "The query reads all partitions itself; no owner is expected."

_OF_SHARING: Final = {
    Sharing.BROADCAST: "The members use broadcasting: each consumes every partition and keeps its own offsets.",
    Sharing.BY_RECORD: "The broker distributes records, not partitions; a partition needs no exclusive owner.",
}

_NOT_FITTING: Final = (
    "groupwatch does not know or does not support the members' assignment strategy, so the expected owners are unknown."
)

_NOT_DECODED: Final = (
    "groupwatch cannot decode the data of some members, so the expected owners are unknown. The owners shown are those "
    "that it could read."
)

_BY_TASKS: Final = (
    "Kafka Streams assigns tasks and balances them over processes. The expected owners are unknown: the assignment "
    "depends on settings that no record has (acceptable.recovery.lag, racks)."
)

_BY_THE_BROKERS_TASKS: Final = (
    "Partitions belong to the members that run their tasks. The expected owners are the coordinator's target "
    "assignment; members reach it step by step."
)

_OF_WORKERS: Final = "The workers of a Connect cluster own no partitions; those of a sink belong to its consumer group."

_SOURCES: Final = {
    Source.LOG: "the offsets topic",
    Source.ADMIN: "the brokers' responses (admin API)",
    Source.SYSTEM: "polls of the system",
    Source.CHECKPOINT: "the query's checkpoint",
}

MOST_CANDIDATES: Final = 2
"""A member that may use one of more libraries than these has an unknown one: four names on each member say nothing."""

_DOUBTS: Final = {Certainty.LIKELY: "likely ", Certainty.POSSIBLE: "possibly "}


class MemberLine(Value):
    """A member with its number on this page; ``remark`` says what it has yet to do, or what is odd about it.

    ``library`` is its client library with the release and how sure that is; None: it is not known.
    """

    number: int
    member: MemberVerdict
    remark: str | None
    library: str | None


class TopicLine(Value):
    """A topic of a group that reads several."""

    topic: TopicLag
    lag_age: str | None


class PartitionLine(Value):
    """A partition. ``marks`` says what is wrong with it; ``replayed`` is set where it differs from ``expected``.

    ``passed`` are so many records that its commits of the last hour passed, and that were perhaps not read.
    """

    row: PartitionVerdict
    owners: tuple[Holder, ...]
    expected: Holder | None
    replayed: Holder | None
    as_expected: bool
    lag_age: str | None
    marks: tuple[str, ...]
    passed: int = 0


class GroupPage(Value):
    """The whole page. ``hidden`` partitions are not listed. ``pace`` is read of written, where records wait.

    ``unit`` is what a step of an offset is, ``era`` what the number of the assignment is called.
    """

    verdict: GroupVerdict
    findings: tuple[FindingLine, ...]
    judgement: str
    members: tuple[MemberLine, ...]
    partitions: tuple[PartitionLine, ...]
    marked: int
    hidden: int
    lag_age: str | None
    generation_age: str | None
    topics: tuple[TopicLine, ...] = ()
    pace: str | None = None
    rebalances_took: str = ""
    paused: str = ""
    catch_up: str | None = None
    unit: str = "record"
    source: str = ""
    era: str = "Generation"
    map: tuple[TopicMap, ...] = ()
    deliveries: tuple[DeliveryLine, ...] = ()
    task_map: tuple[TaskPart, ...] = ()
    connect: ConnectPart = NOTHING
    unknown: str | None = None
    subordinate: tuple[FindingLine, ...] = ()


def group_page(
    verdict: GroupVerdict,
    limit: int | None,
    sort: str = "",
    map_topic: str = "",
    groups: Sequence[GroupSummary] = (),
) -> GroupPage:
    """The page of a group with at most so many partitions. ``sort`` is as in PageOptions; else it is the usual order.

    ``map_topic`` is drawn in the map in any case. ``groups`` are those of its cluster, which it may have to do with.
    """
    holders, marks = Holders(verdict.members), _marks(verdict)
    rows = _in_order(verdict, marks, sort)
    in_order = worst_first(verdict.findings, verdict.evaluated_ms)
    return GroupPage(
        verdict=verdict,
        findings=tuple(_finding_line(verdict, finding) for finding in in_order),
        subordinate=tuple(_finding_line(verdict, finding, "") for finding in verdict.subordinate),
        judgement=_judgement(verdict),
        members=tuple(
            MemberLine(number=n, member=member, remark=_remark(member), library=_library(member.library))
            for n, member in enumerate(verdict.members, 1)
        ),
        partitions=tuple(_partition_lines(verdict, rows[:limit], holders, marks)),
        marked=sum(_is_marked(row, marks, alone=_is_alone(verdict)) for row in rows),
        hidden=0 if limit is None else max(0, len(rows) - limit),
        lag_age=_told_age(verdict.lag_ms),
        generation_age=_told_age(verdict.evaluated_ms - verdict.generation_ms) if verdict.generation_ms else None,
        topics=_topic_lines(verdict)[:limit],
        pace=_pace(verdict),
        rebalances_took=lasted(verdict.rebalance_ms),
        paused=lasted(verdict.pause_ms),
        catch_up=_catch_up(verdict),
        unit=unit_of(verdict.kind),
        source=_SOURCES[verdict.source],
        era=KINDS[verdict.kind].era.capitalize(),
        map=assignment_map(verdict, holders, map_topic),
        deliveries=delivery_lines(verdict),
        task_map=() if verdict.connect is not None else task_map(verdict, holders),
        connect=connect_part(verdict, groups, holders, limit),
        unknown=group_sentence(verdict.unknown_versions) if verdict.unknown_versions else None,
    )


def _judgement(verdict: GroupVerdict) -> str:
    if verdict.unjudged is not None:
        return _UNJUDGED
    if KINDS[verdict.kind].is_self_assigned and verdict.expectation == "invariants":
        return _NOT_FITTING
    if any(member.unreadable is not None for member in verdict.members):
        return _NOT_DECODED
    by_traits = _judgement_by_traits(verdict.traits, verdict.expectation)
    return by_traits or _OF_SHARING.get(verdict.sharing) or _JUDGEMENTS.get(verdict.expectation, "")


def _judgement_by_traits(traits: KindTraits, expectation: str) -> str | None:
    """What is expected where members share something else than partitions, or nothing; None: partitions."""
    if traits.leader_assigns_tasks:
        return _BY_TASKS
    if traits.broker_assigns_tasks and expectation == "target":
        return _BY_THE_BROKERS_TASKS
    if traits.runs_connectors:
        return _OF_WORKERS
    if traits.acknowledges_records:
        return _CONSUMED_TOGETHER
    return None if traits.has_members else _WITHOUT_MEMBERS


def _topic_lines(verdict: GroupVerdict) -> tuple[TopicLine, ...]:
    """Most lag first."""
    topics = sorted(verdict.topics, key=lambda topic: (-(topic.lag or topic.lag_at_least or 0), topic.topic))
    return tuple([TopicLine(topic=topic, lag_age=_told_age(topic.lag_ms)) for topic in topics])


def _pace(verdict: GroupVerdict) -> str | None:
    if verdict.pace is None:
        return None
    speed = f"{rate(verdict.pace.consumed_per_s)} of {rate(verdict.pace.produced_per_s)} {unit_of(verdict.kind)}s/s"
    return speed + _part(verdict)


def _part(verdict: GroupVerdict) -> str:
    """The part of the lag whose throughput is known, if it is not all; 99% where it is nearly all."""
    if verdict.lag is None or verdict.paced_lag is None or verdict.paced_lag >= verdict.lag:
        return ""
    return f", for {100 * verdict.paced_lag // verdict.lag}% of the lag"


def _catch_up(verdict: GroupVerdict) -> str | None:
    """When no record will wait any more; None for a group without lag."""
    if verdict.pace is None:
        return None
    return NEVER if verdict.catch_up_ms is None else f"in {age(verdict.catch_up_ms)}"


def _remark(member: MemberVerdict) -> str | None:
    if not member.answers:
        return "does not respond"
    if member.unreadable is not None:
        return "cannot be decoded"
    if member.connections > 1:
        return f"{member.connections} connections"
    if member.epoch == STATIC_LEAVE_EPOCH:
        return "left, may return"
    if member.remarks:
        return ", ".join([REMARKS[remark] for remark in member.remarks])
    return _STANDINGS.get(member.state) if member.state is not None else None


def _library(library: ClientLibrary) -> str | None:
    if library.certainty is Certainty.UNKNOWN or len(library.libraries) > MOST_CANDIDATES:
        return None
    return f"{_DOUBTS.get(library.certainty, '')}{library_name(library)}"


def _finding_line(verdict: GroupVerdict, finding: Finding, advice: str | None = None) -> FindingLine:
    """The finding as it is shown, with the advice of its row unless another is given."""
    if advice is None:
        advice = spec_of(finding.kind, finding.reason).advice_for(
            verdict.kind, is_connect=verdict.is_connect, library=finding.library
        )
    return finding_line(finding, verdict.evaluated_ms, advice)


_Marks = Mapping[TopicPartition, Sequence[str]]

_BY: Final[Mapping[str, Callable[[PartitionVerdict], int | None]]] = {
    "lag": lambda row: row.lag,
    "age": lambda row: row.lag_ms,
    "committed": lambda row: row.committed,
    "end": lambda row: row.end,
}
"""What the table of partitions can be sorted by, largest first, besides its places."""


def _in_order(verdict: GroupVerdict, marks: _Marks, sort: str) -> Sequence[PartitionVerdict]:
    """What is not known comes last in both orders. Of equal ones, those with a remark come first."""
    turned, column = sort.startswith("-"), sort.removeprefix("-")
    rows = sorted(verdict.partitions, key=lambda row: (row.topic, row.partition))
    if column == "place":
        return rows[::-1] if turned else rows
    alone = _is_alone(verdict)
    rows.sort(key=lambda row: not _is_marked(row, marks, alone=alone))
    size = _BY.get(column)
    if size is None:
        return rows
    known = sorted([row for row in rows if size(row) is not None], key=lambda row: size(row) or 0, reverse=not turned)
    return known + [row for row in rows if size(row) is None]


def _is_alone(verdict: GroupVerdict) -> bool:
    """Whether a partition is to have one owner."""
    return verdict.sharing is Sharing.EXCLUSIVE and verdict.settles_ms is None


def _is_marked(row: PartitionVerdict, marks: _Marks, *, alone: bool) -> bool:
    return (
        row.orphan is not None or (alone and len(row.owners) > 1) or TopicPartition(row.topic, row.partition) in marks
    )


def _partition_lines(
    verdict: GroupVerdict, rows: Iterable[PartitionVerdict], holders: Holders, marks: _Marks
) -> Iterator[PartitionLine]:
    known, alone = verdict.expectation in ("exact", "target"), _is_alone(verdict)
    passed: Counter[TopicPartition] = Counter()
    for skip in verdict.skips:
        passed[TopicPartition(skip.topic, skip.partition)] += skip.at_most
    for row in rows:
        place = TopicPartition(row.topic, row.partition)
        count = len(row.owners) if alone else 1
        orphan = [] if row.orphan is None else [_orphan_mark(row.orphan)]
        double = ["two owners"] if count == 2 else [f"{count} owners"] if count > 2 else []
        yield PartitionLine(
            row=row,
            owners=tuple(holders[owner] for owner in row.owners),
            expected=None if row.expected is None else holders[row.expected],
            replayed=None if row.replayed in (None, row.expected) else holders[row.replayed],
            as_expected=known and row.owners == (() if row.expected is None else (row.expected,)),
            lag_age=_told_age(row.lag_ms),
            marks=(*orphan, *double, *marks.get(place, ())),
            passed=passed[place],
        )


def _marks(verdict: GroupVerdict) -> dict[TopicPartition, list[str]]:
    """What the findings say of each partition, beyond what its own row says."""
    marks: dict[TopicPartition, list[str]] = {}
    for finding in verdict.findings:
        mark = spec_of(finding.kind, finding.reason).mark
        if mark is not None and finding.kind is not FindingKind.ORPHANED:  # of these, the row has the reason itself
            for place in finding.partitions:
                marks.setdefault(place, []).append(mark)
    return marks


def _orphan_mark(reason: OrphanReason) -> str:
    return _NO_FINDING.get(reason) or spec_of(FindingKind.ORPHANED, reason).mark or reason.value


def _told_age(duration_ms: int | None) -> str | None:
    return None if duration_ms is None else age(duration_ms)
