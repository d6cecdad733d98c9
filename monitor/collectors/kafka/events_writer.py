"""Writing a pass to a cluster's events topic: first the topics, then, once they are all there, that it is complete."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from kafka import KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient
from kafka.errors import KafkaError
from msgspec.structs import replace

from monitor.collectors.kafka.managed_topics import TopicPlan, ensure_topic, single_partition
from monitor.model import (
    CollectedEvent,
    GroupObserved,
    GroupsListed,
    OffsetsListed,
    PassCompleted,
    RebalanceSampled,
    ShareGroupRead,
    TopicObserved,
    Value,
)
from monitor.protocol.events_topic import encode_event
from monitor.protocol.wire.bounds import latest_ms

PARTITION: Final = 0
"""All events of a cluster are in one partition, even if the topic was created with more: their order counts."""

RETENTION_MS: Final = 3_600_000
MAX_MESSAGE_BYTES: Final = 8 << 20
"""Room for one topic of 100,000 partitions."""

WRITE_LIMIT_S: Final = 20.0
DATED_BY_BROKERS: Final = ("message.timestamp.type", "LogAppendTime")
"""A setting of a topic, and its value: no writer can set the time of a record."""

log = logging.getLogger(__name__)


class Written(Value):
    """Where events were written: offsets from ``first`` to before ``end``, and when the broker dated the last, in ms.

    Other writers may have come between: then there are more offsets than events. No events: all are 0.
    """

    first: int = 0
    end: int = 0
    dated_ms: int = 0


def ensure_events_topic(admin: KafkaAdminClient, topic: str) -> bool:
    """Create the events topic if it is missing: one partition, one hour, up to three replicas.

    One that is there is left as it is, but for who dates its records, which topics of earlier versions left open.

    Returns:
        Whether it was created.

    Raises:
        KafkaError: it can be neither seen nor created.
    """
    if ensure_topic(admin, topic, events_topic_plan):
        return True
    _have_brokers_date(admin, topic)
    return False


def _have_brokers_date(admin: KafkaAdminClient, topic: str) -> None:
    """Set LogAppendTime if it is not set: a writer who dates records could write times that nothing can read."""
    name, wanted = DATED_BY_BROKERS
    resource, kind = ConfigResource(ConfigResourceType.TOPIC, topic), ConfigResourceType.TOPIC.name.lower()
    try:
        described = admin.describe_configs([resource])[kind][topic]  # nothing, if this user may not see them
        if described.get(name, {}).get("value") == wanted:
            return
        resource.configs = {name: wanted}
        said = admin.alter_configs([resource], raise_on_unknown=False)[kind][topic]
    except KafkaError as error:  # brokers before 0.11 can neither tell nor change it
        said = type(error).__name__
    if said == "OK":
        log.info("The brokers date the records of %s from now on (%s=%s)", topic, name, wanted)
    else:
        log.warning("%s may have %s=CreateTime, which cannot be read or changed (%s)", topic, name, said)


def events_topic_plan(admin: KafkaAdminClient) -> TopicPlan:
    """How the events topic is created: the brokers date its records, so that who writes them cannot.

    One replica in sync is enough: what collectors see matters most while brokers are away, and is soon read again.
    """
    configs = {
        "cleanup.policy": "delete",
        "retention.ms": RETENTION_MS,
        "max.message.bytes": MAX_MESSAGE_BYTES,
        "min.insync.replicas": 1,
        **dict([DATED_BY_BROKERS]),
    }
    return single_partition(admin, {key: str(value) for key, value in configs.items()})


def write_topics(producer: KafkaProducer, destination: str, topics: Iterable[TopicObserved]) -> Written:
    """Write one event for each topic, in the given order, and wait until all are there.

    Raises:
        KafkaError: an event was not written within 20 s.
    """
    return _write(producer, destination, ((event.topic, event) for event in topics))


def write_answers(producer: KafkaProducer, destination: str, answers: Iterable[OffsetsListed | ShareGroupRead]) -> None:
    """Write what the brokers reported of each group, and wait until all is there.

    Raises:
        KafkaError: an event was not written within 20 s.
    """
    _write(producer, destination, ((event.group, event) for event in answers))


def write_groups(producer: KafkaProducer, destination: str, groups: Iterable[GroupObserved]) -> None:
    """Write one event for each group, in the given order, and wait until all are there.

    Raises:
        KafkaError: an event was not written within 20 s.
    """
    _write(producer, destination, ((event.group, limit_commit_times(event)) for event in groups))


def limit_commit_times(event: GroupObserved) -> GroupObserved:
    """The event with no commit later than the reading that saw it: ZooKeeper, or a Spark query, may be ahead."""
    at_ms = event.observed_ms
    if all(each.committed_ms is None or each.committed_ms <= at_ms for each in event.offsets):
        return event
    offsets = [
        replace(each, committed_ms=each.committed_ms and min(each.committed_ms, at_ms)) for each in event.offsets
    ]
    return replace(event, offsets=tuple(offsets))


def write_listing(producer: KafkaProducer, destination: str, listed: GroupsListed) -> None:
    """Write which groups there are, and wait until it is there.

    Raises:
        KafkaError: it was not written within 20 s.
    """
    _write(producer, destination, [("", listed)])


def write_completion(producer: KafkaProducer, destination: str, completed: PassCompleted) -> Written:
    """Write that the pass is complete and wait until it is there. Its key is empty, as no topic's is.

    Raises:
        KafkaError: it was not written within 20 s.
    """
    return _write(producer, destination, [("", completed)])


def clock_problem(completed: PassCompleted, written: Written) -> str | None:
    """The problem that this machine's clock is so far ahead of the brokers' that the pass is refused, as a sentence.

    None: it is not, or the brokers do not date the topic's records.
    """
    if completed.completed_ms <= latest_ms(written.dated_ms):
        return None
    return (
        f"Cluster {completed.cluster}: the clock of this machine is "
        f"{(completed.completed_ms - written.dated_ms) // 60_000} "
        "minutes ahead of the brokers, so events of its collectors are refused (from_the_future). Set the clock."
    )


def send_samples(producer: KafkaProducer, destination: str, samples: Iterable[RebalanceSampled]) -> None:
    """Send what was seen of rebalances, in their order, without waiting for it to be there: the next sample is due.

    An event that is not written within the producer's own limit is lost; a rebalance that continues is reported again.

    Raises:
        KafkaError: the producer takes none.
    """
    for event in samples:
        producer.send(destination, key=event.group.encode(), value=encode_event(event), partition=PARTITION)


def _write(producer: KafkaProducer, destination: str, events: Iterable[tuple[str, CollectedEvent]]) -> Written:
    """Write events under their keys, and wait until all are there."""
    sent = [
        producer.send(destination, key=key.encode(), value=encode_event(event), partition=PARTITION)
        for key, event in events
    ]
    producer.flush(WRITE_LIMIT_S)
    stored = [event.get(WRITE_LIMIT_S) for event in sent]
    if not stored:
        return Written()
    return Written(first=stored[0].offset, end=stored[-1].offset + 1, dated_ms=stored[-1].timestamp)
