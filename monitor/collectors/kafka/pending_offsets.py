"""Offsets in transactions that stay open: of which group they are, and who has sent them.

DescribeProducers has the offset at which the open transaction of a producer begins in a partition of the offsets topic.
The record there is the first commit of the transaction, so it names the group. The commits behind it in the same batch
have the same group and time. Most transactions end within a second, and are not read. Those are read that were seen
open HELD_MS before, or in which nothing was written for so long.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Final, Self

from kafka import KafkaConsumer, TopicPartition
from kafka.admin import KafkaAdminClient, ProducerState
from kafka.errors import AuthorizationError, KafkaError, UnsupportedVersionError
from msgspec.structs import replace

from monitor.collectors.errors import CollectorError
from monitor.collectors.kafka_client.connection import open_consumer
from monitor.config import ClusterSettings, ConfigError
from monitor.model import InvalidOffsetCommitted, OffsetCommitted, PendingOffsets, TopicPartitions, Value
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC
from monitor.protocol.offsets_topic.decoder import decode_record
from monitor.protocol.wire.errors import DecodeError

HELD_MS: Final = 10_000
"""How long a transaction must have been open until it is read."""

READ_LIMIT_MS: Final = 5_000
FETCH_BYTES: Final = 1 << 20

Found = tuple[str, PendingOffsets]
"""A group, and its offsets in one transaction."""


class OpenProducer(Value):
    """A producer whose transaction is open in a partition of the offsets topic, where it begins at ``start_offset``.

    >>> idle = ProducerState(7, 0, -1, last_timestamp=90_000, coordinator_epoch=0, current_transaction_start_offset=-1)
    >>> OpenProducer.with_transaction(3, idle) is None
    True
    """

    log_partition: int
    start_offset: int
    producer_id: int
    producer_epoch: int

    @classmethod
    def with_transaction(cls, log_partition: int, state: ProducerState) -> Self | None:
        """The producer, if its transaction is open."""
        start = state.current_transaction_start_offset
        return None if start < 0 else cls(log_partition, start, state.producer_id, state.producer_epoch)


class OpenTransactions:
    """The transactions that were open in the newest pass, each with how long it has been so at least."""

    def __init__(self) -> None:
        """None is known yet."""
        self._since: dict[int, dict[OpenProducer, int]] = {}
        self._now: dict[int, int] = {}

    def note(self, log_partition: int, states: Iterable[ProducerState], now_ms: int) -> None:
        """Take the producers of a partition. What is written last in a transaction is a time when it was open."""
        before = self._since.get(log_partition, {})
        found = {OpenProducer.with_transaction(log_partition, state): state.last_timestamp for state in states}
        self._since[log_partition] = {
            each: min(before.get(each, now_ms), written_ms) for each, written_ms in found.items() if each is not None
        }
        self._now[log_partition] = now_ms

    def long_ones(self) -> list[OpenProducer]:
        """Those that have been open for HELD_MS."""
        return [
            each
            for number, some in self._since.items()
            for each, since_ms in some.items()
            if self._now[number] - since_ms >= HELD_MS
        ]


class PendingOffsetsReader:
    """Reads each open transaction once. For one thread."""

    def __init__(self, cluster: ClusterSettings) -> None:
        """Prepare; nothing is read yet."""
        self._cluster = cluster
        self._found: dict[OpenProducer, Found | None] = {}
        self._described: set[OpenProducer] = set()

    def read(self, admin: KafkaAdminClient, held: Iterable[OpenProducer]) -> list[Found]:
        """The offsets that these producers hold. Those that the brokers do not give are left out until the next call.

        Args:
            admin: a connected client.
            held: all producers with an open transaction; what is known of others is forgotten.
        """
        producers = list(held)
        self._found = {each: self._found[each] for each in producers if each in self._found}
        self._described &= set(producers)
        self._read_new([each for each in producers if each not in self._found])
        for producer, found in self._found.items():
            if found is not None and producer not in self._described:
                self._describe(admin, producer, found)
        return [found for found in self._found.values() if found is not None]

    def _read_new(self, producers: Sequence[OpenProducer]) -> None:
        if not producers:
            return
        try:
            consumer = open_consumer(self._cluster, READ_LIMIT_MS / 1000, fetch_bytes=FETCH_BYTES)
        except (CollectorError, ConfigError):
            return
        try:
            for producer in producers:
                records = _records_at(consumer, producer)
                if records:  # else the broker took too long: the next call reads again
                    self._found[producer] = _first_commits(records, producer)
        except (KafkaError, OSError):
            return
        finally:
            consumer.close()

    def _describe(self, admin: KafkaAdminClient, producer: OpenProducer, found: Found) -> None:
        """Add what the coordinator of the transaction knows. Without permission, that is nothing, and it stays so."""
        group, offsets = found
        try:
            self._found[producer] = group, _with_transaction(admin, offsets)
        except (AuthorizationError, UnsupportedVersionError):
            pass
        except (KafkaError, OSError):
            return
        self._described.add(producer)


def _records_at(consumer: KafkaConsumer, producer: OpenProducer) -> list[Any]:
    """The records from the start of the transaction on; none: the broker gave none in time."""
    place = TopicPartition(OFFSETS_TOPIC, producer.log_partition)
    consumer.assign([place])
    consumer.seek(place, producer.start_offset)
    records: list[Any] = consumer.poll(timeout_ms=READ_LIMIT_MS).get(place, [])
    return records


def _first_commits(records: Sequence[Any], producer: OpenProducer) -> Found | None:
    """The commits of the batch with which the transaction begins; None: there is no commit."""
    if records[0].offset != producer.start_offset:
        return None
    group, sent, sent_ms = "", set[tuple[str, int]](), records[0].timestamp
    for record in records:
        commit = _commit(record.key, record.value, record.timestamp)
        if commit is None or record.timestamp != sent_ms or commit.group != (group or commit.group):
            break
        group = commit.group
        sent.add((commit.topic, int(commit.partition)))
    return (group, _pending(producer, sent, sent_ms)) if sent else None


def _commit(
    key: bytes | None, value: bytes | None, timestamp_ms: int
) -> OffsetCommitted | InvalidOffsetCommitted | None:
    try:
        event = decode_record(key, value, timestamp_ms)
    except DecodeError:
        return None
    return event if isinstance(event, OffsetCommitted | InvalidOffsetCommitted) else None


def _pending(producer: OpenProducer, sent: Iterable[tuple[str, int]], sent_ms: int) -> PendingOffsets:
    topics: dict[str, list[int]] = {}
    for topic, partition in sorted(sent):
        topics.setdefault(topic, []).append(partition)
    return PendingOffsets(
        partitions=tuple(TopicPartitions(topic, tuple(partitions)) for topic, partitions in topics.items()),
        log_partition=producer.log_partition,
        start_offset=producer.start_offset,
        producer_id=producer.producer_id,
        producer_epoch=producer.producer_epoch,
        sent_ms=sent_ms,
    )


def _with_transaction(admin: KafkaAdminClient, offsets: PendingOffsets) -> PendingOffsets:
    """The same with what the coordinator of the transaction knows. Of one that hangs, it knows nothing."""
    listed = admin.list_transactions(producer_id_filters=[offsets.producer_id])
    ids = [each.transactional_id for some in listed.values() for each in some]
    for name, transaction in admin.describe_transactions(ids).items():
        if transaction.transaction_start_time_ms >= 0:
            return replace(
                offsets,
                transactional_id=name,
                started_ms=transaction.transaction_start_time_ms,
                timeout_ms=transaction.transaction_timeout_ms,
            )
    return offsets
