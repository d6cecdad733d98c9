"""A real share group of two beside a job: records are accepted, rejected, given up, held for too long, left alone.

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
from monitor.model import END_SPACING_MS
from tests.support.clients import commit
from tests.support.job_process import JobProcess, eventually, running
from tests.support.without_spark import JobWithoutSpark

pytestmark = [pytest.mark.broker, pytest.mark.jobs]

CLUSTER, GROUP, TOPIC = "live", "pool", "work"
FIRST, SECOND = "worker-1", "worker-2"
ASKED = "asked"
"""The same brokers, of which the groups are read by the admin API."""
RECORDS = 20
LIMIT = 5
"""The brokers' default: a record is given up after so many deliveries."""
LOCK_S = 6
"""For which a record is a consumer's: long enough to see that it is on its last delivery."""
SILENCE_S = 5.0
WITHIN_S = 8.0
"""From the log to what is told."""
ENDS_KEPT_S = END_SPACING_MS / 1000
"""When a record came is known by the ends that are kept, so it may be taken to have come so much later."""


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    """A topic of one partition, and the offsets topic."""
    properties = {
        "group.share.min.record.lock.duration.ms": "1000",
        "group.share.record.lock.duration.ms": str(LOCK_S * 1000),
    }
    with EmbeddedKafka(BrokerSettings(properties=properties)) as broker:
        client = KafkaAdminClient(**broker.client_settings())
        client.create_topics([NewTopic(TOPIC, 1, 1)])
        client.wait_for_topics([TOPIC])
        client.close()
        commit(broker.bootstrap_servers, "first", TOPIC, {0: 0})
        yield broker


@pytest.fixture(scope="module")
def job(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    table = {"bootstrap_servers": kafka.bootstrap_servers, "collect_interval_s": 2.0}
    asked = table | {"groups_from": "admin", "events_topic": "groupwatch.asked"}
    silence = {"commit_silence_s": SILENCE_S}
    with running(
        JobWithoutSpark(tmp_path_factory.mktemp("job"), {CLUSTER: table, ASKED: asked}, detection=silence)
    ) as process:
        yield process


def produce(kafka: EmbeddedKafka, count: int) -> None:
    producer = KafkaProducer(**kafka.client_settings())
    for _ in range(count):
        producer.send(TOPIC, b"x")
    producer.close(timeout=30)


def verdict(job: JobProcess, cluster: str = CLUSTER) -> dict[str, Any]:
    """What is said of the group; nothing before it is known."""
    found: dict[str, Any] = json.loads(job.get_any(f"/api/v1/groups/{cluster}/{GROUP}"))
    return found


def total(job: JobProcess, field: str) -> int:
    return sum(each.get(field, 0) for each in verdict(job).get("deliveries", ()))


def reasons(job: JobProcess) -> set[str]:
    return {f"{each['kind']}/{each['reason']}" for each in verdict(job).get("findings", ())}


def await_reasons(job: JobProcess, wanted: set[str], limit_s: float = WITHIN_S) -> None:
    eventually(lambda: reasons(job) == wanted, f"exactly {sorted(wanted)}, not {sorted(reasons(job))}", limit_s)


def test_the_story_of_a_share_group(kafka: EmbeddedKafka, job: JobProcess):
    with KafkaAdminClient(**kafka.client_settings()) as admin:  # before the group begins at the end of the log
        from_the_beginning = {"share.auto.offset.reset": "earliest"}
        admin.alter_configs([ConfigResource(ConfigResourceType.GROUP, GROUP, from_the_beginning)])
    with ShareClients(kafka.bootstrap_servers) as clients:
        for name in (FIRST, SECOND):
            clients.consume(name, GROUP, TOPIC, strategy="", how="0")
        produce(kafka, RECORDS)
        eventually(lambda: total(job, "accepted") == RECORDS, "all records are accepted, and the log is read", 120)
        (row,) = verdict(job)["partitions"]
        assert (verdict(job)["lag"], len(row["owners"]), reasons(job)) == (0, 2, set()), "both own the one partition"
        clients.acknowledge_with(SECOND, "HOLD")  # what it may have asked for already, it does not accept
        clients.hang(SECOND)

        clients.acknowledge_with(FIRST, "REJECT")
        produce(kafka, 3)
        # A fetch of the second member's may have taken them when it hung: the first one gets them after the lock.
        eventually(lambda: total(job, "rejected") == 3, "three records are rejected", LOCK_S + WITHIN_S)
        assert reasons(job) == set()

        clients.acknowledge_with(FIRST, "RELEASE", until=LIMIT - 1)
        produce(kafka, 1)
        eventually(lambda: clients.highest_delivery(FIRST) == LIMIT - 1, "all deliveries but the last one")
        await_reasons(job, {"poison/last_try"})
        assert total(job, "last_tries") == 1
        clients.acknowledge_with(FIRST, "RELEASE")
        clients.resume(FIRST)
        # A fetch that was under way when it hung may have taken the record: then its lock ends, and nobody sees it.
        await_reasons(job, {"poison/given_up"}, LOCK_S + WITHIN_S)
        given_up = "groupwatch_group_share_given_up_records_total"
        assert job.metrics().value(given_up, cluster=CLUSTER, group=GROUP) == 1

        before = clients.count_received(FIRST)
        clients.acknowledge_with(FIRST, "HOLD")
        produce(kafka, 1)
        eventually(lambda: clients.count_received(FIRST) > before, "the first member holds the record")
        before = clients.count_received(SECOND)
        clients.acknowledge_with(SECOND, "ACCEPT")
        clients.resume(SECOND)
        eventually(lambda: clients.count_received(SECOND) > before, "the second member gets it after the lock")
        eventually(lambda: total(job, "accepted") == RECORDS + 1, "the second member accepts it", WITHIN_S)
        assert (verdict(job)["lag"], reasons(job)) == (0, {"poison/given_up"})

        clients.acknowledge_with(SECOND, "HOLD")
        produce(kafka, 4)
        eventually(lambda: verdict(job)["lag"] == 4, "four records wait")
        await_reasons(job, {"poison/given_up", "lag/stalled"}, ENDS_KEPT_S + SILENCE_S + WITHIN_S)
        eventually(lambda: verdict(job, ASKED).get("lag") == 4, "the lag that the coordinator says")
        assert "delivery_totals" not in verdict(job, ASKED), "the admin API has no records"
    assert (total(job, "accepted"), total(job, "given_up")) == (RECORDS + 1, 1)
