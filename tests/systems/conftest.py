"""The servers, each started once for all tests that need it, and the stories, side by side.

Tests use topics and groups of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack
from functools import partial
from typing import NamedTuple

import pytest

from monitor.demo.servers.kafka010 import EmbeddedKafka010, kafka010_jars
from monitor.demo.servers.metaq import EmbeddedMetaQ, metaq_jars
from monitor.demo.servers.rocketmq import NEWEST, EmbeddedRocketMQ, rocketmq_jars
from monitor.demo.servers.zookeeper import EmbeddedZooKeeper, zookeeper_jars
from tests.systems.stories import KafkaStory, MetaQStory, RocketMQStory, Story

OLDER = "4.9.7"
"""The newest version of RocketMQ 4.9 of which all modules can be fetched: of 4.9.8 some are missing."""

VERSIONS = [pytest.param(OLDER, marks=pytest.mark.long), NEWEST]
"""Of RocketMQ: the same story with another version is left to `make test-long`."""

METAQ_TOPICS = {"crew": 4, "calm": 4, "killed": 4, "joined": 4, "paused": 4, "stuck": 4, "wide": 12}
"""A MetaQ broker creates the topics of its configuration only; there are two brokers, with so many partitions each."""


@pytest.fixture(scope="session")
def versions(request: pytest.FixtureRequest) -> list[str]:
    """Those of RocketMQ that the chosen tests ask for."""
    asked = {item.callspec.params.get("version") for item in request.session.items if hasattr(item, "callspec")}
    return [version for version in (OLDER, NEWEST) if version in asked]


@pytest.fixture(scope="session")
def jars(versions: list[str]) -> None:
    """All jars: a first run fetches them side by side, as it mostly waits for answers."""
    fetches: list[Callable[[], object]] = [zookeeper_jars, metaq_jars, kafka010_jars]
    fetches += [partial(rocketmq_jars, version) for version in versions]
    with ThreadPoolExecutor(len(fetches)) as pool:
        for fetched in [pool.submit(fetch) for fetch in fetches]:
            fetched.result()


@pytest.fixture(scope="session")
def zookeeper(jars: None) -> Iterator[EmbeddedZooKeeper]:
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


@pytest.fixture(scope="session")
def rocketmqs(jars: None, versions: list[str]) -> Iterator[dict[str, EmbeddedRocketMQ]]:
    """A name server and two brokers of each version."""
    with ExitStack() as running:
        yield {version: running.enter_context(EmbeddedRocketMQ(version, brokers=2)) for version in versions}


@pytest.fixture
def rocketmq(version: str, rocketmqs: dict[str, EmbeddedRocketMQ]) -> EmbeddedRocketMQ:
    """The servers of one version."""
    return rocketmqs[version]


class Pair(NamedTuple):
    """Two stories that are being told."""

    one: Future[Story]
    other: Future[Story]


@pytest.fixture(scope="session")
def zookeeper_stories(zookeeper: EmbeddedZooKeeper, kafka010: EmbeddedKafka010, metaq: object) -> Iterator[Pair]:
    """Those of Kafka 0.10 and of MetaQ."""
    with ThreadPoolExecutor(2) as pool:
        kafka, metaq_story = KafkaStory(zookeeper, kafka010), MetaQStory(zookeeper, METAQ_TOPICS)
        yield Pair(pool.submit(kafka.run), pool.submit(metaq_story.run))


@pytest.fixture(scope="session")
def rocketmq_stories(rocketmqs: dict[str, EmbeddedRocketMQ]) -> Iterator[dict[str, Future[Story]]]:
    """Those of RocketMQ's versions."""
    with ThreadPoolExecutor(len(rocketmqs)) as pool:
        yield {version: pool.submit(RocketMQStory(servers).run) for version, servers in rocketmqs.items()}
