"""The captured share, Streams and Connect groups (tests/fixtures/group_kinds), each record as Kafka itself reads it."""

import base64
import gzip
import json
from collections import defaultdict
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from monitor.model import GroupState
from monitor.protocol.kafka.share_state import SHARE_STATE_TOPIC, decode_share_state
from monitor.protocol.offsets_topic import Foreign, decode_record
from monitor.tracking.group import fold_group

FOLDER = Path(__file__).parents[1] / "fixtures" / "group_kinds"


@cache
def records() -> tuple[dict[str, Any], ...]:
    """All records: topic by topic, partition by partition, in the order of their offsets."""
    return tuple(_lines("records.jsonl.gz"))


@cache
def marks() -> tuple[dict[str, Any], ...]:
    """The truth at an instant, the oldest first."""
    return tuple(sorted(_lines("marks.jsonl.gz"), key=lambda mark: mark["t"]))


@cache
def events() -> tuple[dict[str, Any], ...]:
    """What the clients did and got, in the order of time."""
    return tuple(sorted(_lines("events.jsonl.gz"), key=lambda event: event["t"]))


def topic_ids() -> dict[str, str]:
    """The ids of all topics that were ever seen, by name (none was made anew under its name but changelogs)."""
    return {name: topic["id"] for mark in marks() for name, topic in mark.get("topics", {}).items() if "id" in topic}


def key_of(record: dict[str, Any]) -> bytes:
    return base64.b64decode(record["key"])


def value_of(record: dict[str, Any]) -> bytes | None:
    return None if record["value"] is None else base64.b64decode(record["value"])


def lines_until_each_mark() -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Every mark, with the records that came since the one before it, up to the ends that the mark has of their logs.

    Logs that a mark does not name have nothing to do with its group: their records come with a later mark.
    """
    logs = defaultdict(list)
    for record in records():
        logs[f"{record['topic']}-{record['p']}"].append(record)
    taken: dict[str, int] = defaultdict(int)
    for mark in marks():
        since = []
        for log, end in sorted(mark["log"].items()):
            while taken[log] < len(logs[log]) and logs[log][taken[log]]["o"] < end:
                since.append(logs[log][taken[log]])
                taken[log] += 1
        yield mark, since


def fold_record(states: dict[str, GroupState | None], record: dict[str, Any]) -> None:
    """Fold a record of a log of groups, or of share state, into the state of its group in cluster ``c``."""
    decode = decode_share_state if record["topic"] == SHARE_STATE_TOPIC else decode_record
    event: Any = decode(key_of(record), value_of(record), record["ts"])
    if not isinstance(event, Foreign):
        states[event.group] = fold_group("c", event.group, states.get(event.group), [event])


def _lines(name: str) -> list[dict[str, Any]]:
    with gzip.open(FOLDER / name, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]
