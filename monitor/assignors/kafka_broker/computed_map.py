"""The order of a Java ``HashMap`` that is filled by ``computeIfAbsent``, which is another than that of ``put``.

``computeIfAbsent`` puts a new key in front of those that share its place. It makes the table larger before it looks for
the next key, whether that is new or not, and not after it put one in. Limit: nine keys or more in one place, which
become a tree.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import TypeVar

Key = TypeVar("Key", bound=Hashable)

_WORD = 0xFFFF_FFFF


def computed_map_order(keys: Iterable[Key], hash_of: Callable[[Key], int], capacity: int) -> list[Key]:
    """The distinct keys in the order of iteration.

    Args:
        keys: every key that is asked for, in this order, also those that are there already.
        hash_of: the keys' ``hashCode``.
        capacity: what the map was created with.

    >>> computed_map_order([1, 17, 2], int, capacity=12)
    [17, 1, 2]
    """
    table: list[list[Key]] = [[] for _ in range(1 << max(capacity - 1, 0).bit_length())]
    found: set[Key] = set()
    for key in keys:
        if 4 * len(found) > 3 * len(table):
            table = _doubled(table, hash_of)
        if key not in found:
            table[_place(hash_of(key), len(table))].insert(0, key)
            found.add(key)
    return [key for chain in table for key in chain]


def _doubled(table: list[list[Key]], hash_of: Callable[[Key], int]) -> list[list[Key]]:
    doubled: list[list[Key]] = [[] for _ in range(2 * len(table))]
    for chain in table:
        for key in chain:
            doubled[_place(hash_of(key), len(doubled))].append(key)
    return doubled


def _place(number: int, table: int) -> int:
    word = number & _WORD
    return (word ^ word >> 16) & (table - 1)
