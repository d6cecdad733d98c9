"""Who leads the partitions of some topics, and where those brokers are: what one MetadataResponse says."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any, Final

from kafka.protocol.metadata import MetadataRequest

from monitor.collectors.kafka.topic_poll import kafka_text
from monitor.model import Value

Place = tuple[str, int]
"""A topic and the number of one of its partitions."""

NO_EPOCH: Final = -1
"""The epoch of a leader where the brokers do not tell it (before 2.1)."""


class Leader(Value, frozen=True):
    """The broker that leads a partition, and its epoch; a broker below 0: there is none."""

    broker: int
    epoch: int = NO_EPOCH


class LeaderTable(Value, frozen=True):
    """The leaders of all partitions of some topics.

    ``addresses`` are those that the brokers advertise, ``host:port`` by id. ``topic_ids`` and ``errors`` (Kafka's error
    codes, never 0) are by topic.
    """

    leaders: Mapping[Place, Leader]
    addresses: Mapping[int, str]
    topic_ids: Mapping[str, str]
    errors: Mapping[str, int]
    cluster_id: str | None = None

    def partition_count(self, topic: str) -> int:
        """How many partitions a topic has; 0: it is not there."""
        return sum(of == topic for of, _ in self.leaders)

    def by_broker(self, places: Collection[Place]) -> dict[int, list[Place]]:
        """These places by the broker that leads them; those without a leader are left out."""
        found: dict[int, list[Place]] = defaultdict(list)
        for place in sorted(places):
            leader = self.leaders.get(place)
            if leader is not None and leader.broker >= 0:
                found[leader.broker].append(place)
        return found

    def name_of(self, broker: int) -> str:
        """A broker as sentences name it."""
        address = self.addresses.get(broker)
        return f"broker {broker}" if address is None else f"broker {broker} ({address})"


NO_LEADERS: Final = LeaderTable(leaders={}, addresses={}, topic_ids={}, errors={})
"""Nothing is known yet."""


def leaders_request(topics: Sequence[str]) -> Any:  # noqa: ANN401 -- kafka-python has no types for its messages
    """The request for these topics. It creates none."""
    return MetadataRequest(
        topics=[MetadataRequest.MetadataRequestTopic(name=topic) for topic in topics],
        allow_auto_topic_creation=False,
        include_cluster_authorized_operations=False,
        include_topic_authorized_operations=False,
    )


def leader_table(response: Any) -> LeaderTable:  # noqa: ANN401 -- as above
    """What a MetadataResponse says."""
    return LeaderTable(
        leaders={
            (topic.name, each.partition_index): Leader(broker=each.leader_id, epoch=_epoch(each))
            for topic in response.topics
            for each in topic.partitions
        },
        addresses={broker.node_id: f"{broker.host}:{broker.port}" for broker in response.brokers},
        topic_ids={topic.name: text for topic in response.topics if (text := _topic_id(topic)) is not None},
        errors={topic.name: topic.error_code for topic in response.topics if topic.error_code},
        cluster_id=getattr(response, "cluster_id", None),
    )


def _topic_id(topic: Any) -> str | None:  # noqa: ANN401 -- as above
    return kafka_text(str(topic.topic_id)) if getattr(topic, "topic_id", None) else None


def _epoch(partition: Any) -> int:  # noqa: ANN401 -- as above
    return int(getattr(partition, "leader_epoch", NO_EPOCH))
