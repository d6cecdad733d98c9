"""From partitions with their threads to what every consumer takes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from monitor.assignors.java.text import string_key
from monitor.assignors.kafka_zookeeper.group import ConsumerShare, ThreadShare, ZooKeeperGroup
from monitor.assignors.kafka_zookeeper.threads import Thread
from monitor.model import TopicPartitions, Value


class Taken(Value):
    """One thread's partitions of one topic, or some of them."""

    thread: Thread
    topic: str
    partitions: tuple[int, ...]


def by_consumer(group: ZooKeeperGroup, taken: Iterable[Taken]) -> tuple[ConsumerShare, ...]:
    """What every consumer takes, in the order of the group."""
    given: dict[str, dict[Thread, dict[str, list[int]]]] = defaultdict(lambda: defaultdict(lambda: defaultdict(list)))
    for take in taken:
        given[take.thread.consumer][take.thread][take.topic] += take.partitions
    names = [registration.consumer for registration in group.registrations]
    return tuple(ConsumerShare(consumer=name, threads=_threads(given.get(name, {}))) for name in names)


def all_failing(group: ZooKeeperGroup, error: str) -> tuple[ConsumerShare, ...]:
    """Every consumer meets the same error."""
    return tuple(ConsumerShare(consumer=registration.consumer, error=error) for registration in group.registrations)


def _threads(given: Mapping[Thread, Mapping[str, list[int]]]) -> tuple[ThreadShare, ...]:
    threads = sorted(given, key=lambda thread: string_key(str(thread)))
    return tuple(
        ThreadShare(
            thread=str(thread),
            topics=tuple(
                TopicPartitions(topic, tuple(sorted(given[thread][topic])))
                for topic in sorted(given[thread], key=string_key)
            ),
        )
        for thread in threads
    )
