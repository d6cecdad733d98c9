"""Finds the places of a hash table that are trees, and keeps up with what trees do to the order of their keys.

A place that Java would make a tree of keys with equal hash codes and no order of their own (not ``Comparable``) is left
in the order in which its keys came, since Java's own order is another one in every run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from monitor.assignors.java.tree_bins import TREE_SIZE, BinKey, TreeBin, divide, fill

Numbers = NDArray[np.int64]
NaturalOf = Callable[[int], "bytes | msgspec.Struct"]
"""Gives, for the number of a key, what sorts as the class of the keys does."""

_SIGN: Final = 0x8000_0000


class Crowds:
    """The keys of a map that is growing, with a *rank* for each: keys of one place are iterated by their rank.

    A key's rank is its number, until trees give some keys each other's ranks.
    """

    def __init__(self, mixed: Numbers, natural_of: NaturalOf | None) -> None:
        """A map that has no keys yet.

        Args:
            mixed: the mixed hash codes of all keys that will come, as unsigned numbers.
            natural_of: the order of their class, if it is ``Comparable``.
        """
        self.decided = True
        self._mixed = mixed
        self._natural_of = natural_of
        self._ranks: Numbers | None = None
        self._table = 0
        self._trees: dict[int, TreeBin] = {}

    def ranks(self) -> Numbers | None:
        """The ranks of all keys; None if they are their numbers."""
        for tree in self._trees.values():
            self._settle(tree)
        return self._ranks

    def grow(self, table: int, start: int, stop: int) -> None:
        """Put in the keys from number start to stop, into a table of at least 64 places.

        Args:
            table: its size, twice that of the call before.
            start: the number of keys that are there already.
            stop: the number of keys then.
        """
        if self._trees and table > self._table:
            self._divide()
        self._table = table
        places = self._mixed[:stop] & (table - 1)
        growing = self._growing(places, start)
        if not growing.size:
            return
        members = np.flatnonzero(np.isin(places, growing))
        undecided = self._undecided(members)
        for place, numbers in self._by_place(members):
            if place in undecided:
                self._give_up(place)
            else:
                self._put(place, numbers, start)

    def _growing(self, places: Numbers, start: int) -> Numbers:
        """The places that are trees, or become trees, and to which new keys come."""
        ordered = np.sort(places)
        crowded = ordered[TREE_SIZE - 1 :][ordered[TREE_SIZE - 1 :] == ordered[: 1 - TREE_SIZE]]
        candidates = np.union1d(crowded, np.fromiter(self._trees, np.int64, len(self._trees)))
        return candidates[np.isin(candidates, places[start:])] if candidates.size else candidates

    def _undecided(self, members: Numbers) -> frozenset[int]:
        """The places of these keys where two keys have equal hash codes and no order of their own."""
        if self._natural_of is not None:
            return frozenset()
        mixed = np.sort(self._mixed[members])
        return frozenset((mixed[1:][mixed[1:] == mixed[:-1]] & (self._table - 1)).tolist())

    def _by_place(self, members: Numbers) -> Iterator[tuple[int, Numbers]]:
        """The places of these keys, each with the numbers of its keys in the order of their ranks."""
        ranks = members if self._ranks is None else self._ranks[members]
        places = self._mixed[members] & (self._table - 1)
        order = np.lexsort((ranks, places))
        places, members = places[order], members[order]
        starts = np.flatnonzero(np.diff(places, prepend=-1))
        return zip(places[starts].tolist(), np.split(members, starts[1:]), strict=True)

    def _put(self, place: int, numbers: Numbers, start: int) -> None:
        coming = map(self._key, numbers[numbers >= start].tolist())
        if (tree := self._trees.get(place)) is not None:
            for key in coming:
                tree.put(key)
            return
        filled = fill([self._key(number) for number in numbers[numbers < start].tolist()], coming)
        if isinstance(filled, TreeBin):
            self._trees[place] = filled

    def _give_up(self, place: int) -> None:
        self.decided = False
        if (tree := self._trees.pop(place, None)) is not None:
            self._settle(tree)

    def _divide(self) -> None:
        """The table doubles."""
        trees, self._trees = self._trees, {}
        for tree in trees.values():
            for part in divide(tree, self._table):
                if isinstance(part, TreeBin):
                    self._trees[part.first.mixed & (2 * self._table - 1)] = part
                else:
                    self._settle(part)

    def _settle(self, keys: Iterable[BinKey]) -> None:
        """Give the keys of one place their ranks in this order."""
        if self._ranks is None:
            self._ranks = np.arange(len(self._mixed))
        numbers = [key.number for key in keys]
        self._ranks[numbers] = np.sort(self._ranks[numbers])

    def _key(self, number: int) -> BinKey:
        mixed = (int(self._mixed[number]) ^ _SIGN) - _SIGN
        return BinKey(mixed, None if self._natural_of is None else self._natural_of(number), number)
