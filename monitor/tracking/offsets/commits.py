"""The committed offsets of a group while a piece of its log is folded in."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from monitor.model import (
    CommitPoint,
    CommitRun,
    CommittedOffset,
    CommittedTopic,
    GroupState,
    OffsetCommitted,
    OffsetDeleted,
    OffsetsListed,
    PartitionId,
    Rewind,
    Standstill,
    Value,
)
from monitor.model.commit_history import MIN_PASSED, extend, with_commit
from monitor.model.jumps import Jump
from monitor.tracking.kip848.handovers import HandoversDraft
from monitor.tracking.offsets.expiries import ExpiriesDraft
from monitor.tracking.offsets.jumps import Readers, first_jump, jump_of, larger_jump, pace_between
from monitor.tracking.offsets.precedence import (
    apply_listing,
    effective_commit,
    logged_commit,
    with_attempt,
    with_attempts,
)
from monitor.tracking.offsets.topic_identity import CommittedTopics
from monitor.tracking.rebalances.impact import NO_COST, pause_ms

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
        "_known",
        "_topics",
        "expiries",
        "fastest",
        "handovers",
        "readers",
        "redelivered",
        "resumed",
        "resumes_after_ms",
    )

    def __init__(
        self,
        offsets: Iterable[CommittedOffset],
        topics: Iterable[CommittedTopic] = (),
        expiries: ExpiriesDraft | None = None,
    ) -> None:
        self._known = {
            (known.topic, known.partition): logged_commit(known) if known.listed_ms else known for known in offsets
        }
        self._topics = CommittedTopics(topics)
        self.expiries = expiries or ExpiriesDraft()
        """What was deleted, and what clients requested to keep for a time of their own."""
        self.redelivered = 0
        """Records by which commits went back since the draft was begun: they are delivered again."""
        self.resumes_after_ms: int | None = None
        """When a rebalance ended: the first commit of a partition after it tells how long that was not read."""
        self.fastest = 0
        """The fastest pace of any partition since the draft was begun, in records per second."""
        self.readers: Readers | None = None
        """Who may have read what a commit passes; None: not known, as a collector reads the group as a whole."""
        self.handovers: HandoversDraft | None = None
        """Of a KIP-848 group: only what gets another owner pauses then, whenever that is. That is told of commits that
        name the topic's id; of others it is told as of a classic group."""
        self.resumed = NO_COST
        """What was told so since it was last taken."""

    def __bool__(self) -> bool:
        """Whether any partition has a committed offset."""
        return bool(self._known)

    def commit(self, event: Commit) -> None:
        """Take one commit, or a run of them."""
        place = event.topic, event.partition
        before = self._known.get(place)
        self._topics.note(event)
        self.expiries.commit(event)
        if isinstance(event, CommitRun):
            after, first, at_ms = _after_run(before, event), event.first.offset, event.first.committed_ms
            if event.rewound:
                self._redeliver_inside(before, event)
        else:
            after, first, at_ms = _after(before, event), event.offset, event.committed_ms
        if self.readers is not None:
            after = self._with_jump(self.readers, before, after, event)
        if before is None:
            self._known[place] = after
            return
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

    def _with_jump(
        self, readers: Readers, before: CommittedOffset | None, after: CommittedOffset, event: Commit
    ) -> CommittedOffset:
        """The partition after the event with the largest jump that no commit has refuted."""
        first = event.first if isinstance(event, CommitRun) else CommitPoint(event.committed_ms, event.offset)
        known = None if before is None else before.jump
        if known is not None and first.offset < known.offset:
            known = None
        known = larger_jump(known, self._jump(readers, before, event, first))
        lowest = event.lowest if isinstance(event, CommitRun) else None
        if known is not None and lowest is not None and lowest < known.offset:
            known = None
        return after if known is after.jump else replace(after, jump=known)

    def _jump(self, readers: Readers, before: CommittedOffset | None, event: Commit, first: CommitPoint) -> Jump | None:
        """The jump that the event makes by its first or its second commit; what is none shows a pace."""
        if before is None:
            known = self._known.get((event.topic, 0)) if event.partition else None
            jump = first_jump(first, known, readers) if known is not None else None
        else:
            jump = self._step(readers, before, first)
        if isinstance(event, CommitRun):
            self.fastest = max(self.fastest, event.fastest)
            if event.second is not None:
                jump = larger_jump(jump, self._step(readers, _after_first(before, event), event.second))
        return jump

    def _step(self, readers: Readers, before: CommittedOffset, commit: CommitPoint) -> Jump | None:
        """The jump from one commit to the next; None: it is none, and shows a pace."""
        passed = commit.offset - before.offset
        jump = jump_of(before, commit, readers) if passed >= MIN_PASSED else None
        if jump is None and passed > 0 and not readers.are_none:
            self.fastest = max(self.fastest, pace_between(CommitPoint(before.committed_ms, before.offset), commit))
        return jump

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

    def topics(self) -> tuple[CommittedTopic, ...]:
        """The topics in which something is committed, as far as they are told."""
        return self._topics.of(topic for topic, _ in self._known)

    def delete(self, event: OffsetDeleted, group: GroupState | None = None) -> None:
        """Forget a partition with its history.

        Args:
            event: the deletion.
            group: as it was then. What remains of its offset is remembered; None: nothing is.
        """
        known = self._known.pop((event.topic, event.partition), None)
        counting = effective_commit(known) if known is not None and known.listed_ms else known
        self.expiries.delete(event, counting, group)

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
        """Take the broker's answer for the partitions that the log has told of.

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


def _after(before: CommittedOffset | None, event: OffsetCommitted) -> CommittedOffset:
    """Written out by position: this is done for nearly every record of the log."""
    offset, at_ms = event.offset, event.committed_ms
    if before is None:
        history = with_commit(b"", at_ms, offset)
        return CommittedOffset(event.topic, event.partition, offset, at_ms, event.leader_epoch, history, commits=1)
    rewinds, last_rewind, standstill = before.rewinds, before.last_rewind, None
    if offset == before.offset:
        standstill = _longer(before, 1)
    elif offset < before.offset:
        rewinds, last_rewind = rewinds + 1, Rewind(at_ms, before.offset, offset)
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
        before.jump,
        before.listed_since_ms,
        before.attempts,
        before.attempts_since_ms,
        before.third_attempt_ms,
        standstill,
    )


def _after_first(before: CommittedOffset | None, run: CommitRun) -> CommittedOffset:
    """The partition after the first commit of a run."""
    first = run.first
    history = with_commit(before.history if before is not None else b"", first.committed_ms, first.offset)
    return CommittedOffset(run.topic, run.partition, first.offset, first.committed_ms, history=history)


def _with_attempts(before: CommittedOffset, after: CommittedOffset, event: Commit) -> CommittedOffset:
    if isinstance(event, CommitRun):
        return with_attempts(before, after, event)
    return with_attempt(after, CommitPoint(event.committed_ms, event.offset))


def _after_run(before: CommittedOffset | None, run: CommitRun) -> CommittedOffset:
    first, newest = run.first, run.points[-1]
    falls = before is not None and first.offset < before.offset
    into = Rewind(first.committed_ms, before.offset, first.offset) if before is not None and falls else None
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
        before.jump if before else None,
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
