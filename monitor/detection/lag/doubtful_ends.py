"""Whether the lag of a partition is unknown, as its commit and its end do not fit together.

A commit beyond the end is normal: the end was polled before the commit. Three cases are not:

- Polls show the end below where it was, which is not confirmed yet (monitor.tracking.truncation).
- The commit went back after the newest poll. If the log was truncated, its end went back, too, and the old end would
  give a lag that never was. The next poll shows it.
- The end was polled well after the commit, and the commit is beyond it all the same.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from monitor.detection.lag.standstill import moved_ms
from monitor.model import CommittedOffset, PartitionState
from monitor.model.commit_history import columns_of

CLOCKS_MS: Final = 30_000
"""By how much the clocks of the brokers, which date commits, and of the collector, which dates polls, may differ. Of a
poll that is later than a commit by this, the commit is certainly older."""

HABIT: Final = 3
"""So many steps back among the remembered commits are a habit: two consumers that commit by turns, or one that reads
again and again. A consumer goes back once when its log was truncated, so they say nothing about the log."""


def has_doubtful_end(commit: CommittedOffset, partition: PartitionState) -> bool:
    """Whether the newest known end may not be the one that the commit belongs to. The next polls decide."""
    if partition.falling is not None:
        return True
    rewind = commit.last_rewind
    if rewind is None or not partition.ends or rewind.at_ms <= partition.ends[-1].at_ms:
        return False
    return _steps_back(commit.history) < HABIT


def former_lag(commit: CommittedOffset, partition: PartitionState) -> int:
    """The records that were known to wait before the end became doubtful: up to the old end, from the old commit on."""
    rewind, end = commit.last_rewind, partition.end or 0
    if partition.falling is not None:
        return max(0, partition.falling.before - commit.offset)
    return max(0, end - (commit.offset if rewind is None else rewind.before))


def beyond_end_since_ms(commit: CommittedOffset, partition: PartitionState) -> int | None:
    """Since when a committed offset that is beyond the known end has been so; None: the end may be older than it.

    That is the first of the newest commits that are all beyond the end, or when the log was truncated after it. Commits
    that repeat an offset are as old as the first of them.
    """
    since_ms = max(_first_beyond_ms(commit, partition.end or 0), partition.former_ms)
    if not partition.ends or partition.ends[-1].at_ms < since_ms + CLOCKS_MS:
        return None
    return since_ms if partition.truncation is None else max(since_ms, partition.truncation.at_ms)


def may_precede_truncation(commit: CommittedOffset, partition: PartitionState) -> bool:
    """Whether a commit beyond the end may be of the log before its truncation, and no newer than the poll, as usual.

    A consumer that was reset has gone back since. Its commits beyond the end are as usual.
    """
    cut, rewind = partition.truncation, commit.last_rewind
    if cut is None or commit.offset > cut.before or commit.committed_ms >= cut.at_ms + CLOCKS_MS:
        return False
    return rewind is None or rewind.at_ms < cut.from_ms


def _first_beyond_ms(commit: CommittedOffset, end: int) -> int:
    """When the first of the newest commits was made that are all beyond the end.

    An offset that the broker gave instead of the log (monitor.tracking.offsets.precedence) is as old as its response.
    """
    times, offsets = columns_of(commit.history)
    if not offsets or offsets[-1] != commit.offset:
        return max(commit.committed_ms, commit.listed_ms)
    index = len(offsets) - 1
    while index and offsets[index - 1] > end:
        index -= 1
    return times[index] if offsets[index] != commit.offset else min(times[index], moved_ms(commit))


def _steps_back(history: bytes) -> int:
    """How often a remembered commit was lower than the one before it."""
    _, offsets = columns_of(history)
    return sum(after < before for before, after in pairwise(offsets))
