"""A real broker of Kafka 3.6, whose requests and rules are older than those of the suite's brokers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from kafka import KafkaConsumer, KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic

from monitor.collectors.kafka.offsets_topic import observe_offsets_topic
from monitor.collectors.kafka_client.cluster_description import describe_cluster, is_before_3_7
from monitor.demo.servers.broker import CLASSES_VARIABLE, EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.java_runtime.kafka_versions import VARIABLE
from monitor.model.offsets_topic import ReplicasSeen

pytestmark = [pytest.mark.systems, pytest.mark.timeout(300)]

OLDER = "3.6.2"
"""The newest of Kafka 3.6. From 3.7 on, a partition needs no more replicas in sync than it has (KAFKA-15583)."""


@pytest.fixture(scope="module")
def broker() -> Iterator[EmbeddedKafka]:
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv(VARIABLE, OLDER)
        environment.delenv(CLASSES_VARIABLE, raising=False)
        settings = BrokerSettings(offsets_topic_partitions=2, properties={"min.insync.replicas": "2"})
        with EmbeddedKafka(settings) as started:
            yield started


@pytest.fixture
def admin(broker: EmbeddedKafka) -> Iterator[KafkaAdminClient]:
    with KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers) as client:
        yield client


def test_the_cluster_is_described(broker: EmbeddedKafka, admin: KafkaAdminClient):
    """kafka-python 3.0.12 fails on such a response, which lacks a field of Kafka 3.7."""
    assert is_before_3_7(admin)
    with pytest.raises(KeyError, match="endpoint_type"):
        admin.describe_cluster()
    found = describe_cluster(admin)
    assert [(each["broker_id"], each["port"]) for each in found["brokers"]] == [(broker.node_id, broker.port)]
    assert found["cluster_id"]
    assert "DESCRIBE" in found["authorized_operations"]


def test_no_group_can_commit_where_a_partition_has_fewer_replicas_than_must_be_in_sync(
    broker: EmbeddedKafka, admin: KafkaAdminClient
):
    """Yolean/kubernetes-kafka #139 (2018): one replica, two in sync, and consumers that never get a record."""
    admin.create_topics([NewTopic("orders", 1, 1, topic_configs={"min.insync.replicas": "1"})])
    with KafkaProducer(bootstrap_servers=broker.bootstrap_servers, acks=1, enable_idempotence=False) as producer:
        producer.send("orders", b"1").get(timeout=30)
    with KafkaConsumer(
        "orders", bootstrap_servers=broker.bootstrap_servers, group_id="g", auto_offset_reset="earliest"
    ) as consumer:
        assert not consumer.poll(timeout_ms=5_000), "it cannot join"
    seen = observe_offsets_topic(admin)
    assert seen is not None
    assert (seen.min_in_sync, seen.needs_all_of_them) == (2, True)
    own = (broker.node_id,)
    assert seen.degraded == tuple(ReplicasSeen(number, broker.node_id, own, own) for number in range(2))
