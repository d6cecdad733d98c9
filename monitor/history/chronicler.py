"""Writes the chronicle of a group: follows it from verdict to verdict, and notes what changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, NamedTuple

from monitor.detection.evaluate import judge
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.finding_changes import Ledger, finding_id
from monitor.detection.ownership.assignment_view import AssignmentView, AssignmentViews
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.history.chronicle import (
    Chronicle,
    FindingSpan,
    GroupPoint,
    MembersChanged,
    MemberThen,
    OwnerSpan,
    PartitionPoint,
    PhaseBegun,
    RewindThen,
    TopicChanged,
)
from monitor.history.recorded import NotRecordedError
from monitor.history.replay import Recording
from monitor.history.walk import GroupWalk
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.model import (
    Catalog,
    Finding,
    FindingNews,
    FindingRecord,
    GroupKind,
    GroupState,
    GroupSummary,
    GroupVerdict,
    Member,
    MemberVerdict,
    OrphanReason,
    Phase,
    Rebalance,
    TopicPartition,
    Value,
)

SHORTEST_STEP_MS: Final = 10_000
"""How far apart the instants are at least that a group is judged at beside those at which something happened to it."""

MOST_STEPS: Final = 720
MOST_ROWS: Final = 720_000
"""How many partitions are judged at the most, all instants together: of a group with many, there are fewer instants."""

COSTS_KNOWN_MS: Final = 120_000
"""What a rebalance cost is known with the first commits after it; by then there were some, or there are none soon."""


CLOSE_STEP_MS: Final = 1_000
"""The same where a group is looked at closely. A job judges no more often by default."""


class Steps(Value):
    """At which instants a group is judged, from the first on: so far apart, and whenever its members changed.

    ``is_close``: also whenever its members took or gave back partitions one by one, and when its topics changed.
    ``partitions_every_ms``: how far apart the points of partitions are, a multiple of that; None: there are none.
    """

    apart_ms: int
    is_close: bool = False
    partitions_every_ms: int | None = None


def step_ms(since_ms: int, until_ms: int, partitions: int = 1, *, is_close: bool = False) -> int:
    """How far apart the instants are that a group with so many partitions is judged at; ``is_close``: at least 1 s.

    >>> step_ms(0, 60_000), step_ms(0, 86_400_000), step_ms(0, 86_400_000, partitions=10_000)
    (10000, 120000, 1200000)
    >>> step_ms(0, 60_000, is_close=True), step_ms(0, 3_600_000, is_close=True)
    (1000, 5000)
    """
    steps = max(1, min(MOST_STEPS, MOST_ROWS // max(1, partitions)))
    shortest_ms = CLOSE_STEP_MS if is_close else SHORTEST_STEP_MS
    return max(shortest_ms, -(-(until_ms - since_ms) // steps))


def write_chronicle(
    walk: GroupWalk,
    since_ms: int,
    until_ms: int,
    rules: DetectionRules | None = None,
    steps: Steps | None = None,
) -> Chronicle | None:
    """What happened to the walk's group between two instants; None: it was not known in that time.

    It is judged at every step (:func:`step_ms`), and whenever something happened to its members. What came and went
    between two instants is not told.

    Args:
        walk: the group; it reaches from ``since_ms`` until ``until_ms`` or later. If it reaches further, the costs of
            the last rebalances are those that were known up to two minutes later.
        since_ms: the first instant.
        until_ms: the last one.
        rules: the thresholds; None: those that were in force.
        steps: at which instants it is judged; None: see :func:`step_ms`.

    Raises:
        RecordingError: the recording cannot be read.
    """
    steps = steps or Steps(step_ms(since_ms, until_ms, walk.partitions))
    follower = _Follower(walk.cluster, walk.group, steps.partitions_every_ms)
    views = AssignmentViews()
    for at_ms, inputs in walk.inputs(_instants(walk, since_ms, until_ms, steps)):
        if inputs is None:
            follower.take_absence(at_ms)
            continue
        settings = inputs.settings if rules is None else rules.of(walk.cluster, walk.group)
        topics = Topics(inputs.catalog)
        view = views.of(inputs.group, topics)
        verdict = judge(inputs.group, topics, view, inputs.now_ms, settings)
        follower.take(verdict, inputs, view, is_step=(at_ms - since_ms) % steps.apart_ms == 0)
    follower.take_costs(walk.state(min(walk.until_ms, until_ms + COSTS_KNOWN_MS)))
    return follower.chronicle(since_ms, until_ms)


def chronicle_of(recording: Recording, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
    """What happened to a group, as far as it is recorded by now; None: it was not known in that time.

    Raises:
        RecordingError: the recording cannot be read, or ends before that time.
    """
    walk, last_ms = recorded_walk(recording, cluster, group, since_ms, until_ms)
    return write_chronicle(walk, since_ms, last_ms)


def recorded_walk(
    recording: Recording, cluster: str, group: str, since_ms: int, until_ms: int
) -> tuple[GroupWalk, int]:
    """A walk to write a chronicle of, and until when there can be one: as far as it is recorded by now.

    Raises:
        RecordingError: the recording cannot be read, or ends before that time.
    """
    reach_ms = recording.reach_ms(cluster)
    last_ms = min(until_ms, reach_ms)
    if last_ms <= since_ms:
        raise NotRecordedError(f"The recording of cluster {shown(cluster)} reaches until {utc(last_ms)}.")
    return GroupWalk(recording, cluster, group, since_ms, min(reach_ms, last_ms + COSTS_KNOWN_MS)), last_ms


def _instants(walk: GroupWalk, since_ms: int, until_ms: int, steps: Steps) -> list[int]:
    times = [*walk.event_times, *(walk.further_times if steps.is_close else ())]
    happened = sorted({at_ms for at_ms in times if since_ms <= at_ms <= until_ms})
    most = max(1, MOST_ROWS // max(1, walk.partitions))
    return sorted({*range(since_ms, until_ms + 1, steps.apart_ms), *happened[-most:], until_ms})


class _Follower:
    """Follows one group."""

    def __init__(self, cluster: str, group: str, partitions_every_ms: int | None) -> None:
        self._cluster, self._group = cluster, group
        self._partitions_every_ms = partitions_every_ms
        self._kind: GroupKind | None = None
        self._findings = _FindingFollower()
        self._owners = _OwnerFollower()
        self._members = _MemberFollower()
        self._topics = _TopicFollower()
        self._extremes = _ExtremeFollower()
        self._redelivered: tuple[int, int] | None = None
        self._phase: tuple[Phase | None, bool] = (None, False)
        self._phases: list[PhaseBegun] = []
        self._points: list[GroupPoint] = []
        self._partition_points: list[PartitionPoint] = []
        self._rebalances: dict[tuple[int, int], Rebalance] = {}
        self._rewinds: set[RewindThen] = set()

    def take_absence(self, at_ms: int) -> None:
        """There is no such group at this instant."""
        self._note_phase(at_ms, Phase.GONE)
        self._findings.take(at_ms, None)
        self._owners.end(at_ms)
        self._members.take_absence()

    def take(self, verdict: GroupVerdict, inputs: GroupInputs, view: AssignmentView, *, is_step: bool) -> None:
        """The verdict at the next instant."""
        at_ms, group = verdict.evaluated_ms, inputs.group
        self._kind = group.kind
        self._note_phase(at_ms, group.phase)
        self._findings.take(at_ms, _summary(verdict))
        self._owners.take(at_ms, verdict, view)
        self._members.take(at_ms, verdict, view.group.members)
        self._topics.take(at_ms, inputs.catalog, view)
        self._extremes.take(verdict)
        self._note_group(group)
        if is_step:
            self._points.append(_group_point(verdict))
            if self._partitions_every_ms is not None and at_ms % self._partitions_every_ms == 0:
                self._partition_points += _partition_points(verdict)

    def take_costs(self, group: GroupState | None) -> None:
        """The group a while after the last instant: what its last rebalances cost is known by then."""
        for rebalance in () if group is None else group.history:
            if _key(rebalance) in self._rebalances:
                self._rebalances[_key(rebalance)] = rebalance

    def chronicle(self, since_ms: int, until_ms: int) -> Chronicle | None:
        """What was noted; None: there was no such group."""
        if self._kind is None:
            return None
        ended = [each for each in self._rebalances.values() if since_ms < (each.ended_ms or 0) <= until_ms]
        rewinds = [each for each in self._rewinds if since_ms < each.at_ms <= until_ms]
        return Chronicle(
            cluster=self._cluster,
            group=self._group,
            kind=self._kind,
            since_ms=since_ms,
            until_ms=until_ms,
            points=tuple(self._points),
            partition_points=tuple(self._partition_points),
            findings=self._findings.spans(until_ms),
            rebalances=tuple(sorted(ended, key=lambda each: (each.ended_ms or 0, each.generation))),
            changes=tuple(self._members.changes),
            phases=tuple(self._phases),
            owners=self._owners.spans(until_ms),
            rewinds=tuple(sorted(rewinds, key=lambda each: (each.at_ms, each.topic, str(each.partition)))),
            members=tuple(self._members.known.values()),
            topics=tuple(self._topics.changes),
            redelivered=0 if self._redelivered is None else max(0, self._redelivered[1] - self._redelivered[0]),
            extremes=self._extremes.points(),
            peak=self._extremes.peak,
        )

    def _note_phase(self, at_ms: int, phase: Phase) -> None:
        before, is_known = self._phase
        self._phase = (phase, True)
        if is_known and phase is not before:
            self._phases.append(PhaseBegun(at_ms, before, phase))

    def _note_group(self, group: GroupState) -> None:
        first = group.redelivered_records if self._redelivered is None else self._redelivered[0]
        self._redelivered = first, group.redelivered_records
        for rebalance in group.history:
            if rebalance.ended_ms is not None:
                self._rebalances[_key(rebalance)] = rebalance
        for offset in group.offsets:
            last = offset.last_rewind
            if last is not None:
                self._rewinds.add(RewindThen(last.at_ms, offset.topic, offset.partition, last.before, last.after))


def _key(rebalance: Rebalance) -> tuple[int, int]:
    return rebalance.generation, rebalance.ended_ms or 0


def _summary(verdict: GroupVerdict) -> GroupSummary:
    """What the ledger of findings asks for."""
    return GroupSummary(
        cluster=verdict.cluster,
        group=verdict.group,
        kind=verdict.kind,
        state=verdict.state,
        assignor=verdict.assignor,
        members=len(verdict.members),
        lag=verdict.lag,
        findings=verdict.findings,
    )


def _group_point(verdict: GroupVerdict) -> GroupPoint:
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


def _partition_points(verdict: GroupVerdict) -> Iterator[PartitionPoint]:
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


class _Open(NamedTuple):
    """A finding that is open, as it was told last."""

    told: FindingRecord
    finding: Finding
    was_open: bool

    def until(self, at_ms: int, *, is_closed: bool = False) -> FindingSpan:
        return FindingSpan(
            told=self.told,
            sentence=self.finding.sentence,
            severity=self.finding.spec.severity,
            until_ms=at_ms,
            was_open=self.was_open,
            is_closed=is_closed,
        )


class _FindingFollower:
    """Findings from verdict to verdict: the ledger says what is news, as to the topic of findings."""

    def __init__(self) -> None:
        self._ledger = Ledger()
        self._is_first = True
        self._open: dict[str, _Open] = {}
        self._ended: list[FindingSpan] = []

    def take(self, at_ms: int, summary: GroupSummary | None) -> None:
        """What there is now; None: there is no such group."""
        groups = [] if summary is None else [summary]
        now = {finding_id(s.cluster, s.group, finding): finding for s in groups for finding in s.findings}
        for record in self._ledger.news(groups, at_ms):
            known = self._open.pop(record.id, None)
            if known is not None:
                self._ended.append(known.until(at_ms, is_closed=record.event is FindingNews.CLOSED))
            if record.event is not FindingNews.CLOSED:
                self._open[record.id] = _Open(record, now[record.id], self._is_first)
        self._is_first = False

    def spans(self, until_ms: int) -> tuple[FindingSpan, ...]:
        """All of them, those that are open until this instant."""
        going_on = [known.until(until_ms) for known in self._open.values()]
        return tuple(sorted([*self._ended, *going_on], key=lambda span: (span.from_ms, span.told.id)))


class _Owned(NamedTuple):
    """The owners of a partition since an instant."""

    owners: tuple[str, ...]
    since_ms: int
    orphan: OrphanReason | None


class _OwnerFollower:
    """Who owns each partition; looked at only where the view of the group has become another."""

    def __init__(self) -> None:
        self._view: AssignmentView | None = None
        self._places = 0
        self._since: dict[TopicPartition, _Owned] = {}
        self._ended: list[OwnerSpan] = []

    def take(self, at_ms: int, verdict: GroupVerdict, view: AssignmentView) -> None:
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
        """Nobody owns anything from now on."""
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


class _MemberFollower:
    """Who came and who went."""

    def __init__(self) -> None:
        self.known: dict[str, MemberThen] = {}
        self.changes: list[MembersChanged] = []
        self._now: Mapping[str, MemberThen] | None = None

    def take(self, at_ms: int, verdict: GroupVerdict, members: Iterable[Member]) -> None:
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


class _TopicFollower:
    """How many partitions the group's topics have. A topic that comes or goes with a subscription has not changed."""

    def __init__(self) -> None:
        self.changes: list[TopicChanged] = []
        self._counts: dict[str, int] = {}

    def take(self, at_ms: int, catalog: Catalog, view: AssignmentView) -> None:
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


class _ExtremeFollower:
    """The group at its first instant, at that with the most lag, and at its last."""

    def __init__(self) -> None:
        self._first: GroupVerdict | None = None
        self._worst: GroupVerdict | None = None
        self._last: GroupVerdict | None = None

    def take(self, verdict: GroupVerdict) -> None:
        self._first, self._last = self._first or verdict, verdict
        if self._worst is None or (verdict.lag or 0) > (self._worst.lag or 0):
            self._worst = verdict

    @property
    def peak(self) -> GroupPoint | None:
        """The group at the instant with the most lag; None: no lag was known."""
        return None if self._worst is None or self._worst.lag is None else _group_point(self._worst)

    def points(self) -> tuple[PartitionPoint, ...]:
        """Their partitions, in the order of time; each instant once."""
        verdicts = {each.evaluated_ms: each for each in (self._first, self._worst, self._last) if each is not None}
        return tuple(point for at_ms in sorted(verdicts) for point in _partition_points(verdicts[at_ms]))
