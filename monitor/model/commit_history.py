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

LEAST_SPAN_MS: Final = 500
"""A commit is taken to have come as soon after the one before it as that one did, if it came later: a consumer that is
back reads what has gathered at once. But it has had half a second at least: nearly all commit no more often."""

SHORTEST_MS: Final = 100
"""Commits that follow one another sooner count as so far apart: two of them at once show no pace."""

MAX_PACE: Final = 1 << 62
"""The fastest pace that is stored, in records per second: only forged offsets are faster."""

_POINT: Final = Struct("<qq")  # committed_ms, offset
_TIME: Final = Struct("<q").unpack_from
_TWO: Final = Struct("<qqqq").unpack_from
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


def newest_step_in(history: bytes) -> tuple[int, int] | None:
    """How many offsets the newest commit of a history passed, and how long after the one before it (ms).

    None: the history has no two commits.

    >>> newest_step_in(extend(b"", [CommitPoint(5, 1), CommitPoint(7, 4)])), newest_step_in(b"")
    ((3, 2), None)
    """
    start = len(history) - 2 * _SIZE
    if start < 0:
        return None
    earlier_ms, earlier, later_ms, later = _TWO(history, start)
    return later - earlier, later_ms - earlier_ms


def is_steep(usual: tuple[int, int] | None, passed: int, gap_ms: int) -> bool:
    """Whether a commit passes offsets far faster than the one before it (rule 2 of monitor.tracking.offsets.jumps).

    Numbers are floating ones, so that the decoder, which asks the same of whole columns, gives the same answer.

    Args:
        usual: how many offsets the commit before it passed, and how long that was after its own; None: not known.
        passed: how many offsets this one passes.
        gap_ms: how long it is after the one before it.

    >>> is_steep((10, 1_000), 100, 1_000), is_steep((10, 1_000), 101, 1_000), is_steep(None, 1, 1)
    (False, True, True)
    """
    if usual is None:
        return True
    usual_passed, usual_ms = usual
    if passed <= 2 * usual_passed and 2 * gap_ms >= usual_ms:
        return False  # at most four times as fast, as nearly all commits are
    usual_ms = max(1, usual_ms)
    span_ms = max(LEAST_SPAN_MS, min(usual_ms, gap_ms))
    return float(passed) / span_ms > STEEPER * (float(max(0, usual_passed)) / usual_ms)


def tenth_newest_ms(history: bytes, newer: int = 0) -> int | None:
    """When the oldest of the newest RECENT commits was made, if so many ``newer`` ones follow.

    None: then it is one of those.

    >>> tenth_newest_ms(extend(b"", [CommitPoint(5, 1), CommitPoint(7, 4)])), tenth_newest_ms(b"")
    (5, None)
    """
    own = min(len(history), (RECENT - newer) * _SIZE)
    return _TIME(history, len(history) - own)[0] if own > 0 else None


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
