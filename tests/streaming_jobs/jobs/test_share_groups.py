"""A real share group beside a job: records are accepted, rejected, released until the group gives them up, left alone.

The job starts before any share group exists, so the brokers have no log of share state yet: it has to notice it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from kafka import KafkaProducer
from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient, NewTopic

from monitor.demo.java.share_clients import ShareClients
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.clients import commit
from tests.support.job_process import JobProcess, eventually, running

pytestmark = [pytest.mark.broker, pytest.mark.spark]

CLUSTER, GROUP, TOPIC, MEMBER = "live", "pool", "work", "worker-1"
RECORDS = 20
LIMIT = 5
"""The brokers' default: a record is given up after so many deliveries."""


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    """A topic of two partitions, and the offsets topic."""
    properties = {"group.share.min.record.lock.duration.ms": "1000", "group.share.record.lock.duration.ms": "2000"}
    with EmbeddedKafka(BrokerSettings(properties=properties)) as broker:
        client = KafkaAdminClient(**broker.client_settings())
        client.create_topics([NewTopic(TOPIC, 2, 1)])
        client.wait_for_topics([TOPIC])
        client.close()
        commit(broker.bootstrap_servers, "first", TOPIC, {0: 0})
        yield broker


@pytest.fixture(scope="module")
def job(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    table = {"bootstrap_servers": kafka.bootstrap_servers, "collect_interval_s": 2.0}
    silence = {"commit_silence_s": 5.0}
    with running(JobProcess(tmp_path_factory.mktemp("job"), {CLUSTER: table}, detection=silence)) as process:
        yield process


def produce(kafka: EmbeddedKafka, count: int) -> None:
    producer = KafkaProducer(**kafka.client_settings())
    for number in range(count):
        producer.send(TOPIC, b"x", partition=number % 2)
    producer.close(timeout=30)


def verdict(job: JobProcess) -> dict[str, Any]:
    """What is said of the group; nothing before it is known."""
    found: dict[str, Any] = json.loads(job.get_any(f"/api/v1/groups/{CLUSTER}/{GROUP}"))
    return found


def total(job: JobProcess, field: str) -> int:
    return sum(each.get(field, 0) for each in verdict(job).get("deliveries", ()))


def reasons(job: JobProcess) -> set[str]:
    return {f"{each['kind']}/{each['reason']}" for each in verdict(job).get("findings", ())}


def test_the_story_of_a_share_group(kafka: EmbeddedKafka, job: JobProcess):
    with KafkaAdminClient(**kafka.client_settings()) as admin:  # before the group begins at the end of the log
        from_the_beginning = {"share.auto.offset.reset": "earliest"}
        admin.alter_configs([ConfigResource(ConfigResourceType.GROUP, GROUP, from_the_beginning)])
    with ShareClients(kafka.bootstrap_servers) as clients:
        clients.consume(MEMBER, GROUP, TOPIC, strategy="", how="0")
        produce(kafka, RECORDS)
        eventually(lambda: total(job, "accepted") == RECORDS, "all records are accepted, and the log is read", 120)
        assert verdict(job)["lag"] == 0
        assert reasons(job) == set()

        clients.acknowledge_with(MEMBER, "REJECT")
        produce(kafka, 3)
        eventually(lambda: total(job, "rejected") == 3, "three records are rejected")
        assert reasons(job) == set()

        clients.acknowledge_with(MEMBER, "RELEASE")
        produce(kafka, 2)
        eventually(lambda: clients.highest_delivery(MEMBER) == LIMIT, "the last delivery")
        eventually(lambda: total(job, "given_up") == 2, "both records are given up")
        assert reasons(job) == {"poison/given_up"}
        given_up = "groupwatch_group_share_given_up_records_total"
        assert job.metrics().value(given_up, cluster=CLUSTER, group=GROUP) == 2

        clients.hang(MEMBER)
        produce(kafka, 4)
        eventually(lambda: verdict(job)["lag"] == 4, "four records wait")
        eventually(lambda: "lag/stalled" in reasons(job), "nobody acknowledges", 120)
    assert total(job, "accepted") == RECORDS
