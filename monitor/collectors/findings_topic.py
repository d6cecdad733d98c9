"""The findings topic of a cluster: read once from its beginning, then written. Compacted by id, so it stays small."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Final

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from monitor.collectors.connection import close_producer, error_name, open_admin, open_consumer, open_producer
from monitor.collectors.errors import FindingsNotRead
from monitor.collectors.own_topics import TopicPlan, ensure_topic, single_partition
from monitor.config import ClusterSettings
from monitor.model import FindingRecord
from monitor.protocol.errors import DecodeError
from monitor.protocol.findings_topic import decode_finding, encode_finding

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

    def read(self) -> tuple[FindingRecord, ...]:
        """The newest record of each finding; the topic is created if it is missing. What is no finding is passed over.

        Raises:
            CollectorError, ConfigError: no connection. KafkaError: the topic cannot be read or made.
        """
        with open_admin(self._cluster, CONNECT_LIMIT_S) as admin:
            ensure_topic(admin, self._cluster.findings_topic, findings_topic_plan)
        consumer = open_consumer(self._cluster, CONNECT_LIMIT_S, fetch_bytes=FETCH_BYTES)
        try:
            values = _newest(consumer, TopicPartition(self._cluster.findings_topic, PARTITION))
        finally:
            consumer.close()
        return tuple(record for value in values if (record := _record(value)) is not None)

    def write(self, records: Iterable[FindingRecord]) -> None:
        """Write records in their order; return when all are there.

        Raises:
            CollectorError, ConfigError: no connection. KafkaError: a record was not written within 10 s; all of them
            have to be written again then.
        """
        self._send((record.id, encode_finding(record)) for record in records)

    def remove(self, ids: Iterable[str]) -> None:
        """Write that nothing is to be kept of these findings. Raises like ``write``."""
        self._send((name, None) for name in ids)

    def close(self) -> None:
        """Close the connection, if there is one. What was not written by then is not written later."""
        producer, self._producer = self._producer, None
        if producer is not None:
            close_producer(producer, CLOSE_LIMIT_S)

    def _send(self, values: Iterable[tuple[str, bytes | None]]) -> None:
        if self._producer is None:
            self._producer = open_producer(self._cluster, CONNECT_LIMIT_S)
        topic = self._cluster.findings_topic
        sent = [self._producer.send(topic, key=key.encode(), value=value, partition=PARTITION) for key, value in values]
        self._producer.flush(WRITE_LIMIT_S)
        for record in sent:
            record.get(WRITE_LIMIT_S)


def findings_topic_plan(admin: KafkaAdminClient) -> TopicPlan:
    """How the findings topic is created."""
    return single_partition(admin, {"cleanup.policy": "compact", "segment.ms": str(SEGMENT_MS)})


def sentence_of(cluster: ClusterSettings, error: Exception) -> str:
    """What to tell a person when findings cannot be written."""
    if isinstance(error, KafkaError):
        return (
            f"Cluster {cluster.name}: findings are not written to {cluster.findings_topic} ({error_name(error)}); it is"
            ' tried again. The user needs CREATE, DESCRIBE, READ and WRITE on it; findings_topic = "" switches it off.'
        )
    return f"{error} Findings are not written to {cluster.findings_topic}; it is tried again."


def _newest(consumer: KafkaConsumer, place: TopicPartition) -> list[bytes]:
    """The newest value of each key, without those that were removed."""
    consumer.assign([place])
    consumer.seek_to_beginning(place)
    end = consumer.end_offsets([place])[place]
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


def _record(value: bytes) -> FindingRecord | None:
    try:
        return decode_finding(value)
    except DecodeError:
        return None
