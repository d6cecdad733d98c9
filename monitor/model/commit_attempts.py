"""Commits in the log that the broker has not committed: their transactions are open, or were aborted.

The broker's response is in ``listed`` and ``listed_ms`` of a :class:`CommittedOffset`, and monitor.tracking.offsets
counts the attempts. This module decides what the two tell together.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model.commit_history import columns_of, cut_before, newest_in
from monitor.model.groups import CommittedOffset

CLOCK_MARGIN_MS: Final = 5_000
"""How much later than a commit a listing must be requested for its response to know of it.

It covers the difference between two clocks: the broker dates the commit, the collector the request."""


LISTING_LIFETIME_MS: Final = 900_000
"""A collector lists offsets within a minute of a commit. Commits that are so much later than the newest listing have
no collector, or one without permission: an old listing says nothing about them."""

UNLISTED_MS: Final = 60_000
"""A collector lists the offsets in each pass while a transaction is open or has just ended, and otherwise each five
minutes. Commits that go on for longer without a listing are in no transaction: the collector's clock was ahead of the
brokers', so that a listing seemed to contradict a commit that was made after it."""


def has_failed_attempts(commit: CommittedOffset) -> bool:
    """Whether two listings in a row have the same offset, and the newest contradicts a commit that is newer than that.

    ``committed_ms`` has to be of the newest commit in the log.

    >>> has_failed_attempts(CommittedOffset("t", 0, 9, 7_000, listed=5, listed_ms=20_000, listed_since_ms=9_000))
    False
    """
    is_second = commit.listed_since_ms < commit.listed_ms
    is_contradicted = is_second and 0 < commit.attempts_since_ms < commit.listed_ms - CLOCK_MARGIN_MS
    return is_contradicted and not _goes_on_unlisted(commit)


def _goes_on_unlisted(commit: CommittedOffset) -> bool:
    """Whether the commits are no longer listed: for LISTING_LIFETIME_MS, or they have gone on for UNLISTED_MS."""
    if commit.committed_ms <= commit.listed_ms + UNLISTED_MS:
        return False
    if commit.committed_ms > commit.listed_ms + LISTING_LIFETIME_MS:
        return True
    times, _ = columns_of(commit.history)
    first_ms = next((at_ms for at_ms in times if at_ms > commit.listed_ms), commit.committed_ms)
    return commit.committed_ms > first_ms + UNLISTED_MS


def has_three_failed_attempts(commit: CommittedOffset) -> bool:
    """The same of three such commits: that is no accident."""
    return has_failed_attempts(commit) and 0 < commit.third_attempt_ms < commit.listed_ms - CLOCK_MARGIN_MS


def last_committed_ms(commit: CommittedOffset) -> int | None:
    """When the newest commit was made that the broker has; None: only older ones than are remembered.

    >>> last_committed_ms(CommittedOffset("t", 0, 9, 7_000))
    7000
    """
    if not has_failed_attempts(commit):
        return commit.committed_ms
    newest = newest_in(without_failed_attempts(commit).history)
    return None if newest is None else newest.committed_ms


def without_failed_attempts(commit: CommittedOffset) -> CommittedOffset:
    """The same with the history up to what the broker has committed. ``committed_ms`` stays: it is a sign of life.

    The newest standstill is that of the attempts, or has ended with the first of them.
    """
    if not has_failed_attempts(commit):
        return commit
    fall = commit.last_rewind
    return replace(
        commit,
        history=cut_before(commit.history, commit.attempts_since_ms),
        last_rewind=None if fall is not None and fall.at_ms >= commit.attempts_since_ms else fall,
        standstill=None,
    )
