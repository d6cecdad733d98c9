"""Texts that are compressed apart, in different processes, and joined into one gzip stream without being read again.

Each piece is raw deflate that ends at a byte border and refers to nothing before it, so pieces may follow one another
in any order (RFC 1951). What gzip wants besides is a checksum of the whole, which follows from those of the pieces.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from struct import pack, unpack
from typing import Final

from monitor.model import Deflated, Value

_LEVEL: Final = 1
"""The text repeats itself so much that harder work gains nothing (7 % of the size is left, 6 % at level 6)."""

_HEAD: Final = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
_END: Final = b"\x03\x00"  # an empty last block
_POLYNOMIAL: Final = 0xEDB88320
_BITS: Final = 32

_FED: Final = 8_192
"""Bytes that are unpacked in one go, unless they become more than is wanted at once."""

_Matrix = tuple[int, ...]


def deflated(text: bytes) -> Deflated:
    """The text as a piece."""
    squeeze = zlib.compressobj(_LEVEL, zlib.DEFLATED, -zlib.MAX_WBITS)
    data = squeeze.compress(text) + squeeze.flush(zlib.Z_SYNC_FLUSH)
    return Deflated(data=data, crc=zlib.crc32(text), size=len(text), lines=text.count(b"\n"))


def inflate(piece: Deflated) -> bytes:
    """The text of a piece.

    >>> inflate(deflated(b"text"))
    b'text'
    """
    return zlib.decompressobj(-zlib.MAX_WBITS).decompress(piece.data)


class Run(Value):
    """Pieces that follow one another in several streams: their checksum, which costs the most, is made once."""

    parts: tuple[bytes, ...]
    crc: int
    size: int


def run_of(pieces: Iterable[Deflated]) -> Run:
    """The pieces in this order."""
    known = list(pieces)
    crc, size = 0, 0
    for piece in known:
        crc, size = joined_crc(crc, piece.crc, piece.size), size + piece.size
    return Run(parts=tuple([piece.data for piece in known]), crc=crc, size=size)


def gzip_of(runs: Iterable[Run]) -> bytes:
    """One gzip stream of all runs in this order.

    >>> zlib.decompress(gzip_of([run_of([deflated(b"one "), deflated(b"")]), run_of([deflated(b"text")])]), 31)
    b'one text'
    """
    parts, crc, size = [_HEAD], 0, 0
    for run in runs:
        parts += run.parts
        crc, size = joined_crc(crc, run.crc, run.size), size + run.size
    return b"".join((*parts, _END, pack("<LL", crc, size & 0xFFFFFFFF)))


def followed(run: Run, packed: bytes) -> tuple[bytes, memoryview, bytes]:
    """One gzip stream, in three pieces, of this run and then of the text of another stream, which gzip_of has made.

    The second piece is of that one's own bytes: however many read it, it is held once.

    >>> packed = gzip_of([run_of([deflated(b"text")])])
    >>> zlib.decompress(b"".join(followed(run_of([deflated(b"one ")]), packed)), 31)
    b'one text'
    """
    crc, size = unpack("<LL", packed[-8:])
    tail = pack("<LL", joined_crc(run.crc, crc, size), (run.size + size) & 0xFFFFFFFF)
    return b"".join((_HEAD, *run.parts)), memoryview(packed)[len(_HEAD) : -8], tail


def unpacked_size(packed: bytes) -> int:
    """How many bytes one gzip stream unpacks to, if less than 4 GiB: it says so at its end (RFC 1952)."""
    return int.from_bytes(packed[-4:], "little")


def unpacked(packed: bytes, most: int) -> Iterator[bytes]:
    """The text of one gzip stream in pieces of at most so many bytes. No more of it than a piece is held.

    >>> b"".join(unpacked(gzip_of([run_of([deflated(b"one "), deflated(b"text")])]), 3))
    b'one text'
    """
    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 16)
    for start in range(0, len(packed), _FED):
        fed = packed[start : start + _FED]
        while fed:
            piece = unpacking.decompress(fed, most)
            if piece:
                yield piece
            fed = unpacking.unconsumed_tail
    while piece := unpacking.decompress(b"", most):
        yield piece


def joined_crc(first: int, second: int, size: int) -> int:
    """The CRC-32 of a text from those of its two parts; ``size``: bytes of the second part.

    >>> joined_crc(zlib.crc32(b"one "), zlib.crc32(b"text"), 4) == zlib.crc32(b"one text")
    True
    """
    power = 0
    while size:
        if size & 1:
            first = _times(_zeros(power), first)
        size >>= 1
        power += 1
    return first ^ second


@cache
def _zeros(power: int) -> _Matrix:
    """What 2**power zero bytes do to a CRC: a 32 by 32 matrix over one-bit numbers, a column an integer."""
    if power:
        half = _zeros(power - 1)
        return tuple(_times(half, column) for column in half)
    one_bit: _Matrix = (_POLYNOMIAL, *(1 << bit for bit in range(_BITS - 1)))
    return _squared(_squared(_squared(one_bit)))


def _squared(matrix: _Matrix) -> _Matrix:
    return tuple(_times(matrix, column) for column in matrix)


def _times(matrix: Sequence[int], vector: int) -> int:
    product = 0
    for column in matrix:
        if not vector:
            break
        if vector & 1:
            product ^= column
        vector >>= 1
    return product
