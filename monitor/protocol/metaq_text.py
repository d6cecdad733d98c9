"""The text protocol of MetaQ's brokers, as far as end offsets need it (``StatsCommand``, ``StatsManager``).

A request is a line; its last word is a number that the answer repeats. An answer is a line ``result <status> <bytes of
the body> <number>`` and the body. The body of ``stats offsets`` has a line for every partition that was ever written.
"""

from __future__ import annotations

import re
from typing import Final

from monitor.model import Value
from monitor.protocol.wire.errors import DecodeError, Shortfall

LONGEST_HEAD: Final = 128
"""Bytes of an answer's first line; more are no answer."""

LONGEST_BODY: Final = 32 << 20
"""Bytes of a body: half a million partitions."""

OK: Final = 200

_HEAD: Final = re.compile(rb"result ([0-9]{1,4}) ([0-9]{1,10}) (-?[0-9]{1,10})")
_LINE: Final = re.compile(r"(.+) part ([0-9]{1,10}) min_offset ([0-9]{1,19}) max_offset ([0-9]{1,19})")
_LARGEST_OFFSET: Final = 2**63 - 1


class Head(Value):
    """The first line of an answer: ``length`` bytes of body follow ``size`` bytes of it, its line end included."""

    status: int
    length: int
    opaque: int
    size: int


class PartitionOffsets(Value):
    """The first and the next byte of a partition's log; ``partition`` is its number on the broker."""

    topic: str
    partition: int
    earliest: int
    end: int


def stats_offsets_request(opaque: int) -> bytes:
    r"""The question for the offsets of all partitions of a broker.

    >>> stats_offsets_request(16)
    b'stats offsets 16\r\n'
    """
    return b"stats offsets %d\r\n" % opaque


def decode_head(data: bytes) -> Head | None:
    r"""The first line of what has come so far; None: it is not complete yet.

    >>> decode_head(b"result 200 104 16\r\nSTATS")
    Head(status=200, length=104, opaque=16, size=19)

    Raises:
        DecodeError: it is no answer, or its body is larger than any broker's.
    """
    line, end, _ = data[: LONGEST_HEAD + 2].partition(b"\r\n")
    if not end:
        if len(data) > LONGEST_HEAD:
            raise DecodeError("bad_text", 0, "answer")
        return None
    found = _HEAD.fullmatch(line)
    if found is None:
        raise DecodeError("bad_text", 0, "answer")
    status, length, opaque = map(int, found.groups())
    if length > LONGEST_BODY:
        raise DecodeError("bad_length", found.start(2), "answer")
    return Head(status=status, length=length, opaque=opaque, size=len(line) + 2)


def decode_offsets(body: bytes) -> tuple[PartitionOffsets, ...]:
    r"""The offsets in the body of an answer to ``stats offsets``, in its order.

    >>> decode_offsets(b"STATS\r\nt part 1 min_offset 0 max_offset 797\r\nEND\r\n")
    (PartitionOffsets(topic='t', partition=1, earliest=0, end=797),)

    Raises:
        DecodeError: it is something else, or incomplete.
    """
    lines = _lines(body)
    if lines[0] != "STATS":
        raise DecodeError("bad_text", 0, "body")
    found = []
    position = len("STATS\r\n")
    for line in lines[1:-1]:
        found.append(_offsets(line, position))
        position += len(line.encode()) + 2
    return tuple(found)


def _lines(body: bytes) -> list[str]:
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        raise DecodeError("bad_utf8", error.start, "body") from None
    if not text.endswith("END\r\n"):
        raise DecodeError("underflow", len(body), "body", Shortfall(unit="bytes", wanted=5, left=0))
    lines = text.removesuffix("\r\n").split("\r\n")
    if lines[-1] != "END" or len(lines) < 2:
        raise DecodeError("bad_text", 0, "body")
    return lines


def _offsets(line: str, position: int) -> PartitionOffsets:
    words = _LINE.fullmatch(line)
    if words is None:
        raise DecodeError("bad_text", position, "body")
    partition, earliest, end = int(words[2]), int(words[3]), int(words[4])
    if partition >= 2**31 or end > _LARGEST_OFFSET or earliest > end:
        raise DecodeError("bad_text", position, "body")
    return PartitionOffsets(topic=words[1], partition=partition, earliest=earliest, end=end)
