"""The iteration order of ``java.util.HashMap`` for many keys at once, from nothing but their hash codes.

A table of places, a power of two, doubles when it is more than three quarters full. A key's place is the lower part of
its mixed hash code, ``h ^ h >>> 16``. Iteration goes through the places; keys of one place come in the order in which
they were put in, unless the place is or was a tree (see ``java_tree_bins``).

Here, a map's life is a row of *stages*, in each of which the table keeps its size. Only places that become trees in
some stage are rebuilt key by key (``java_crowds``); for the others it is enough to sort.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitor.assignors.java.tree_bins import SMALLEST_TABLE, TREE_SIZE
from monitor.assignors.java.treeified_bins import Crowds, NaturalOf, Numbers
from monitor.model import Value

_WORD: Final = 0xFFFF_FFFF
_USUAL_TABLE: Final = 16
_LARGEST_TABLE: Final = 1 << 30


class Stage(Value):
    """While the table has this many places, the map grows until it holds this many keys."""

    table: int
    keys: int


class Iteration(Value):
    """How a map iterates.

    Attributes:
        positions: the numbers of the keys, counted from 0 as they were put in, in the order of iteration.
        decided: False if another run of the JVM could iterate in another order, because there was a tree of keys with
            equal hash codes whose class is not ``Comparable``. The keys of that place are then in the order in which
            they came.
    """

    positions: Numbers
    decided: bool


def first_table(capacity: int | None = None) -> int:
    """The size of the table of a new map.

    >>> first_table(), first_table(0), first_table(17)
    (16, 1, 32)
    """
    if capacity is None:
        return _USUAL_TABLE
    return min(1 << max(capacity - 1, 0).bit_length(), _LARGEST_TABLE)


def mix(hashes: NDArray[np.integer]) -> Numbers:
    """The mixed hash codes, as unsigned numbers."""
    words = hashes.astype(np.int64) & _WORD
    return words ^ words >> 16


def stages(mixed: Numbers, capacity: int | None = None) -> list[Stage]:
    """The stages of a map into which distinct keys with these mixed hash codes are put, one by one.

    A small table also doubles whenever a key comes to a place that has eight already.

    >>> stages(np.arange(13))
    [Stage(table=16, keys=13), Stage(table=32, keys=13)]
    >>> stages(np.zeros(11, np.int64))
    [Stage(table=16, keys=9), Stage(table=32, keys=10), Stage(table=64, keys=11)]
    """
    table = first_table(capacity)
    found = []
    early = mixed[:SMALLEST_TABLE].tolist()
    for number in range(len(early)):
        if table >= SMALLEST_TABLE:
            break
        if number + 1 == _full(table) or _company(early, number, table) >= TREE_SIZE:
            found.append(Stage(table=table, keys=number + 1))
            table *= 2
    while _full(table) <= len(mixed) and table < _LARGEST_TABLE:
        found.append(Stage(table=table, keys=_full(table)))
        table *= 2
    found.append(Stage(table=table, keys=len(mixed)))
    return found


def iterate(hashes: NDArray[np.integer], natural_of: NaturalOf | None = None, capacity: int | None = None) -> Iteration:
    """How a map iterates into which distinct keys were put, one by one.

    Args:
        hashes: the hash codes of the keys in the order in which they are put in; the lowest 32 bits count.
        natural_of: the sort key of a key, by its number, if their class is ``Comparable``. Called for few keys or none.
        capacity: what the map was created with, if anything.

    >>> iterate(np.array([98, 113, 97])).positions  # b, q, a: q and a have the same place
    array([1, 2, 0])
    """
    mixed = mix(hashes)
    life = stages(mixed, capacity)
    crowds = Crowds(mixed, natural_of)
    start = 0
    for stage in life:
        if stage.table >= SMALLEST_TABLE:
            crowds.grow(stage.table, start, stage.keys)
        start = stage.keys
    places = mixed & (life[-1].table - 1)
    return Iteration(positions=_sorted(places, crowds.ranks()), decided=crowds.decided)


def _full(table: int) -> int:
    """The number of keys with which the table doubles."""
    return table * 3 // 4 + 1


def _company(mixed: Sequence[int], number: int, table: int) -> int:
    """How many of the first keys are in the place of this one, itself included."""
    return sum((mixed[number] ^ other) & (table - 1) == 0 for other in mixed[: number + 1])


def _sorted(places: Numbers, ranks: Numbers | None) -> Numbers:
    """The numbers of the keys by place, then by rank. Both fit into one number, and numbers are sorted fast."""
    if ranks is None:
        both = places << 32 | np.arange(len(places))
        both.sort()
        return both & _WORD
    both = places << 32 | ranks
    both.sort()
    number_of_rank = np.empty_like(ranks)
    number_of_rank[ranks] = np.arange(len(ranks))
    both &= _WORD
    return np.take(number_of_rank, both)
