"""Commits of one partition that followed one another, combined into a run without losing what is tracked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from monitor.model import MOST, CommitPoint, Rewind, Standstill
from monitor.model.commit_history import LEAST_SPAN_MS, MIN_PASSED, RECENT, SHORTEST_MS, SLOT_MS, STEEPER, thin

Column = NDArray[np.int64]

_MAX_UNTHINNED: Final = RECENT + 2
"""So many points need no second look."""


class Run(msgspec.Struct, frozen=True, gc=False):
    """Commits of one partition: what a CommitRun holds, and the rows of the first and the last of them."""

    first_row: int
    last_row: int
    commits: int
    first: CommitPoint
    points: tuple[CommitPoint, ...]
    rewinds: int
    last_rewind: Rewind | None
    rewound: int
    first_rewind: Rewind | None
    second: CommitPoint | None
    fastest: int
    standstill: Standstill | None
    lowest: int | None


def combine_commits(codes: Column, offsets: Column, committed_ms: Column, topic_keys: Column) -> Iterator[Run]:
    """One run for each partition, or several; in the order of their first rows.

    A run ends where the topic was recreated, and before a commit that jumps (monitor.tracking.offsets.jumps).

    Args:
        codes: which partition each row commits.
        offsets: the committed offset of each row.
        committed_ms: when it was committed.
        topic_keys: which topic of that name it is, see OffsetCommitted.topic_key.
    """
    if not len(codes):
        return
    order = np.argsort(codes, kind="stable")
    offset, at_ms, code, topic = offsets[order], committed_ms[order], codes[order], topic_keys[order]
    same = (code[1:] == code[:-1]) & (topic[1:] == topic[:-1])
    steps = _Steps(offset, at_ms, same)
    begins = np.concatenate(([0], np.flatnonzero(~same | steps.are_jumps()) + 1))
    ends = np.concatenate((begins[1:], [len(code)]))
    falls = np.flatnonzero(same & (offset[1:] < offset[:-1])) + 1
    stands = _last_moves(begins, ends, np.flatnonzero(same & (offset[1:] != offset[:-1])) + 1)
    places = np.flatnonzero(_select_points(at_ms, same, np.repeat(ends, ends - begins)))
    points = list(map(CommitPoint, at_ms[places].tolist(), offset[places].tolist()))
    firsts = list(map(CommitPoint, at_ms[begins].tolist(), offset[begins].tolist()))
    seconds, fastest = steps.seconds(begins, ends), steps.fastest(begins).tolist()
    lowest = _lowest_after_first(offset, begins).tolist() if len(falls) else []
    depths = _sum_depths(offset[falls - 1] - offset[falls])
    columns = (
        order[begins],
        order[ends - 1],
        ends - begins,
        *(np.searchsorted(places, edge) for edge in (begins, ends)),
        *(np.searchsorted(falls, edge) for edge in (begins, ends)),
        ends - stands,
        at_ms[stands],
    )
    rows = list(zip(firsts, *(column.tolist() for column in columns), strict=True))
    for run in np.argsort(order[begins], kind="stable").tolist():
        first, first_row, last_row, commits, point, next_point, fall, next_fall, standing, stands_ms = rows[run]
        own = tuple(points[point:next_point])
        fallen = next_fall - fall
        yield Run(
            first_row,
            last_row,
            commits,
            first,
            own if len(own) <= _MAX_UNTHINNED else thin(own),
            fallen,
            _rewind(int(falls[next_fall - 1]), at_ms, offset) if fallen else None,
            min(MOST, int(depths[next_fall] - depths[fall])) if fallen else 0,
            _rewind(int(falls[fall]), at_ms, offset) if fallen > 1 else None,
            seconds.get(run),
            fastest[run],
            Standstill(stands_ms, standing) if standing > 1 else None,
            lowest[run] if fallen else None,
        )


def _lowest_after_first(offset: Column, begins: Column) -> Column:
    """The lowest offset of each run, its first one left out; of a run of one commit, the largest number."""
    later = offset.copy()
    later[begins] = MOST
    return np.minimum.reduceat(later, begins)


def _last_moves(begins: Column, ends: Column, moves: Column) -> Column:
    """The row of each run from which on all commits are of one offset: its newest move, or its first row."""
    before = np.concatenate((begins[:1], moves))[np.searchsorted(moves, ends)]
    return np.maximum(before, begins)


class _Steps:
    """How many offsets each commit passes, and how fast, beside the commit before it."""

    __slots__ = ("_at_ms", "_offset", "_passed", "_same")

    def __init__(self, offset: Column, at_ms: Column, same: NDArray[np.bool_]) -> None:
        self._offset, self._at_ms, self._same = offset, at_ms, same
        self._passed = np.where(same, np.diff(offset), 0)

    def are_jumps(self) -> NDArray[np.bool_]:
        """Whether each step is a jump; not known of the first step of a partition, which counts as none.

        The same as monitor.model.commit_history.is_steep, column by column.
        """
        jumps = self._passed >= MIN_PASSED
        if not jumps.any():
            return jumps
        gaps = np.maximum(1.0, np.diff(self._at_ms).astype(np.float64))
        usual = np.maximum(0.0, self._passed[:-1].astype(np.float64)) / gaps[:-1]
        spans = np.maximum(LEAST_SPAN_MS, np.minimum(gaps[:-1], gaps[1:]))
        jumps[:1] = False
        jumps[1:] &= self._same[:-1] & (self._passed[1:].astype(np.float64) / spans > STEEPER * usual)
        return jumps

    def fastest(self, begins: Column) -> Column:
        """The fastest pace inside each run, in records per second, as monitor.tracking.offsets.jumps.pace_between.

        That of a second commit which may be a jump is left out.
        """
        within = self._same.copy()
        within[begins[1:] - 1] = False
        opening = begins[begins < len(within)]
        within[opening] &= self._passed[opening] < MIN_PASSED
        passed = np.where(within, np.maximum(0, self._passed), 0)
        most = np.iinfo(np.int64).max // 1_000
        paces = np.minimum(passed, most) * 1_000 // np.maximum(SHORTEST_MS, np.diff(self._at_ms))
        return np.maximum.reduceat(np.concatenate((paces, [0])), begins)

    def seconds(self, begins: Column, ends: Column) -> dict[int, CommitPoint]:
        """The second commits of those runs where it may be a jump, by the number of the run."""
        follows = np.flatnonzero(ends - begins > 1)
        found = follows[self._passed[begins[follows]] >= MIN_PASSED]
        rows = begins[found] + 1
        points = map(CommitPoint, self._at_ms[rows].tolist(), self._offset[rows].tolist())
        return dict(zip(found.tolist(), points, strict=True))


def _sum_depths(depths: Column) -> NDArray[np.generic]:
    """The sums of the first so many depths, exact also where they are beyond 64 bits."""
    fits = not len(depths) or int(depths.max()) <= MOST // len(depths)
    return np.concatenate(([0], np.cumsum(depths if fits else depths.astype(object))))


def _select_points(at_ms: Column, same: NDArray[np.bool_], ends: Column) -> NDArray[np.bool_]:
    """The rows that a history keeps: the newest of each run, and the last of each slot (see commit_history)."""
    recent = ends - np.arange(len(at_ms)) <= RECENT
    slots = at_ms // SLOT_MS
    recent[:-1] |= same & (slots[1:] != slots[:-1])
    return recent


def _rewind(row: int, at_ms: Column, offset: Column) -> Rewind:
    return Rewind(int(at_ms[row]), int(offset[row - 1]), int(offset[row]), before_ms=int(at_ms[row - 1]))
