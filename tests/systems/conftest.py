"""The servers, each started once for all tests that need it. Tests use topics and groups of their own."""

from collections.abc import Iterator

import pytest

from monitor.embedded.kafka010 import EmbeddedKafka010
from monitor.embedded.metaq import EmbeddedMetaQ
from monitor.embedded.rocketmq import NEWEST, OLDER, EmbeddedRocketMQ
from monitor.embedded.zookeeper import EmbeddedZooKeeper

METAQ_TOPICS = {"kept": 4, "killed": 4, "joined": 4, "hung": 4, "left": 2, "wide": 12}
"""A MetaQ broker creates the topics of its configuration only; there are two brokers, with so many partitions each."""


@pytest.fixture(scope="session")
def zookeeper() -> Iterator[EmbeddedZooKeeper]:
    """A ZooKeeper for MetaQ (below /meta) and Kafka (below /kafka)."""
    with EmbeddedZooKeeper() as server:
        yield server


@pytest.fixture(scope="session")
def kafka010(zookeeper: EmbeddedZooKeeper) -> Iterator[EmbeddedKafka010]:
    """A Kafka 0.10 broker."""
    with EmbeddedKafka010(zookeeper, chroot="/kafka") as broker:
        yield broker


@pytest.fixture(scope="session")
def metaq(zookeeper: EmbeddedZooKeeper) -> Iterator[tuple[EmbeddedMetaQ, EmbeddedMetaQ]]:
    """Two MetaQ brokers."""
    with EmbeddedMetaQ(zookeeper, METAQ_TOPICS) as one, EmbeddedMetaQ(zookeeper, METAQ_TOPICS, broker_id=1) as other:
        yield one, other


@pytest.fixture(scope="session", params=[OLDER, NEWEST])
def rocketmq(request: pytest.FixtureRequest) -> Iterator[EmbeddedRocketMQ]:
    """A name server and two brokers, of both lines of versions one after the other."""
    with EmbeddedRocketMQ(request.param, brokers=2) as servers:
        yield servers
