"""Which brokers are away that have replicas, what they led, and which partitions have no leader.

The brokers are those of the MetadataResponse that describes the topics, so that both fit together. DescribeCluster of
Kafka 4 lists brokers that are fenced, too: one that was killed stays there until it is unregistered.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Final, NamedTuple

from kafka.errors import ListenerNotFoundError

from monitor.collectors.kafka.topic_poll import ClusterMetadata, Described, is_watched
from monitor.model import TopicPartitions
from monitor.model.brokers import BrokerAway, BrokersSeen
from monitor.model.offsets_topic import NO_LEADER
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC

MOST_PARTITIONS: Final = 100_000
"""So many partitions of topics are named at most, of a broker and without a leader: a record has at most 8 MB."""

HANDOVER_MS: Final = 600_000
"""A broker that shuts down hands its partitions over in a shorter time, and then is no longer listed."""

Place = tuple[str, int]


class _Known(NamedTuple):
    """What a broker led, each partition with the newest poll that saw that (ms), and that which last listed it."""

    led: dict[Place, int]
    listed_ms: int


class BrokerWatch:
    """Remembers what each broker led by the newest poll that lists it. It belongs to one collector."""

    def __init__(self) -> None:
        self._known: dict[int, _Known] = {}
        self._reported: frozenset[int] = frozenset()

    def compare(self, pass_ms: int, metadata: ClusterMetadata) -> BrokersSeen | None:
        """What the poll that began at ``pass_ms`` saw of the brokers; None: it cannot say which of them are away.

        A broker without the listener that the collector uses is not listed. The brokers report this of a partition that
        it leads.
        """
        replicas: set[int] = set()
        led: defaultdict[int, list[Place]] = defaultdict(list)
        left: defaultdict[int, set[Place]] = defaultdict(set)
        for topic in metadata.topics:
            is_counted = topic["name"] == OFFSETS_TOPIC or is_watched(topic)
            for each in topic["partitions"]:
                if each["error_code"] == ListenerNotFoundError.errno:
                    return None
                replicas.update(each["replica_nodes"])
                if is_counted:
                    place = (topic["name"], each["partition_index"])
                    led[max(each["leader_id"], NO_LEADER)].append(place)
                    for broker in _unsynced_replicas(each):
                        left[broker].add(place)
        away = sorted(replicas - metadata.brokers)
        listed = sorted(metadata.brokers)
        seen = BrokersSeen(tuple(listed), tuple([self._report_of(each) for each in away]), _by_topic(led[NO_LEADER]))
        gone = {each: self._known[each] for each in away if each in self._known}
        self._known = {each: self._broker_after(each, led[each], left[each], pass_ms) for each in listed} | gone
        return seen

    def _broker_after(self, broker: int, led: Iterable[Place], left: Collection[Place], pass_ms: int) -> _Known:
        """What a broker that is listed led: by this poll, and before a shutdown that seems to go on.

        It has just led the latter, still has a replica, and that is no longer in sync, or there is no other one. One
        that was drained stays in sync.
        """
        before = self._known.get(broker)
        kept = {} if before is None else before.led
        lately = {place: at_ms for place, at_ms in kept.items() if place in left and pass_ms - at_ms <= HANDOVER_MS}
        return _Known(lately | dict.fromkeys(led, pass_ms), pass_ms)

    def _report_of(self, broker: int) -> BrokerAway:
        """A broker that is away, with what it led if no event says so yet."""
        known = self._known.get(broker)
        if known is None or not known.led or broker in self._reported:
            return BrokerAway(broker)
        log = sorted(number for topic, number in known.led if topic == OFFSETS_TOPIC)
        first_ms = min(known.led.values())
        return BrokerAway(broker, tuple(log), _by_topic(known.led), first_ms if first_ms < known.listed_ms else None)

    def note_written(self, seen: BrokersSeen | None) -> None:
        """An event with these has been written: what a broker led that is away is not repeated."""
        if seen is not None:
            self._reported = frozenset(each.broker for each in seen.away)


def _unsynced_replicas(partition: Described) -> Iterator[int]:
    """The brokers with a replica of a partition that is not in sync, or that is the only one and leads no more."""
    leader, in_sync = partition["leader_id"], partition["isr_nodes"]
    if leader >= 0 and len(in_sync) == len(partition["replica_nodes"]):
        return
    for broker in partition["replica_nodes"]:
        if broker != leader and (leader < 0 or broker not in in_sync):
            yield broker


def _by_topic(places: Iterable[Place]) -> tuple[TopicPartitions, ...]:
    """Those of other topics than the offsets topic."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for topic, number in sorted(place for place in places if place[0] != OFFSETS_TOPIC)[:MOST_PARTITIONS]:
        found[topic].append(number)
    return tuple([TopicPartitions(topic, tuple(numbers)) for topic, numbers in found.items()])
