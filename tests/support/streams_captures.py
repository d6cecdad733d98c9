"""The captured classic groups of Kafka Streams (tests/fixtures/streams-classic)."""

import base64
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from monitor.model import GroupEvent
from monitor.protocol.offsets_topic import decode_record

FOLDER = Path(__file__).parents[1] / "fixtures" / "streams-classic"
GROUPS = ("stc893-classic", "sta786-classic")


@cache
def records(group: str) -> tuple[dict[str, Any], ...]:
    """The lines of a group's records, in the order of the log."""
    own = (line for line in _lines("records.jsonl.gz") if line["group"] == group)
    return tuple(sorted(own, key=lambda line: line["o"]))


@cache
def marks(group: str) -> tuple[dict[str, Any], ...]:
    """The truth about a group, the oldest first."""
    own = (line for line in _lines("marks.jsonl.gz") if line["group"] == group)
    return tuple(sorted(own, key=lambda line: line["t"]))


def event_of(line: dict[str, Any]) -> GroupEvent:
    """What groupwatch reads in a record."""
    value = None if line["v"] is None else base64.b64decode(line["v"])
    event: Any = decode_record(base64.b64decode(line["k"]), value, line["ts"])
    return event


def written(name: str = "assignment-info") -> list[dict[str, Any]]:
    """What Kafka's own class writes for each version of an assignment, or of a subscription."""
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text("utf-8").splitlines()]


def _lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
