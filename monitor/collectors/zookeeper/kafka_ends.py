"""The end offsets of a Kafka 0.8 to 0.10, by kafka-python.

An admin client finds the leaders, and a consumer queries them. kafka-python's admin client does not read the only
response about offsets that brokers before 0.10.1 give.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from kafka import TopicPartition as KafkaPartition
from kafka.errors import KafkaError

from monitor.collectors.errors import CollectorError
from monitor.collectors.kafka.topic_poll import partitions_by_leader
from monitor.collectors.kafka_client.connection import error_name, open_admin, open_consumer
from monitor.collectors.zookeeper.base import Ends, PartitionEnds
from monitor.config import ClusterSettings
from monitor.config.systems import ZooKeeperSettings
from monitor.model import TopicPartition
from monitor.protocol.zookeeper.groups import SeenTree

CONNECT_LIMIT_S: Final = 5.0

RESPONSE_LIMIT_MS: Final = 2000
"""For the offsets of all partitions of one leader."""

_RELEASES: Final[Mapping[int, tuple[int, ...]]] = {1: (0, 8, 2), 2: (0, 9)}
"""By the form of what its brokers write of themselves: no request returns the API versions that they support."""

Offsets = Mapping[KafkaPartition, int]


class _Clients:
    """Both clients, connected. Raises like ``open_admin``."""

    def __init__(self, cluster: ClusterSettings, release: tuple[int, ...] | None) -> None:
        self.admin = open_admin(cluster, CONNECT_LIMIT_S, release=release)
        try:
            self.consumer = open_consumer(cluster, CONNECT_LIMIT_S, release=release)
        except CollectorError:
            self.admin.close()
            raise

    def close(self) -> None:
        self.admin.close()
        self.consumer.close()


class KafkaEnds:
    """Asks the leaders, by clients that are kept. Who does not answer leaves its partitions without ends."""

    def __init__(self, settings: ZooKeeperSettings) -> None:
        """Prepare; the first question connects."""
        self._settings = settings
        self._clients: _Clients | None = None

    def of(self, seen: SeenTree) -> Ends:
        """The first and the end offsets of the tree's topics."""
        wanted = {topic.topic for topic in seen.topics}
        servers = self._settings.bootstrap_servers or ",".join(broker.address for broker in seen.brokers)
        if not wanted:
            return Ends(ends={})
        if not servers:
            return Ends(ends={}, problems=("No broker is registered: end offsets are unknown.",))
        try:
            clients = self._connect(servers, seen)
            described = [topic for topic in clients.admin.describe_topics() if topic["name"] in wanted]
        except (KafkaError, CollectorError, OSError) as error:
            self.close()  # the brokers may be others by now
            reason = str(error) if isinstance(error, CollectorError) else f"{error_name(error)}."
            return Ends(ends={}, problems=(f"End offsets are unknown: {reason}",))
        leaders = partitions_by_leader(described).values()
        earliest = _list_ends(clients.consumer.beginning_offsets, leaders)
        ends = _list_ends(clients.consumer.end_offsets, leaders)
        return Ends(ends=_combine_ends(earliest, ends), problems=_missing_topics(seen, ends))

    def close(self) -> None:
        """Close the clients. The next question opens others."""
        clients, self._clients = self._clients, None
        if clients is not None:
            clients.close()

    def _connect(self, servers: str, seen: SeenTree) -> _Clients:
        if self._clients is None:
            cluster = ClusterSettings(name=self._settings.name, bootstrap_servers=servers)
            release = _RELEASES.get(min((broker.form or 0 for broker in seen.brokers), default=0))
            self._clients = _Clients(cluster, release)
        return self._clients


def _list_ends(
    ask: Callable[..., Mapping[KafkaPartition, int]], leaders: Iterable[Sequence[KafkaPartition]]
) -> dict[KafkaPartition, int]:
    """The answers, leader by leader: one that is away takes only its own partitions with it."""
    offsets: dict[KafkaPartition, int] = {}
    for partitions in leaders:
        try:
            told = ask(partitions, timeout_ms=RESPONSE_LIMIT_MS)
        except KafkaError:
            continue
        offsets |= {place: offset for place, offset in told.items() if offset is not None and offset >= 0}
    return offsets


def _combine_ends(earliest: Offsets, ends: Offsets) -> dict[TopicPartition, PartitionEnds]:
    return {
        TopicPartition(place.topic, place.partition): PartitionEnds(earliest=earliest.get(place), end=ends.get(place))
        for place in earliest.keys() | ends.keys()
    }


def _missing_topics(seen: SeenTree, ends: Offsets) -> tuple[str, ...]:
    asked = sum(len(topic.partitions) for topic in seen.topics)
    told = sum(KafkaPartition(topic.topic, p) in ends for topic in seen.topics for p in topic.partitions)
    if told == asked:
        return ()
    return (f"{asked - told} of {asked} partitions have no end offset: they have no leader, or it does not answer.",)
