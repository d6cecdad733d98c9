"""Which brokers are away that have replicas, what they led, and which partitions have no leader.

The brokers are those of the MetadataResponse that describes the topics, so that both fit together. DescribeCluster of
Kafka 4 lists brokers that are fenced, too: one that was killed stays there until it is unregistered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from kafka.errors import ListenerNotFoundError

from monitor.collectors.kafka.topic_poll import ClusterMetadata, is_watched
from monitor.model import TopicPartitions
from monitor.model.brokers import BrokerAway, BrokersSeen
from monitor.model.offsets_topic import NO_LEADER
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC

MOST_PARTITIONS: Final = 100_000
"""So many partitions of topics are named at most, of a broker and without a leader: a record has at most 8 MB."""

Place = tuple[str, int]


class BrokerWatch:
    """Remembers what each broker led by the newest poll that lists it. It belongs to one collector."""

    def __init__(self) -> None:
        self._led: dict[int, list[Place]] = {}
        self._reported: frozenset[int] = frozenset()

    def compare(self, metadata: ClusterMetadata) -> BrokersSeen | None:
        """What a poll saw of the brokers; None: it cannot say which of them are away.

        A broker without the listener that the collector uses is not listed. The brokers report this of a partition that
        it leads.
        """
        replicas: set[int] = set()
        led: defaultdict[int, list[Place]] = defaultdict(list)
        for topic in metadata.topics:
            is_counted = topic["name"] == OFFSETS_TOPIC or is_watched(topic)
            for each in topic["partitions"]:
                if each["error_code"] == ListenerNotFoundError.errno:
                    return None
                replicas.update(each["replica_nodes"])
                if is_counted:
                    led[max(each["leader_id"], NO_LEADER)].append((topic["name"], each["partition_index"]))
        away = sorted(replicas - metadata.brokers)
        listed = sorted(metadata.brokers)
        seen = BrokersSeen(tuple(listed), tuple([self._report_of(each) for each in away]), _by_topic(led[NO_LEADER]))
        self._led = {each: led[each] for each in listed} | {each: self._led.get(each, []) for each in away}
        return seen

    def _report_of(self, broker: int) -> BrokerAway:
        """A broker that is away, with what it led if no event says so yet."""
        led = self._led.get(broker, [])
        if not led or broker in self._reported:
            return BrokerAway(broker)
        log = sorted(number for topic, number in led if topic == OFFSETS_TOPIC)
        return BrokerAway(broker, tuple(log), _by_topic(led))

    def note_written(self, seen: BrokersSeen | None) -> None:
        """An event with these has been written: what a broker led that is away is not repeated."""
        if seen is not None:
            self._reported = frozenset(each.broker for each in seen.away)


def _by_topic(places: Iterable[Place]) -> tuple[TopicPartitions, ...]:
    """Those of other topics than the offsets topic."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for topic, number in sorted(place for place in places if place[0] != OFFSETS_TOPIC)[:MOST_PARTITIONS]:
        found[topic].append(number)
    return tuple([TopicPartitions(topic, tuple(numbers)) for topic, numbers in found.items()])
