"""A cluster of two brokers of which the second may hang, and topics with a leader on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from kafka.admin import NewTopic

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.brokers import SOON_BACK
from tests.support.clients import admin
from tests.support.job_process import eventually


@contextmanager
def two_brokers(*, offsets_partitions: int = 2) -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    """The first is the controller. There is one replica of everything, so nobody else leads what one has led."""
    settings = BrokerSettings(heap_mb=320, offsets_topic_partitions=offsets_partitions, properties=SOON_BACK)
    with EmbeddedKafka(settings) as first, EmbeddedKafka(settings, beside=first) as second:
        yield first, second


def create_on_both(bootstrap: str, topic: str, replicas: Sequence[tuple[int, ...]], **configuration: str) -> None:
    """Create a topic whose partitions are on these brokers, the leader first; once both are there, if one has hung."""
    with admin(bootstrap) as client:
        eventually(lambda: len(client.describe_cluster()["brokers"]) == 2, "both brokers")
    placed = {number: list(brokers) for number, brokers in enumerate(replicas)}
    with admin(bootstrap) as client:
        client.create_topics([NewTopic(topic, replica_assignments=placed, topic_configs=dict(configuration))])
