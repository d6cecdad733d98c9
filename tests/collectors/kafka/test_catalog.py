"""A pass writes what the cluster has; passes go on when the cluster changes or goes away."""

from __future__ import annotations

import base64
import logging
import threading
import uuid
from contextlib import closing

import pytest
from kafka import KafkaProducer, TopicPartition
from kafka.admin import KafkaAdminClient, OffsetSpec
from kafka.errors import KafkaConnectionError, KafkaTimeoutError, NotCoordinatorError

from monitor.collectors.kafka import catalog
from monitor.collectors.kafka.catalog import KafkaCatalogCollector
from monitor.collectors.kafka.events_writer import write_topics
from monitor.collectors.kafka.topic_poll import SilentLeaders, list_offsets
from monitor.collectors.kafka_client import batch_requests, connection
from monitor.config import ClusterSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.model import OffsetsListed, PartitionObserved, PassCompleted, TopicObserved
from monitor.tracking.topic import expire_topic, fold_topic
from tests.support.brokers import SOON_BACK
from tests.support.clients import commit, transaction
from tests.support.threads import working

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [pytest.mark.broker, pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")]


@pytest.fixture
def collector(cluster):
    made = KafkaCatalogCollector(cluster, clock=iter(range(1000, 10**9, 10)).__next__)
    yield made
    made.close()


def observed(events, topic):
    return [event for _, event in events if isinstance(event, TopicObserved) and event.topic == topic]


def test_a_pass_tells_what_was_created(  # noqa: PLR0917 - fixtures
    broker, cluster, admin, collector, create, topic_name, events_of
):
    """Two partitions, three records in the second, of which the first was deleted."""
    create(**{topic_name: 2})
    place = TopicPartition(topic_name, 1)
    producer = KafkaProducer(**broker.client_settings())
    for _ in range(3):
        producer.send(topic_name, value=b"x", partition=1)
    producer.close()
    admin.delete_records({place: 1})

    completed = collector.collect()

    events = events_of(cluster)
    (seen,) = observed(events, topic_name)
    assert seen.cluster == "prod"
    assert seen.partitions == (
        PartitionObserved(partition=0, earliest=0, end=0),
        PartitionObserved(partition=1, earliest=1, end=3),
    )
    described = uuid.UUID(admin.describe_topics([topic_name])[0]["topic_id"])
    assert base64.urlsafe_b64decode(f"{seen.topic_id}==") == described.bytes
    keys = [key for key, _ in events]
    assert keys == [*sorted(keys[:-1]), ""], "one key per topic, then the completion"
    assert keys[:-1] == [event.topic for _, event in events[:-1]]
    assert events[-1][1] == completed
    assert completed.topics == len(events) - 1
    assert {event.pass_ms for _, event in events} == {completed.pass_ms}
    assert not any(key.startswith("__") for key in keys), "internal topics are left out"


def test_the_events_topic_is_made_for_its_purpose(cluster, admin, collector):
    collector.collect()
    (described,) = admin.describe_topics([cluster.events_topic])
    assert len(described["partitions"]) == 1
    (events_topic,) = admin.describe_topics([cluster.events_topic])
    assert len(events_topic["partitions"][0]["replica_nodes"]) == 1


def test_an_events_topic_that_exists_is_used_as_it_is(cluster, admin, collector, create, events_of):
    create(**{cluster.events_topic: 3})
    completed = collector.collect()
    events = events_of(cluster)
    assert events[-1] == ("", completed), "everything is in partition 0"
    (own,) = observed(events, cluster.events_topic)
    assert [p.partition for p in own.partitions] == [0, 1, 2]


def test_growth_and_deletion_show_in_the_next_pass(  # noqa: PLR0917 - fixtures
    cluster, admin, collector, create, topic_name, events_of
):
    create(**{topic_name: 1})
    first = collector.collect()
    admin.create_partitions({topic_name: 4})
    admin.wait_for_topics([topic_name])
    wait_until(lambda: len(admin.describe_topics([topic_name])[0]["partitions"]) == 4)
    second = collector.collect()
    admin.delete_topics([topic_name])
    wait_until(lambda: admin.describe_topics([topic_name])[0]["error_code"] == 3)
    third = collector.collect()

    seen = observed(events_of(cluster), topic_name)
    assert [(event.pass_ms, len(event.partitions)) for event in seen] == [(first.pass_ms, 1), (second.pass_ms, 4)]
    assert third.pass_ms > second.pass_ms > first.pass_ms


def unchanged_from(collector: KafkaCatalogCollector, offset: int) -> int:
    """How many offsets from there on hold polls that found nothing new."""
    return collector.unchanged.end_beyond(offset) - offset


def test_the_third_equal_poll_found_nothing_new(  # noqa: PLR0917 - fixtures
    broker, cluster, collector, create, topic_name, events_of
):
    """The second is news: what both lack is deleted. What the events topic itself gets by them does not count."""
    create(**{topic_name: 1})
    noted = []
    for _ in range(4):
        begins = len(events_of(cluster)) if noted else 0
        collector.collect()
        noted.append(unchanged_from(collector, begins))
    in_one = len(events_of(cluster)) - begins
    assert noted == [0, 0, in_one, in_one]
    assert unchanged_from(collector, begins - in_one) == 2 * in_one

    with closing(KafkaProducer(**broker.client_settings())) as producer:
        producer.send(topic_name, value=b"x").get(10)
    begins += in_one
    collector.collect()
    assert unchanged_from(collector, begins) == 0


def test_a_poll_with_events_of_others_in_it_is_news(  # noqa: PLR0917 - fixtures
    broker, cluster, collector, create, topic_name, monkeypatch
):
    create(**{topic_name: 1})
    for _ in range(3):
        collector.collect()

    def write_beside(producer, destination, topics):
        written = write_topics(producer, destination, topics)
        with closing(KafkaProducer(**broker.client_settings())) as other:
            other.send(destination, value=b"{}", partition=0).get(10)
        return written

    monkeypatch.setattr(catalog, "write_topics", write_beside)
    completed = collector.collect()
    assert unchanged_from(collector, 3 * (completed.topics + 1)) == 0


def test_a_topic_that_is_gone_does_not_hide_the_others(admin, create, topic_name):
    """Deleted between the description and the question for offsets: the whole request fails, and is divided."""
    create(**{topic_name: 3})
    there = [TopicPartition(topic_name, n) for n in range(3)]
    gone = [TopicPartition(f"{topic_name}-gone", 0), TopicPartition(f"{topic_name}-gone-too", 5)]
    asked = {1: [gone[0], *there[:2], gone[1], there[2]]}
    assert list_offsets(admin, asked, OffsetSpec.LATEST, silent=SilentLeaders()) == dict.fromkeys(there, 0)


def test_the_clock_may_stand_still(cluster, admin):
    collector = KafkaCatalogCollector(cluster, clock=lambda: 5000)
    try:
        passes = [collector.collect() for _ in range(3)]
    finally:
        collector.close()
    assert [made.pass_ms for made in passes] == [5000, 5001, 5002]
    assert isinstance(passes[0], PassCompleted)


def test_after_the_clock_was_set_back_every_pass_is_newer_than_the_one_before_and_sees_the_topics(
    cluster, create, topic_name, events_of
):
    hour = 3_600_000
    clock = iter([*range(2 * hour, 2 * hour + 3), *range(hour, hour + 100)])
    create(**{topic_name: 1})
    collector = KafkaCatalogCollector(cluster, clock=clock.__next__)
    try:
        passes = [collector.collect() for _ in range(3)]
    finally:
        collector.close()
    assert [made.pass_ms for made in passes] == [2 * hour, 2 * hour + 1, 2 * hour + 2]
    state = None
    for made, seen in zip(passes, observed(events_of(cluster), topic_name), strict=True):
        state = fold_topic("prod", topic_name, state, [seen])
        assert expire_topic(state, made.pass_ms) is state
        assert made.completed_ms >= seen.observed_ms >= made.pass_ms == state.pass_ms


def wait_until(condition, limit_s=30.0):
    """For what the broker does in its own time and tells nobody."""
    pause = threading.Event()
    for _ in range(int(limit_s / 0.05)):
        if condition():
            return
        pause.wait(0.05)
    pytest.fail("did not happen")


class Refusing(KafkaAdminClient):
    """A client to which no question about transactions is answered."""

    def describe_producers(self, *_, **__):
        raise KafkaConnectionError("the broker is away")


def test_a_pass_is_complete_without_the_transactions(  # noqa: PLR0917 - fixtures
    broker, cluster, collector, create, topic_name, group_name, monkeypatch, caplog
):
    """A job starts reading after the first complete pass; it must not wait for a broker that is away."""
    create(**{topic_name: 1})
    commit(broker.bootstrap_servers, group_name, topic_name, {0: 1})  # the first one creates the offsets topic
    monkeypatch.setattr(connection, "KafkaAdminClient", Refusing)
    monkeypatch.setattr(batch_requests, "LASTS_S", 0)
    assert [collector.attempt(), collector.attempt()] == [True, True]
    assert (collector.problem, collector.failed_passes) == (None, 0)
    assert collector.last_success_ms is not None
    (said,) = [record.getMessage() for record in caplog.records if record.name.startswith("monitor")]
    assert "the open transactions: not available (no connection to a broker, retrying)" in said


class Forgetful(KafkaAdminClient):
    """The coordinators of all groups have moved since the first client of this class asked for them."""

    made = 0
    bootstrap_is_away = False

    def __init__(self, **configs):
        if self.made and self.bootstrap_is_away:
            raise KafkaTimeoutError("Unable to bootstrap")
        super().__init__(**configs)
        self.number = type(self).made
        type(self).made += 1

    def list_group_offsets(self, group_specs):
        if self.number == 0:
            raise NotCoordinatorError
        return super().list_group_offsets(group_specs)


@pytest.mark.parametrize("bootstrap_is_away", [False, True])
def test_a_moved_coordinator_is_found_by_a_new_client(  # noqa: PLR0917 - fixtures
    broker, cluster, collector, create, topic_name, group_name, events_of, monkeypatch, bootstrap_is_away
):
    """kafka-python asks only once who coordinates a group. An old client is better than none."""
    monkeypatch.setattr(connection, "KafkaAdminClient", Forgetful)
    monkeypatch.setattr(Forgetful, "made", 0)
    monkeypatch.setattr(Forgetful, "bootstrap_is_away", bootstrap_is_away)
    create(**{topic_name: 1})
    with transaction(broker.bootstrap_servers, group_name, topic_name, 7) as producer:
        producer.commit_transaction()
    assert [collector.attempt(), collector.attempt()] == [True, True]
    told = {event.group for _, event in events_of(cluster) if isinstance(event, OffsetsListed)}
    assert (group_name in told) != bootstrap_is_away


def test_a_cluster_that_nobody_answers_of_is_tried_again_before_the_interval_is_over():
    with closing(EmbeddedKafka(BrokerSettings())) as kafka:
        cluster = ClusterSettings(name="prod", bootstrap_servers=kafka.bootstrap_servers, collect_interval_s=3_600)
        collector = KafkaCatalogCollector(cluster, connect_limit_s=0.5)
        with working(collector.run):
            wait_until(lambda: collector.failed_passes >= 2, 60)
            kafka.start()
            wait_until(lambda: collector.complete_passes == 1, 60)


@pytest.fixture
def own_broker():
    """A broker that the test may kill; its brokers stand in a rack."""
    with EmbeddedKafka(BrokerSettings(properties={"broker.rack": "r1", **SOON_BACK})) as kafka:
        yield kafka


def test_a_broker_killed_and_restarted(own_broker, events_of, caplog):
    """The loop goes on by itself: it says what is wrong while the broker is away, and recovers when it is back."""
    caplog.set_level(logging.DEBUG)
    cluster = ClusterSettings(name="prod", bootstrap_servers=own_broker.bootstrap_servers, collect_interval_s=0.2)
    collector = KafkaCatalogCollector(cluster, connect_limit_s=1.0)
    threads_before = threading.active_count()
    with working(collector.run):
        wait_until(lambda: collector.last_success_ms is not None)
        with KafkaAdminClient(**own_broker.client_settings()) as admin:
            admin.create_topics({"t": {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
        own_broker.kill()
        wait_until(lambda: collector.failed_passes >= 3, 60)
        assert collector.problem is not None
        assert collector.problem.startswith("Cluster prod: ")
        before = collector.last_success_ms
        own_broker.start()
        wait_until(lambda: collector.last_success_ms != before and collector.problem is None, 60)
    wait_until(lambda: threading.active_count() <= threads_before)
    events = events_of(cluster)
    assert observed(events, "t")[-1].partitions == (PartitionObserved(partition=0, earliest=0, end=0, racks=("r1",)),)
    passes = [event.pass_ms for _, event in events if isinstance(event, PassCompleted)]
    assert passes == sorted(set(passes))
    assert not [record for record in caplog.records if record.name.startswith("kafka")]
