"""What a job says when nothing moves any more, what the broker says, and what is in the logs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from kafka import KafkaConsumer, TopicPartition

from tests.chaos.load import EVENTS_TOPIC, GROUPS, LOG_PARTITIONS, SPOILT
from tests.job_process import JobProcess, Samples
from tests.streaming_jobs.clients import admin

COUNTERS: Final = ("groupwatch_group_rebalances_total", "groupwatch_decode_errors_total")
OF_THE_MOMENT: Final = frozenset({"evaluated_ms", "lag_ms", "sentence"})
"""Fields that tell how long ago something was: no two jobs are asked at the same time."""
PLACES: Final = [
    *(TopicPartition("__consumer_offsets", number) for number in range(LOG_PARTITIONS)),
    TopicPartition(EVENTS_TOPIC, 0),
]

Counters = dict[tuple[str, ...], float]


@dataclass(frozen=True)
class Told:
    """Everything that a job tells of its cluster."""

    groups: dict[str, Any]
    counters: Counters
    evaluation_errors: float | None

    def offsets(self) -> dict[str, dict[int, int]]:
        """Committed offsets by group and partition."""
        return {
            name: {p.get("partition", 0): p["committed"] for p in verdict["partitions"] if "committed" in p}
            for name, verdict in self.groups.items()
        }


def told(job: JobProcess, cluster: str) -> Told:
    """One reading of a job."""
    names = [summary["group"] for summary in json.loads(job.get("/api/v1/groups"))]
    samples = job.metrics()
    return Told(
        groups={name: timeless(job.group(cluster, name)) for name in names},
        counters=counters(samples),
        evaluation_errors=samples.value("groupwatch_evaluation_errors_total", cluster=cluster),
    )


def timeless(value: Any) -> Any:
    """A JSON value without what depends on when it was asked for."""
    if isinstance(value, dict):
        return {key: timeless(inner) for key, inner in value.items() if key not in OF_THE_MOMENT}
    return [timeless(inner) for inner in value] if isinstance(value, list) else value


def counters(samples: Samples) -> Counters:
    """Every counter that must neither lose nor double anything, by its name and labels."""
    return {
        (name, *(f"{label}={text}" for label, text in sorted(sample.labels.items()))): sample.value
        for name in COUNTERS
        for sample in samples.all(name)
    }


def unreadable(counted: Mapping[tuple[str, ...], float]) -> Counter[str]:
    """How many records a job could not read, by source."""
    found: Counter[str] = Counter()
    for labels, value in counted.items():
        found.update({text.removeprefix("source="): int(value) for text in labels if text.startswith("source=")})
    return found


def spoilt(bootstrap: str) -> Counter[str]:
    """How many unreadable records are in the logs, by topic."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False)
    found: Counter[str] = Counter()
    try:
        consumer.assign(PLACES)
        consumer.seek_to_beginning(*PLACES)
        limits = consumer.end_offsets(PLACES)
        while any(consumer.position(place) < end for place, end in limits.items()):
            for place, records in consumer.poll(timeout_ms=500).items():
                found[place.topic] += sum(record.value == SPOILT for record in records)
    finally:
        consumer.close(autocommit=False)
    return found


def log_ends(bootstrap: str) -> dict[TopicPartition, int]:
    """Where the offsets log ends."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False)
    try:
        ends: dict[TopicPartition, int] = consumer.end_offsets(PLACES[:LOG_PARTITIONS])
        return ends
    finally:
        consumer.close(autocommit=False)


def committed(bootstrap: str) -> dict[str, dict[int, int]]:
    """Committed offsets by group and partition, as the admin client says."""
    with admin(bootstrap) as client:
        found = client.list_group_offsets(dict.fromkeys(GROUPS))
    return {
        group: {place.partition: entry.offset for place, entry in places.items() if entry.offset >= 0}
        for group, places in found.items()
    }
