"""Java's strings: their order and their hash code."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

_WORD: Final = 0xFFFF_FFFF
_BASE: Final = 31


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
        number = (_BASE * number + unit) & _WORD
    return number - (_WORD + 1) if number > _WORD >> 1 else number


def string_hashes(texts: Sequence[str]) -> NDArray[np.int64]:
    """``String.hashCode`` of many strings, in their order: a few times faster than one by one, and nothing is kept.

    A hash code is the code units read as the digits of a number to the base of 31, of which 32 bits are kept. Texts of
    equal length are therefore a matrix, to be multiplied with the powers of 31.

    >>> string_hashes(["Aa", "polygenelubricants", ""]).tolist()
    [2112, -2147483648, 0]
    """
    coded = [string_key(text) for text in texts]
    by_length: dict[int, list[int]] = {}
    for number, units in enumerate(coded):
        by_length.setdefault(len(units) // 2, []).append(number)
    hashes = np.empty(len(coded), np.int64)
    for length, numbers in by_length.items():
        digits = np.frombuffer(b"".join([coded[number] for number in numbers]), ">u2").reshape(len(numbers), length)
        hashes[numbers] = (digits.astype(np.uint32) @ _powers(length)).view(np.int32)
    return hashes


@lru_cache(maxsize=512)
def _powers(length: int) -> NDArray[np.uint32]:
    """31 to the power of length - 1, length - 2, ... 0, in 32 bits."""
    falling = np.full(length, _BASE, np.uint32)
    falling[-1:] = 1
    powers: NDArray[np.uint32] = np.multiply.accumulate(falling[::-1], dtype=np.uint32)[::-1].copy()
    powers.flags.writeable = False
    return powers
