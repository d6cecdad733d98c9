"""The committed offsets of a group while a piece of its log is folded in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from monitor.commit_history import extend, points_of, with_commit
from monitor.model import (
    CommitPoint,
    CommitRun,
    CommittedOffset,
    CommittedTopic,
    OffsetCommitted,
    OffsetDeleted,
    OffsetsListed,
    Rewind,
    Taken,
    TopicPartition,
    Value,
)
from monitor.protocol.offsets_topic import topic_key_of
from monitor.tracking.listed_offsets import as_it_counts, as_logged, with_listing
from monitor.tracking.resumption import NOTHING, PATIENCE_MS, Handed, handover_ms, pause_ms

Commit = OffsetCommitted | CommitRun


class FrozenOffsets(Value):
    """The committed offsets that count, and those that the broker does not know; both sorted by partition."""

    counting: tuple[CommittedOffset, ...]
    unconfirmed: tuple[CommittedOffset, ...]


class OffsetsDraft:
    """Committed offsets by partition, as the log has them: the newest commit is the last one, whatever its time says.

    What the broker answered is kept beside; which of the two counts is decided when the draft is frozen.
    """

    __slots__ = ("_handed", "_keys", "_known", "_topics", "by_handover", "redelivered", "resumed", "resumes_after_ms")

    def __init__(self, offsets: Iterable[CommittedOffset], topics: Iterable[CommittedTopic] = ()) -> None:
        self._known = {
            (known.topic, known.partition): as_logged(known) if known.listed_ms else known for known in offsets
        }
        self._topics = {known.topic: known for known in topics}
        self._keys = {known.topic: known.key for known in self._topics.values()}
        self.redelivered = 0
        """Records by which commits went back since the draft was begun: they are delivered again."""
        self.resumes_after_ms: int | None = None
        """When a rebalance ended: the first commit of a partition after it tells how long that was not read."""
        self.by_handover = False
        """Whether it is a KIP-848 group: only what gets another owner pauses then, whenever that is. That can be told
        of commits that name the topic's id, as the group's records do; of others it is told as of a classic group."""
        self._handed: dict[tuple[int, int], Handed] = {}  # by the topic's key and the partition
        self.resumed = NOTHING
        """What was told so since it was last taken."""

    def __bool__(self) -> bool:
        """Whether any partition has a committed offset."""
        return bool(self._known)

    def commit(self, event: Commit) -> None:
        """Take one commit, or a run of them."""
        place = event.topic, event.partition
        before = self._known.get(place)
        if event.topic_key is not None and self._keys.get(event.topic) != event.topic_key:
            self._begin_topic(event, event.topic_key)
        if isinstance(event, CommitRun):
            after, first, at_ms = _after_run(before, event), event.first.offset, event.first.committed_ms
            if event.rewound:
                self._redeliver(before, event)
        else:
            after, first, at_ms = _after(before, event), event.offset, event.committed_ms
        self._known[place] = after
        if before is None:
            return
        if first < before.offset:
            self._redeliver_from(before, Rewind(at_ms, before.offset, first))
        if self.by_handover and event.topic_key is not None:
            if self._handed:
                self._take_over(before, CommitPoint(at_ms, first), event.topic_key)
            return
        ended_ms = self.resumes_after_ms
        if ended_ms is not None and before.committed_ms <= ended_ms < at_ms and first != before.offset:
            self._resume(before, CommitPoint(at_ms, first), ended_ms)

    def _begin_topic(self, event: Commit, key: int) -> None:
        """The topic's first commit, or its first one since it was made anew."""
        first = event.first.committed_ms if isinstance(event, CommitRun) else event.committed_ms
        is_of_it = not isinstance(event, CommitRun) or event.first_topic_key in {key, None}
        since_ms = (first if is_of_it else first + 1) if event.topic in self._topics or not is_of_it else None
        self._topics[event.topic] = CommittedTopic(event.topic, key, since_ms)
        self._keys[event.topic] = key

    def _redeliver_from(self, before: CommittedOffset, fall: Rewind) -> None:
        """Count the records of a commit that went back behind the one before it."""
        if not self._is_made_anew(before, fall):
            self.redelivered += fall.before - fall.after

    def _redeliver(self, before: CommittedOffset | None, run: CommitRun) -> None:
        """Count the records by which commits went back inside a run."""
        self.redelivered += run.rewound
        fall = run.first_rewind or run.last_rewind
        falls_before = before is not None and run.first.offset < before.offset
        if fall is not None and not falls_before and self._is_made_anew(before or _begun(run), fall):
            self.redelivered -= fall.before - fall.after

    def _is_made_anew(self, before: CommittedOffset, fall: Rewind) -> bool:
        """Whether a partition went back because it is another one now: records that were never read are not read again.

        A consumer may commit its old position in the new topic first. So it is the first fall since the topic was made
        anew, of a partition of which commits from before are remembered.
        """
        topic = self._topics.get(before.topic)
        if topic is None or topic.since_ms is None or fall.at_ms < topic.since_ms:
            return False
        if before.last_rewind is not None and before.last_rewind.at_ms >= topic.since_ms:
            return False
        return any(point.committed_ms < topic.since_ms for point in points_of(before.history))

    def topics(self) -> tuple[CommittedTopic, ...]:
        """The topics in which something is committed, as far as they are told."""
        committed = {topic for topic, _ in self._known} if self._topics else set()
        return tuple(self._topics[topic] for topic in sorted(self._topics) if topic in committed)

    def _resume(self, before: CommittedOffset, first: CommitPoint, ended_ms: int) -> None:
        self._add_pause(pause_ms(before, first, ended_ms), before, first)

    def _take_over(self, before: CommittedOffset, first: CommitPoint, topic_key: int) -> None:
        """The first commit of a partition after it got a new owner tells that records were waiting."""
        handed = self._handed.get((topic_key, before.partition))
        if handed is None or first.committed_ms <= handed.gained_ms:
            return
        del self._handed[topic_key, before.partition]
        if before.committed_ms <= handed.gained_ms and first.offset != before.offset:
            self._add_pause(handover_ms(handed, before, first), before, first)

    def hand_over(self, handed: Mapping[TopicPartition, Handed]) -> None:
        """These partitions have new owners; their topics are told by id."""
        for place, each in handed.items():
            if key := topic_key_of(place.topic):
                self._handed[key, place.partition] = each

    def await_owners(self, taken: Iterable[Taken]) -> None:
        """These have had new owners before, which have not committed them."""
        for each in taken:
            for partition in each.partitions:
                self._handed[each.topic_key, partition] = Handed(each.gained_ms, each.stopped_ms)

    def taken(self) -> tuple[Taken, ...]:
        """The partitions whose new owners have not committed them, as they are stored."""
        if not self.by_handover or not self._handed:
            return ()
        newest_ms = max(handed.gained_ms for handed in self._handed.values())
        alike: dict[tuple[Handed, int], list[int]] = {}
        for key, partition in sorted(self._handed):
            handed = self._handed[key, partition]
            if newest_ms - handed.gained_ms <= PATIENCE_MS:
                alike.setdefault((handed, key), []).append(partition)
        return tuple(
            Taken(handed.gained_ms, handed.stopped_ms, key, tuple(partitions))
            for (handed, key), partitions in alike.items()
        )

    def _add_pause(self, paused_ms: int, before: CommittedOffset, first: CommitPoint) -> None:
        if paused_ms:
            self.resumed = self.resumed.and_after(paused_ms, max(0, first.offset - before.offset))

    def delete(self, event: OffsetDeleted) -> None:
        """Forget a partition with its history."""
        self._known.pop((event.topic, event.partition), None)

    def list(self, event: OffsetsListed) -> None:
        """Take the broker's answer for the partitions that the log has told of.

        Others are left: an answer may be older than the deletion of the group, and would bring it back for good.
        """
        listed = {(entry.topic, entry.partition): entry.offset for entry in event.offsets}
        for place, known in self._known.items():
            self._known[place] = with_listing(known, listed.get(place), event.asked_ms)

    def freeze(self) -> FrozenOffsets:
        """All partitions as they are now."""
        counting, unconfirmed = [], []
        for place in sorted(self._known):
            known = self._known[place]
            counts = as_it_counts(known) if known.listed_ms else known
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
        return CommittedOffset(event.topic, event.partition, offset, at_ms, event.leader_epoch, history)
    rewinds, last_rewind = before.rewinds, before.last_rewind
    if offset < before.offset:
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
    )


def _begun(run: CommitRun) -> CommittedOffset:
    """The partition as the first commit of a run made it."""
    at_ms, offset = run.first.committed_ms, run.first.offset
    return CommittedOffset(run.topic, run.partition, offset, at_ms, history=with_commit(b"", at_ms, offset))


def _after_run(before: CommittedOffset | None, run: CommitRun) -> CommittedOffset:
    first, newest = run.first, run.points[-1]
    falls = before is not None and first.offset < before.offset
    into = Rewind(first.committed_ms, before.offset, first.offset) if before is not None and falls else None
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
    )
