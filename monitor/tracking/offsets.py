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
    Rewind,
    TopicPartition,
)
from monitor.tracking.commit_history import extend

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
        )


class OffsetsDraft:
    """Committed offsets by partition. The newest commit is the last one in the log, whatever its time says."""

    __slots__ = ("_known", "_pieces")

    def __init__(self, offsets: Iterable[CommittedOffset]) -> None:
        self._known = {TopicPartition(known.topic, known.partition): known for known in offsets}
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

    def freeze(self) -> tuple[CommittedOffset, ...]:
        """All partitions as they are now, sorted."""
        frozen = {place: piece.frozen(place) for place, piece in self._pieces.items()}
        together = self._known | frozen
        return tuple(together[place] for place in sorted(together))


def _take_run(piece: _Piece, run: CommitRun) -> None:
    piece.points.extend(run.points)
    piece.newest = run.points[-1]
    piece.rewinds += run.rewinds
    piece.last_rewind = run.last_rewind or piece.last_rewind
