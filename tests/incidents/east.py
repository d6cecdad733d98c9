"""The incidents of the cluster ``east``: two brokers, and the second one has little but a part of the offsets topic."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Final

from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewPartitions
from kafka.coordinator.assignors.range import RangePartitionAssignor

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.incidents.crew import Crew
from tests.incidents.incident import Incident
from tests.support.brokers import SOON_BACK
from tests.support.clients import admin
from tests.support.several_brokers import OFFSETS_TOPIC, create_on

SETTINGS: Final = BrokerSettings(heap_mb=384, offsets_topic_partitions=4, properties=SOON_BACK)
TOPICS: Final = {
    **{"products": 2, "clicks": 2, "invoices": 1, "prices": 2, "payments": 1, "ratings": 2, "charges": 3},
    **{"berlin.orders": 2, "berlin.checkpoints.internal": 1},
}
LOADED: Final = ("clicks", "invoices", "payments", "ratings", "charges", "berlin.orders", "products")
COPY_S: Final = 20.0
TRANSACTION_MS: Final = 900_000


@contextmanager
def brokers() -> Iterator[tuple[EmbeddedKafka, EmbeddedKafka]]:
    """All is on the first one but the last of four partitions of the offsets topic."""
    with EmbeddedKafka(SETTINGS) as first, EmbeddedKafka(SETTINGS, beside=first) as second:
        bootstrap, one, two = first.bootstrap_servers, (first.node_id,), (second.node_id,)
        create_on(bootstrap, OFFSETS_TOPIC, [one, one, one, two], **{"cleanup.policy": "compact"})
        create_on(bootstrap, "__transaction_state", [one, one], **{"cleanup.policy": "compact"})
        for topic, partitions in TOPICS.items():
            create_on(bootstrap, topic, [one] * partitions)
        yield first, second


def prepare(crew: Crew) -> None:
    """Groups that have nothing wrong; ``reviews`` is in the second broker's part of the offsets topic."""
    for group, topic in (("catalog", "ratings"), ("recommendations", "clicks"), ("reviews", "ratings")):
        crew.consume(group, f"{group}-0", topic)
    crew.consume("search", "search-0", "products", auto_offset_reset="latest", metadata_max_age_ms="30000")


def abort_each_transaction(crew: Crew) -> None:
    """It reads, and cannot process what it reads."""
    crew.write("invoices", 0, 100)
    crew.set_offsets("invoicing", "invoices", [50])

    def live() -> None:
        consumer = KafkaConsumer(
            "invoices",
            bootstrap_servers=crew.bootstrap,
            group_id="invoicing",
            client_id="invoicing-0",
            enable_auto_commit=False,
            isolation_level="read_committed",
            partition_assignment_strategy=[RangePartitionAssignor],
            session_timeout_ms=45_000,
        )
        producer = KafkaProducer(bootstrap_servers=crew.bootstrap, transactional_id="invoicing-0")
        with closing(producer), closing(consumer):
            producer.init_transactions()
            while not crew.over.wait(1):
                consumer.poll(timeout_ms=500)
                if not consumer.assignment():
                    continue
                producer.begin_transaction()
                place, offset = TopicPartition("invoices", 0), OffsetAndMetadata(60, "", -1)
                producer.send_offsets_to_transaction({place: offset}, consumer.group_metadata())
                producer.abort_transaction()

    crew.work(live)


def add_partitions_that_latest_skips(crew: Crew) -> None:
    """Producers see them before the consumer does."""

    def grow() -> None:
        crew.over.wait(20)
        with admin(crew.bootstrap) as client:
            client.create_partitions({"products": NewPartitions(4)})
        for partition in (2, 3):
            crew.write("products", partition, 900)

    crew.work(grow)


def commit_beyond_the_end(crew: Crew) -> None:
    """Somebody copies the offsets of another cluster."""
    for partition, count in enumerate((120, 140)):
        crew.write("prices", partition, count)
    crew.set_offsets("pricing", "prices", [48_210, 47_930])


def leave_a_transaction_open(crew: Crew) -> None:
    """A producer of payments hangs in the middle of a transaction."""
    crew.consume("accounts", "accounts-0", "payments", isolation_level="read_committed")

    def hang() -> None:
        crew.over.wait(15)
        producer = KafkaProducer(
            bootstrap_servers=crew.bootstrap, transactional_id="payments-import", transaction_timeout_ms=TRANSACTION_MS
        )
        producer.init_transactions()
        producer.begin_transaction()
        producer.send("payments", b"x", partition=0).get(timeout=60)
        crew.over.wait()
        producer.close(timeout=5)

    crew.work(hang)


def stop_copying_offsets(crew: Crew) -> None:
    """What MirrorMaker 2 does for two groups, for a minute."""

    def copy() -> None:
        for number in range(3):
            for group in ("checkout", "fulfilment"):
                crew.set_offsets(group, "berlin.orders", [10 * number + 5] * 2)
            crew.write("berlin.checkpoints.internal", 0, 2)
            for partition in range(2):
                crew.write("berlin.orders", partition, 10)
            crew.over.wait(COPY_S)
        for partition in range(2):
            crew.write("berlin.orders", partition, 80)

    crew.work(copy)


def stop_a_group_among_throwaway_groups(crew: Crew) -> None:
    """Thirty processes use a group each, for a few seconds. One other group has lost its consumers."""
    members = [crew.consume("billing", f"billing-{number}", "charges") for number in range(2)]

    def look_on(count: int) -> None:
        for _ in range(count):
            if crew.over.is_set():
                return
            member = crew.consume(f"anonymous.{uuid.uuid4()}", "dashboard", "clicks")
            crew.over.wait(5)
            crew.stop(member)

    def stop() -> None:
        crew.over.wait(45)
        for member in members:
            crew.stop(member)

    for _ in range(3):
        crew.work(lambda: look_on(10))
    crew.work(stop)


def nothing(_crew: Crew) -> None:
    """What happens is that the second broker is killed, once all other incidents have been photographed."""


AWAY: Final = Incident("reviews", "offsets_topic/no_leader", "east", nothing)
INCIDENTS: Final = (
    Incident("invoicing", "transactions/uncommitted", "east", abort_each_transaction),
    Incident("search", "skipped/new_partition", "east", add_partitions_that_latest_skips),
    Incident("pricing", "lag/beyond_end", "east", commit_beyond_the_end),
    Incident("accounts", "lag/open_transaction", "east", leave_a_transaction_open),
    Incident("checkout", "unattended/not_synced", "east", stop_copying_offsets),
    Incident("billing", "unattended/no_members", "east", stop_a_group_among_throwaway_groups),
)
