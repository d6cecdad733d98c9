"""How far behind a group is: in records, and as the age of the oldest record that waits.

A number is only given where it is known. No committed offset, no end offset, or a commit older than the kept history
of end offsets: the number is absent (None). The last would allow "at least so old", but a lower bound is not a
measurement, and mixing the two makes a graph lie; so a replay from the beginning reads as unknown until the history
covers it. For alerts, which ask whether something is too old, the lower bound is a number of its own.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Container, Iterable, Mapping, Sequence
from operator import attrgetter
from types import MappingProxyType

from monitor.detection.ownership.context import Facts
from monitor.model import (
    MOST,
    CommittedOffset,
    EndOffsetAt,
    PartitionState,
    PartitionVerdict,
    TopicLag,
    TopicPartition,
)


def lag_records(committed: int | None, end: int | None) -> int | None:
    """The records after the commit, MOST at most; 0 if the end is older than the commit, None if one is not known.

    >>> lag_records(90, 100), lag_records(100, 90), lag_records(None, 100)
    (10, 0, None)
    """
    if committed is None or end is None:
        return None
    lag = end - committed
    return 0 if lag < 0 else lag if lag < MOST else MOST


def is_of_former_log(commit: CommittedOffset, partition: PartitionState) -> bool:
    """Whether the commit was made before the topic was deleted and created anew: nothing can be counted from it.

    A commit beyond the end is no sign of that (monitor.detection.lag.doubtful_ends).
    """
    return commit.committed_ms <= partition.former_ms


def lag_ms(partition: PartitionState, committed: int, now_ms: int) -> int | None:
    """The age of the oldest record that waits; 0 if none does, None if the history does not reach back to it.

    The record at the committed offset was written when the end of the log passed that offset: between two observed
    ends, the instant is interpolated linearly. Records that retention has removed do not wait: the oldest that exists
    counts.
    """
    if partition.end is None:
        return None
    if partition.end <= committed:
        return 0
    earliest = partition.earliest
    position = committed if earliest is None or earliest <= committed else earliest
    if partition.end <= position:
        return None
    age_ms = _age_ms(partition.ends, position, partition.end, now_ms)
    if age_ms is None and partition.older:
        return _age_ms((*partition.older, *partition.ends[:1]), position, partition.end, now_ms)
    return age_ms


def lag_at_least_ms(facts: Facts, known_ms: int | None) -> int | None:
    """How old the oldest record that waits for the group is at least; None if nothing is known of that.

    ``known_ms`` is the oldest known age. A record from before all that is remembered of its partition is as old at
    least as the memory.
    """
    older = [_remembered_ms(facts, row) for row in facts.waiting if row.lag_ms is None]
    return max([age for age in (known_ms, *older) if age is not None], default=None)


def _remembered_ms(facts: Facts, row: PartitionVerdict) -> int | None:
    """Since when the end of a partition with waiting records is remembered; None if retention has removed them."""
    state = facts.known[TopicPartition(row.topic, row.partition)]
    points = state.older or state.ends
    if not points or (row.end or 0) <= (row.earliest or 0):
        return None
    return max(0, facts.now_ms - points[0].at_ms)


def waiting_since_ms(partition: PartitionState, committed: int, now_ms: int) -> int | None:
    """Since when records have been waiting for certain: the first observed end beyond the commit. None if none waits.

    Unlike the age this never guesses: of a topic that was idle and then got a record, it is the observation that saw
    the record, and of a commit older than the history it is the beginning of the history.
    """
    position = max(committed, partition.earliest or 0)
    if partition.end is None or partition.end <= position:
        return None
    first_beyond = _reached(partition.ends, position)
    return partition.ends[first_beyond].at_ms if first_beyond < len(partition.ends) else now_ms


def _age_ms(ends: Sequence[EndOffsetAt], position: int, end: int, now_ms: int) -> int | None:
    upper = _reached(ends, position)
    if upper == 0:
        return None
    began_ms, began = ends[upper - 1].at_ms, ends[upper - 1].offset
    passed_ms, passed = (ends[upper].at_ms, ends[upper].offset) if upper < len(ends) else (now_ms, end)
    age_ms = now_ms - began_ms - round((position - began) * (passed_ms - began_ms) / (passed - began))
    return age_ms if age_ms > 0 else 0


def _reached(ends: Sequence[EndOffsetAt], position: int) -> int:
    """The index after the newest end that was not beyond the position (a topic made anew has ends that go back)."""
    index = len(ends)
    for end in reversed(ends):
        if end.offset <= position:
            return index
        index -= 1
    return 0


def total(lags: Iterable[int | None]) -> int | None:
    """The sum of what is known, MOST at most; None if nothing is.

    >>> total([2, None, 3]), total([None])
    (5, None)
    """
    known = [lag for lag in lags if lag is not None]
    return min(MOST, sum(known)) if known else None


def lag_by_topic(
    rows: Sequence[PartitionVerdict],
    uncounted: Container[str] = (),
    uncommitted: Mapping[TopicPartition, int] = MappingProxyType({}),
) -> tuple[TopicLag, ...]:
    """One line for each topic of the rows, which are sorted.

    The lag of ``uncounted`` topics is not known, and has no bound. Nor is that of topics with ``uncommitted``
    partitions, each with its records: there, it is at least the sum of what is known.
    """
    lines: list[TopicLag] = []
    without = _by_topic(uncommitted) if uncommitted else {}
    start = 0
    while start < len(rows):
        topic = rows[start].topic
        end = len(rows) if rows[-1].topic == topic else bisect_right(rows, topic, lo=start, key=attrgetter("topic"))
        own = rows[start:end]
        age_ms = oldest_ms(own)
        if topic in uncounted:
            lines.append(TopicLag(topic, None, None, end - start, None, *without.get(topic, (0, 0))))
        elif topic in without:
            at_least = total([0, *[row.lag for row in own]])
            lines.append(TopicLag(topic, None, None, end - start, at_least, *without[topic]))
        else:
            lines.append(TopicLag(topic, total([row.lag for row in own]), age_ms, end - start))
        start = end
    return tuple(lines)


def oldest_ms(rows: Sequence[PartitionVerdict | TopicLag]) -> int | None:
    """The oldest known age of these rows. Where records wait, those that have none say nothing of it.

    >>> oldest_ms([TopicLag("read", 0, 0), TopicLag("of unknown age", 7, None)])
    >>> oldest_ms([TopicLag("read", 0, 0), TopicLag("late", 7, 500)]), oldest_ms([TopicLag("read", 0, 0)])
    (500, 0)
    """
    ages = [row.lag_ms for row in rows if row.lag and row.lag_ms is not None]
    if ages:
        return max(ages)
    if any(row.lag for row in rows):
        return None
    return max([row.lag_ms for row in rows if row.lag_ms is not None], default=None)


def _by_topic(uncommitted: Mapping[TopicPartition, int]) -> dict[str, tuple[int, int]]:
    """How many partitions of each topic, and how many records."""
    counts: dict[str, tuple[int, int]] = {}
    for place, records in uncommitted.items():
        partitions, before = counts.get(place.topic, (0, 0))
        counts[place.topic] = partitions + 1, min(MOST, before + records)
    return counts
