"""The newest commits of a partition, bounded by number and by time, packed into bytes.

Rules about lag look at both: Burrow's at the last ten commits, whatever their rhythm; rules about time at the last
minutes, however many commits that were. So of all commits, in the order of the log, two sorts stay:

- the newest RECENT commits;
- older ones that were the last of a slot of SLOT_MS (the commit after them in the log lies in another slot), the newest
  SLOTS of those.

A partition costs at most 320 bytes: (RECENT + SLOTS) points of 16. A history can be cut anywhere and put together
again, because whether a commit stays depends on its neighbours and on what comes later, never on where a piece began.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from struct import Struct
from typing import Final

from monitor.model import CommitPoint

RECENT: Final = 10
"""How many of the newest commits are kept, whatever their times (the ``intervals`` of Burrow's default)."""

SLOTS: Final = 10
"""How many older commits are kept, each the last one of its slot."""

SLOT_MS: Final = 60_000
"""The length of a slot: ten of them span ten minutes or more."""

MIN_PASSED: Final = 100
"""A commit that passes fewer offsets than these is no jump (monitor.tracking.offsets.jumps)."""

STEEPER: Final = 10
"""A jump passes its offsets so many times as fast as the commit before it passed its own."""

LEAST_SPAN_MS: Final = 1_000
"""A commit is taken to have come as soon after the one before it as that one did, if it came later: a consumer that is
back reads what has gathered at once. But it has had a second at least."""

SHORTEST_MS: Final = 100
"""Commits that follow one another sooner count as so far apart: two of them at once show no pace."""

_POINT: Final = Struct("<qq")  # committed_ms, offset
_TIME: Final = Struct("<q").unpack_from
_SIZE: Final = _POINT.size
_FULL: Final = RECENT * _SIZE
_NUMBERS: Final = tuple([Struct(f"<{2 * points}q").unpack_from for points in range(RECENT + SLOTS + 1)])


def extend(history: bytes, points: Iterable[CommitPoint]) -> bytes:
    """The history with these commits behind it, in the order of the log.

    >>> [point.offset for point in points_of(extend(b"", [CommitPoint(5, 1), CommitPoint(6, 2)]))]
    [1, 2]
    """
    for point in points:
        history = with_commit(history, point.committed_ms, point.offset)
    return history


def with_commit(history: bytes, committed_ms: int, offset: int) -> bytes:
    """The history with one commit more.

    The oldest of the newest ones stops being one of them: it stays only as the end of its slot.
    """
    start = len(history) - _FULL
    history += _POINT.pack(committed_ms, offset)
    if start < 0:
        return history
    if _TIME(history, start)[0] // SLOT_MS == _TIME(history, start + _SIZE)[0] // SLOT_MS:
        return history[:start] + history[start + _SIZE :]
    return history[_SIZE:] if start >= SLOTS * _SIZE else history


def points_of(history: bytes) -> tuple[CommitPoint, ...]:
    """The commits of a history, in the order of the log: the last RECENT are the newest ones without a gap."""
    return tuple([CommitPoint(committed_ms, offset) for committed_ms, offset in _POINT.iter_unpack(history)])


def columns_of(history: bytes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """As :func:`points_of`, with the times in one column and the offsets in another.

    The rules about lag ask for them for every partition in which records wait.

    >>> columns_of(extend(b"", [CommitPoint(5, 1), CommitPoint(6, 2)]))
    ((5, 6), (1, 2))
    """
    numbers = _NUMBERS[min(len(history) // _SIZE, RECENT + SLOTS)](history)
    return numbers[::2], numbers[1::2]


def count_of(history: bytes) -> int:
    """How many commits it holds.

    >>> count_of(extend(b"", [CommitPoint(5, 1), CommitPoint(6, 2)]))
    2
    """
    return len(history) // _SIZE


def newest_in(history: bytes) -> CommitPoint | None:
    """The newest commit of a history; None if it is empty."""
    return CommitPoint(*_POINT.unpack_from(history, len(history) - _SIZE)) if history else None


def newest_two_in(history: bytes) -> tuple[CommitPoint, ...]:
    """The newest two commits of a history, which followed one another in the log; fewer if it has fewer."""
    tail = history[-2 * _SIZE :]
    return tuple([CommitPoint(committed_ms, offset) for committed_ms, offset in _POINT.iter_unpack(tail)])


def is_steep(before: Sequence[CommitPoint], commit: CommitPoint) -> bool:
    """Whether a commit passes offsets far faster than the one before it; ``before`` are the newest two commits.

    Numbers are floating ones, so that the decoder, which asks the same of whole columns, gives the same answer.

    >>> steady = CommitPoint(1_000, 10), CommitPoint(2_000, 20)
    >>> is_steep(steady, CommitPoint(3_000, 120)), is_steep(steady, CommitPoint(3_000, 121))
    (False, True)
    """
    if len(before) < 2:
        return True
    earlier, later = before
    usual_ms = max(1.0, float(later.committed_ms - earlier.committed_ms))
    span_ms = max(LEAST_SPAN_MS, min(usual_ms, float(commit.committed_ms - later.committed_ms)))
    usual = max(0.0, float(later.offset - earlier.offset)) / usual_ms
    return float(commit.offset - later.offset) / span_ms > STEEPER * usual


def cut_before(history: bytes, instant_ms: int) -> bytes:
    """The history up to the first commit that is not earlier than an instant.

    >>> count_of(cut_before(extend(b"", [CommitPoint(5, 1), CommitPoint(6, 2), CommitPoint(7, 3)]), 6))
    1
    """
    times, _ = columns_of(history)
    kept = next((index for index, at_ms in enumerate(times) if at_ms >= instant_ms), len(times))
    return history[: kept * _SIZE]


def thin(points: Sequence[CommitPoint]) -> tuple[CommitPoint, ...]:
    """Those of some commits that followed one another that any history would keep of them."""
    if len(points) <= RECENT:
        return tuple(points)
    older, recent = points[:-RECENT], points[-RECENT:]
    following = (*older[1:], recent[0])
    ends = [point for point, after in zip(older, following, strict=True) if _slot(point) != _slot(after)]
    return (*ends[-SLOTS:], *recent)


def _slot(point: CommitPoint) -> int:
    return point.committed_ms // SLOT_MS
