"""``roundrobin`` over consumer threads (``kafka.consumer.RoundRobinAssignor`` of Kafka 0.10.2.2 and 0.8.2.2).

Properties:

1. Every existing partition of a topic that has threads has exactly one owner, which is a thread of this topic.
2. If every thread is one of every topic, the threads' totals differ by at most one.
3. The result depends on what is in the input, not on its order, unless two partitions have the same hash code.

Steps:

1. Seat all threads in a ring, sorted by id as text.
2. Line up all partitions by the Java hash code of ``[topic,partition]``.
3. Give each to the next thread of the ring that is one of its topic, going on behind the last owner.

Equal hash codes (of topics like ``Aa`` and ``BB``) leave partitions in the order of a Scala map of topics, which the
two releases fill differently. Limit: for a consumer with more than four topics its own order of subscription is not
known, so that between topics whose *names* have equal hash codes the order here may not be the original's.

0.8.2.2 refuses groups in which not every thread is one of every topic.

>>> registrations = tuple(
...     Registration(consumer=name, pattern=Pattern.STATIC, subscription={"t": 1}) for name in ("C1", "C2")
... )
>>> group = ZooKeeperGroup(registrations=registrations, topics=(ZooKeeperTopic(topic="t", partitions=(0, 1, 2)),))
>>> for share in RoundRobinThreads().allocate(group):
...     print([(thread.thread, thread.topics[0].partitions) for thread in share.threads])
[('C1-0', (0, 2))]
[('C2-0', (1,))]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import ClassVar, Final

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.text import string_hash, string_key
from monitor.assignors.kafka_zookeeper.group import (
    ConsumerShare,
    Pattern,
    Registration,
    Release,
    ZooKeeperGroup,
    ZooKeeperTopic,
)
from monitor.assignors.kafka_zookeeper.scala_order import mutable_map_order, printed_set
from monitor.assignors.kafka_zookeeper.shares import Taken, all_failing, by_consumer
from monitor.assignors.kafka_zookeeper.threads import Thread, Threads, threads_of
from monitor.model import TopicPartition, Value, number

__all__ = ["Pattern", "Registration", "RoundRobinThreads", "ZooKeeperTopic"]


_NO_FIRST_TOPIC: Final = (
    'Cannot invoke "scala.collection.mutable.HashEntry.next()" because the return value of '
    '"scala.collection.mutable.HashTable$$anon$1.es()" is null'
)


class RoundRobinThreads(Value):
    """Deals partitions to threads one by one. See the module for the rule."""

    name: ClassVar[str] = "roundrobin"
    release: Release = Release.KAFKA_0_10

    def allocate(self, group: ZooKeeperGroup) -> tuple[ConsumerShare, ...]:
        """What every consumer takes, in the order of the group."""
        try:
            threads = threads_of(group)
            if self.release is Release.KAFKA_0_8:
                _require_equal_threads(threads)
                return tuple(self._own_share(group, threads, number) for number in range(len(group.registrations)))
            return by_consumer(group, _deal(group, threads, list(threads.by_topic)))
        except AssignorError as error:
            return all_failing(group, str(error))

    def _own_share(self, group: ZooKeeperGroup, threads: Threads, number: int) -> ConsumerShare:
        # Each consumer lines topics up in its own order; all have the same topics, so all but ties is the same.
        topics = threads.topics_of[group.registrations[number].consumer]
        return by_consumer(group, _deal(group, threads, topics))[number]


def _deal(group: ZooKeeperGroup, threads: Threads, topics: Sequence[str]) -> Iterator[Taken]:
    ring = sorted({thread for some in threads.by_topic.values() for thread in some}, key=lambda t: string_key(str(t)))
    seats = {thread: seat for seat, thread in enumerate(ring)}
    circles = {topic: [seats[thread] for thread in some] for topic, some in threads.by_topic.items()}
    seat = 0
    for place in _line_up(group, topics):
        circle = circles[place.topic]
        taker = _next_seat(circle, seat)
        yield Taken(thread=ring[taker], topic=place.topic, partitions=(number(place.partition),))
        seat = taker + 1


def _next_seat(circle: Sequence[int], seat: int) -> int:
    return next((one for one in circle if one >= seat), circle[0])


def _line_up(group: ZooKeeperGroup, topics: Sequence[str]) -> list[TopicPartition]:
    existing = {shape.topic: sorted(set(shape.partitions)) for shape in group.topics}
    # The map of partitions is filled in the order of the map of topics, and then copied into another one.
    order = mutable_map_order(mutable_map_order(topics))
    places = [TopicPartition(topic, partition) for topic in order for partition in existing.get(topic, ())]
    return sorted(places, key=lambda place: string_hash(f"[{place.topic},{place.partition}]"))


def _require_equal_threads(threads: Threads) -> None:
    if not threads.by_topic:
        raise AssignorError("NullPointerException", _NO_FIRST_TOPIC)
    head = next(iter(threads.by_topic))
    for topic, some in threads.by_topic.items():
        if set(some) != set(threads.by_topic[head]):
            raise AssignorError(
                "IllegalArgumentException",
                "requirement failed: Round-robin assignment is allowed only if all consumers in the group subscribe to "
                "the same topics, AND if the stream counts across topics are identical for a given consumer instance.\n"
                f"Topic {topic} has the following available consumer streams: {_printed(some)}\n"
                f"Topic {head} has the following available consumer streams: {_printed(threads.by_topic[head])}\n",
            )


def _printed(threads: Sequence[Thread]) -> str:
    return printed_set([(thread.consumer, thread.number) for thread in threads])
