"""When the lag of a group was highest, by every poll and every commit that is recorded, and not by a grid.

A lag rises when a poll sees a log grow. From one poll to the next it only falls: where a commit went back, it is not
known until the next poll (monitor.detection.lag.doubtful_ends). So the highest is at the instant of a poll, whoever
asks.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from monitor.history.recorded import holes
from monitor.history.walk import GroupWalk
from monitor.model import (
    CommitRun,
    GroupObserved,
    InvalidOffsetCommitted,
    OffsetCommitted,
    OffsetDeleted,
    PartitionId,
    TopicObserved,
    TopicPartition,
)

MOST_LAGS: Final = 2_000_000
"""The lags of partitions that are added up at the most (about 1 s): of a group with many, not every poll counts."""


class _Known(NamedTuple):
    """What is committed in a partition since an instant (None: nothing).

    ``is_even``: commits up to the next one are not named, and count as spread evenly.
    """

    at_ms: int
    offset: int | None
    is_even: bool = False


_Course = list[_Known]


def peak_ms(walk: GroupWalk, since_ms: int, until_ms: int) -> int | None:
    """The first instant of a span with the highest lag; None: no commit and no poll of it is known.

    Raises:
        RecordingError: the recording cannot be read.
    """
    courses = _courses(walk)
    ends = _ends(walk, {place.topic for place in courses})
    polled = {at_ms for topic in {place.topic for place in courses} for at_ms, _ in ends.get(topic, ())}
    times = sorted(at_ms for at_ms in polled if since_ms <= at_ms <= until_ms)
    times = _affordable_times(times, len(courses))
    totals = [0] * len(times)
    for place, course in courses.items():
        for number, lag in _lags(times, course, ends.get(place.topic, ()), place.partition):
            totals[number] += lag
    return times[totals.index(max(totals))] if any(totals) else None


def _affordable_times(times: Sequence[int], partitions: int) -> list[int]:
    """So many that there is time for all partitions: of each stretch of absolute time, the first one."""
    most = max(1, MOST_LAGS // max(1, partitions))
    if len(times) <= most:
        return list(times)
    apart_ms = 1_000
    while (times[-1] - times[0]) // apart_ms >= most:
        apart_ms *= 2
    first = {at_ms // apart_ms: at_ms for at_ms in reversed(times)}
    return sorted(first.values())


def _lags(
    times: Sequence[int], course: _Course, polls: Sequence[tuple[int, TopicObserved]], partition: PartitionId
) -> Iterator[tuple[int, int]]:
    """The lags of a partition at these instants, each with the number of its instant; those that are known."""
    known, poll, end = -1, 0, None
    for number, at_ms in enumerate(times):
        while known + 1 < len(course) and course[known + 1].at_ms <= at_ms:
            known += 1
        while poll < len(polls) and polls[poll][0] <= at_ms:
            end = _end(polls[poll][1], partition)
            poll += 1
        committed = None if known < 0 else _offset_at(course, known, at_ms)
        if committed is not None and end is not None and end > committed:
            yield number, end - committed


def _end(observed: TopicObserved, partition: PartitionId) -> int | None:
    """The end of a partition. Most topics list all of theirs in order."""
    own = observed.partitions
    if isinstance(partition, int) and partition < len(own) and own[partition].partition == partition:
        return own[partition].end
    return next((each.end for each in own if each.partition == partition), None)


def _offset_at(course: _Course, number: int, at_ms: int) -> int | None:
    start = course[number]
    following = course[number + 1] if start.is_even and number + 1 < len(course) else None
    if start.offset is None or following is None or following.offset is None or following.offset <= start.offset:
        return start.offset
    span_ms = following.at_ms - start.at_ms
    return start.offset + (following.offset - start.offset) * (at_ms - start.at_ms) // max(1, span_ms)


def _ends(walk: GroupWalk, topics: Iterable[str]) -> dict[str, list[tuple[int, TopicObserved]]]:
    found: dict[str, list[tuple[int, TopicObserved]]] = {topic: [] for topic in topics}
    for at_ms, observed in walk.polls():
        if observed.topic in found:
            found[observed.topic].append((at_ms, observed))
    return found


def _courses(walk: GroupWalk) -> dict[TopicPartition, _Course]:
    """What was committed in each partition, in the order of time."""
    courses: defaultdict[TopicPartition, _Course] = defaultdict(list)
    for offset in () if walk.first_state is None else walk.first_state.offsets:
        place = TopicPartition(offset.topic, offset.partition)
        courses[place].append(_Known(offset.committed_ms, offset.offset))
    for recorded in walk.log():
        for place, known in _offsets_in(recorded.at_ms, recorded.event):
            courses[place].append(known)
    for course in courses.values():
        course.sort(key=_at_ms)
    return courses


def _offsets_in(at_ms: int, event: object) -> Iterator[tuple[TopicPartition, _Known]]:
    """The committed offsets in an event."""
    match event:
        case OffsetCommitted():
            yield TopicPartition(event.topic, event.partition), _Known(event.committed_ms, event.offset)
        case CommitRun():
            place = TopicPartition(event.topic, event.partition)
            yield from ((place, known) for known in _run(event))
        case OffsetDeleted() | InvalidOffsetCommitted():
            yield TopicPartition(event.topic, event.partition), _Known(at_ms, None)
        case GroupObserved():
            for offset in event.offsets:
                yield TopicPartition(offset.topic, offset.partition), _Known(event.observed_ms, offset.offset)


def _run(run: CommitRun) -> Iterator[_Known]:
    """The commits of a run that it names, and the holes between them.

    At one instant a hole ends first, and another one begins last: that is how a course is read.
    """
    found = list(holes(run))
    yield from [_Known(end.committed_ms, end.offset) for _, end in found]
    yield from [_Known(point.committed_ms, point.offset) for point in (run.first, *run.points)]
    yield from [_Known(start.committed_ms, start.offset, is_even=True) for start, _ in found]


def _at_ms(known: _Known) -> int:
    return known.at_ms
