"""Writes the chronicle of a group: follows it from verdict to verdict, and notes what changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.history.chronicle.followers import (
    ExtremeFollower,
    FindingFollower,
    MemberFollower,
    OwnerFollower,
    SkipFollower,
    TopicFollower,
    group_point,
    partition_points,
)
from monitor.history.chronicle.grid import Steps, step_ms
from monitor.history.chronicle.judging import Judge, Judged, Seen, judged_instants
from monitor.history.chronicle.lag_peak import peak_ms
from monitor.history.chronicle.needed import NeededFollower
from monitor.history.chronicle.old_ends import unrecorded_parts
from monitor.history.chronicle.values import (
    Chronicle,
    GroupPoint,
    LogTruncated,
    PartitionPoint,
    PhaseBegun,
    RewindThen,
    spans_of,
)
from monitor.history.replay import Recording, beyond_reach
from monitor.history.walk import GroupWalk
from monitor.history.work_limit import Check, no_check
from monitor.model import (
    Catalog,
    FindingScope,
    GroupKind,
    GroupState,
    GroupVerdict,
    Phase,
    Rebalance,
)

COSTS_KNOWN_MS: Final = 120_000
"""What a rebalance cost is known with the first commits after it; by then there were some, or there are none soon. What
a jump skipped is known with the polls after it."""


def write_chronicle(
    walk: GroupWalk,
    since_ms: int,
    until_ms: int,
    steps: Steps | None = None,
) -> Chronicle | None:
    """What happened to the walk's group between two instants; None: it was not known in that time.

    It is judged at every step (:func:`monitor.history.chronicle.grid.step_ms`), and whenever something happened to its
    members. A finding that opened or closed between two of these did so at a whole second, which is found by bisection.
    What came and went between two instants is not reported. The peak of the lag is that of all polls and commits.

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
    follower = _Follower(walk.cluster, walk.group, since_ms, steps)
    asked_ms = {since_ms, until_ms, peak_ms(walk, since_ms, until_ms) or since_ms}
    for judged in judged_instants(walk, (since_ms, until_ms), steps, asked_ms):
        if judged.at_ms <= until_ms:
            follower.take(judged, is_step=judged.at_ms % steps.apart_ms == 0 or judged.at_ms in (since_ms, until_ms))
    later_ms = min(walk.until_ms, until_ms + COSTS_KNOWN_MS)
    follower.take_costs(walk.state(later_ms))
    if later_ms > until_ms and _has_jumped(walk.state(until_ms), since_ms):
        last_ms = min(walk.until_ms, steps.ceiling(until_ms))
        follower.take_skips(Judge(walk).at(max(later_ms, last_ms)).seen)
    return follower.chronicle(until_ms, unrecorded_parts(walk, until_ms))


def _has_jumped(group: GroupState | None, since_ms: int) -> bool:
    return any(each.jump is not None and each.jump.at_ms > since_ms for each in group.offsets) if group else False


def chronicle_of(  # noqa: PLR0913, PLR0917 -- as GroupWalk
    recording: Recording, cluster: str, group: str, since_ms: int, until_ms: int, check: Check = no_check
) -> Chronicle | None:
    """What happened to a group, as far as it is recorded by now; None: it was not known in that time.

    Raises:
        RecordingError: the recording cannot be read, ends before that time, or this takes too long by ``check``.
    """
    walk, last_ms = recorded_walk(recording, cluster, group, since_ms, until_ms, check)
    return write_chronicle(walk, since_ms, last_ms)


def recorded_walk(  # noqa: PLR0913, PLR0917 -- as GroupWalk
    recording: Recording, cluster: str, group: str, since_ms: int, until_ms: int, check: Check = no_check
) -> tuple[GroupWalk, int]:
    """A walk to write a chronicle of, and until when there can be one: as far as it is recorded by now.

    Raises:
        RecordingError: the recording cannot be read, ends before that time, or this takes too long by ``check``.
    """
    reach_ms = recording.reach_ms(cluster)
    last_ms = min(until_ms, reach_ms)
    if last_ms <= since_ms:
        raise beyond_reach(cluster, last_ms)
    first_ms = Steps(step_ms(since_ms, last_ms)).floor(since_ms)
    return GroupWalk(recording, cluster, group, first_ms, min(reach_ms, last_ms + COSTS_KNOWN_MS), check), last_ms


class _Follower:
    """Follows one group."""

    def __init__(self, cluster: str, group: str, since_ms: int, steps: Steps) -> None:
        self._cluster, self._group = cluster, group
        self._since_ms, self._steps = since_ms, steps
        self._kind: GroupKind | None = None
        self._is_connect = False
        self._findings = FindingFollower(since_ms)
        self._owners = OwnerFollower()
        self._members = MemberFollower()
        self._topics = TopicFollower()
        self._extremes = ExtremeFollower()
        self._skips = SkipFollower()
        self._needed = NeededFollower()
        self._redelivered: tuple[int, int] | None = None
        self._phase: tuple[Phase | None, bool] = (None, False)
        self._phases: list[PhaseBegun] = []
        self._points: list[GroupPoint] = []
        self._partition_points: list[PartitionPoint] = []
        self._rebalances: dict[tuple[int, int], Rebalance] = {}
        self._rewinds: set[RewindThen] = set()
        self._truncations: set[LogTruncated] = set()

    def take(self, judged: Judged, *, is_step: bool) -> None:
        """The group at the next instant. Before the span, only its findings count."""
        at_ms, seen = judged.at_ms, judged.seen
        if not judged.is_asked:
            summary, above = (None, ()) if seen is None else (seen.summary, seen.above)
            self._findings.take(at_ms, summary, above)
        if at_ms < self._since_ms:
            return
        if seen is None:
            self._take_absence(at_ms)
            return
        self._take_seen(at_ms, seen)
        if not judged.is_asked:
            self._needed.take(seen)
        if is_step:
            self._note_points(seen.verdict)

    def _take_absence(self, at_ms: int) -> None:
        self._note_phase(at_ms, Phase.GONE)
        self._owners.end(at_ms)
        self._members.take_absence()
        self._needed.take_absence()

    def _take_seen(self, at_ms: int, seen: Seen) -> None:
        verdict, group = seen.verdict, seen.inputs.group
        self._kind, self._is_connect = group.kind, verdict.is_connect
        self._note_phase(at_ms, group.phase)
        self._owners.take(at_ms, verdict, seen.view)
        self._members.take(at_ms, verdict, seen.view.group.members)
        self._topics.take(at_ms, seen.catalog, seen.view)
        self._extremes.take(verdict)
        self._skips.take(verdict, group)
        self._note_group(group)
        self._note_logs(verdict, seen.catalog)

    def _note_points(self, verdict: GroupVerdict) -> None:
        every_ms = self._steps.partitions_every_ms
        self._points.append(group_point(verdict))
        if every_ms is not None and verdict.evaluated_ms % every_ms == 0:
            self._partition_points += partition_points(verdict)

    def take_costs(self, group: GroupState | None) -> None:
        """The group a while after the last instant: what its last rebalances cost is known by then."""
        for rebalance in () if group is None else group.history:
            if _key(rebalance) in self._rebalances:
                self._rebalances[_key(rebalance)] = rebalance

    def take_skips(self, seen: Seen | None) -> None:
        """The verdict a while after the last instant: polls have shown by then what retention had removed."""
        if seen is not None:
            self._skips.take(seen.verdict, seen.inputs.group)

    def chronicle(self, until_ms: int, unrecorded: Sequence[range]) -> Chronicle | None:
        """What was noted, without points of times that are not recorded; None: there was no such group."""
        if self._kind is None:
            return None
        since_ms = self._since_ms
        ended = [each for each in self._rebalances.values() if since_ms < (each.ended_ms or 0) <= until_ms]
        rewinds = [each for each in self._rewinds if since_ms < each.at_ms <= until_ms]
        owners = self._owners.spans(until_ms)
        findings = self._findings.spans(until_ms)
        cut = [each for each in self._truncations if since_ms < each.at_ms <= until_ms]
        return Chronicle(
            cluster=self._cluster,
            group=self._group,
            kind=self._kind,
            since_ms=since_ms,
            until_ms=until_ms,
            step_ms=self._steps.apart_ms,
            is_connect=self._is_connect,
            points=tuple([each for each in self._points if self._is_recorded(each.at_ms, until_ms, unrecorded)]),
            partition_points=tuple(
                [each for each in self._partition_points if self._is_recorded(each.at_ms, until_ms, unrecorded)]
            ),
            findings=spans_of(findings, FindingScope.GROUP),
            cluster_findings=spans_of(findings, FindingScope.CLUSTER),
            rebalances=tuple(sorted(ended, key=lambda each: (each.ended_ms or 0, each.generation))),
            changes=tuple(self._members.changes),
            phases=tuple(self._phases),
            owners=owners,
            skips=self._skips.skips(since_ms, until_ms, owners),
            rewinds=tuple(sorted(rewinds, key=lambda each: (each.at_ms, each.topic, str(each.partition)))),
            members=tuple(self._members.known.values()),
            topics=tuple(self._topics.changes),
            redelivered=0 if self._redelivered is None else max(0, self._redelivered[1] - self._redelivered[0]),
            extremes=self._extremes.points(),
            peak=self._extremes.peak,
            truncations=tuple(sorted(cut, key=lambda each: (each.at_ms, each.topic, str(each.partition)))),
            needed=tuple(self._needed.changes),
        )

    def _is_recorded(self, at_ms: int, until_ms: int, unrecorded: Sequence[range]) -> bool:
        """The first and the last instant have a point each, whatever is known of them, but no row of a table."""
        is_edge = self._steps.partitions_every_ms is None and at_ms in {self._since_ms, until_ms}
        return is_edge or not any(at_ms in part for part in unrecorded)

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
                place = offset.topic, offset.partition
                self._rewinds.add(RewindThen(last.at_ms, *place, last.before, last.after, last.cause))

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
