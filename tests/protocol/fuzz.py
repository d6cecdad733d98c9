"""Records with anything in them: ``python -m tests.protocol.fuzz --help``.

Captured records are mutated (bytes overwritten, cut, put in, lengths made huge, parts of others put in their place), or
made of random bytes behind the number of a known type. Each must give a value or a DecodeError with a position inside.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from monitor.protocol.kafka.records import RECORD_TYPES
from monitor.protocol.offsets_topic import Foreign, decode_record, decoder, read_record
from monitor.protocol.wire.errors import REASONS, DecodeError
from monitor.protocol.wire.schema import json_fields
from tests.support.captures import BROKERS, records

_LENGTHS = (
    b"\x7f\xff\xff\xff",
    b"\xff\xff\xff\xff",
    b"\x80\x00\x00\x00",
    b"\xff\xff",
    b"\x7f\xff",
    b"\x80\x80\x80\x80\x08",
)


BEYOND_SENSE = ("bad_number", "from_the_future")
"""Reasons for which records are refused that Kafka's own schema reads."""


@dataclass
class Report:
    """How many records gave a value, and how many each kind of error."""

    values: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    slowest_s: float = 0.0


class MisreadError(AssertionError):
    """A record that was misread, or that gave another error than a DecodeError."""


def fuzz(count: int, seed: int) -> Report:
    """Try that many records; raises MisreadError with the bytes of the first that fails."""
    report = Report()
    for key, value in mutated_records(count, seed):
        started = time.perf_counter()
        try:
            _try(key, value, report)
        except Exception as error:
            raise MisreadError(f"key {key.hex()}, value {value.hex() if value is not None else None}") from error
        report.slowest_s = max(report.slowest_s, time.perf_counter() - started)
    return report


def mutated_records(count: int, seed: int) -> Iterator[tuple[bytes, bytes | None]]:
    """Keys and values that were captured once; rare types are half of them."""
    source = random.Random(seed)
    captured = [(r.key, r.value) for broker in BROKERS for r in records(broker)]
    by_type = {key[:2]: (key, value) for key, value in captured if value is not None}
    pool = captured + list(by_type.values()) * (len(captured) // (2 * len(by_type)))
    for _ in range(count):
        yield _record(source, pool)


def _record(source: random.Random, pool: list[tuple[bytes, bytes | None]]) -> tuple[bytes, bytes | None]:
    key, value = source.choice(pool)
    kind = source.random()
    if kind < 0.05:
        number = source.choice(list(RECORD_TYPES))
        return number.to_bytes(2) + source.randbytes(source.randrange(40)), source.randbytes(source.randrange(200))
    if kind < 0.25:
        key = _mutated(source, key, source.choice(pool)[0])
    return key, None if value is None else _mutated(source, value, source.choice(pool)[1] or b"")


def _mutated(source: random.Random, data: bytes, other: bytes) -> bytes:
    for _ in range(source.randint(1, 3)):
        start = source.randint(0, len(data))
        stop = min(len(data), start + source.choice((0, 1, 1, 2, 4, 8)))
        match source.randrange(4):
            case 0:
                middle = source.randbytes(stop - start)
            case 1:
                middle = source.choice(_LENGTHS)
            case 2:
                cut = source.randint(0, len(other))
                middle = other[cut : cut + source.randint(0, 16)]
            case _:
                middle = b""
        data = data[:start] + middle + data[stop:]
    return data


def _try(key: bytes, value: bytes | None, report: Report) -> None:
    try:
        event = decode_record(key, value, 0)
    except DecodeError as error:
        length = len({"key": key, "value": value}[error.where] or b"")
        if error.reason not in REASONS or not 0 <= error.position <= length:
            raise MisreadError(str(error)) from error
        report.errors[error.reason] += 1
        if error.reason in BEYOND_SENSE:
            return
        event = None
    else:
        report.values += 1
    _agrees_with_the_schema(key, value, event)


def _agrees_with_the_schema(key: bytes, value: bytes | None, event: object) -> None:
    """The short way of commits says what the schema says, and what can be read can be shown."""
    try:
        record = read_record(key, value)
    except DecodeError:
        if event is not None:
            raise
        return
    if event is None:
        raise MisreadError("the schema reads it")
    if record.value is not None and record.version is not None:
        json_fields(record.value, record.version)
    if isinstance(event, Foreign | decoder.OffsetCommitted):
        group = json_fields(record.key, 0).get("group", json_fields(record.key, 0).get("groupId"))
        if event.group != group:
            raise MisreadError("another group")
    if isinstance(event, decoder.OffsetCommitted) and record.value is not None and record.version is not None:
        said = json_fields(record.value, record.version)
        if (event.offset, event.committed_ms) != (said["offset"], said["commitTimestamp"]):
            raise MisreadError("another commit")


def main() -> int:
    """Fuzz, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.protocol.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    report = fuzz(options.records, options.seed)
    sys.stdout.write(f"{report.values} values, {report.errors.total()} errors {dict(report.errors)}\n")
    sys.stdout.write(f"slowest record {report.slowest_s * 1000:.1f} ms (seed {options.seed})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
