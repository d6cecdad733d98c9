"""Records with anything in them: ``python -m tests.protocol.fuzz --help``.

Captured records are mutated (tests/protocol/mutations.py), or made of random bytes behind the number of a known type.
Each must give a value or a DecodeError with a position inside. ``offsets`` are records of the offsets topic, ``kinds``
those of share state, Kafka Streams and Connect (tests/protocol/fuzz_kinds.py).
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
from tests.protocol.fuzz_kinds import mutants, read_mutant
from tests.protocol.mutations import mutated
from tests.support.captures import BROKERS, records

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


def fuzz_kinds(count: int, seed: int) -> Report:
    """The same with records of share state, Kafka Streams and Connect, and with the bytes of their members."""
    report = Report()
    for mutant in mutants(count, seed):
        started = time.perf_counter()
        try:
            read_mutant(mutant)
            report.values += 1
        except DecodeError as error:
            if error.reason not in REASONS or not 0 <= error.position <= len(mutant.key) + len(mutant.value or b""):
                raise MisreadError(f"{mutant}: {error}") from error
            report.errors[error.reason] += 1
        except Exception as error:
            raise MisreadError(str(mutant)) from error
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
        key = mutated(source, key, source.choice(pool)[0])
    return key, None if value is None else mutated(source, value, source.choice(pool)[1] or b"")


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


FORMATS = {"offsets": fuzz, "kinds": fuzz_kinds}


def main() -> int:
    """Fuzz, and print what came of it."""
    parser = argparse.ArgumentParser(prog="python -m tests.protocol.fuzz", description=__doc__.splitlines()[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--formats", choices=FORMATS, nargs="*", default=list(FORMATS), help="each has so many records")
    options = parser.parse_args()
    for name in options.formats:
        report = FORMATS[name](options.records, options.seed)
        sys.stdout.write(f"{name}: {report.values} values, {report.errors.total()} errors {dict(report.errors)}\n")
        sys.stdout.write(f"slowest record {report.slowest_s * 1000:.1f} ms (seed {options.seed})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
