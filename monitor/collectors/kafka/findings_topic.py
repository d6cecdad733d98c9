"""The findings topic of a cluster: read once from its beginning, then written. Compacted by id, so it stays small."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from monitor.collectors.errors import CollectorError, FindingsNotRead, FindingsTopicReplaced
from monitor.collectors.kafka.managed_topics import TopicPlan, ensure_topic, single_partition
from monitor.collectors.kafka_client.connection import (
    close_producer,
    error_name,
    open_admin,
    open_consumer,
    open_producer,
)
from monitor.config import ClusterSettings, ConfigError
from monitor.model import FindingOutdated, FindingRecord
from monitor.protocol.findings_topic import decode_finding, encode_finding
from monitor.protocol.wire.errors import DecodeError

PARTITION: Final = 0
"""All findings of a cluster are in one partition: their order counts."""

SEGMENT_MS: Final = 86_400_000
"""Kafka compacts what is in closed segments: without it, months of a quiet topic would be read at each start."""

CONNECT_LIMIT_S: Final = 5.0
READ_LIMIT_S: Final = 60.0
CLOSE_LIMIT_S: Final = 1.0
WRITE_LIMIT_S: Final = 10.0
FETCH_BYTES: Final = 4 << 20
POLL_MS: Final = 500


class FindingsTopic:
    """Belongs to one thread. It connects when it is first used; after an error, with new connections."""

    def __init__(self, cluster: ClusterSettings) -> None:
        self._cluster = cluster
        self._producer: KafkaProducer | None = None
        self._next_offset = 0

    def read(self) -> tuple[FindingRecord, ...]:
        """The newest record of each finding; the topic is created if it is missing. What is no finding is passed over.

        Raises:
            CollectorError, ConfigError: no connection. KafkaError: the topic cannot be read or made.
        """
        with open_admin(self._cluster, CONNECT_LIMIT_S) as admin:
            ensure_topic(admin, self._cluster.findings_topic, findings_topic_plan)
        consumer = open_consumer(self._cluster, CONNECT_LIMIT_S, fetch_bytes=FETCH_BYTES)
        try:
            place = TopicPartition(self._cluster.findings_topic, PARTITION)
            end = consumer.end_offsets([place])[place]
            values = _newest(consumer, place, end)
        finally:
            consumer.close()
        self._next_offset = end
        return tuple(record for value in values if (record := _record(value)) is not None)

    def write(self, records: Iterable[FindingRecord | FindingOutdated]) -> None:
        """Write records in their order; return when all are there. Of what is outdated, nothing is kept.

        Raises:
            CollectorError, ConfigError: no connection, or the topic is another one than that which was read.
            KafkaError: a record was not written within 10 s; all of them have to be written again then.
        """
        if self._producer is None:
            self._producer = open_producer(self._cluster, CONNECT_LIMIT_S, creates_topics=False)
        topic = self._cluster.findings_topic
        sent = [
            self._producer.send(topic, key=record.id.encode(), value=_value(record), partition=PARTITION)
            for record in records
        ]
        self._producer.flush(WRITE_LIMIT_S)
        for record in sent:
            self._note(record.get(WRITE_LIMIT_S).offset)

    def close(self) -> None:
        """Close the connection, if there is one. What was not written by then is not written later."""
        producer, self._producer = self._producer, None
        if producer is not None:
            close_producer(producer, CLOSE_LIMIT_S)

    def _note(self, offset: int) -> None:
        if offset < self._next_offset:
            raise FindingsTopicReplaced(
                f"Cluster {self._cluster.name}: {self._cluster.findings_topic} was deleted and created again; all"
                " open findings are published again."
            )
        self._next_offset = offset + 1


def findings_topic_plan(admin: KafkaAdminClient) -> TopicPlan:
    """How the findings topic is created. One replica in sync is enough: findings matter most while brokers are away."""
    configs = {
        "cleanup.policy": "compact",
        "segment.ms": str(SEGMENT_MS),
        "compression.type": "producer",
        "min.insync.replicas": "1",
    }
    return single_partition(admin, configs)


def sentence_of(cluster: ClusterSettings, error: Exception) -> str:
    """What to tell a person when findings cannot be written."""
    if isinstance(error, KafkaError):
        return (
            f"Cluster {cluster.name}: findings are not written to {cluster.findings_topic} ({error_name(error)});"
            ' retrying. The user needs CREATE, DESCRIBE, READ and WRITE on it; findings_topic = "" turns it off.'
        )
    if isinstance(error, CollectorError | ConfigError):
        return f"{error} Findings are not written to {cluster.findings_topic}; retrying."
    what = f"{type(error).__name__}: {error}"
    return f"Cluster {cluster.name}: findings are not written to {cluster.findings_topic} ({what}); retrying."


def _newest(consumer: KafkaConsumer, place: TopicPartition, end: int) -> list[bytes]:
    """The newest value of each key, without those that were removed."""
    consumer.assign([place])
    consumer.seek_to_beginning(place)
    deadline = time.monotonic() + READ_LIMIT_S
    found: dict[bytes | None, bytes | None] = {}
    while consumer.position(place) < end:
        for records in consumer.poll(timeout_ms=POLL_MS).values():
            for record in records:
                found.pop(record.key, None)  # so that the order is that of the newest
                found[record.key] = record.value
        if time.monotonic() > deadline:
            raise FindingsNotRead(f"{place.topic} could not be read within {READ_LIMIT_S:g} s.")
    return [value for value in found.values() if value is not None]


def _value(record: FindingRecord | FindingOutdated) -> bytes | None:
    return encode_finding(record) if isinstance(record, FindingRecord) else None


def _record(value: bytes) -> FindingRecord | None:
    try:
        return decode_finding(value)
    except DecodeError:
        return None
