"""The offset log of a Structured Streaming query: how far a micro-batch reads of each of its sources.

A file ``offsets/<batch>`` of a checkpoint is a line ``v1``, a line of metadata, and a line for each source of the
query (OffsetSeqLog of Spark); "-" stands for a source without an offset. What a Kafka source writes is
``{"topic":{"0":123}}``: the next record to read of each partition (JsonUtils of Spark's Kafka connector). Other sources
write what they like, and are passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

import msgspec

from monitor.model import ObservedOffset, Value
from monitor.protocol.wire.errors import DecodeError

VERSION: Final = "v1"
NO_OFFSET: Final = "-"
WHERE: Final = "offset log"

_BATCH: Final = re.compile(r"[0-9]{1,19}")

_PARTITION: Final = re.compile(r"0|[1-9][0-9]{0,9}")
_PARTITION_LIMIT: Final = 1 << 31
_LIMIT: Final = 1 << 63


class QueryOffsets(Value):
    """How far a query's batch reads, and when the batch began (None: not told).

    A partition that several sources of the query read is as far as the one that is least far.
    """

    batch_ms: int | None
    offsets: tuple[ObservedOffset, ...]


class _Metadata(msgspec.Struct, rename="camel"):
    batch_timestamp_ms: int = 0


_METADATA: Final = msgspec.json.Decoder(_Metadata)
_KAFKA: Final = msgspec.json.Decoder(dict[str, dict[str, int]])


def read_query_offsets(data: bytes) -> QueryOffsets:
    """The offsets of the query's Kafka sources, sorted; none if it has no such source.

    Raises:
        DecodeError: this is no whole file of an offset log of version 1. The position is that of the line.
    """
    try:
        version, metadata, *sources = data.decode().split("\n")
    except UnicodeDecodeError as error:
        raise DecodeError("bad_utf8", error.start, WHERE) from error
    except ValueError as error:
        raise DecodeError("underflow", len(data), WHERE) from error
    if version.strip() != VERSION:
        raise DecodeError("unknown_value_version", 0, WHERE)
    if not sources or not sources[0].strip():  # there is a line for each source, and a query has one
        raise DecodeError("underflow", len(data), WHERE)
    position = len(version.encode()) + 1
    batch_ms = _batch_ms(metadata, position)
    furthest: dict[tuple[str, int], int] = {}
    for before, line in zip([metadata, *sources], sources, strict=False):
        position += len(before.encode()) + 1
        for topic, partition, offset in _kafka_offsets(line.strip(), position):
            furthest[topic, partition] = min(offset, furthest.get((topic, partition), offset))
    offsets = [ObservedOffset(*place, offset, batch_ms) for place, offset in sorted(furthest.items())]
    return QueryOffsets(batch_ms=batch_ms, offsets=tuple(offsets))


def newest_first(names: Iterator[str], count: int) -> tuple[int, ...]:
    """The numbers of the newest batches among the names of a folder of the checkpoint, at most so many.

    Spark writes a file under another name and renames it, and keeps checksums beside it: those names are no numbers.

    >>> newest_first(iter(["9", "10", ".10.crc", ".11.a1.tmp", "8"]), 2)
    (10, 9)
    """
    newest: list[int] = []
    for name in names:
        if _BATCH.fullmatch(name):
            newest = sorted((*newest, int(name)), reverse=True)[:count]
    return tuple(newest)


def _batch_ms(line: str, position: int) -> int | None:
    if not line.strip():
        return None  # before Spark 2.1 there was no metadata
    try:
        at_ms = _METADATA.decode(line).batch_timestamp_ms
    except msgspec.DecodeError as error:
        raise DecodeError("bad_json", position, WHERE) from error
    return at_ms if 0 < at_ms < _LIMIT else None


def _kafka_offsets(line: str, position: int) -> Iterator[tuple[str, int, int]]:
    """The topic, partition and offset of each place in a line, if it is a Kafka source's."""
    if line in ("", NO_OFFSET):
        return
    try:
        topics = _KAFKA.decode(line)
    except msgspec.ValidationError:
        return  # JSON of another source
    except (msgspec.DecodeError, RecursionError) as error:
        if line[0] == "{":
            raise DecodeError("bad_json", position, WHERE) from error  # it was cut off
        return  # another source, which writes no JSON
    places = [(topic, partition, offset) for topic, own in topics.items() for partition, offset in own.items()]
    if not all(_PARTITION.fullmatch(partition) for _, partition, _ in places):
        return  # as the rate source's are
    if not all(int(partition) < _PARTITION_LIMIT and 0 <= offset < _LIMIT for _, partition, offset in places):
        raise DecodeError("bad_event", position, WHERE)
    yield from ((topic, int(partition), offset) for topic, partition, offset in places)
