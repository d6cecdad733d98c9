"""A cluster of two brokers or three, of which one may hang, and topics with a leader on each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress

from kafka.admin import NewTopic
from kafka.errors import UnknownBrokerIdError

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.brokers import SOON_BACK
from tests.support.clients import admin
from tests.support.job_process import eventually


@contextmanager
def two_brokers(*, offsets_partitions: int = 2) -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    """The first is the controller. There is one replica of everything, so nobody else leads what one has led."""
    with brokers_of_one_cluster(2, offsets_partitions) as (first, second):
        yield first, second


@contextmanager
def brokers_of_one_cluster(count: int, offsets_partitions: int) -> Iterator[list[EmbeddedKafka]]:
    """The same of so many."""
    settings = BrokerSettings(heap_mb=320, offsets_topic_partitions=offsets_partitions, properties=SOON_BACK)
    with ExitStack() as stack:
        found = [stack.enter_context(EmbeddedKafka(settings))]
        while len(found) < count:
            found.append(stack.enter_context(EmbeddedKafka(settings, beside=found[0])))
        yield found


def create_on(bootstrap: str, topic: str, replicas: Sequence[tuple[int, ...]], **configuration: str) -> None:
    """Create a topic whose partitions are on these brokers, the leader first; once they are there, if one has hung."""
    needed = {broker for of_partition in replicas for broker in of_partition}
    with admin(bootstrap) as client:
        eventually(lambda: needed <= {each["broker_id"] for each in client.describe_cluster()["brokers"]}, "brokers")
    placed = {number: list(brokers) for number, brokers in enumerate(replicas)}

    def is_created() -> bool:
        with suppress(UnknownBrokerIdError), admin(bootstrap) as client:  # it may not know its controller again yet
            client.create_topics([NewTopic(topic, replica_assignments=placed, topic_configs=dict(configuration))])
            client.wait_for_topics([topic])
            return True
        return False

    eventually(is_created, f"topic {topic}")
