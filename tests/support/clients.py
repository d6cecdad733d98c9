"""Real clients that do one thing each, for the tests of the running job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Final

from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import KafkaAdminClient, NewTopic


@contextmanager
def admin(bootstrap: str, client_id: str = "groupwatch-tests") -> Iterator[KafkaAdminClient]:
    """An admin client, closed at the end."""
    client = KafkaAdminClient(bootstrap_servers=bootstrap, client_id=client_id)
    try:
        yield client
    finally:
        client.close()


def create_topic(bootstrap: str, topic: str, partitions: int) -> None:
    """A topic with that many partitions; it exists when this returns."""
    with admin(bootstrap) as client:
        client.create_topics([NewTopic(topic, partitions, 1)])
        client.wait_for_topics([topic])


def produce(bootstrap: str, topic: str, records: Mapping[int, int]) -> None:
    """That many records into each partition, acknowledged."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, acks="all")
    try:
        sent = [producer.send(topic, b"x", partition=p) for p, count in records.items() for _ in range(count)]
        producer.flush()
        for future in sent:
            future.get(timeout=30)
    finally:
        producer.close()


LOG: Final = "__consumer_offsets"
UNREADABLE_KEY: Final = b"\x00\x01\x00\x09short"
"""Of a commit, and it ends before the name of its group does. A coordinator gives up loading its partition."""


def spoil_offsets_log(bootstrap: str, partitions: int) -> None:
    """Put a record that no coordinator can read into every partition: after a restart of the broker there is none."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, client_id="__admin_client", enable_idempotence=False, acks=1)
    producer._metadata.topics = partial(producer._metadata.topics, exclude_internal_topics=False)
    for partition in range(partitions):
        producer.send(LOG, key=UNREADABLE_KEY, value=b"\x00\x01", partition=partition).get(timeout=30)
    producer.close()


def values_of(bootstrap: str, topic: str) -> list[bytes]:
    """The values of all records in the first partition of a topic."""
    place, values = TopicPartition(topic, 0), []
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, auto_offset_reset="earliest")
    try:
        consumer.assign([place])
        (end,) = consumer.end_offsets([place]).values()
        while consumer.position(place) < end:
            for records in consumer.poll(timeout_ms=1000).values():
                values += [record.value for record in records]
    finally:
        consumer.close()
    return values


def commit(bootstrap: str, group: str, topic: str, offsets: Mapping[int, int]) -> None:
    """Committed offsets of a group without members (it assigns itself)."""
    with simple_consumer(bootstrap, group) as consumer:
        consumer.assign([TopicPartition(topic, partition) for partition in offsets])
        consumer.commit({TopicPartition(topic, p): OffsetAndMetadata(o, "", -1) for p, o in offsets.items()})


@contextmanager
def transaction(bootstrap: str, group: str, topic: str, offset: int) -> Iterator[KafkaProducer]:
    """An open transaction that commits this offset of partition 0; what ends it is up to the block."""
    name = f"{group}-{offset}"
    producer = KafkaProducer(bootstrap_servers=bootstrap, transactional_id=name, transaction_timeout_ms=600_000)
    try:
        producer.init_transactions()
        producer.begin_transaction()
        producer.send_offsets_to_transaction({TopicPartition(topic, 0): OffsetAndMetadata(offset, "", -1)}, group)
        yield producer
    finally:
        producer.close()


@contextmanager
def simple_consumer(bootstrap: str, group: str) -> Iterator[KafkaConsumer]:
    """A consumer that never commits by itself."""
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, group_id=group, enable_auto_commit=False)
    try:
        yield consumer
    finally:
        consumer.close(autocommit=False)


@contextmanager
def member(bootstrap: str, group: str, *topics: str, silence_limit_s: int = 300) -> Iterator[KafkaConsumer]:
    """A member of a group that has its assignment when the block begins (range, kafka-python's implementation).

    It is not polled inside the block, and leaves the group after ``silence_limit_s``.
    """
    from kafka.coordinator.assignors.range import RangePartitionAssignor  # noqa: PLC0415 -- kept beside its use

    consumer = KafkaConsumer(
        *topics,
        bootstrap_servers=bootstrap,
        group_id=group,
        enable_auto_commit=False,
        partition_assignment_strategy=[RangePartitionAssignor],
        session_timeout_ms=10_000,
        max_poll_interval_ms=1000 * silence_limit_s,
    )
    try:
        while not consumer.assignment():
            consumer.poll(timeout_ms=200)
        yield consumer
    finally:
        consumer.close(autocommit=False)


def produce_into_offsets_log(bootstrap: str, key: bytes | None, value: bytes | None, partition: int = 0) -> None:
    """A record straight into ``__consumer_offsets``."""
    with offsets_log_producer(bootstrap) as producer:
        producer.send("__consumer_offsets", key=key, value=value, partition=partition).get(timeout=30)


@contextmanager
def offsets_log_producer(bootstrap: str) -> Iterator[KafkaProducer]:
    """A producer that can write into ``__consumer_offsets``: only a client of this very name may."""
    producer = KafkaProducer(bootstrap_servers=bootstrap, client_id="__admin_client", acks="all")
    # kafka-python 3.0.12 looks the topic up in a list without internal topics, and then says it has no partition.
    producer._metadata.topics = partial(producer._metadata.topics, exclude_internal_topics=False)
    try:
        yield producer
    finally:
        producer.close()
