"""Other names for the members of a group: the same string order, and any order in a ``HashMap`` that one likes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.assignors.java.text import string_hashes

_DIGITS: Final = 7
_BASE: Final = 31
_WORD: Final = 2**32


def names_in_order(places: Sequence[int]) -> list[str]:
    r"""Names that sort as they come, and of which name ``i`` has the ``places[i]``-th place in a ``HashMap``.

    A name is its number, and behind it what makes its hash code right: ``String.hashCode`` reads a text as a number to
    the base of 31, and seven digits of that base reach every hash code there is. The hash code of place p is the one
    that the table's mixing (``h ^ h >>> 16``, its own inverse) turns into p; a table has more places than keys, so
    every name has a place of its own.

    Args:
        places: each number below ``len(places)`` once.

    >>> from monitor.assignors.java.order import hash_map_order
    >>> names = names_in_order([2, 0, 1])
    >>> names == sorted(names), [names.index(name) for name in hash_map_order(names)]
    (True, [1, 2, 0])
    """
    width = len(str(len(places)))
    numbers = [f"{number:0{width}d}" for number in range(len(places))]
    hashes = map(int, string_hashes(numbers))
    return [
        number + _ending(hash_code, place ^ place >> 16)
        for number, hash_code, place in zip(numbers, hashes, places, strict=True)
    ]


def _ending(before: int, wanted: int) -> str:
    """What has to follow a text with the first hash code to make it one with the second."""
    missing = (wanted - before * _BASE**_DIGITS) % _WORD
    digits = []
    for _ in range(_DIGITS):
        missing, digit = divmod(missing, _BASE)
        digits.append(chr(digit))
    return "".join(reversed(digits))
