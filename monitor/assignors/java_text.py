"""Java's strings: their order and their hash code."""

from __future__ import annotations

import struct
from functools import lru_cache
from typing import Final

_WORD: Final = 0xFFFF_FFFF


def string_key(text: str) -> bytes:
    r"""A sort key that orders text as ``String.compareTo`` does: by UTF-16 code units.

    Python compares code points, which differs where a character beyond U+FFFF meets one from U+E000 to U+FFFF.

    >>> sorted(["\uffee", "\U0001f600"]) == sorted(["\uffee", "\U0001f600"], key=string_key)
    False
    """
    return text.encode("utf-16-be", "surrogatepass")


@lru_cache(maxsize=65_536)
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
