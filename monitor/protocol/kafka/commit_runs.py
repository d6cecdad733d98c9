"""Commits of one partition that followed one another, combined into a run without losing what is tracked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from monitor.model import MOST, CommitPoint, Rewind, Standstill
from monitor.model.commit_history import RECENT, SLOT_MS, thin

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
    standstill: Standstill | None


def combine_commits(codes: Column, offsets: Column, committed_ms: Column, topic_keys: Column) -> Iterator[Run]:
    """One run for each partition, or several where its topic was made anew between; in the order of their first rows.

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
    falls = np.flatnonzero(same & (offset[1:] < offset[:-1])) + 1
    stands = _last_moves(begins, ends, np.flatnonzero(same & (offset[1:] != offset[:-1])) + 1)
    places = np.flatnonzero(_select_points(at_ms, same, np.repeat(ends, ends - begins)))
    points = list(map(CommitPoint, at_ms[places].tolist(), offset[places].tolist()))
    firsts = list(map(CommitPoint, at_ms[begins].tolist(), offset[begins].tolist()))
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
            Standstill(stands_ms, standing) if standing > 1 else None,
        )


def _last_moves(begins: Column, ends: Column, moves: Column) -> Column:
    """The row of each run from which on all commits are of one offset: its newest move, or its first row."""
    before = np.concatenate((begins[:1], moves))[np.searchsorted(moves, ends)]
    return np.maximum(before, begins)


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
    return Rewind(at_ms=int(at_ms[row]), before=int(offset[row - 1]), after=int(offset[row]))
