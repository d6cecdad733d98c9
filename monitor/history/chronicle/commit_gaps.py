"""How long partitions were not committed: from the last commit before an instant to the first one after it."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Iterator, Mapping, Sequence
from statistics import median
from typing import Final

from monitor.history.chronicle.values import CommitGap
from monitor.history.walk import GroupWalk
from monitor.model import CommitPoint, CommitRun, OffsetCommitted, TopicPartition
from monitor.model.commit_history import RECENT

RHYTHM: Final = 9
"""The usual time between two commits is the median of so many."""

FEWEST: Final = 3
"""With fewer gaps, no time is usual."""


def commit_gaps(
    walk: GroupWalk, moments: Mapping[TopicPartition, Sequence[int]], until_ms: int
) -> tuple[CommitGap, ...]:
    """The gaps between two commits in which these instants lie, in the order of time.

    A recording has of each partition the first and the newest ten commits between two writings. Where it may have left
    out commits, there is no gap: only commits that are known to have stopped are reported so.

    Args:
        walk: the group, with its commits.
        moments: the instants to look up, sorted, of each partition.
        until_ms: what was committed later does not count.

    Raises:
        RecordingError: the recording cannot be read.
    """
    followed = {place: _Commits(place, instants) for place, instants in moments.items()}
    for offset in () if walk.first_state is None else walk.first_state.offsets:
        own = followed.get(TopicPartition(offset.topic, offset.partition))
        if own is not None:
            own.take(CommitPoint(offset.committed_ms, offset.offset), is_next=False)
    for event in walk.commits():
        own = followed.get(TopicPartition(event.topic, event.partition))
        for point, is_next in _points(event) if own is not None else ():
            if own is not None and point.committed_ms <= until_ms:
                own.take(point, is_next=is_next)
    gaps = [gap for own in followed.values() for gap in own.all()]
    return tuple(sorted(gaps, key=lambda gap: (gap.from_ms, gap.topic, str(gap.partition))))


def _points(event: OffsetCommitted | CommitRun) -> Iterator[tuple[CommitPoint, bool]]:
    """The commits of an event, each with whether it is known to be the next one after the one before it."""
    if isinstance(event, OffsetCommitted):
        yield CommitPoint(event.committed_ms, event.offset), True
        return
    rest = event.points[1:] if event.points[:1] == (event.first,) else event.points
    is_whole = event.commits == len(rest) + 1
    yield event.first, True
    for place, point in enumerate(rest):
        yield point, is_whole or len(rest) - place < RECENT


class _Commits:
    """The commits of one partition, one after the other."""

    def __init__(self, place: TopicPartition, instants: Sequence[int]) -> None:
        self._place = place
        self._instants = instants
        self._last: CommitPoint | None = None
        self._times: deque[int] = deque(maxlen=RHYTHM)
        self._gaps: list[CommitGap] = []

    def take(self, point: CommitPoint, *, is_next: bool) -> None:
        """The next commit; not ``is_next``: some may have been left out before it."""
        last, self._last = self._last, point
        if last is None or not is_next or point.committed_ms < last.committed_ms:
            return
        if self._has_moment(last.committed_ms, point.committed_ms):
            self._gaps.append(self._gap(last, point))
        self._times.append(point.committed_ms - last.committed_ms)

    def all(self) -> Iterator[CommitGap]:
        """The gaps, and the one that has not ended."""
        yield from self._gaps
        if self._last is not None and self._instants and self._instants[-1] >= self._last.committed_ms:
            yield self._gap(self._last, None)

    def _has_moment(self, from_ms: int, until_ms: int) -> bool:
        return bisect_left(self._instants, from_ms) < bisect_right(self._instants, until_ms - 1)

    def _gap(self, last: CommitPoint, following: CommitPoint | None) -> CommitGap:
        return CommitGap(
            topic=self._place.topic,
            partition=self._place.partition,
            from_ms=last.committed_ms,
            from_offset=last.offset,
            until_ms=None if following is None else following.committed_ms,
            until_offset=None if following is None else following.offset,
            usual_ms=int(median(self._times)) if len(self._times) >= FEWEST else None,
        )


def merged_moments(asked: Sequence[tuple[TopicPartition, int]]) -> Mapping[TopicPartition, Sequence[int]]:
    """Instants by partition, sorted."""
    found: defaultdict[TopicPartition, list[int]] = defaultdict(list)
    for place, at_ms in asked:
        found[place].append(at_ms)
    return {place: sorted(set(instants)) for place, instants in found.items()}
