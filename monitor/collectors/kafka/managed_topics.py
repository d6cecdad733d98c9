"""The topics that groupwatch itself writes to a cluster: created when they are missing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kafka.admin import KafkaAdminClient
from kafka.errors import TopicAlreadyExistsError, UnknownTopicOrPartitionError

from monitor.collectors.kafka.topic_poll import topic_error
from monitor.collectors.kafka_client.cluster_description import describe_cluster

TopicPlan = dict[str, Any]
"""How a topic is created, in the terms of kafka-python's ``create_topics``."""


def ensure_topic(admin: KafkaAdminClient, topic: str, plan: Callable[[KafkaAdminClient], TopicPlan]) -> bool:
    """Create a topic by its plan if it is missing. Else leave it as it is.

    Returns:
        Whether it was created.

    Raises:
        KafkaError: it can be neither seen nor created.
    """
    (described,) = admin.describe_topics([topic])
    error = topic_error(described)
    if error is None:
        return False
    if not issubclass(error, UnknownTopicOrPartitionError):
        raise error(topic)
    try:
        admin.create_topics({topic: plan(admin)}, wait_for_metadata=True)
    except TopicAlreadyExistsError:
        return False
    return True


def single_partition(admin: KafkaAdminClient, configs: Mapping[str, str]) -> TopicPlan:
    """A topic of one partition, in which the order of all records counts, on up to three brokers."""
    brokers = len(describe_cluster(admin)["brokers"])
    return {"num_partitions": 1, "replication_factor": min(3, brokers), "configs": dict(configs)}
