"""Which committed offset counts: the newest commit in the log, or the broker's own response.

A reader of uncommitted records gets the commits of a transaction before it ends, and also if it is aborted. Consumers
never get the records that end a transaction, but the broker knows them. A collector lists the offsets of groups that
may be concerned (monitor.collectors.kafka.transactional_offsets). This module decides between the log and the listing.

Rule 1: The listing counts if it was requested more than CLOCK_MARGIN_MS after the newest commit in the log.
Rule 2: It also counts, whatever was logged later, if it contradicts a commit and an earlier listing had the same
offset. It contradicts a commit that is newer than the listed offset and more than CLOCK_MARGIN_MS older than the
listing. Rule 2 lasts until a listing has another offset, or commits go on without one: for UNLISTED_MS, or later than
LISTING_LIFETIME_MS. What is committed meanwhile are attempts, and no progress.
Rule 3: Otherwise, the log counts. A group that commits well has another offset in each listing.

So after one aborted transaction, the next commit counts at once, or from the next listing on. An application that
aborts each transaction makes no progress.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model import CommitPoint, CommitRun, CommittedOffset
from monitor.model.commit_attempts import CLOCK_MARGIN_MS, has_failed_attempts
from monitor.model.commit_history import RECENT, extend, newest_in, points_of
from monitor.tracking.topic import CLOCK_SET_BACK_MS

_THIRD: Final = 2
"""The index of the third attempt: a finding needs so many without effect."""


def apply_listing(known: CommittedOffset, listed: int | None, asked_ms: int) -> CommittedOffset:
    """The same with the broker's answer (None: it knows no committed offset); an older answer changes nothing.

    One that is much older (CLOCK_SET_BACK_MS) than the one before it in the log tells that the collector's clock was
    set back: it counts, or the one before would overrule commits for as long as the clock was ahead.

    A broker loses no committed offset without a tombstone in the log. A response without the offset that the response
    before it had is of a user that may not see the topic any more, and changes nothing.
    """
    if known.listed_ms - CLOCK_SET_BACK_MS <= asked_ms <= known.listed_ms:
        return known
    if listed is None and known.listed is not None:
        return known
    is_same = known.listed == listed and 0 < known.listed_ms < asked_ms
    if is_same:
        return replace(known, listed_ms=asked_ms)
    return _with_first_attempts(replace(known, listed=listed, listed_ms=asked_ms, listed_since_ms=asked_ms))


def with_attempt(known: CommittedOffset, commit: CommitPoint) -> CommittedOffset:
    """The same with the newest commit of its history judged by the listing."""
    if commit.offset == known.listed or commit.committed_ms <= known.listed_since_ms + CLOCK_MARGIN_MS:
        return _with_first_attempts(known)
    attempts, at_ms = known.attempts + 1, commit.committed_ms
    return replace(
        known,
        attempts=attempts,
        attempts_since_ms=known.attempts_since_ms if known.attempts else at_ms,
        third_attempt_ms=known.third_attempt_ms or (at_ms if attempts > _THIRD else 0),
    )


def with_attempts(before: CommittedOffset, after: CommittedOffset, run: CommitRun) -> CommittedOffset:
    """The same as if each commit of a run had come alone, as far as the run names them.

    Those that it does not name are between the first and the newest RECENT. Where a named one may be the listed one, it
    is not known how many of them came before it: they are then left out of the number of attempts.

    Args:
        before: the partition before the run.
        after: with the commits of the run in its history.
        run: the commits.
    """
    known = replace(before, commits=before.commits + 1)
    points, unnamed = run.points, run.commits - len(run.points)
    if unnamed and run.first != points[0]:
        alone = with_attempt(replace(known, history=extend(known.history, (run.first,))), run.first)
        known, unnamed = replace(alone, history=before.history), unnamed - 1
    else:
        known, points = _next_attempt(known, points[0]), points[1:]
    attempts, known = known.attempts, replace(known, commits=known.commits + unnamed)
    for number, point in enumerate(points, start=1):
        known = _next_attempt(replace(known, commits=known.commits + 1), point)
        if known.attempts != attempts + number:
            unnamed = 0
    return replace(
        after,
        attempts=known.attempts + unnamed,
        attempts_since_ms=known.attempts_since_ms,
        third_attempt_ms=known.third_attempt_ms,
    )


def _next_attempt(known: CommittedOffset, point: CommitPoint) -> CommittedOffset:
    return with_attempt(replace(known, history=extend(known.history, (point,))), point)


def _with_first_attempts(known: CommittedOffset) -> CommittedOffset:
    """The same with the attempts that its history shows.

    They follow the newest commit of the listed offset. If that is not among the newest, of which none is left out, they
    are later than the first listing that has it. The history of an earlier time may lack the commit.
    """
    points = points_of(known.history)
    whole = points if known.commits <= len(points) else points[-RECENT:]
    newest = max((index for index, point in enumerate(whole) if point.offset == known.listed), default=None)
    if newest is not None or known.listed is None:
        after = points if newest is None else whole[newest + 1 :]
    else:
        after = tuple([p for p in points if p.committed_ms > known.listed_since_ms + CLOCK_MARGIN_MS])
    times = [point.committed_ms for point in after]
    return replace(
        known,
        attempts=len(times),
        attempts_since_ms=times[0] if times else 0,
        third_attempt_ms=times[_THIRD] if len(times) > _THIRD else 0,
    )


def logged_commit(known: CommittedOffset) -> CommittedOffset:
    """The same with the offset that the log has, whichever counts."""
    newest = newest_in(known.history) if known.listed_ms else None
    if newest is None:
        return known
    return replace(known, offset=newest.offset, committed_ms=newest.committed_ms)


def is_overruled(logged: CommittedOffset) -> bool:
    """Whether the broker's answer counts instead of the newest commit in the log."""
    if logged.listed == logged.offset:
        return False
    return logged.listed_ms > logged.committed_ms + CLOCK_MARGIN_MS or has_failed_attempts(logged)


def effective_commit(logged: CommittedOffset) -> CommittedOffset | None:
    """The same with the offset that counts; None if the broker knows of none: its transaction has not committed."""
    if not is_overruled(logged):
        return logged
    return None if logged.listed is None else replace(logged, offset=logged.listed)
