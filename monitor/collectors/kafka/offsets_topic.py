"""Which partitions of the offsets topic lack a leader or in-sync replicas, as the brokers describe it."""

from __future__ import annotations

from typing import Final

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from monitor.collectors.kafka.described_configs import number_of, topic_configs
from monitor.collectors.kafka.topic_poll import Described, topic_error
from monitor.collectors.kafka_client.cluster_description import is_before_3_7
from monitor.model.offsets_topic import OffsetsTopicSeen, ReplicasSeen
from monitor.protocol.kafka.group_metadata import OFFSETS_TOPIC

MIN_IN_SYNC: Final = "min.insync.replicas"


def observe_offsets_topic(admin: KafkaAdminClient) -> OffsetsTopicSeen | None:
    """The topic now; None: it is not there yet, or the user may not describe it, or no broker responds.

    Its ``min.insync.replicas`` is requested only while a partition is degraded: then it may be changed at any time.
    Brokers before Kafka 3.7 need that many even of a partition with fewer replicas, so there it is always requested.
    """
    try:
        described = admin.describe_topics([OFFSETS_TOPIC])[0]
        if topic_error(described) is not None or not described["partitions"]:
            return None
        needs_all = is_before_3_7(admin)
        minimum = _min_in_sync(admin) if needs_all else None
        degraded = _degraded_partitions(described, minimum or 0)
        if degraded and minimum is None:
            minimum = _min_in_sync(admin)
    except (KafkaError, OSError):
        return None
    return OffsetsTopicSeen(len(described["partitions"]), degraded, minimum if degraded else None, needs_all)


def _degraded_partitions(topic: Described, minimum: int) -> tuple[ReplicasSeen, ...]:
    found = [
        ReplicasSeen(each["partition_index"], each["leader_id"], tuple(each["isr_nodes"]), tuple(each["replica_nodes"]))
        for each in sorted(topic["partitions"], key=lambda each: int(each["partition_index"]))
    ]
    return tuple([each for each in found if each.leader < 0 or len(each.in_sync) < max(minimum, len(each.replicas))])


def _min_in_sync(admin: KafkaAdminClient) -> int | None:
    """None: the user lacks the permission DESCRIBE_CONFIGS of the topic."""
    return number_of(topic_configs(admin, OFFSETS_TOPIC, [MIN_IN_SYNC]), MIN_IN_SYNC)
