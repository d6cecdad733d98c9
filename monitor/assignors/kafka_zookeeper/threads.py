"""Which threads consume which topics (``TopicCount`` and ``ZkUtils.getConsumersPerTopic``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.text import string_key
from monitor.assignors.kafka_zookeeper.group import Pattern, Registration, ZooKeeperGroup
from monitor.assignors.kafka_zookeeper.scala_order import mutable_map_order
from monitor.model import Value
from monitor.model.patterns import PatternError
from monitor.protocol.zookeeper.topic_filter import TopicFilter, normalize_filter, topic_filter


class Thread(Value):
    """One stream of one consumer."""

    consumer: str
    number: int

    def __str__(self) -> str:
        """The id under which it owns partitions; threads are sorted by it, so ``c-10`` is before ``c-2``."""
        return f"{self.consumer}-{self.number}"


class Threads(Value):
    """The threads of a group."""

    by_topic: dict[str, tuple[Thread, ...]]
    """Sorted by id; topics in the order of the original's map."""
    topics_of: dict[str, tuple[str, ...]]
    """The topics of each consumer, in the order of the original's map."""


def threads_of(group: ZooKeeperGroup) -> Threads:
    """Work out every consumer's threads.

    Raises:
        AssignorError: a regular expression or a number of streams that the original refuses.
    """
    by_topic: dict[str, list[Thread]] = {}
    topics_of = {}
    for registration in group.registrations:
        streams = streams_by_topic(registration, group)
        topics_of[registration.consumer] = tuple(mutable_map_order(streams))
        for topic in topics_of[registration.consumer]:
            mine = [Thread(consumer=registration.consumer, number=number) for number in range(streams[topic])]
            by_topic.setdefault(topic, []).extend(mine)
    ordered = mutable_map_order(by_topic)
    return Threads(by_topic={topic: _sorted(by_topic[topic]) for topic in ordered}, topics_of=topics_of)


def streams_by_topic(registration: Registration, group: ZooKeeperGroup) -> Mapping[str, int]:
    """How many streams the consumer has of each topic that it reads."""
    subscription = registration.subscription
    if subscription and registration.pattern is not Pattern.STATIC:
        allowed = registered_filter(registration, exclude_internal=group.exclude_internal)
        streams = next(iter(subscription.values()))
        subscription = {shape.topic: streams for shape in group.topics if allowed.allows(shape.topic)}
    if any(streams < 1 for streams in subscription.values()):
        raise AssignorError("AssertionError", "assertion failed")
    return subscription


def registered_filter(registration: Registration, *, exclude_internal: bool) -> TopicFilter:
    """The list that a consumer registered: the first expression of its subscription counts.

    Raises:
        AssignorError: the expression is none, as the original says it, or one that only Java knows.
    """
    expression, wanted = next(iter(registration.subscription)), registration.pattern is Pattern.WHITE_LIST
    try:
        return topic_filter(expression, wanted=wanted, exclude_internal=exclude_internal)
    except PatternError:
        raise AssignorError("RuntimeException", f"{normalize_filter(expression)} is an invalid regex.") from None


def _sorted(threads: Iterable[Thread]) -> tuple[Thread, ...]:
    return tuple(sorted(threads, key=lambda thread: string_key(str(thread))))
