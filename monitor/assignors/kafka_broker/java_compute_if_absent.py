"""The order of a Java ``HashMap`` that is filled by ``computeIfAbsent``, which is another than that of ``put``.

``computeIfAbsent`` puts a new key in front of those that share its place. It makes the table larger before it looks for
the next key, whether that is new or not, and not after it put one in. And a place is crowded with eight keys, one less
than for ``put``: then a table of less than 64 places doubles, and in a larger one the place becomes a tree
(``java_tree_bins``). Source: the behaviour of ``java.util.HashMap`` in Java 17.

Limit: a tree of keys with equal hash codes, whose order differs from one run of a JVM to the next.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Final, TypeVar

import numpy as np

from monitor.assignors.java.hash import Hashes
from monitor.assignors.java.hash_map import first_table, mix
from monitor.assignors.java.tree_bins import SMALLEST_TABLE, BinKey, TreeBin, divide

Key = TypeVar("Key", bound=Hashable)

_CROWD: Final = 8
_WORD: Final = 0xFFFF_FFFF
_SIGN: Final = 0x8000_0000


def computed_map_order(keys: Iterable[Key], hash_of: Callable[[Key], int], capacity: int) -> list[Key]:
    """The distinct keys in the order of iteration.

    Args:
        keys: every key that is looked up, in this order, also those that are there already.
        hash_of: the keys' ``hashCode``.
        capacity: what the map was created with.

    >>> computed_map_order([1, 17, 2], int, capacity=12)
    [17, 1, 2]
    """
    asked = list(keys)
    distinct = list(dict.fromkeys(asked))
    if not distinct:
        return []
    hashes = np.fromiter(map(hash_of, distinct), np.int64, len(distinct))
    looked_up_last = len(distinct) - (asked.count(asked[-1]) == 1)
    table = first_table(capacity)
    while not (crowded := _is_crowded(hashes, table)) and 4 * looked_up_last > 3 * table:
        table *= 2
    if crowded:
        return list(_key_by_key(asked, dict(zip(distinct, hashes.tolist(), strict=True)), capacity))
    newest_first = np.argsort(mix(hashes[::-1]) & (table - 1), kind="stable")
    return [distinct[number] for number in (len(distinct) - 1 - newest_first).tolist()]


def _is_crowded(hashes: Hashes, table: int) -> bool:
    """Whether the keys that come to a table of this size, before it doubles, crowd a place of it."""
    return bool(np.bincount(mix(hashes[: 3 * table // 4 + 1]) & (table - 1)).max() >= _CROWD)


def _key_by_key(asked: Iterable[Key], hashes: Mapping[Key, int], capacity: int) -> Iterator[Key]:
    table = _Table(first_table(capacity))
    found: dict[Key, None] = {}
    for key in asked:
        table.make_room()
        if key not in found:
            table.put(hashes[key])
            found[key] = None
    distinct = list(found)
    return (distinct[number] for number in table)


class _Table:
    """The places of a map, each with the numbers of its keys, counted as they came."""

    def __init__(self, size: int) -> None:
        self._places: list[list[int] | TreeBin] = [[] for _ in range(size)]
        self._mixed: list[int] = []

    def __iter__(self) -> Iterator[int]:
        for place in self._places:
            yield from (key.number for key in place) if isinstance(place, TreeBin) else place

    def make_room(self) -> None:
        """Make the table larger if it is more than three quarters full."""
        if 4 * len(self._mixed) > 3 * len(self._places):
            self._double()

    def put(self, hash_code: int) -> None:
        """Put a new key in."""
        number, mixed = len(self._mixed), _mix(hash_code)
        self._mixed.append(mixed)
        at = mixed & (len(self._places) - 1)
        place = self._places[at]
        if isinstance(place, TreeBin):
            place.put(self._key(number))
            return
        place.insert(0, number)
        if len(place) >= _CROWD:
            if len(self._places) < SMALLEST_TABLE:
                self._double()
            else:
                self._places[at] = TreeBin([self._key(one) for one in place])

    def _double(self) -> None:
        former, size = self._places, len(self._places)
        self._places = [[] for _ in range(2 * size)]
        for at, place in enumerate(former):
            if isinstance(place, TreeBin):
                self._divide(place, size)
                continue
            halves: tuple[list[int], list[int]] = [], []
            for number in place:
                halves[self._mixed[number] & size > 0].append(number)
            self._places[at], self._places[at + size] = halves

    def _divide(self, tree: TreeBin, size: int) -> None:
        for part in divide(tree, size):
            first = part.first if isinstance(part, TreeBin) else part[0]
            whole = part if isinstance(part, TreeBin) else [key.number for key in part]
            self._places[first.mixed & (2 * size - 1)] = whole

    def _key(self, number: int) -> BinKey:
        return BinKey(self._mixed[number], None, number)


def _mix(number: int) -> int:
    word = number & _WORD
    return ((word ^ word >> 16) ^ _SIGN) - _SIGN
