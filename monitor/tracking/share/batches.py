"""Batches of records: how those of an update join those that are known, and what that changes.

Words: the *rank* of a batch is its delivery count, then its state. Of two batches that have an offset in common, the
one of the higher rank counts there, not the newer one: a release of records that were never delivered has a lower count
than the release before it, and does not undo that. Source: ``PersisterStateBatchCombiner`` of Kafka's share
coordinator.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from heapq import heappop, heappush
from operator import attrgetter
from typing import Final

import msgspec

from monitor.model import ShareBatch

Batches = tuple[ShareBatch, ...]
"""Sorted, without overlaps, and no two of them that could be one."""

MAX_BATCHES: Final = 10_000
"""How many batches of a partition are kept. A broker lets at most so many of its records be under way
(``group.share.partition.max.record.locks``); only a forged log has more, and loses those of the highest offsets."""

_FIRST: Final = attrgetter("first")
_LAST: Final = attrgetter("last")


class Change(msgspec.Struct, frozen=True, gc=False):
    """Records that have another state or delivery count than before; ``before`` None: there was no batch of them."""

    now: ShareBatch
    before: ShareBatch | None


class Merged(msgspec.Struct, frozen=True):
    """The batches that there are now, and what is different in them."""

    batches: Batches
    changes: tuple[Change, ...]


def combine_batches(batches: Sequence[ShareBatch]) -> Batches:
    """The batches without overlaps: at each offset the one of the highest rank.

    >>> combine_batches([ShareBatch(0, 9, 0, 2), ShareBatch(3, 4, 0, 1), ShareBatch(8, 11, 2, 2)])
    (ShareBatch(first=0, last=7, state=0, deliveries=2), ShareBatch(first=8, last=11, state=2, deliveries=2))
    """
    ordered = sorted(batches, key=_FIRST)
    combined: list[ShareBatch] = []
    begun: list[tuple[int, int, int]] = []  # those that the position may lie in, the highest rank first
    position, coming = 0, 0
    while begun or coming < len(ordered):
        if not begun:
            position = max(position, ordered[coming].first)
        while coming < len(ordered) and ordered[coming].first <= position:
            batch = ordered[coming]
            heappush(begun, (-batch.deliveries, -batch.state, batch.last))
            coming += 1
        while begun and begun[0][2] < position:
            heappop(begun)
        if begun:
            deliveries, state, last = begun[0]
            end = last if coming == len(ordered) else min(last, ordered[coming].first - 1)
            _append(combined, ShareBatch(position, end, -state, -deliveries))
            position = end + 1
    return tuple(combined)


def merge_batches(known: Batches, new: Sequence[ShareBatch]) -> Merged:
    """The known batches with those of an update. Only the known ones near it are looked at.

    >>> merged = merge_batches((ShareBatch(0, 9, 0, 1),), [ShareBatch(0, 4, 2, 1)])
    >>> [(batch.first, batch.last, batch.state) for batch in merged.batches]
    [(0, 4, 2), (5, 9, 0)]
    >>> [(change.now.first, change.now.last) for change in merged.changes]
    [(0, 4)]
    """
    if not new:
        return Merged(known, ())
    begin = bisect_left(known, min(map(_FIRST, new)) - 1, key=_LAST)
    end = bisect_right(known, max(map(_LAST, new)) + 1, key=_FIRST)
    near = known[begin:end]
    combined = combine_batches((*near, *new))
    changes = tuple(changes_between(near, combined))
    return Merged((known[:begin] + combined + known[end:])[:MAX_BATCHES], changes)


def replace_batches(known: Batches, new: Sequence[ShareBatch]) -> Merged:
    """The batches of a snapshot in the place of those that were known."""
    combined = combine_batches(new)[:MAX_BATCHES]
    return Merged(combined, tuple(changes_between(known, combined)))


def cut_batches(batches: Batches, start: int) -> Batches:
    """The batches without what lies before an offset.

    >>> cut_batches((ShareBatch(0, 1, 2, 1), ShareBatch(2, 5, 0, 1)), 4)
    (ShareBatch(first=4, last=5, state=0, deliveries=1),)
    """
    if not batches or batches[0].first >= start:
        return batches
    kept = batches[bisect_left(batches, start, key=_LAST) :]
    if not kept or kept[0].first >= start:
        return kept
    return (_part(kept[0], start, kept[0].last), *kept[1:])


def changes_between(before: Batches, after: Batches) -> Iterator[Change]:
    """Every piece of the batches after that differs from what was there before, in the order of their offsets."""
    at = 0
    for now in after:
        position = now.first
        while position <= now.last:
            while at < len(before) and before[at].last < position:
                at += 1
            was = before[at] if at < len(before) and before[at].first <= now.last else None
            if was is None or was.first > position:
                end = now.last if was is None else was.first - 1
                yield Change(_part(now, position, end), None)
            else:
                end = min(now.last, was.last)
                if (was.state, was.deliveries) != (now.state, now.deliveries):
                    yield Change(_part(now, position, end), was)
            position = end + 1


def _append(batches: list[ShareBatch], batch: ShareBatch) -> None:
    last = batches[-1] if batches else None
    if last and last.last + 1 == batch.first and (last.state, last.deliveries) == (batch.state, batch.deliveries):
        batches[-1] = _part(last, last.first, batch.last)
    else:
        batches.append(batch)


def _part(batch: ShareBatch, first: int, last: int) -> ShareBatch:
    return ShareBatch(first, last, batch.state, batch.deliveries)
