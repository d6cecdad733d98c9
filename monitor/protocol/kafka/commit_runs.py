"""Commits of one partition that followed one another, combined into a run without losing what is tracked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from monitor.model import MOST, CommitPoint, InnerJump, Rewind, Standstill
from monitor.model.commit_history import (
    LEAST_SPAN_MS,
    MAX_PACE,
    MIN_PASSED,
    RECENT,
    SHORTEST_MS,
    SLOT_MS,
    STEEPER,
    thin,
)

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
    rewinds: int = 0
    last_rewind: Rewind | None = None
    rewound: int = 0
    first_rewind: Rewind | None = None
    second: CommitPoint | None = None
    fastest: int = 0
    standstill: Standstill | None = None
    lowest: int | None = None
    jumps: tuple[InnerJump, ...] = ()


def combine_commits(codes: Column, offsets: Column, committed_ms: Column, topic_keys: Column) -> Iterator[Run]:
    """One run for each partition, or several where its topic was recreated; in the order of their first rows.

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
    begins = np.concatenate(([0], np.flatnonzero(~same) + 1))
    ends = np.concatenate((begins[1:], [len(code)]))
    steps = _Steps(offset, at_ms, same)
    falls = np.flatnonzero(steps.passed < 0) + 1
    stands = _last_moves(begins, ends, offset)
    places = np.flatnonzero(_select_points(at_ms, same, np.repeat(ends, ends - begins)))
    points = list(map(CommitPoint, at_ms[places].tolist(), offset[places].tolist()))
    steep, fastest = steps.jumps() + 1, steps.fastest(begins).tolist()
    jumps = _inner_jumps(steep, begins, offset, at_ms, has_falls=bool(len(falls)))
    lowest = _lowest_after_first(offset, begins, steep).tolist() if len(falls) else []
    depths = _sum_depths(offset[falls - 1] - offset[falls])
    columns = (
        order[begins],
        order[ends - 1],
        ends - begins,
        *(np.searchsorted(places, edge) for edge in (begins, ends)),
        *(np.searchsorted(falls, edge) for edge in (begins, ends)),
        *(np.searchsorted(steep, edge) for edge in (begins, ends)),
        ends - stands,
        at_ms[stands],
        steps.begin_with_a_jump(begins, ends),
    )
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    for run in np.argsort(order[begins], kind="stable").tolist():
        first_row, last_row, commits, point, next_point, fall, next_fall, jump, next_jump, standing, since_ms, opens = (
            rows[run]
        )
        own = tuple(points[point:next_point])
        if commits == 1:
            yield Run(first_row, last_row, 1, own[0], own)
            continue
        if len(own) == commits:
            first, second = own[0], own[1]
        else:
            begin = int(begins[run])
            first, second = _point(begin, at_ms, offset), _point(begin + 1, at_ms, offset)
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
            second if opens else None,
            fastest[run],
            Standstill(since_ms, standing) if standing > 1 else None,
            lowest[run] if fallen else None,
            tuple(jumps[jump:next_jump]) if next_jump > jump else (),
        )


def _lowest_after_first(offset: Column, begins: Column, steep: Column) -> Column:
    """The lowest offset of each run behind its first one, up to the first jump; the largest number if there is none."""
    later = offset.copy()
    later[begins] = MOST
    edges = np.union1d(begins, steep)
    return np.minimum.reduceat(later, edges)[np.searchsorted(edges, begins)]


def _lowest_after(offset: Column, rows: Column, begins: Column) -> list[int | None]:
    """The lowest offset after each of some rows, up to the next of them or the end of its run; None: none is lower."""
    edges = np.union1d(begins, rows)
    lowest = np.minimum.reduceat(offset, edges)[np.searchsorted(edges, rows)]
    return [low if low < own else None for low, own in zip(lowest.tolist(), offset[rows].tolist(), strict=True)]


def _inner_jumps(rows: Column, begins: Column, offset: Column, at_ms: Column, *, has_falls: bool) -> list[InnerJump]:
    """The jumps, which are at these rows. ``has_falls``: some commits went back."""
    if not len(rows):
        return []
    preceding = np.minimum(rows - begins[np.searchsorted(begins, rows, side="right") - 1], RECENT)
    sources = at_ms[rows - 1], offset[rows - 1], at_ms[rows], offset[rows], preceding, at_ms[rows - preceding]
    lowest = [_lowest_after(offset, rows, begins)] if has_falls else []
    return list(map(InnerJump, *[column.tolist() for column in sources], *lowest))


def _last_moves(begins: Column, ends: Column, offset: Column) -> Column:
    """The row of each run from which on all commits are of one offset: its newest move, or its first row."""
    last = ends - 1
    if not np.any((last > begins) & (offset[last] == offset[last - 1])):
        return last
    moves = np.flatnonzero(offset[1:] != offset[:-1]) + 1
    before = np.concatenate((begins[:1], moves))[np.searchsorted(moves, ends)]
    return np.maximum(before, begins)


class _Steps:
    """How many offsets each commit passes, and how fast, beside the commit before it."""

    __slots__ = ("_at_ms", "_gaps", "_jumps", "_offset", "_same", "passed")

    def __init__(self, offset: Column, at_ms: Column, same: NDArray[np.bool_]) -> None:
        self._offset, self._at_ms, self._same = offset, at_ms, same
        self.passed, self._gaps = np.diff(offset) * same, np.diff(at_ms)
        self._jumps = self._are_jumps()

    def _are_jumps(self) -> NDArray[np.bool_]:
        """Whether each step is a jump; not known of the first step of a partition, which counts as none.

        The same as monitor.model.commit_history.is_steep, column by column.
        """
        passed, gaps = self.passed, self._gaps
        jumps = passed >= MIN_PASSED
        jumps[:1] = False
        jumps[1:] &= self._same[:-1] & ((passed[1:] > 2 * passed[:-1]) | (2 * gaps[1:] < gaps[:-1]))
        steps = np.flatnonzero(jumps)
        usual_ms = np.maximum(1.0, gaps[steps - 1])
        usual = np.maximum(0.0, passed[steps - 1]) / usual_ms
        spans = np.maximum(LEAST_SPAN_MS, np.minimum(usual_ms, gaps[steps]))
        jumps[steps] = passed[steps].astype(np.float64) / spans > STEEPER * usual
        return jumps

    def jumps(self) -> Column:
        """The steps that are jumps, by the row before each."""
        return np.flatnonzero(self._jumps)

    def fastest(self, begins: Column) -> Column:
        """The fastest pace inside each run, in records per second, as monitor.tracking.offsets.jumps.pace_of.

        That of a second commit which may be a jump is left out. Numbers are floating ones: these divide faster, and are
        exact for fewer than 2^43 records.
        """
        paces = np.zeros(len(self.passed) + 1)
        steps = paces[:-1]
        steps[:] = self.passed
        steps *= 1_000
        steps /= np.maximum(SHORTEST_MS, self._gaps)
        steps[np.flatnonzero(self._jumps)] = 0
        opening = begins[begins < len(self.passed)]
        paces[opening[self.passed[opening] >= MIN_PASSED]] = 0
        return np.minimum(MAX_PACE, np.maximum.reduceat(paces, begins)).astype(np.int64)

    def begin_with_a_jump(self, begins: Column, ends: Column) -> NDArray[np.bool_]:
        """Whether the second commit of each run may be a jump."""
        passed = np.concatenate((self.passed, [0]))[begins]
        return (ends - begins > 1) & (passed >= MIN_PASSED)


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


def _point(row: int, at_ms: Column, offset: Column) -> CommitPoint:
    return CommitPoint(int(at_ms[row]), int(offset[row]))


def _rewind(row: int, at_ms: Column, offset: Column) -> Rewind:
    return Rewind(int(at_ms[row]), int(offset[row - 1]), int(offset[row]), before_ms=int(at_ms[row - 1]))
