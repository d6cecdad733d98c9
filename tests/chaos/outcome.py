"""What a job says when nothing moves any more, what the broker says, and what is in the logs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kafka import KafkaConsumer, TopicPartition
from kafka.consumer.fetcher import ConsumerRecord

from tests.chaos.load import EVENTS_TOPIC, GROUPS, LOG_PARTITIONS, OF_TOMORROW, SPOILT
from tests.support.clients import admin
from tests.support.job_process import JobProcess, Samples

COUNTERS: Final = (
    "groupwatch_group_rebalances_total",
    "groupwatch_group_moved_partitions_total",
    "groupwatch_group_avoidable_moves_total",
    "groupwatch_group_redelivered_records_total",
    "groupwatch_group_rebalance_pause_seconds_total",
    "groupwatch_group_rebalance_burst_records_total",
    "groupwatch_decode_errors_total",
)
OF_WAITING: Final = frozenset({"lag", "retention", "unattended", "abandoned", "dead_member"})
"""Kinds of findings about records that wait: since when, is known by the collectors' sights of the ends."""
OF_THE_TRAFFIC: Final = frozenset({"partitions", "partition_count", "members", "member_count"})
"""Fields of a lag's record that are those of its opening, as they move with each commit."""
OF_THE_TELLING: Final = frozenset({"event", "opened_ms", "at_ms", "sentence"})
"""Fields of a finding's record that say when it was told, and by what word."""
OF_THE_MOMENT: Final = frozenset(
    {
        "ended",
        "evaluated_ms",
        "lag_ms",
        "lag_at_least_ms",
        "lag_since_ms",
        "sentence",
        "status",
        "pace",
        "paced_lag",
        "catch_up_ms",
        "rebalance_ms",
        "rebalancing_since_ms",
    }
)
"""Fields that tell how long ago something was, or follow from it: no two jobs are asked at the same time. How long a
classic rebalance took is what each job's own collector saw of it. What has ended lately is remembered by a process, so
one that was killed has forgotten it."""
PLACES: Final = [
    *(TopicPartition("__consumer_offsets", number) for number in range(LOG_PARTITIONS)),
    TopicPartition(EVENTS_TOPIC, 0),
]

Counters = dict[tuple[str, ...], float]


@dataclass(frozen=True)
class TopicOfFindings:
    """The findings topic, read from its beginning."""

    open: dict[str, Any]
    """The newest record of each finding that is not closed, without what says when it was told."""
    closed: int
    """How often one was closed."""
    unfounded: list[str]
    """What was changed or closed without having been opened."""

    def told_apart(self) -> set[tuple[str, str, str]]:
        """Group, kind and reason of each that is open."""
        return {(record["group"], record["kind"], record["reason"]) for record in self.open.values()}


@dataclass(frozen=True)
class Told:
    """Everything that a job tells of its cluster."""

    groups: dict[str, Any]
    counters: Counters
    evaluation_errors: float | None
    findings: TopicOfFindings

    def open_findings(self) -> set[tuple[str, str, str]]:
        """Group, kind and reason of what is wrong now, as the API says."""
        return {
            (name, finding["kind"], finding["reason"])
            for name, verdict in self.groups.items()
            for finding in verdict.get("findings", [])
        }

    def offsets(self) -> dict[str, dict[int, int]]:
        """Committed offsets by group and partition."""
        return {
            name: {p.get("partition", 0): p["committed"] for p in verdict["partitions"] if "committed" in p}
            for name, verdict in self.groups.items()
        }


def findings_in(bootstrap: str, topic: str) -> TopicOfFindings:
    """What has been told in a findings topic."""
    known: dict[str, Any] = {}
    unfounded: list[str] = []
    closed = 0
    for record in records_in(bootstrap, [TopicPartition(topic, 0)]):
        key, value = record.key.decode(), json.loads(record.value)
        before = known.pop(key, None)
        if before is None and value["event"] != "opened":
            unfounded.append(f"{value['event']} {value}")
        if value["event"] == "closed":
            closed += 1
        else:
            known[key] = lasting(value)
    return TopicOfFindings(known, closed, unfounded)


def lasting(finding: dict[str, Any]) -> Any:
    """What two jobs must tell alike of a finding."""
    moving = OF_THE_TRAFFIC if finding["kind"] in OF_WAITING else frozenset()
    return timeless({name: field for name, field in finding.items() if name not in OF_THE_TELLING | moving})


def told(job: JobProcess, cluster: str, findings: TopicOfFindings) -> Told:
    """One reading of a job, with the topic in which it told its findings."""
    names = [summary["group"] for summary in json.loads(job.get("/api/v1/groups"))]
    samples = job.metrics()
    return Told(
        groups={name: timeless(job.group(cluster, name)) for name in names},
        counters=counters(samples),
        evaluation_errors=samples.value("groupwatch_evaluation_errors_total", cluster=cluster),
        findings=findings,
    )


def timeless(value: Any) -> Any:
    """A JSON value without what depends on when it was asked for."""
    if isinstance(value, dict):
        # Since when a lag is there is known by the collectors' sights of the ends, and each job's are its own.
        inferred = {"since_ms"} if value.get("kind") in OF_WAITING else set()
        return {key: timeless(inner) for key, inner in value.items() if key not in OF_THE_MOMENT | inferred}
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
    found: Counter[str] = Counter()
    for record in records_in(bootstrap, PLACES):
        found[record.topic] += record.value == SPOILT or f'"{OF_TOMORROW}"'.encode() in (record.value or b"")
    return found


def records_of_log(bootstrap: str) -> Iterator[tuple[bytes | None, bytes | None, int]]:
    """The log of offsets: keys, values, and times in ms."""
    for record in records_in(bootstrap, PLACES[:LOG_PARTITIONS]):
        yield record.key, record.value, record.timestamp


def records_in(bootstrap: str, places: list[TopicPartition]) -> Iterator[ConsumerRecord]:
    """All records of some partitions, from their beginnings to where they end now; those of each in their order."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=None, enable_auto_commit=False)
    try:
        consumer.assign(places)
        consumer.seek_to_beginning(*places)
        limits = consumer.end_offsets(places)
        while any(consumer.position(place) < end for place, end in limits.items()):
            for records in consumer.poll(timeout_ms=500).values():
                yield from records
    finally:
        consumer.close(autocommit=False)


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
