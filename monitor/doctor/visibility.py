"""Requests for what a reading lacks: whether something exists that is not returned, or that the user may not see."""

from __future__ import annotations

import re
from collections.abc import Iterable
from collections.abc import Set as AbstractSet
from typing import Final

from kafka.admin import KafkaAdminClient
from kafka.errors import TopicAuthorizationFailedError

from monitor.collectors.kafka_client.cluster_description import describe_cluster
from monitor.doctor.unread import OFFSETS_TOPIC
from monitor.kinds.streams import source_topics
from monitor.model import GroupObserved, TopicObserved, TopicPartition, Value

MAX_REQUESTED: Final = 1000
"""So many topics that are not listed are described. Members may subscribe to any number of names."""

_TOPIC_NAME: Final = re.compile(r"[a-zA-Z0-9._-]{1,249}")
"""``org.apache.kafka.common.internals.Topic``; members write what they want."""


def subscribed_topics(group: GroupObserved) -> frozenset[str]:
    """The topics that the members of a group subscribe to, by name."""
    sources = frozenset[str]() if group.topology is None else source_topics(group.topology)
    return sources.union(*(member.topics for member in group.members))


def places_without_offsets(topics: Iterable[TopicObserved]) -> tuple[TopicPartition, ...]:
    """The partitions whose leader, if there is one, has not returned both ends of the log."""
    return tuple(
        TopicPartition(topic.topic, each.partition)
        for topic in topics
        for each in topic.partitions
        if each.end is None or each.earliest is None
    )


class Missing(Value):
    """What brokers do not return: ``offline`` are the partitions of the offsets topic without a leader, of ``count``.

    ``brokers`` have replicas of it and are not in the cluster now; ``hidden`` topics the user may not describe.
    """

    offline: tuple[int, ...]
    count: int
    brokers: tuple[int, ...]
    hidden: tuple[str, ...]


def describe_missing(admin: KafkaAdminClient, topics: AbstractSet[str]) -> Missing:
    """What is missing of the offsets topic and of these topics.

    A broker distinguishes a topic that does not exist from one that the user may not describe, if it is named.

    Args:
        admin: a connected client. No topic is created.
        topics: topics that are not listed.

    Raises:
        KafkaError: no broker answers.
    """
    names = sorted(filter(_TOPIC_NAME.fullmatch, topics))[:MAX_REQUESTED]
    described = {str(each["name"]): each for each in admin.describe_topics([OFFSETS_TOPIC, *names])}
    partitions = described[OFFSETS_TOPIC]["partitions"] if OFFSETS_TOPIC in described else []
    offline = sorted(int(each["partition_index"]) for each in partitions if each["leader_id"] < 0)
    hidden = [name for name in names if name in described and _is_hidden(described[name]["error_code"])]
    brokers = describe_cluster(admin)["brokers"]  # Kafka 4 lists one that is away, as fenced (KIP-1073)
    there = {int(each["broker_id"]) for each in brokers if not each.get("is_fenced")}
    away = sorted({int(number) for each in partitions for number in each["replica_nodes"]} - there)
    return Missing(offline=tuple(offline), count=len(partitions), brokers=tuple(away), hidden=tuple(hidden))


def _is_hidden(error_code: int) -> bool:
    return error_code == int(TopicAuthorizationFailedError.errno)


def may_describe_all(admin: KafkaAdminClient) -> bool:
    """Whether the user may list all groups: brokers list them to whoever may describe the cluster.

    Brokers before 2.3 do not return it, which is no for this.

    Raises:
        KafkaError: no broker answers.
    """
    return "DESCRIBE" in (describe_cluster(admin).get("authorized_operations") or ())
