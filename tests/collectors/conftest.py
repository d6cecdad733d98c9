"""What the collectors' tests share: a cluster of their own name on the shared broker, and a broker with users."""

from __future__ import annotations

import secrets

import pytest

from monitor.config import ClusterSettings
from monitor.demo.servers.zookeeper import EmbeddedZooKeeper
from monitor.protocol.events_topic import decode_event
from tests.collectors.zookeeper.zookeepers import client
from tests.support.garbage import collect_sockets


@pytest.fixture(autouse=True)
def _collect_sockets():
    yield
    collect_sockets()


@pytest.fixture
def cluster(broker, topic_name):
    """The shared broker under the name "prod", with an events topic of the test's own that does not exist yet."""
    return ClusterSettings(name="prod", bootstrap_servers=broker.bootstrap_servers, events_topic=f"events-{topic_name}")


@pytest.fixture
def admin(broker):
    from kafka.admin import KafkaAdminClient  # noqa: PLC0415 - importing kafka warns, see tests/conftest.py

    with KafkaAdminClient(**broker.client_settings()) as client:
        yield client


@pytest.fixture
def create(admin):
    """Create topics by name and number of partitions, and wait until the broker shows them."""

    def created(**partitions):
        plans = {name: {"num_partitions": n, "replication_factor": 1} for name, n in partitions.items()}
        admin.create_topics(plans, wait_for_metadata=True)

    return created


@pytest.fixture
def events_of():
    """All events of a cluster's events topic, decoded, in their order; with the key of each."""

    def read(cluster):
        from kafka import KafkaConsumer, TopicPartition  # noqa: PLC0415 - as above

        place = TopicPartition(cluster.events_topic, 0)
        consumer = KafkaConsumer(bootstrap_servers=cluster.bootstrap_servers, auto_offset_reset="earliest")
        try:
            consumer.assign([place])
            (end,) = consumer.end_offsets([place]).values()
            records = []
            while consumer.position(place) < end:
                for batch in consumer.poll(timeout_ms=1000).values():
                    records += batch
        finally:
            consumer.close()
        return [(record.key.decode(), decode_event(record.value)) for record in records]

    return read


@pytest.fixture(scope="session")
def zookeeper():
    """A running ZooKeeper, shared: use ``zookeeper_root``, and do not stop it."""
    with EmbeddedZooKeeper() as server:
        yield server


@pytest.fixture
def zookeeper_root(zookeeper):
    """A node that no other test uses."""
    root = f"/test-{secrets.token_hex(6)}"
    with client(zookeeper.hosts) as owner:
        owner.create(root)
    return root
