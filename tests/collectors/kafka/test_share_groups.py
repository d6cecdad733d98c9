"""The collector reads configs and offsets of share groups from a real broker, and says once what it may not read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from kafka import KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic
from kafka.errors import IncompatibleBrokerVersion, RequestTimedOutError

from monitor.collectors.kafka.share_groups import LIST_MS, REPEAT_MS, ShareGroupReader
from monitor.collectors.kafka.share_offsets import ShareOffsetsReader
from monitor.collectors.kafka.topic_poll import StableOffsets, observe_topics
from monitor.collectors.kafka_client import batch_requests
from monitor.config import ClusterSettings
from monitor.demo.java.share_clients import ShareClients
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.java_runtime.kafka_versions import kafka_version
from monitor.model import ListedShareOffset, ShareConfig, ShareGroupRead
from tests.support.job_process import eventually

GROUP, TOPIC = "pool", "work"


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    """A broker with a limit of three deliveries, and a share group that reads its topic from the beginning."""
    with EmbeddedKafka(BrokerSettings(properties={"group.share.delivery.count.limit": "3"})) as broker:
        with KafkaAdminClient(**broker.client_settings()) as client:
            client.create_topics([NewTopic(TOPIC, 1, 1)])
            from_the_beginning = {"share.auto.offset.reset": "earliest"}
            client.alter_configs([ConfigResource(ConfigResourceType.GROUP, GROUP, from_the_beginning)])
        yield broker


@pytest.fixture(scope="module")
def admin(kafka: EmbeddedKafka) -> Iterator[KafkaAdminClient]:
    """A member has accepted two records, and a third one was written since."""
    with (
        ShareClients(kafka.bootstrap_servers) as clients,
        KafkaProducer(**kafka.client_settings()) as producer,
        KafkaAdminClient(**kafka.client_settings()) as client,
    ):
        clients.consume("worker-1", GROUP, TOPIC, strategy="", how="0")
        for number in (1, 2):
            producer.send(TOPIC, b"x").get(30)
            eventually(lambda wanted=number: clients.count_received("worker-1") == wanted, "a record")
        clients.acknowledge_with("worker-1", "HOLD")
        producer.send(TOPIC, b"x").get(30)
        yield client


def read(asker: ShareGroupReader, admin: Any, now_ms: int) -> dict[str, ShareConfig]:
    return {event.group: event.config for events in asker.ask(admin, lambda: now_ms) for event in events}


def described(admin: Any) -> dict[str, str]:
    """The configs of the group by name, as the broker gives them now."""
    found = admin.describe_configs([ConfigResource(ConfigResourceType.GROUP, GROUP)], config_filter="all")
    return {name: str(config["value"]) for name, config in found["group"][GROUP].items()}


@pytest.mark.broker
def test_configs_are_read_from_the_broker_until_the_group_has_its_own(admin: KafkaAdminClient, caplog):
    asker = ShareGroupReader("prod")
    of_broker = {GROUP: ShareConfig(delivery_limit=3, lock_ms=30_000, reads_committed=False)}
    assert read(asker, admin, 0) == of_broker
    assert read(asker, admin, LIST_MS) == {}, "nothing has changed"
    own = {"share.record.lock.duration.ms": "20000", "share.isolation.level": "read_committed"}
    if kafka_version().has_group_delivery_limit:
        own["share.delivery.count.limit"] = "4"
    admin.alter_configs([ConfigResource(ConfigResourceType.GROUP, GROUP, own)])
    eventually(lambda: own.items() <= described(admin).items(), "what was altered: a broker learns it a moment later")
    limit = 4 if kafka_version().has_group_delivery_limit else 3
    of_group = {GROUP: ShareConfig(delivery_limit=limit, lock_ms=20_000, reads_committed=True)}
    assert read(asker, admin, 2 * LIST_MS - 1) == {}, "too soon"
    assert read(asker, admin, 2 * LIST_MS) == of_group
    assert read(asker, admin, 2 * LIST_MS + REPEAT_MS) == of_group, "for a job that has started since"
    assert not caplog.records


@pytest.mark.broker
def test_offsets_are_read_from_the_coordinator_where_the_log_of_share_state_is_not(
    kafka: EmbeddedKafka, admin: KafkaAdminClient, caplog
):
    cluster = ClusterSettings(name="prod", bootstrap_servers=kafka.bootstrap_servers)
    by_log, by_admin = (cluster.model_copy(update={"groups_from": source}) for source in ("log", "admin"))
    assert not ShareOffsetsReader(by_log).is_needed(admin)
    (observed,) = (
        topic
        for topic in observe_topics(admin, StableOffsets(), cluster="prod", pass_ms=1, observed_ms=1)
        if topic.topic == TOPIC
    )

    def listed() -> tuple[ListedShareOffset, ...]:
        asker = ShareGroupReader("prod", ShareOffsetsReader(by_admin))
        ((event,),) = asker.ask(admin, lambda: 0)
        return event.offsets

    # the start offset may be one acknowledgment behind, the lag never
    eventually(lambda: listed() and (listed()[0].partition, listed()[0].lag) == (0, 1), "a lag of one record")
    assert [each.topic_id for each in listed()] == [observed.topic_id]
    assert not caplog.records


# --- brokers of other versions, and users who may less: what kafka-python 3.0.12 gives then --------------------------


class OtherBroker:
    """Answers with what it is made with. A resource that the user may not describe comes without any config."""

    def __init__(self, groups: list[str] | None, own: dict[str, str], of_brokers: dict[str, str] | None = None) -> None:
        self.groups, self.own, self.of_brokers = groups, own, of_brokers or {}

    def list_groups(self, types_filter: list[str]) -> list[dict[str, str]]:
        if self.groups is None:
            raise IncompatibleBrokerVersion
        return [{"group_id": group, "group_type": "share"} for group in self.groups]

    def no_answer(self) -> dict[str, Any]:
        raise RequestTimedOutError

    def describe_cluster(self) -> dict[str, Any]:
        return {"brokers": [{"broker_id": 7}, {"broker_id": 3}]}

    def describe_configs(self, resources: list[ConfigResource], config_filter: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for each in resources:
            kind = "group" if each.resource_type == ConfigResourceType.GROUP else "broker"
            values = self.own if kind == "group" else self.of_brokers
            found.setdefault(kind, {})[each.name] = {name: {"value": value} for name, value in values.items()}
        return found


OWN_LOCK = {"share.record.lock.duration.ms": "15000"}
OF_BROKERS = {"group.share.delivery.count.limit": "6", "group.share.record.lock.duration.ms": "30000"}


def test_before_kafka_4_3_the_limit_is_that_of_the_brokers():
    broker = OtherBroker(["a", "b"], OWN_LOCK, OF_BROKERS)
    assert read(ShareGroupReader("c"), broker, 0) == dict.fromkeys("ab", ShareConfig(delivery_limit=6, lock_ms=15_000))


def test_brokers_without_kinds_of_groups_have_no_share_groups_and_nothing_is_said(caplog):
    assert read(ShareGroupReader("c"), OtherBroker(None, {}), 0) == {}
    assert not caplog.records


def test_configs_that_the_user_may_not_describe_are_said_once_and_no_event(caplog):
    asker, broker = ShareGroupReader("c"), OtherBroker(["a", "b"], {})
    for now_ms in (0, LIST_MS, 2 * LIST_MS):
        assert read(asker, broker, now_ms) == {}
    said = [record.getMessage() for record in caplog.records]
    assert len(said) == 2, said
    assert said[0].startswith(
        "Cluster c: the configs of a share group: not available (the user lacks permission, Group"
    )
    assert said[1].startswith("Cluster c: the brokers' configs for share groups: not available (the user lacks permiss")


def test_a_group_that_is_gone_is_written_once_without_configs():
    asker, broker = ShareGroupReader("c"), OtherBroker(["a"], OWN_LOCK, OF_BROKERS)
    assert list(read(asker, broker, 0)) == ["a"]
    broker.groups = []
    assert read(asker, broker, LIST_MS) == {"a": ShareConfig()}
    assert read(asker, broker, 2 * LIST_MS) == {}


def test_what_could_not_be_written_is_given_again():
    asker, broker = ShareGroupReader("c"), OtherBroker(["a"], OWN_LOCK, OF_BROKERS)
    first = next(asker.ask(broker, lambda: 0))
    assert next(asker.ask(broker, lambda: LIST_MS)) == [
        ShareGroupRead(cluster="c", group="a", read_ms=LIST_MS, config=event.config) for event in first
    ]


def test_a_limit_that_the_brokers_do_not_say_once_stays_as_it_was(caplog, monkeypatch):
    monkeypatch.setattr(batch_requests, "LASTS_S", 0)
    asker, broker = ShareGroupReader("c"), OtherBroker(["a"], OWN_LOCK, OF_BROKERS)
    known = {"a": ShareConfig(delivery_limit=6, lock_ms=15_000)}
    assert read(asker, broker, 0) == known
    broker.describe_cluster = broker.no_answer
    assert read(asker, broker, LIST_MS) == {}, "nothing has changed"
    assert read(asker, broker, LIST_MS + REPEAT_MS) == known
    (said,) = [record.getMessage() for record in caplog.records]
    assert "permission" not in said
