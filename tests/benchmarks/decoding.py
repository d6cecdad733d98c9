"""How fast the offsets topic is decoded: ``python -m tests.benchmarks.decoding [RUNS] > result.json``.

Records in the format of Kafka 4.3.1, in chunks as Spark hands them over (10,000 records of one partition of the log),
through the decoder of the streaming job without Spark, on one core. "events": to the events themselves; "rows": to the
rows of bytes that go into Spark's shuffle. The best of some runs counts, CPU time; wall time beside it.
"""

from __future__ import annotations

import json
import os
import platform
import struct
import sys
import time
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import pyarrow as pa

from monitor.protocol.kafka.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    NamedPartitions,
)
from monitor.protocol.kafka.records.classic import (
    ClassicMember,
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
)
from monitor.protocol.offsets_topic import decode_record
from streaming_jobs.ingest.decoding import EventChunk, OffsetsLogDecoder
from tests.support.encoding import encoded, encoded_key

CHUNK, CHUNKS = 10_000, 40
GROUPS, PARTITIONS = 2_000, 50
BEGAN_MS = 1_795_209_525_326
MEMBERS = 500


def main() -> None:
    """Measure and print one JSON object."""
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    measured = [
        commits_of("20 commits of a partition in a chunk", 20, 1_000_000, runs),
        commits_of("no repeats", 1, 350_000, runs),
        membership_of("500 members, 1,000 partitions in all, owned before", 2, True, runs),
        membership_of("500 members, 1,000 partitions each", 1_000, False, runs),
        membership_of("500 members, 1,000 partitions each, owned before", 1_000, True, runs),
    ]
    print(json.dumps(report(measured), indent=1))  # noqa: T201 -- the result


def report(measured: list[dict[str, Any]]) -> dict[str, Any]:
    """The measurements with where they were made."""
    return {
        "benchmark": "decoding",
        "machine": {
            "cpu": platform.processor() or platform.machine(),
            "cores": os.cpu_count(),
            "load": os.getloadavg(),
        },
        "versions": {
            "python": platform.python_version(),
            **{name: version(name) for name in ("pyarrow", "numpy", "msgspec")},
        },
        "measured": measured,
    }


def commits_of(name: str, repeats: int, goal: int, runs: int) -> dict[str, Any]:
    """Commits a second: to events, and to rows."""
    batches = list(chunks(repeats))
    decoder = OffsetsLogDecoder("bench", 32)

    def events() -> None:
        for batch in batches:
            decoder.fill(EventChunk(32), batch)

    def rows() -> None:
        for _ in decoder(batches):
            pass

    count = CHUNK * CHUNKS
    return {"name": name, "goal_per_s": goal, "events": rate(count, events, runs), "rows": rate(count, rows, runs)}


def membership_of(name: str, partitions: int, owned: bool, runs: int) -> dict[str, Any]:
    """Milliseconds for one group metadata record; ``owned``: members say what they owned before, as with sticky."""
    key, value = group_record(partitions, owned)
    cpu_s, wall_s = best(lambda: decode_record(key, value, BEGAN_MS), runs)
    return {
        "name": name,
        "goal_ms": 20,
        "bytes": len(value),
        "cpu_ms": round(cpu_s * 1e3, 2),
        "wall_ms": round(wall_s * 1e3, 2),
    }


def rate(count: int, action: Callable[[], object], runs: int) -> dict[str, int]:
    """Records a second."""
    cpu_s, wall_s = best(action, runs)
    return {"per_cpu_s": round(count / cpu_s), "per_wall_s": round(count / wall_s)}


def best(action: Callable[[], object], runs: int) -> tuple[float, float]:
    """The least CPU seconds, and the wall seconds of that run."""
    times = []
    for _ in range(runs):
        cpu, wall = time.process_time(), time.perf_counter()
        action()
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(times)


def chunks(repeats: int) -> Iterator[pa.RecordBatch]:
    """Chunks in which each partition is committed so many times, one round after the other."""
    keys = [
        encoded_key(1, OffsetCommitKey(group=f"group-{g:05d}", topic=f"topic-{g % 100:03d}", partition=p))
        for g in range(GROUPS)
        for p in range(PARTITIONS)
    ]
    distinct = CHUNK // repeats
    for chunk in range(CHUNKS):
        some = [keys[(chunk * distinct + n) % len(keys)] for n in range(distinct)]
        values = [commit_value(chunk * repeats + n // distinct, BEGAN_MS + n) for n in range(CHUNK)]
        yield pa.RecordBatch.from_pydict(
            {
                "partition": pa.array([0] * CHUNK, pa.int32()),
                "offset": pa.array(range(chunk * CHUNK, (chunk + 1) * CHUNK), pa.int64()),
                "timestamp_ms": pa.array([BEGAN_MS] * CHUNK, pa.int64()),
                "key": pa.array(some * repeats, pa.binary()),
                "value": pa.array(values, pa.binary()),
            }
        )


def commit_value(offset: int, at_ms: int) -> bytes:
    """A commit as Kafka 4.3.1 writes it: version 4 with the topic's id."""
    return struct.pack(">hqib", 4, offset, 0, 1) + struct.pack(">q", at_ms) + b"\x01\x00\x10" + bytes(range(16))


def group_record(partitions: int, owned: bool) -> tuple[bytes, bytes]:
    """A generation of 500 members that own so many partitions each."""
    own = (NamedPartitions(topic="orders", partitions=tuple(range(partitions))),)
    asked = ConsumerProtocolSubscription(topics=("orders",), owned_partitions=own if owned else (), generation_id=4)
    member = {
        "client_id": "consumer",
        "client_host": "/10.0.0.1",
        "rebalance_timeout": 300_000,
        "session_timeout": 45_000,
        "subscription": encoded(asked, 3),
        "assignment": encoded(ConsumerProtocolAssignment(assigned_partitions=own), 3),
    }
    generation = GroupMetadataValue(
        protocol_type="consumer",
        generation=5,
        protocol="cooperative-sticky",
        leader="m0",
        current_state_timestamp=BEGAN_MS,
        members=tuple(ClassicMember(member_id=f"m{number}", **member) for number in range(MEMBERS)),
    )
    return encoded_key(2, GroupMetadataKey(group="bench")), encoded(generation, 3)


if __name__ == "__main__":
    main()
