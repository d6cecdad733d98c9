"""The orders of Scala 2.11's maps and sets, which decide between partitions with equal hash codes.

A ``mutable.HashMap`` keeps a table of 16 places that doubles when it is more than three quarters full, iterates from
the last place to the first, and within a place from the newest key to the oldest. An immutable set keeps up to four
elements as they came and more of them in a tree of five bits a level.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from monitor.assignors.java.text import string_hash

_WORD: Final = 0xFFFF_FFFF
_FIRST_TABLE: Final = 16
_SEED: Final = 4  # the bits of the first table's mask; it stays when the table grows
_MIX: Final = 0x9E3775CD
_SMALL_SET: Final = 4


def mutable_map_order(keys: Iterable[str]) -> list[str]:
    """The distinct keys in the order in which a ``mutable.HashMap`` filled with them in the given order iterates.

    >>> mutable_map_order(["Aa", "BB"])  # equal hash codes
    ['BB', 'Aa']
    """
    table: list[list[str]] = [[] for _ in range(_FIRST_TABLE)]
    for number, key in enumerate(dict.fromkeys(keys), start=1):
        table[_place(key, len(table))].insert(0, key)
        if 4 * number > 3 * len(table):
            table = _grown(table)
    return [key for chain in reversed(table) for key in chain]


def _grown(table: Sequence[Sequence[str]]) -> list[list[str]]:
    grown: list[list[str]] = [[] for _ in range(2 * len(table))]
    for chain in reversed(table):
        for key in chain:
            grown[_place(key, len(grown))].insert(0, key)
    return grown


def _place(key: str, table: int) -> int:
    word = int.from_bytes((string_hash(key) * _MIX & _WORD).to_bytes(4, "little")) * _MIX & _WORD
    rotated = (word >> _SEED | word << 32 - _SEED) & _WORD
    return rotated >> (33 - table.bit_length())


def printed_set(threads: Sequence[tuple[str, int]]) -> str:
    """How Scala prints an immutable set of ``ConsumerThreadId`` (consumer, number) that came in the given order."""
    ordered = list(threads)
    if len(ordered) > _SMALL_SET:
        ordered.sort(key=lambda thread: _tree_path(_product_hash(*thread)))
    return f"Set({', '.join(f'{consumer}-{number}' for consumer, number in ordered)})"


def _tree_path(number: int) -> tuple[int, ...]:
    word = (number + (~(number << 9) & _WORD)) & _WORD
    word ^= word >> 14
    word = (word + (word << 4)) & _WORD
    word ^= word >> 10
    return tuple(word >> shift & 31 for shift in range(0, 32, 5))


def _product_hash(consumer: str, number: int) -> int:
    mixed = _murmur(_murmur(0xCAFEBABE, string_hash(consumer) & _WORD), number) ^ 2
    mixed = (mixed ^ mixed >> 16) * 0x85EBCA6B & _WORD
    mixed = (mixed ^ mixed >> 13) * 0xC2B2AE35 & _WORD
    return mixed ^ mixed >> 16


def _murmur(word: int, data: int) -> int:
    data = data * 0xCC9E2D51 & _WORD
    data = (data << 15 | data >> 17) & _WORD
    word ^= data * 0x1B873593 & _WORD
    word = (word << 13 | word >> 19) & _WORD
    return (word * 5 + 0xE6546B64) & _WORD
