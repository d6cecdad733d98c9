"""Writes the chronicle of a group: follows it from verdict to verdict, and notes what changes."""

from __future__ import annotations

from typing import Final

from monitor.detection.evaluate import judge
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.ownership.assignment_view import AssignmentView, AssignmentViews
from monitor.detection.ownership.catalog_view import Topics
from monitor.history.chronicle.followers import (
    ExtremeFollower,
    FindingFollower,
    MemberFollower,
    OwnerFollower,
    TopicFollower,
    group_point,
    has_old_ends,
    partition_points,
    without_lag,
)
from monitor.history.chronicle.values import (
    Chronicle,
    GroupPoint,
    LogTruncated,
    PartitionPoint,
    PhaseBegun,
    RewindThen,
)
from monitor.history.replay import Recording, beyond_reach
from monitor.history.walk import GroupWalk
from monitor.model import (
    Catalog,
    GroupKind,
    GroupState,
    GroupSummary,
    GroupVerdict,
    Phase,
    Rebalance,
    Value,
)

SHORTEST_STEP_MS: Final = 10_000
"""How far apart the instants are at least that a group is judged at beside those at which something happened to it."""

MOST_STEPS: Final = 720
MOST_ROWS: Final = 720_000
"""How many partitions are judged at the most, all instants together: of a group with many, there are fewer instants."""

LEAST_CHANGES: Final = 200
"""Of a group with many partitions, so many changes of its members are judged all the same, the newest ones."""

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
        steps: at which instants it is judged; None: see :func:`step_ms`.

    Raises:
        RecordingError: the recording cannot be read.
    """
    steps = steps or Steps(step_ms(since_ms, until_ms, walk.partitions))
    follower = _Follower(walk.cluster, walk.group, steps.partitions_every_ms)
    views, pass_apart_ms = AssignmentViews(), walk.pass_apart_ms
    for at_ms, inputs in walk.inputs(_instants(walk, since_ms, until_ms, steps)):
        if inputs is None:
            follower.take_absence(at_ms)
            continue
        topics = Topics(inputs.catalog)
        view = views.of(inputs.group, topics)
        verdict = judge(inputs.group, topics, view, inputs.now_ms, inputs.settings)
        if has_old_ends(verdict, inputs.catalog, pass_apart_ms):
            verdict = without_lag(verdict)
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
        raise beyond_reach(cluster, last_ms)
    return GroupWalk(recording, cluster, group, since_ms, min(reach_ms, last_ms + COSTS_KNOWN_MS)), last_ms


def _instants(walk: GroupWalk, since_ms: int, until_ms: int, steps: Steps) -> list[int]:
    times = [*walk.event_times, *(walk.further_times if steps.is_close else ())]
    happened = sorted({at_ms for at_ms in times if since_ms <= at_ms <= until_ms})
    most = max(LEAST_CHANGES, MOST_ROWS // max(1, walk.partitions))
    return sorted({*range(since_ms, until_ms + 1, steps.apart_ms), *happened[-most:], until_ms})


class _Follower:
    """Follows one group."""

    def __init__(self, cluster: str, group: str, partitions_every_ms: int | None) -> None:
        self._cluster, self._group = cluster, group
        self._partitions_every_ms = partitions_every_ms
        self._kind: GroupKind | None = None
        self._findings = FindingFollower()
        self._owners = OwnerFollower()
        self._members = MemberFollower()
        self._topics = TopicFollower()
        self._extremes = ExtremeFollower()
        self._redelivered: tuple[int, int] | None = None
        self._phase: tuple[Phase | None, bool] = (None, False)
        self._phases: list[PhaseBegun] = []
        self._points: list[GroupPoint] = []
        self._partition_points: list[PartitionPoint] = []
        self._rebalances: dict[tuple[int, int], Rebalance] = {}
        self._rewinds: set[RewindThen] = set()
        self._truncations: set[LogTruncated] = set()

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
        self._note_logs(verdict, inputs.catalog)
        if is_step:
            self._points.append(group_point(verdict))
            if self._partitions_every_ms is not None and at_ms % self._partitions_every_ms == 0:
                self._partition_points += partition_points(verdict)

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
        cut = [each for each in self._truncations if since_ms < each.at_ms <= until_ms]
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
            truncations=tuple(sorted(cut, key=lambda each: (each.at_ms, each.topic, str(each.partition)))),
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

    def _note_logs(self, verdict: GroupVerdict, catalog: Catalog) -> None:
        """The truncations of logs in which the group has partitions, as far as they are confirmed by now."""
        for name in {row.topic for row in verdict.partitions} & catalog.topics.keys():
            for each in catalog.topics[name].partitions:
                cut = each.truncation
                if cut is not None:
                    self._truncations.add(
                        LogTruncated(cut.at_ms, name, each.partition, cut.before, cut.after, cut.from_ms)
                    )


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
