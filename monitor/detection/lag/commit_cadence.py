"""What silence is usual in a partition: how long its records waited before the commits that are remembered.

Some consumers commit every 5 s, others by hand after a batch of ten minutes, so one threshold for all either accuses
the second or finds the first late. The commits themselves tell (monitor.model.commit_history): of the newest, the time
between one and the next counts, whoever made them, and only while records waited. In a topic that gets a record an
hour, an hour without a commit shows nothing of its consumer.

Whether records waited tell the ends of the partition that were seen. They reach back about ten minutes in a busy topic,
and further the rarer its records are (monitor.tracking.topic). What lies before counts if several records came between
the two commits, and else not at all; but not for longer than a batch takes: an hour between two commits may have been
an hour without records. Where all commits lie equally far apart, a timer makes them, and that time counts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from statistics import median
from typing import Final, NamedTuple

from monitor.model import CommitPoint, CommittedOffset, EndOffsetAt, PartitionState
from monitor.model.commit_history import RECENT, columns_of, count_of
from monitor.model.members import BATCH_MS

RHYTHMS: Final = 3
"""How many times its usual time between two commits a consumer may be silent: two commits that stay away are no
proof."""

FEWEST_COMMITS: Final = 3
"""So many show a rhythm: one time between two commits may be an accident."""

FEWEST_GAPS: Final = 4
"""So many times between two commits show a timer, if they are alike."""

EVEN: Final = 1.25
"""How many times the shortest of them the longest may be."""

SEVERAL: Final = 5
"""Of so many records that came evenly between two commits, the first waited four fifths of the time."""

_OFFSET: Final = attrgetter("offset")


def longest_usual_ms(commit: CommittedOffset, partition: PartitionState, batch_ms: int = BATCH_MS) -> int | None:
    """How long records may wait there without a commit: from then on, most of the remembered waits were shorter.

    A remembered wait of a third of the silence or less does not explain it. None: there are too few commits to tell. A
    commit of the offset before it tells that its consumer commits by itself, whether records wait or not; one of a
    lower offset was made by somebody who moved the group, and tells nothing.

    Args:
        commit: the newest of the partition, with its history.
        partition: with the ends that were seen.
        batch_ms: how long whoever reads there may take with what it has polled.
    """
    if count_of(commit.history) < FEWEST_COMMITS:
        return None
    waits = list(_waits(commit, partition, batch_ms))
    longer = sum(wait.is_known for wait in waits)
    others = 0
    if longer <= 1:
        return 0
    for wait in sorted(waits, key=lambda each: each.explains_ms):
        longer, others = longer - wait.is_known, others + 1
        if longer <= max(others, 1):
            return max(0, wait.explains_ms)
    return 0


def usual_gap_ms(commit: CommittedOffset) -> float | None:
    """The usual time between two commits of a partition, whether records waited or not; None: there are too few.

    It is the middle one of the newest: a night without records is no rhythm.
    """
    if count_of(commit.history) < FEWEST_COMMITS:
        return None
    times, _ = columns_of(commit.history)
    return median([after - before for before, after in pairwise(times[-RECENT:])])


class _Wait(NamedTuple):
    """A remembered time between two commits: it explains a silence that is shorter than ``explains_ms``.

    Not ``is_known``: how long records waited in it is not known, but that it was shorter than a third of that.
    """

    explains_ms: int
    is_known: bool


def _waits(commit: CommittedOffset, partition: PartitionState, batch_ms: int) -> Iterator[_Wait]:
    times, offsets = columns_of(commit.history)
    times, offsets = times[-RECENT:], offsets[-RECENT:]
    batch_ms = max(batch_ms, _period_ms(times))
    for index in range(1, len(times)):
        before_ms, after_ms = times[index - 1], times[index]
        records = offsets[index] - offsets[index - 1]
        if records < 0:
            continue
        waited_ms: int | None = after_ms - before_ms
        if records:
            before = CommitPoint(before_ms, offsets[index - 1])
            waited_ms = _waited_ms(partition.ends, before, after_ms, records, batch_ms)
        if waited_ms is None:
            yield _Wait(RHYTHMS * (after_ms - before_ms), is_known=False)
        else:
            yield _Wait(RHYTHMS * waited_ms, is_known=True)


def _period_ms(times: Sequence[int]) -> int:
    """The time between two commits where all of them come by a timer, such as that of Flink's checkpoints; else 0.

    Records do not come so evenly, so a time without records is no reason for it.
    """
    gaps = [after - before for before, after in pairwise(times)]
    is_even = len(gaps) >= FEWEST_GAPS and max(gaps) <= EVEN * min(gaps)
    return max(gaps) if is_even else 0


def _waited_ms(
    ends: Sequence[EndOffsetAt], before: CommitPoint, after_ms: int, records: int, batch_ms: int
) -> int | None:
    """How long records are known to have waited between two commits that lie ``records`` apart. None: not known."""
    first_beyond = bisect_right(ends, before.offset, key=_OFFSET)
    if first_beyond == len(ends):
        return None
    seen_ms = ends[first_beyond].at_ms
    waited_ms = after_ms - max(before.committed_ms, seen_ms)
    if first_beyond:
        return max(0, waited_ms)
    if records >= SEVERAL:
        return min(after_ms - before.committed_ms, batch_ms)
    return waited_ms if waited_ms > 0 else None
