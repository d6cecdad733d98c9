"""The end offsets of a Kafka 0.8 to 0.10, by kafka-python."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from kafka import TopicPartition as KafkaPartition
from kafka.admin import KafkaAdminClient, OffsetSpec
from kafka.errors import KafkaError

from monitor.collectors.connection import error_name, open_admin
from monitor.collectors.errors import CollectorError
from monitor.collectors.topic_observation import offsets_of, partitions_by_leader
from monitor.collectors.zookeeper_reading import Ends, PartitionEnds
from monitor.config import ClusterSettings
from monitor.config.systems import ZooKeeperSettings
from monitor.model import TopicPartition
from monitor.protocol.zookeeper_groups import SeenTree

CONNECT_LIMIT_S: Final = 5.0

Offsets = Mapping[KafkaPartition, int]


class KafkaEnds:
    """Asks the leaders, by one client that is kept. Who does not answer leaves its partitions without ends."""

    def __init__(self, settings: ZooKeeperSettings) -> None:
        """Prepare; the first question connects."""
        self._settings = settings
        self._admin: KafkaAdminClient | None = None

    def of(self, seen: SeenTree) -> Ends:
        """The first and the end offsets of the tree's topics."""
        wanted = {topic.topic for topic in seen.topics}
        servers = self._settings.bootstrap_servers or ",".join(broker.address for broker in seen.brokers)
        if not wanted:
            return Ends(ends={})
        if not servers:
            return Ends(ends={}, problems=("No broker is registered: end offsets are not known.",))
        try:
            admin = self._connected(servers)
            described = [topic for topic in admin.describe_topics() if topic["name"] in wanted]
            leaders = partitions_by_leader(described)
            earliest = offsets_of(admin, leaders, OffsetSpec.EARLIEST)
            ends = offsets_of(admin, leaders, OffsetSpec.LATEST)
        except (KafkaError, CollectorError, OSError) as error:
            self.close()  # the brokers may be others by now
            reason = str(error) if isinstance(error, CollectorError) else f"{error_name(error)}."
            return Ends(ends={}, problems=(f"End offsets are not known: {reason}",))
        return Ends(ends=_both(earliest, ends), problems=_missing(seen, ends))

    def close(self) -> None:
        """Close the client. The next question opens another one."""
        admin, self._admin = self._admin, None
        if admin is not None:
            admin.close()

    def _connected(self, servers: str) -> KafkaAdminClient:
        if self._admin is None:
            cluster = ClusterSettings(name=self._settings.name, bootstrap_servers=servers)
            self._admin = open_admin(cluster, CONNECT_LIMIT_S)
        return self._admin


def _both(earliest: Offsets, ends: Offsets) -> dict[TopicPartition, PartitionEnds]:
    return {
        TopicPartition(place.topic, place.partition): PartitionEnds(earliest=earliest.get(place), end=ends.get(place))
        for place in earliest.keys() | ends.keys()
    }


def _missing(seen: SeenTree, ends: Offsets) -> tuple[str, ...]:
    asked = sum(len(topic.partitions) for topic in seen.topics)
    told = sum(KafkaPartition(topic.topic, p) in ends for topic in seen.topics for p in topic.partitions)
    if told == asked:
        return ()
    return (
        f"{asked - told} of {asked} partitions have no end offset: their leader does not answer, or there is none.",
    )
