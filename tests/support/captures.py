"""The captured offsets topics of real brokers, each record with the decode by the broker's own classes beside it."""

import base64
import gzip
import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

BROKERS = ("4.3.1", "3.9.2", "3.9.2-old-coordinator")
_FOLDER = Path(__file__).parents[1] / "fixtures" / "kafka-offsets-topic"


@dataclass(frozen=True, slots=True, kw_only=True)
class Captured:
    """One record; ``kafka`` is its line of records.jsonl, with what Kafka itself reads in the bytes."""

    partition: int
    offset: int
    timestamp_ms: int
    transactional: bool
    key: bytes
    value: bytes | None
    kafka: dict[str, Any]

    @property
    def record_type(self) -> int:
        return self.kafka["key"]["version"]

    @property
    def key_data(self) -> dict[str, Any]:
        return self.kafka["key"]["data"]

    @property
    def value_data(self) -> dict[str, Any] | None:
        return self.kafka["value"] and self.kafka["value"]["data"]

    @property
    def group(self) -> str:
        return self.key_data.get("group") or self.key_data["groupId"]


@cache
def records(broker: str) -> tuple[Captured, ...]:
    """All records by partition and offset, without the control records (a consumer never gets those)."""
    return tuple(_captured(line) for line in lines(broker) if "control" not in line)


def lines(broker: str) -> Iterator[dict[str, Any]]:
    """All lines of the capture's file of records, control records among them."""
    return _lines(broker, "records.jsonl.gz")


@cache
def marks(broker: str) -> tuple[dict[str, Any], ...]:
    """What the broker said of its groups at an instant, where the group's partition stood still meanwhile."""
    return tuple(mark for mark in _lines(broker, "marks.jsonl.gz") if mark["log_end"] == mark["log_end_after"])


def _lines(broker: str, name: str) -> Iterator[dict[str, Any]]:
    with gzip.open(_FOLDER / broker / name, "rt", encoding="utf-8") as lines:
        yield from map(json.loads, lines)


def _captured(line: dict[str, Any]) -> Captured:
    return Captured(
        partition=line["p"],
        offset=line["o"],
        timestamp_ms=line["ts"],
        transactional=line["txn"],
        key=base64.b64decode(line["k"]),
        value=None if line["v"] is None else base64.b64decode(line["v"]),
        kafka=line,
    )
