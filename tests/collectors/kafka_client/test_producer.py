"""What is written is there once where brokers allow that, and in its order everywhere."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from kafka import KafkaProducer
from kafka.admin import (
    ACL,
    ACLOperation,
    ACLPermissionType,
    ConfigResource,
    ConfigResourceType,
    KafkaAdminClient,
    NewTopic,
    ResourcePattern,
    ResourceType,
)
from kafka.errors import KafkaError
from msgspec.structs import replace

from monitor.collectors.kafka.events_writer import (
    clock_problem,
    ensure_events_topic,
    limit_commit_times,
    write_completion,
)
from monitor.collectors.kafka_client.connection import close_producer, open_admin, open_producer
from monitor.config import ClusterSettings, ConfigError
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.model import GroupKind, GroupObserved, ObservedOffset, PassCompleted, Source
from tests.support.clients import values_of
from tests.support.job_process import eventually

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [pytest.mark.broker, pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")]

PASS = PassCompleted(cluster="prod", pass_ms=1, completed_ms=2, topics=0)
USERS = {"root": "root-pw", "writer": "writer-pw"}


@pytest.fixture(scope="module")
def secured() -> Iterator[EmbeddedKafka]:
    """A broker where "root" may do everything, and "writer" nothing yet."""
    with EmbeddedKafka(BrokerSettings(sasl_users=USERS, super_users=("root",))) as kafka:
        with KafkaAdminClient(**kafka.client_settings("root")) as admin:
            admin.create_topics({"events": {"num_partitions": 1, "replication_factor": 1}}, wait_for_metadata=True)
        yield kafka


@contextmanager
def producing(cluster: ClusterSettings) -> Iterator[KafkaProducer]:
    producer = open_producer(cluster)
    try:
        yield producer
    finally:
        close_producer(producer, 1.0)


def is_idempotent(producer: KafkaProducer) -> bool:
    return bool(producer.config["enable_idempotence"])


def test_writing_is_idempotent_unless_the_configuration_says_no(cluster: ClusterSettings):
    with open_admin(cluster) as admin:
        ensure_events_topic(admin, cluster.events_topic)
    with producing(cluster) as producer:
        assert is_idempotent(producer)
    chosen = cluster.model_copy(update={"client": type(cluster.client)({"enable.idempotence": "false"})})
    with producing(chosen) as producer:
        assert not is_idempotent(producer)
        write_completion(producer, cluster.events_topic, PASS)
    assert len(values_of(cluster.bootstrap_servers, cluster.events_topic)) == 1


def test_a_request_may_take_as_long_as_by_kafkas_own_default(cluster: ClusterSettings):
    """kafka-python wants a record to be given longer than a request."""
    with open_admin(cluster) as admin:
        ensure_events_topic(admin, cluster.events_topic)
    patient = cluster.model_copy(update={"client": type(cluster.client)({"request.timeout.ms": "30000"})})
    with producing(patient) as producer:
        write_completion(producer, cluster.events_topic, PASS)
    assert len(values_of(cluster.bootstrap_servers, cluster.events_topic)) == 1


def test_the_brokers_date_the_records_of_a_topic_of_an_earlier_version_too(cluster: ClusterSettings):
    """Else whoever writes can date a record so that Spark cannot read it, nor what comes behind it."""
    topic = ConfigResource(ConfigResourceType.TOPIC, cluster.events_topic)
    with open_admin(cluster) as admin:
        admin.create_topics([NewTopic(cluster.events_topic, 1, 1, topic_configs={"retention.ms": "7200000"})])
        admin.wait_for_topics([cluster.events_topic])
        assert not ensure_events_topic(admin, cluster.events_topic)

        def has_both() -> bool:
            (found,) = admin.describe_configs([topic])["topic"].values()
            return {name: each["value"] for name, each in found.items()} == {
                "message.timestamp.type": "LogAppendTime",
                "retention.ms": "7200000",
            }

        eventually(has_both, "both settings: a broker knows them a moment after the controller")


def test_a_choice_that_is_none_is_told():
    cluster = ClusterSettings(name="prod", bootstrap_servers="localhost:1", client={"enable.idempotence": "perhaps"})
    with pytest.raises(ConfigError, match=r"clusters\.prod\.client\.enable\.idempotence should be true or false\."):
        open_producer(cluster)


def test_who_may_write_a_topic_writes_idempotently_and_who_is_refused_an_id_writes_nevertheless(
    secured: EmbeddedKafka, caplog: pytest.LogCaptureFixture
):
    """A broker of today gives an id to whoever may write some topic, so the refused one gets his permission later."""
    login = {"sasl.username": "writer", "sasl.password": USERS["writer"]}
    client = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "PLAIN", **login}
    cluster = ClusterSettings(name="prod", bootstrap_servers=secured.bootstrap_servers, client=client)
    caplog.set_level(logging.INFO, "monitor")
    with producing(cluster) as refused:
        assert not is_idempotent(refused)
        assert "Cluster prod: the brokers refuse idempotent writes; records may be duplicated" in caplog.messages
        with KafkaAdminClient(**secured.client_settings("root")) as admin:
            pattern = ResourcePattern(ResourceType.TOPIC, "events")
            admin.create_acls([ACL("User:writer", "*", ACLOperation.WRITE, ACLPermissionType.ALLOW, pattern)])

        def written() -> bool:
            try:
                write_completion(refused, "events", PASS)
            except KafkaError:
                return False
            return True

        eventually(written, "a record of the producer that was refused an id", 30)
    caplog.clear()
    with producing(cluster) as producer:
        assert is_idempotent(producer)
        write_completion(producer, "events", PASS)
    assert [message for message in caplog.messages if "idempotent" in message] == []


NOON = 1_700_000_000_000


def test_a_collector_whose_clock_is_ahead_of_the_brokers_is_told_so(cluster: ClusterSettings):
    """The brokers date the records of a topic that collectors make; a pass of now is no news, one of tomorrow is."""
    with open_admin(cluster) as admin:
        ensure_events_topic(admin, cluster.events_topic)
    now_ms = time.time_ns() // 1_000_000
    with producing(cluster) as producer:
        of_now, of_tomorrow = (replace(PASS, completed_ms=now_ms + ahead_ms) for ahead_ms in (0, 86_400_000))
        assert clock_problem(of_now, write_completion(producer, cluster.events_topic, of_now)) is None
        told = clock_problem(of_tomorrow, write_completion(producer, cluster.events_topic, of_tomorrow))
    assert told is not None
    assert "Cluster prod: the clock of this machine is 14" in told, "1,440 minutes, or one less"
    assert "from_the_future" in told


def test_what_another_clock_dates_later_than_the_reading_was_committed_by_then():
    offsets = (ObservedOffset("t", 0, 5, NOON + 1), ObservedOffset("t", 1, 5, NOON - 1), ObservedOffset("t", 2, 5))
    event = GroupObserved("c", "g", GroupKind.ZOOKEEPER, Source.SYSTEM, NOON, NOON, offsets=offsets)
    assert [offset.committed_ms for offset in limit_commit_times(event).offsets] == [NOON, NOON - 1, None]
    on_time = replace(event, offsets=offsets[1:])
    assert limit_commit_times(on_time) is on_time
