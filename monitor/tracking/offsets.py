"""The committed offsets of a group while a piece of its log is folded in."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from monitor.model import (
    CommitPoint,
    CommitRun,
    CommittedOffset,
    OffsetCommitted,
    OffsetDeleted,
    OffsetsListed,
    Rewind,
    TopicPartition,
    Value,
)
from monitor.tracking.commit_history import extend
from monitor.tracking.listed_offsets import as_it_counts, as_logged, with_listing

Commit = OffsetCommitted | CommitRun


@dataclass(slots=True)
class _Piece:
    """What a piece of the log adds to one partition; ``base`` is what was known before it."""

    base: CommittedOffset | None
    newest: CommitPoint
    leader_epoch: int = -1
    rewinds: int = 0
    last_rewind: Rewind | None = None
    points: list[CommitPoint] = field(default_factory=list)

    def frozen(self, place: TopicPartition) -> CommittedOffset:
        base = self.base
        return CommittedOffset(
            topic=place.topic,
            partition=place.partition,
            offset=self.newest.offset,
            committed_ms=self.newest.committed_ms,
            leader_epoch=self.leader_epoch,
            history=extend(base.history if base else b"", self.points),
            rewinds=self.rewinds + (base.rewinds if base else 0),
            last_rewind=self.last_rewind or (base.last_rewind if base else None),
            listed=base.listed if base else None,
            listed_ms=base.listed_ms if base else 0,
        )


class FrozenOffsets(Value):
    """The committed offsets that count, and those that the broker does not know; both sorted by partition."""

    counting: tuple[CommittedOffset, ...]
    unconfirmed: tuple[CommittedOffset, ...]


class OffsetsDraft:
    """Committed offsets by partition, as the log has them: the newest commit is the last one, whatever its time says.

    What the broker answered is kept beside; which of the two counts is decided when the draft is frozen.
    """

    __slots__ = ("_known", "_pieces")

    def __init__(self, offsets: Iterable[CommittedOffset]) -> None:
        self._known = {TopicPartition(known.topic, known.partition): as_logged(known) for known in offsets}
        self._pieces: dict[TopicPartition, _Piece] = {}

    def __bool__(self) -> bool:
        """Whether any partition has a committed offset."""
        return bool(self._known or self._pieces)

    def commit(self, event: Commit) -> None:
        """Take one commit, or a run of them."""
        place = TopicPartition(event.topic, event.partition)
        first = event.first if isinstance(event, CommitRun) else CommitPoint(event.committed_ms, event.offset)
        piece = self._pieces.get(place)
        if piece is None:
            base = self._known.pop(place, None)
            newest = CommitPoint(base.committed_ms, base.offset) if base else first
            piece = self._pieces[place] = _Piece(base=base, newest=newest)
        if first.offset < piece.newest.offset:
            piece.rewinds += 1
            piece.last_rewind = Rewind(at_ms=first.committed_ms, before=piece.newest.offset, after=first.offset)
        piece.leader_epoch = event.leader_epoch
        if isinstance(event, CommitRun):
            _take_run(piece, event)
        else:
            piece.points.append(first)
            piece.newest = first

    def delete(self, event: OffsetDeleted) -> None:
        """Forget a partition with its history."""
        place = TopicPartition(event.topic, event.partition)
        self._known.pop(place, None)
        self._pieces.pop(place, None)

    def list(self, event: OffsetsListed) -> None:
        """Take the broker's answer for the partitions that the log has told of.

        Others are left: an answer may be older than the deletion of the group, and would bring it back for good.
        """
        listed = {TopicPartition(entry.topic, entry.partition): entry.offset for entry in event.offsets}
        self._known = self._frozen()
        self._pieces = {}
        for place, known in self._known.items():
            self._known[place] = with_listing(known, listed.get(place), event.asked_ms)

    def freeze(self) -> FrozenOffsets:
        """All partitions as they are now."""
        frozen = self._frozen()
        counting, unconfirmed = [], []
        for place in sorted(frozen):
            counts = as_it_counts(frozen[place])
            if counts is None:
                unconfirmed.append(frozen[place])
            else:
                counting.append(counts)
        return FrozenOffsets(tuple(counting), tuple(unconfirmed))

    def _frozen(self) -> dict[TopicPartition, CommittedOffset]:
        return self._known | {place: piece.frozen(place) for place, piece in self._pieces.items()}


def _take_run(piece: _Piece, run: CommitRun) -> None:
    piece.points.extend(run.points)
    piece.newest = run.points[-1]
    piece.rewinds += run.rewinds
    piece.last_rewind = run.last_rewind or piece.last_rewind
