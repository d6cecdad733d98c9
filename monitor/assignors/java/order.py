"""The orders in which ``java.util.HashMap`` and ``HashSet`` iterate; they depend on nothing but content and history.

They are Java 17's, trees included (see ``java_hash_map`` for the rules; only copies depend on the version of Java, see
``set_copy_capacity``). In one case the running JVM decides: a place of the table becomes a tree, and two of its keys
have equal hash codes and are of a class that is not ``Comparable``. ``TopicPartition`` is such a class, and there the
order depends on ``System.identityHashCode``; see ``Iteration.decided``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, Final, TypeVar

import msgspec
import numpy as np

from monitor.assignors.java.hash_map import first_table, iterate
from monitor.assignors.java.text import string_hash, string_key
from monitor.assignors.java.tree_bins import TREE_SIZE
from monitor.assignors.java.treeified_bins import NaturalOf
from monitor.assignors.java.uuid import Uuid

__all__ = [
    "hash_map_order",
    "hash_set_copy_order",
    "lazy_hash_map_order",
    "set_copy_capacity",
    "string_hash",
    "string_key",
    "table_size",
]

Key = TypeVar("Key", bound=Hashable)
Natural = Callable[[Any], "bytes | msgspec.Struct"]
"""Gives the sort key of a key: how Java's ``compareTo`` orders the class."""

_WORD: Final = 0xFFFF_FFFF


def hash_map_order(
    keys: Iterable[Key],
    hash_of: Callable[[Key], int] = string_hash,
    capacity: int | None = None,
    natural: Natural | None = None,
) -> list[Key]:
    """The distinct keys in the order in which a ``HashMap`` filled with them in the given order iterates.

    Args:
        keys: in the order in which they are put in, one by one; of equal ones the first counts.
        hash_of: the keys' ``hashCode``.
        capacity: what the map was created with, if anything.
        natural: the order of the keys' class, if it is ``Comparable``. Strings and Uuids need none.

    >>> hash_map_order(["b", "q", "a"])  # q and a have the same place
    ['q', 'a', 'b']
    """
    distinct = list(dict.fromkeys(keys))
    hashes = [hash_of(key) for key in distinct]
    places = _places(hashes, first_table(capacity))
    if _is_roomy(places):
        places = _places(hashes, table_size(len(distinct), capacity))
        return [distinct[number] for number in sorted(range(len(distinct)), key=places.__getitem__)]
    found = iterate(np.array(hashes, np.int64), _by_number(distinct, natural), capacity)
    return [distinct[number] for number in found.positions.tolist()]


def lazy_hash_map_order(keys: Sequence[str], capacity: int) -> list[str]:
    """The distinct keys in the order of a ``HashMap`` that is filled by ``computeIfAbsent`` alone.

    That puts a new key before those of its place, and doubles the table at the call after the one that filled it.
    Places that become trees are not rebuilt.

    Args:
        keys: of each call, in the order of the calls.
        capacity: what the map was created with.

    >>> lazy_hash_map_order(["b", "q", "a"], capacity=16)  # q and a have the same place
    ['a', 'q', 'b']
    """
    distinct = list(dict.fromkeys(keys))
    before_last = len(set(keys[:-1]))
    places = _places(map(string_hash, distinct), table_size(before_last, capacity))
    return [distinct[number] for number in sorted(range(len(distinct)), key=lambda number: (places[number], -number))]


def hash_set_copy_order(keys: Iterable[Key], hash_of: Callable[[Key], int] = string_hash) -> list[Key]:
    """The order of ``new HashSet(collection)``, where the collection iterates in the given order.

    If the collection is itself a hash map's key set or a ``HashSet``, the keys have to be given in *its* order: keys of
    one place stay in it. If it is a list, keys that occur twice make the table larger, as in Java.

    >>> hash_set_copy_order(["a", "q"]), hash_set_copy_order(hash_map_order(["b", "q", "a"]))
    (['a', 'q'], ['q', 'a', 'b'])
    """
    given = list(keys)
    return hash_map_order(given, hash_of, set_copy_capacity(len(given)))


def set_copy_capacity(size: int) -> int:
    """With which capacity ``new HashSet(collection)`` creates its map, for a collection of this size.

    So it is in Java 8 to 18, which gave the golden vectors. Since Java 19 the capacity is exact, so that a collection
    of 12, 24, 48, ... keys gets a table half as large.

    >>> set_copy_capacity(3), set_copy_capacity(12)
    (16, 17)
    """
    return max(int(np.float32(size) / np.float32(0.75)) + 1, 16)


def table_size(keys: int, capacity: int | None = None) -> int:
    """How many places the table has after so many keys were put in one by one, if no place became crowded.

    >>> table_size(12), table_size(13), table_size(3, capacity=3)
    (16, 32, 4)
    """
    table = first_table(capacity)
    while 4 * keys > 3 * table:
        table *= 2
    return table


def _places(hashes: Iterable[int], table: int) -> list[int]:
    last = table - 1
    return [(number ^ (number & _WORD) >> 16) & last for number in hashes]


def _is_roomy(places: Sequence[int]) -> bool:
    """Whether the first table of a map never comes to trees, if its keys have these places."""
    return len(places) < TREE_SIZE or max(Counter(places).values()) < TREE_SIZE


def _by_number(keys: Sequence[Key], natural: Natural | None) -> NaturalOf | None:
    """The order of the keys' class, for the numbers of the keys."""
    if natural is None:
        natural = _natural_of_class(keys[0])
    return None if natural is None else lambda number: natural(keys[number])


def _natural_of_class(key: Hashable) -> Natural | None:
    match key:
        case str():
            return string_key
        case Uuid():
            return lambda uuid: uuid
        case _:
            return None
