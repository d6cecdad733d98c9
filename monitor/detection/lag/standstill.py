"""When a committed offset last moved: a commit that repeats the one before it is no progress.

Many clients commit by a timer, and so does one that fails at the same record again and again. Its commits show that it
lives, and nothing else.
"""

from __future__ import annotations

from monitor.model import CommittedOffset, Standstill
from monitor.model.commit_history import newest_in


def standstill_of(commit: CommittedOffset) -> Standstill | None:
    """That of the offset that counts; None: the newest commit moved it.

    If the broker's own response counts instead of the log (monitor.tracking.offsets.precedence), nothing is known.
    """
    if commit.standstill is None or not commit.listed_ms:
        return commit.standstill
    newest = newest_in(commit.history)
    return commit.standstill if newest is None or newest.offset == commit.offset else None


def moved_ms(commit: CommittedOffset) -> int:
    """When the first of the newest commits was made that are all of the offset that counts.

    >>> moved_ms(CommittedOffset("t", 0, 10, 900))
    900
    >>> moved_ms(CommittedOffset("t", 0, 10, 900, standstill=Standstill(100, 9)))
    100
    """
    standstill = standstill_of(commit)
    return commit.committed_ms if standstill is None else standstill.since_ms
