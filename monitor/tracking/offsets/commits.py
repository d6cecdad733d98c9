"""The committed offsets of a group while a piece of its log is folded in."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from monitor.model import (
    CommitPoint,
    CommitRun,
    CommittedOffset,
    CommittedTopic,
    CommitUnread,
    GroupState,
    InvalidOffsetCommitted,
    OffsetCommitted,
    OffsetDeleted,
    OffsetsListed,
    PartitionId,
    Rewind,
    Standstill,
    Value,
)
from monitor.model.commit_history import extend, with_commit
from monitor.model.departures import Departures
from monitor.model.expiry import DeletedOffset
from monitor.model.jumps import Jump
from monitor.tracking.kip848.handovers import HandoversDraft
from monitor.tracking.offsets.deletions import Deletions, with_rewind
from monitor.tracking.offsets.departures import DeparturesDraft
from monitor.tracking.offsets.jumps import JumpsDraft
from monitor.tracking.offsets.precedence import (
    apply_listing,
    effective_commit,
    logged_commit,
    with_attempt,
    with_attempts,
)
from monitor.tracking.offsets.rewinds import with_cause
from monitor.tracking.offsets.topic_identity import CommittedTopics
from monitor.tracking.rebalances.impact import NO_COST, pause_ms
from monitor.tracking.rebalances.leavers import Leaver

Commit = OffsetCommitted | CommitRun


class FrozenOffsets(Value):
    """The committed offsets that count, and those that the broker does not know; both sorted by partition."""

    counting: tuple[CommittedOffset, ...]
    unconfirmed: tuple[CommittedOffset, ...]


class OffsetsDraft:
    """Committed offsets by partition, as the log has them: the newest commit is the last one, whatever its time says.

    What the broker answered is kept beside; which of the two counts is decided when the draft is frozen.
    """

    __slots__ = (
        "_departures",
        "_known",
        "_topics",
        "deletions",
        "handovers",
        "jumps",
        "pauses",
        "redelivered",
        "resumed",
        "resumes_after_ms",
    )

    def __init__(
        self,
        offsets: Iterable[CommittedOffset],
        topics: Iterable[CommittedTopic] = (),
        fastest: int = 0,
        *,
        departures: Iterable[Departures] = (),
        deletions: Deletions | None = None,
    ) -> None:
        self._known = {
            (known.topic, known.partition): logged_commit(known) if known.listed_ms else known for known in offsets
        }
        self._topics = CommittedTopics(topics)
        self._departures = DeparturesDraft(departures)
        self.deletions = deletions or Deletions()
        """What was deleted, and what clients requested to keep for a time of their own."""
        self.redelivered = 0
        """Records by which commits went back since the draft was begun: they are delivered again."""
        self.resumes_after_ms: int | None = None
        """When a rebalance ended: the first commit of a partition after it shows how long that was not read."""
        self.jumps = JumpsDraft(fastest)
        self.handovers: HandoversDraft | None = None
        """Of a KIP-848 group: only what gets another owner pauses then, whenever that is. That is told of commits that
        name the topic's id; of others it is told as of a classic group."""
        self.resumed = NO_COST
        """The costs that commits have shown since they were last taken."""
        self.pauses: dict[str, int] = {}
        """How long partitions paused of these, by topic (ms)."""

    def __bool__(self) -> bool:
        """Whether any partition has a committed offset."""
        return bool(self._known)

    def commit(self, event: Commit) -> None:
        """Take one commit, or a run of them."""
        place = event.topic, event.partition
        before = self._known.get(place)
        self._topics.note(event)
        deleted = self.deletions.commit(event)
        if isinstance(event, CommitRun):
            first, at_ms = event.first.offset, event.first.committed_ms
            jump = self.jumps.after_run(self._jump_after_first(before, deleted, event, first, at_ms), before, event)
            after = _after_run(before, event, jump)
            if event.rewound:
                self._redeliver_inside(before, event)
                after = self._with_cause(after)
        else:
            first, at_ms = event.offset, event.committed_ms
            after = _after(before, event, self._jump_after_first(before, deleted, event, first, at_ms))
        if before is None:
            if deleted is not None:
                after = self._after_deletion(after, deleted, event.topic_key, CommitPoint(at_ms, first))
            self._known[place] = after
            return
        if first < before.offset:
            after = self._with_cause(after)
        self._known[place] = _with_attempts(before, after, event) if after.listed_ms else after
        if first < before.offset:
            self._redeliver(before, Rewind(at_ms, before.offset, first))
        ended_ms = self.resumes_after_ms
        if self.handovers is not None and event.topic_key is not None:
            if self.handovers:
                point = CommitPoint(at_ms, first)
                self._add_pause(self.handovers.pause_ms(event.topic_key, before, point), before, point)
        elif ended_ms is not None and before.committed_ms <= ended_ms < at_ms and first != before.offset:
            point = CommitPoint(at_ms, first)
            self._add_pause(pause_ms(before, point, ended_ms), before, point)

    def _jump_after_first(
        self,
        before: CommittedOffset | None,
        deleted: DeletedOffset | None,
        event: Commit,
        offset: int,
        at_ms: int,
    ) -> Jump | None:
        """The jump that is kept of the partition after the first commit of the event."""
        if before is not None:
            return self.jumps.after_commit(before, offset, at_ms)
        if deleted is not None:
            return self.jumps.after_deletion(deleted, CommitPoint(at_ms, offset))
        beside = self._known.get((event.topic, 0)) if event.partition else None
        return self.jumps.after_first(CommitPoint(at_ms, offset), beside)

    def _with_cause(self, after: CommittedOffset) -> CommittedOffset:
        """The partition after a commit that went back, with the cause of that."""
        fall = after.last_rewind
        if fall is None or fall.before_ms is None:
            return after
        return replace(after, last_rewind=with_cause(fall, self.jumps.readers))

    def _after_deletion(
        self, after: CommittedOffset, deleted: DeletedOffset, topic_key: int | None, first: CommitPoint
    ) -> CommittedOffset:
        """The partition after its first commit since its offset was deleted."""
        if first.offset >= deleted.offset or not deleted.topic_key or deleted.topic_key != topic_key:
            return after
        self.redelivered += deleted.offset - first.offset
        return with_rewind(after, deleted, first, self.jumps.readers)

    def _redeliver(self, before: CommittedOffset, fall: Rewind) -> None:
        """Count the records of a commit that went back behind the one before it."""
        if not self._topics.is_recreated(before, fall):
            self.redelivered += fall.before - fall.after

    def _redeliver_inside(self, before: CommittedOffset | None, run: CommitRun) -> None:
        """Count the records by which commits went back inside a run."""
        self.redelivered += run.rewound
        fall = run.first_rewind or run.last_rewind
        if fall is None or before is None or run.first.offset < before.offset:
            return
        if self._topics.is_recreated(before, fall):
            self.redelivered -= fall.before - fall.after

    def _add_pause(self, paused_ms: int, before: CommittedOffset, first: CommitPoint) -> None:
        if paused_ms:
            self.resumed = self.resumed.and_after(paused_ms, max(0, first.offset - before.offset))
            self.pauses[before.topic] = self.pauses.get(before.topic, 0) + paused_ms

    def topics(self) -> tuple[CommittedTopic, ...]:
        """The topics in which something is committed, as far as they are known."""
        return self._topics.of(topic for topic, _ in self._known)

    def note_departures(self, leavers: Sequence[Leaver]) -> None:
        """Members have left the group at once; mostly there are none."""
        if leavers:
            self._departures.note(leavers, self._known, self._topics.names())

    def departures(self) -> tuple[Departures, ...]:
        """Where owners left, one after the other, while the committed offset stood."""
        return self._departures.freeze(self._known)

    def delete(self, event: OffsetDeleted, group: GroupState | None = None) -> None:
        """Forget a partition with its history; where it was committed is remembered until the next commit.

        Args:
            event: the deletion.
            group: as it was then; None: some of its records cannot be read.
        """
        self.deletions.delete(event, self._take_counting(event), self._topics.key(event.topic), group)

    def replace_by_invalid(self, event: InvalidOffsetCommitted) -> None:
        """Take a commit of an offset below 0: as a deletion, but something is stored that may expire."""
        self.deletions.replace_by_invalid(event, self._take_counting(event), self._topics.key(event.topic))

    def _take_counting(self, event: OffsetDeleted | InvalidOffsetCommitted) -> CommittedOffset | None:
        known = self._known.pop((event.topic, event.partition), None)
        return effective_commit(known) if known is not None and known.listed_ms else known

    def hide(self, event: CommitUnread) -> None:
        """Forget a partition: what it has committed is not known."""
        self._known.pop((event.topic, event.partition), None)
        self.deletions.hide(event)

    def at(self, topic: str, partition: PartitionId) -> int | None:
        """The committed offset of a partition; None: there is none."""
        known = self._known.get((topic, partition))
        return None if known is None else known.offset

    def keep_only(self, places: Iterable[tuple[str, PartitionId]]) -> None:
        """Forget all other partitions."""
        kept = frozenset(places)
        if not self._known.keys() <= kept:
            self._known = {place: known for place, known in self._known.items() if place in kept}

    def list(self, event: OffsetsListed) -> None:
        """Take the broker's answer for the partitions that the log has shown.

        Others are left: an answer may be older than the deletion of the group, and would bring it back for good.
        """
        listed = {(entry.topic, entry.partition): entry.offset for entry in event.offsets}
        for place, known in self._known.items():
            self._known[place] = apply_listing(known, listed.get(place), event.asked_ms)

    def freeze(self) -> FrozenOffsets:
        """All partitions as they are now."""
        counting, unconfirmed = [], []
        for place in sorted(self._known):
            known = self._known[place]
            counts = effective_commit(known) if known.listed_ms else known
            if counts is None:
                unconfirmed.append(known)
            else:
                counting.append(counts)
        return FrozenOffsets(tuple(counting), tuple(unconfirmed))


def _after(before: CommittedOffset | None, event: OffsetCommitted, jump: Jump | None) -> CommittedOffset:
    """Written out by position: this is done for nearly every record of the log."""
    offset, at_ms = event.offset, event.committed_ms
    if before is None:
        history = with_commit(b"", at_ms, offset)
        return CommittedOffset(
            event.topic, event.partition, offset, at_ms, event.leader_epoch, history, commits=1, jump=jump
        )
    rewinds, last_rewind, standstill = before.rewinds, before.last_rewind, None
    if offset == before.offset:
        standstill = _longer(before, 1)
    elif offset < before.offset:
        rewinds, last_rewind = rewinds + 1, Rewind(at_ms, before.offset, offset, before.committed_ms)
    return CommittedOffset(
        before.topic,
        before.partition,
        offset,
        at_ms,
        event.leader_epoch,
        with_commit(before.history, at_ms, offset),
        rewinds,
        last_rewind,
        before.listed,
        before.listed_ms,
        before.commits + 1,
        jump,
        before.listed_since_ms,
        before.attempts,
        before.attempts_since_ms,
        before.third_attempt_ms,
        standstill,
    )


def _with_attempts(before: CommittedOffset, after: CommittedOffset, event: Commit) -> CommittedOffset:
    if isinstance(event, CommitRun):
        return with_attempts(before, after, event)
    return with_attempt(after, CommitPoint(event.committed_ms, event.offset))


def _after_run(before: CommittedOffset | None, run: CommitRun, jump: Jump | None) -> CommittedOffset:
    first, newest = run.first, run.points[-1]
    falls = before is not None and first.offset < before.offset
    into = None
    if before is not None and falls:
        into = Rewind(first.committed_ms, before.offset, first.offset, before.committed_ms)
    standstill = run.standstill
    if before is not None and before.offset == first.offset == newest.offset:
        stands = run.commits == 1 or (standstill is not None and standstill.commits == run.commits)
        standstill = _longer(before, run.commits) if stands else standstill
    return CommittedOffset(
        run.topic,
        run.partition,
        newest.offset,
        newest.committed_ms,
        run.leader_epoch,
        extend(before.history if before else b"", run.points),
        run.rewinds + falls + (before.rewinds if before else 0),
        run.last_rewind or into or (before.last_rewind if before else None),
        before.listed if before else None,
        before.listed_ms if before else 0,
        run.commits + (before.commits if before else 0),
        jump,
        before.listed_since_ms if before else 0,
        before.attempts if before else 0,
        before.attempts_since_ms if before else 0,
        before.third_attempt_ms if before else 0,
        standstill,
    )


def _longer(before: CommittedOffset, commits: int) -> Standstill:
    """The standstill after so many further commits of the same offset."""
    known = before.standstill
    if known is None:
        return Standstill(before.committed_ms, 1 + commits)
    return Standstill(known.since_ms, known.commits + commits)
