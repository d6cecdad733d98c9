"""What is noted of one thing while a group is followed: its findings, owners, members, topics and extremes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import NamedTuple

from msgspec.structs import replace

from monitor.detection.finding_changes import Ledger, cluster_records, finding_id
from monitor.detection.ownership.assignment_view import AssignmentView
from monitor.findings.table import spec_of
from monitor.history.chronicle.values import (
    FindingSpan,
    GroupPoint,
    MembersChanged,
    MemberThen,
    OwnerSpan,
    PartitionPoint,
    SkipThen,
    TopicChanged,
)
from monitor.history.tables import build_from
from monitor.model import (
    Catalog,
    CommittedOffset,
    FindingNews,
    FindingRecord,
    GroupState,
    GroupSummary,
    GroupVerdict,
    Member,
    MemberVerdict,
    OrphanReason,
    TopicPartition,
)
from monitor.model.cluster_findings import ClusterFinding
from monitor.model.findings import Severity
from monitor.model.jumps import JUMP_KEPT_MS, Skip


class _Open(NamedTuple):
    """A finding that is open, as it was last recorded."""

    told: FindingRecord
    sentence: str
    severity: Severity
    was_open: bool

    def until(self, at_ms: int, *, is_closed: bool = False) -> FindingSpan:
        return FindingSpan(
            told=self.told,
            sentence=self.sentence,
            severity=self.severity,
            until_ms=at_ms,
            was_open=self.was_open,
            is_closed=is_closed,
        )


class FindingFollower:
    """Findings from verdict to verdict: the ledger says what is news, as to the topic of findings.

    Those of the cluster that concern the group are beside its own. Verdicts may begin before the span that is
    followed: what is open when it starts was open before.
    """

    def __init__(self, since_ms: int) -> None:
        self._ledger = Ledger()
        self._since_ms = since_ms
        self._open: dict[str, _Open] = {}
        self._ended: list[FindingSpan] = []

    def take(self, at_ms: int, summary: GroupSummary | None, above: Sequence[ClusterFinding] = ()) -> None:
        """What there is now, with the findings ``above`` of the cluster; None: there is no such group."""
        groups = [] if summary is None else [summary]
        own = cluster_records(summary.cluster, above, at_ms) if summary is not None else ()
        now = {record.id: (each.sentence, each.severity) for record, each in zip(own, above, strict=bool(groups))}
        for each in groups:
            for finding in each.findings:
                severity = spec_of(finding.kind, finding.reason).severity
                now[finding_id(each.cluster, each.group, finding)] = finding.sentence, severity
        for record in self._ledger.news(groups, at_ms, own):
            known = self._open.pop(record.id, None)
            if known is not None:
                self._ended.append(known.until(at_ms, is_closed=record.event is FindingNews.CLOSED))
            if record.event is not FindingNews.CLOSED:
                self._open[record.id] = _Open(record, *now[record.id], at_ms <= self._since_ms)

    def spans(self, until_ms: int) -> tuple[FindingSpan, ...]:
        """All of them as far as they lie in the span, those that are open until this instant."""
        going_on = [known.until(until_ms) for known in self._open.values()]
        found = [self._within(span) for span in (*self._ended, *going_on) if span.until_ms > self._since_ms]
        return tuple(sorted(found, key=lambda span: (span.from_ms, span.told.id)))

    def _within(self, span: FindingSpan) -> FindingSpan:
        if span.from_ms >= self._since_ms:
            return span
        opened_ms = max(self._since_ms, span.told.opened_ms)
        return replace(span, told=replace(span.told, at_ms=self._since_ms, opened_ms=opened_ms))


class _Owned(NamedTuple):
    """The owners of a partition since an instant."""

    owners: tuple[str, ...]
    since_ms: int
    orphan: OrphanReason | None


class OwnerFollower:
    """Who owns each partition; looked at only where the view of the group has become another."""

    def __init__(self) -> None:
        self._view: AssignmentView | None = None
        self._places = 0
        self._since: dict[TopicPartition, _Owned] = {}
        self._ended: list[OwnerSpan] = []

    def take(self, at_ms: int, verdict: GroupVerdict, view: AssignmentView) -> None:
        """The verdict at the next instant, and the view that it was made of."""
        if view is self._view and len(verdict.partitions) == self._places:
            return
        self._view, self._places = view, len(verdict.partitions)
        now = {TopicPartition(row.topic, row.partition): row for row in verdict.partitions}
        for place in self._since.keys() - now.keys():
            self._end(place, at_ms)
        for place, row in now.items():
            known = self._since.get(place)
            if known is None or known.owners != row.owners:
                self._end(place, at_ms)
                self._since[place] = _Owned(row.owners, at_ms, row.orphan)

    def end(self, at_ms: int) -> None:
        """No partition has an owner from now on."""
        self._view = None
        for place in list(self._since):
            self._end(place, at_ms)

    def _end(self, place: TopicPartition, at_ms: int) -> None:
        known = self._since.pop(place, None)
        if known is not None and known.since_ms < at_ms:
            self._ended.append(_owner_span(place, known, at_ms))

    def spans(self, until_ms: int) -> tuple[OwnerSpan, ...]:
        """All of them, in the order of their beginnings."""
        going_on = [_owner_span(place, known, until_ms) for place, known in self._since.items()]
        return tuple(
            sorted([*self._ended, *going_on], key=lambda span: (span.from_ms, span.topic, str(span.partition)))
        )


def _owner_span(place: TopicPartition, known: _Owned, until_ms: int) -> OwnerSpan:
    return OwnerSpan(place.topic, place.partition, known.owners, known.since_ms, until_ms, known.orphan)


class MemberFollower:
    """Who came and who went."""

    def __init__(self) -> None:
        self.known: dict[str, MemberThen] = {}
        self.changes: list[MembersChanged] = []
        self._now: Mapping[str, MemberThen] | None = None

    def take(self, at_ms: int, verdict: GroupVerdict, members: Iterable[Member]) -> None:
        """The verdict at the next instant, and the members as the log has them."""
        states = {member.member_id: member for member in members}
        now = {each.member_id: _member_then(each, states.get(each.member_id)) for each in verdict.members}
        before, self._now = self._now, now
        self.known.update(now)
        if before is None or now.keys() == before.keys():
            return
        self.changes.append(
            MembersChanged(
                at_ms=at_ms,
                generation=verdict.generation,
                joined=_others(now, before),
                left=_others(before, now),
                members=len(now),
            )
        )

    def take_absence(self) -> None:
        """There is no such group now."""
        self._now = {}


def _others(of: Mapping[str, MemberThen], than: Iterable[str]) -> tuple[MemberThen, ...]:
    return tuple(of[name] for name in sorted(of.keys() - set(than)))


def _member_then(member: MemberVerdict, state: Member | None) -> MemberThen:
    return MemberThen(
        member_id=member.member_id,
        instance_id=member.instance_id,
        client_id=member.client_id,
        host=member.host,
        library=member.library,
        session_ms=0 if state is None else state.session_timeout_ms,
        rebalance_ms=0 if state is None else state.rebalance_timeout_ms,
    )


class TopicFollower:
    """How many partitions the group's topics have. A topic that comes or goes with a subscription has not changed."""

    def __init__(self) -> None:
        self.changes: list[TopicChanged] = []
        self._counts: dict[str, int] = {}

    def take(self, at_ms: int, catalog: Catalog, view: AssignmentView) -> None:
        """The topics at the next instant, and the view that was made of them."""
        before, self._counts = self._counts, {name: len(each.partitions) for name, each in catalog.topics.items()}
        if before == self._counts:
            return
        for name, count in before.items():
            now = self._counts.get(name)
            if now is None and any(name in member.topics for member in view.group.members):
                self.changes.append(TopicChanged(at_ms, name, count, 0))
            elif now is not None and now != count:
                seen = [each.first_seen_ms for each in catalog.topics[name].partitions[count:]]
                self.changes.append(TopicChanged(max([*seen]) if seen else at_ms, name, count, now))


class SkipFollower:
    """The skips of a group: each jump once, however often verdicts name it.

    Polls that come later raise the lower bound of a jump, and name its cause. What is known of the past of a log is
    bounded, so a lower bound stays that a verdict had once.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[TopicPartition, int], Skip] = {}

    def take(self, verdict: GroupVerdict, group: GroupState) -> None:
        """The verdict at the next instant, and the group that it was made of."""
        if not verdict.skips and not self._known:
            return
        committed = {TopicPartition(each.topic, each.partition): each for each in group.offsets}
        refuted = [key for key, skip in self._known.items() if _is_refuted(skip, committed.get(key[0]))]
        for key in refuted:
            del self._known[key]
        for skip in verdict.skips:
            key = TopicPartition(skip.topic, skip.partition), skip.at_ms
            known = self._known.get(key)
            if known is None or known.at_least <= skip.at_least:
                self._known[key] = skip

    def skips(self, since_ms: int, until_ms: int, owners: Sequence[OwnerSpan]) -> tuple[SkipThen, ...]:
        """Those of commits in this time, in its order, with who owned the partition then."""
        found = [each for each in self._known.values() if since_ms < each.at_ms <= until_ms]
        told = [build_from(SkipThen, each, after=each.offset, owner=_owner_then(each, owners)) for each in found]
        return tuple(sorted(told, key=lambda each: (each.at_ms, each.topic, str(each.partition))))


def _is_refuted(skip: Skip, now: CommittedOffset | None) -> bool:
    """Whether the group went back to before the commit: then it reads the records after all."""
    if now is None:
        return False
    if now.offset < skip.offset:
        return True
    if now.jump is None:
        return now.committed_ms - skip.at_ms <= JUMP_KEPT_MS
    is_kept = any(jump.at_ms == skip.at_ms for jump in now.jump.both)
    return not is_kept and (now.jump.before or 0) < skip.offset


def _owner_then(skip: Skip, owners: Sequence[OwnerSpan]) -> str | None:
    place = skip.topic, skip.partition
    then = [each for each in owners if (each.topic, each.partition) == place and each.from_ms <= skip.at_ms]
    last = max(then, key=attrgetter("from_ms"), default=None)
    return last.owners[0] if last is not None and last.owners and skip.at_ms <= last.until_ms else None


class ExtremeFollower:
    """The group at its first instant, at that with the most lag, and at its last."""

    def __init__(self) -> None:
        self._first: GroupVerdict | None = None
        self._worst: GroupVerdict | None = None
        self._last: GroupVerdict | None = None

    def take(self, verdict: GroupVerdict) -> None:
        """The verdict at the next instant."""
        self._first, self._last = self._first or verdict, verdict
        if self._worst is None or (verdict.lag or 0) > (self._worst.lag or 0):
            self._worst = verdict

    @property
    def peak(self) -> GroupPoint | None:
        """The group at the instant with the most lag; None: no lag was known."""
        return None if self._worst is None or self._worst.lag is None else group_point(self._worst)

    def points(self) -> tuple[PartitionPoint, ...]:
        """Their partitions, in the order of time; each instant once."""
        verdicts = {each.evaluated_ms: each for each in (self._first, self._worst, self._last) if each is not None}
        return tuple(point for at_ms in sorted(verdicts) for point in partition_points(verdicts[at_ms]))


def group_point(verdict: GroupVerdict) -> GroupPoint:
    """The group at the instant of a verdict."""
    return GroupPoint(
        at_ms=verdict.evaluated_ms,
        phase=verdict.state,
        generation=verdict.generation,
        members=len(verdict.members),
        partitions=len(verdict.partitions),
        orphaned=sum(row.orphan is not None for row in verdict.partitions),
        lag=verdict.lag,
        lag_ms=verdict.lag_ms,
        imbalance_ratio=verdict.imbalance_ratio,
        is_rebalancing=verdict.rebalancing_since_ms is not None,
        lost=verdict.lost,
    )


def partition_points(verdict: GroupVerdict) -> Iterator[PartitionPoint]:
    """Its partitions at that instant."""
    for row in verdict.partitions:
        owner = row.owners[0] if row.owners else None
        yield PartitionPoint(
            verdict.evaluated_ms,
            row.topic,
            row.partition,
            row.committed,
            row.end,
            row.lag,
            row.lag_ms,
            owner,
            row.orphan,
        )
