"""Java's orders of strings: the natural one, and the one in which a ``java.util.HashMap`` iterates over its keys."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import Final

_WORD: Final = 0xFFFF_FFFF
_SMALLEST_TABLE: Final = 16


def string_key(text: str) -> bytes:
    r"""A sort key that orders text as ``String.compareTo`` does: by UTF-16 code units.

    Python compares code points, which differs where a character beyond U+FFFF meets one from U+E000 to U+FFFF.

    >>> sorted(["\uffee", "\U0001f600"]) == sorted(["\uffee", "\U0001f600"], key=string_key)
    False
    """
    return text.encode("utf-16-be", "surrogatepass")


def string_hash(text: str) -> int:
    """``String.hashCode``: a signed 32-bit number.

    >>> string_hash("Aa"), string_hash("BB"), string_hash("polygenelubricants")
    (2112, 2112, -2147483648)
    """
    units = string_key(text)
    number = 0
    for unit in struct.unpack(f">{len(units) // 2}H", units):
        number = (31 * number + unit) & _WORD
    return number - (_WORD + 1) if number > _WORD >> 1 else number


def hash_map_order(keys: Iterable[str]) -> list[str]:
    """The distinct keys in the order in which a ``HashMap`` filled with them in the given order iterates.

    Limit: a place of the table that holds more than eight keys becomes a tree, which Java may iterate differently.
    Ids made by brokers do not collide like that; ids chosen for it can.

    >>> hash_map_order(["b", "q", "a"])  # q and a have the same place
    ['q', 'a', 'b']
    """
    distinct = list(dict.fromkeys(keys))
    table = _SMALLEST_TABLE
    while 4 * len(distinct) > 3 * table:
        table *= 2
    return sorted(distinct, key=lambda key: _place(string_hash(key), table))


def _place(number: int, table: int) -> int:
    word = number & _WORD
    return (word ^ word >> 16) & (table - 1)
