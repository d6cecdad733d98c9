"""A cluster of two brokers or three, of which one may hang, and topics with a leader on each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from typing import Final

from kafka import TopicPartition
from kafka.admin import NewTopic
from kafka.errors import UnknownBrokerIdError
from kafka.protocol.admin import ElectionType

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


OFFSETS_TOPIC: Final = "__consumer_offsets"
PLACES: Final = ("first, then second", "second, then first", "second alone", "first alone")


@contextmanager
def brokers_with_placed_offsets() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    """Two brokers with four partitions of the offsets topic, as PLACES says; two replicas have to be in sync.

    Without the second broker, the first two take no records, the third has no leader, and the fourth is as before.
    """
    properties = SOON_BACK | {"min.insync.replicas": "2"}
    settings = BrokerSettings(heap_mb=320, offsets_topic_partitions=4, properties=properties)
    with EmbeddedKafka(settings) as first, EmbeddedKafka(settings, beside=first) as second:
        one, two = first.node_id, second.node_id
        replicas = [(one, two), (two, one), (two, one), (one, two)]
        create_on(first.bootstrap_servers, OFFSETS_TOPIC, replicas, **{"cleanup.policy": "compact"})
        place_alone(first.bootstrap_servers, {2: two, 3: one})
        yield first, second


def await_leader(bootstrap: str, partition: int, topic: str = OFFSETS_TOPIC) -> None:
    """Have the only replica of a partition lead again, once its broker is back.

    One that was killed may lack records, and brokers elect it only if they are told to (KIP-966). One that has hung for
    longer than its session is kept out until it has registered again.
    """

    def is_led() -> bool:
        with suppress(UnknownBrokerIdError), admin(bootstrap) as client:
            client.elect_leaders(ElectionType.UNCLEAN, {topic: [partition]}, raise_errors=False)
            (found,) = client.describe_topics([topic])
            return all(each["leader_id"] >= 0 for each in found["partitions"])
        return False

    eventually(is_led, f"a leader of partition {partition} of {topic}")


def place_alone(bootstrap: str, brokers: Mapping[int, int]) -> None:
    """Take all replicas but one of these partitions of the offsets topic away: a new topic has as many of each."""
    wanted = {number: [broker] for number, broker in brokers.items()}
    with admin(bootstrap) as client:
        client.alter_partition_reassignments({TopicPartition(OFFSETS_TOPIC, each): on for each, on in wanted.items()})

        def is_done() -> bool:
            (topic,) = client.describe_topics([OFFSETS_TOPIC])
            found = {each["partition_index"]: each["replica_nodes"] for each in topic["partitions"]}
            return wanted.items() <= found.items()

        eventually(is_done, "one replica")
