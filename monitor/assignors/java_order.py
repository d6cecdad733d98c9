"""The orders in which ``java.util.HashMap`` and ``HashSet`` iterate; they depend on nothing but content and history.

A table of places, a power of two, doubles when it is more than three quarters full. A key's place is the lower part of
its hash code, mixed with the upper half. Iteration goes through the places; keys of one place stay in the order in
which they came.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from monitor.assignors.java_text import string_hash, string_key

__all__ = ["hash_map_order", "hash_set_copy_order", "positions", "string_key", "table_size"]

Key = TypeVar("Key", bound=Hashable)

_WORD: Final = 0xFFFF_FFFF
_SMALLEST_TABLE: Final = 16


def hash_map_order(
    keys: Iterable[Key],
    hash_of: Callable[[Key], int] = string_hash,  # type: ignore[assignment]  # the keys are strings then
    capacity: int | None = None,
) -> list[Key]:
    """The distinct keys in the order in which a ``HashMap`` filled with them in the given order iterates.

    Args:
        keys: in the order in which they are put in; of equal ones the first counts.
        hash_of: the keys' ``hashCode``.
        capacity: what the map was created with, if anything.

    Limit: a place of the table that holds more than eight keys becomes a tree, which Java may iterate differently.

    >>> hash_map_order(["b", "q", "a"])  # q and a have the same place
    ['q', 'a', 'b']
    """
    distinct = list(dict.fromkeys(keys))
    table = table_size(len(distinct), capacity)
    return sorted(distinct, key=lambda key: _place(hash_of(key), table))


def hash_set_copy_order(keys: Iterable[Key], hash_of: Callable[[Key], int] = string_hash) -> list[Key]:  # type: ignore[assignment]  # as above
    """The order of ``new HashSet(collection)``, where the collection iterates in the given order."""
    given = list(keys)
    return hash_map_order(given, hash_of, capacity=max(int(len(given) / 0.75) + 1, _SMALLEST_TABLE))


def table_size(keys: int, capacity: int | None = None) -> int:
    """How many places the table has after so many keys were put in one by one.

    >>> table_size(12), table_size(13), table_size(3, capacity=3)
    (16, 32, 4)
    """
    table = _SMALLEST_TABLE if capacity is None else 1 << max(capacity - 1, 0).bit_length()
    while 4 * keys > 3 * table:
        table *= 2
    return table


def positions(hashes: NDArray[np.int64], table: int) -> NDArray[np.int64]:
    """The indexes of the keys in the order of iteration, for many distinct keys in the order in which they came."""
    words = hashes & _WORD
    return np.argsort((words ^ words >> 16) & (table - 1), kind="stable")


def _place(number: int, table: int) -> int:
    word = number & _WORD
    return (word ^ word >> 16) & (table - 1)
