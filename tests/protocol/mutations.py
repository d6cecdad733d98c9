"""Bytes overwritten, cut, put in, lengths made huge, parts of others put in their place."""

from __future__ import annotations

import random

_LENGTHS = (
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff",
    b"\x80\x00\x00\x00",
    b"\xff\xff",
    b"\x7f\xff",
    b"\x80\x80\x80\x80\x08",
)


def mutated(source: random.Random, data: bytes, other: bytes) -> bytes:
    """The bytes with one to three changes; ``other`` are bytes to take parts of."""
    for _ in range(source.randint(1, 3)):
        start = source.randint(0, len(data))
        stop = min(len(data), start + source.choice((0, 1, 1, 2, 4, 8)))
        match source.randrange(5):
            case 0:
                middle = source.randbytes(stop - start)
            case 1:
                middle = source.choice(_LENGTHS)
            case 2:
                cut = source.randint(0, len(other))
                middle = other[cut : cut + source.randint(0, 16)]
            case 3:
                middle = bytes(byte ^ 1 << source.randrange(8) for byte in data[start:stop])
            case _:
                middle = b""
        data = data[:start] + middle + data[stop:]
    return data
