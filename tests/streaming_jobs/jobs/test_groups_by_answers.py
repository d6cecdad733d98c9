"""A Kafka whose offsets topic may not be read: groups by the brokers' answers, and a query of Spark by its checkpoint.

And the same Kafka for users who may write nothing, by its log and by its answers: another cluster, the carrier, has
what groupwatch writes. An administrator learns from docs/collectors.md and docs/access.md what to grant; the job has
exactly that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest
from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import ACLResourcePatternType, KafkaAdminClient, NewTopic, ResourceType
from kafka.coordinator.assignors.range import RangePartitionAssignor

from monitor.collectors.errors import PermissionMissing
from monitor.collectors.kafka import preflight
from monitor.config import Settings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.streaming_jobs.runtime.test_guarded_cluster import PASSWORD, clusters, grant
from tests.support.clients import values_of
from tests.support.job_process import JobProcess, eventually, running
from tests.support.without_spark import JobWithoutSpark

pytestmark = [pytest.mark.broker, pytest.mark.jobs]

LITERAL, PREFIXED = ACLResourcePatternType.LITERAL, ACLResourcePatternType.PREFIXED
GRANTS = (
    (ResourceType.GROUP, "groupwatch", PREFIXED, ("DESCRIBE",)),
    (ResourceType.GROUP, "managed", LITERAL, ("DESCRIBE",)),
    (ResourceType.GROUP, "alone", LITERAL, ("DESCRIBE",)),
    (ResourceType.TOPIC, "read", LITERAL, ("DESCRIBE",)),
    (ResourceType.TOPIC, "groupwatch.events", LITERAL, ("CREATE", "DESCRIBE", "READ", "WRITE")),
)
TOPIC = "read"
READER, LISTER = "reader", "lister"
PASSWORDS: Final = {"admin": "admin-secret", "watcher": PASSWORD, READER: "reader-secret", LISTER: "lister-secret"}
SEEN = (ResourceType.TOPIC, "*", LITERAL, ("DESCRIBE",))
CARRIED_GRANTS: Final = {
    READER: (SEEN, (ResourceType.TOPIC, "__consumer_offsets", LITERAL, ("READ",))),
    LISTER: (SEEN, (ResourceType.GROUP, "*", LITERAL, ("DESCRIBE",))),
}
CARRIED = ("log", "admin")
WATCHED = ("guarded", *CARRIED)
LAG, COMMITTED = "groupwatch_partition_lag", "groupwatch_partition_committed_offset"


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    """A topic with 20 and 30 records, of which a group has committed 5 of the first."""
    with EmbeddedKafka(BrokerSettings(sasl_users=PASSWORDS, super_users=("admin",))) as broker:
        login = broker.client_settings("admin")
        client = KafkaAdminClient(**login)
        client.create_topics([NewTopic(TOPIC, 2, 1)])
        client.wait_for_topics([TOPIC])
        client.close()
        producer = KafkaProducer(**login)
        for partition, count in ((0, 20), (1, 30)):
            for _ in range(count):
                producer.send(TOPIC, b"x", partition=partition)
        producer.close(timeout=30)
        commit(broker, "alone", 5)
        grant(broker, *GRANTS)
        for user, granted in CARRIED_GRANTS.items():
            grant(broker, *granted, user=user)
        yield broker


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As Spark 4.0 writes it, after one micro-batch that has read up to 20 and 7."""
    folder = tmp_path_factory.mktemp("query")
    for name in ("offsets", "commits"):
        (folder / name).mkdir()
    batch = '{"batchWatermarkMs":0,"batchTimestampMs":1760000000000,"conf":{}}'
    (folder / "offsets" / "0").write_text("\n".join(("v1", batch, '{"read":{"0":20,"1":7}}')))
    (folder / "commits" / "0").write_text('v1\n{"nextBatchWatermarkMs":0}')
    return folder


@pytest.fixture(scope="module")
def job(
    kafka: EmbeddedKafka, broker: EmbeddedKafka, checkpoint: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JobProcess]:
    (table,) = clusters(kafka, PASSWORD).values()
    carried = tables(kafka, broker)
    eventually(lambda: refusal(carried, "log") is None, "that the broker knows the grants", 15)
    made = JobWithoutSpark(
        tmp_path_factory.mktemp("job"),
        {"guarded": {**table, "groups_from": "admin", "findings_topic": ""}, **carried},
        spark={"trigger_s": 1.0, "buckets": 2},
        detection={"lag_records": 10},
        spark_queries={"etl": {"cluster": "guarded", "interval_s": 1.0, "checkpoints": {"query": checkpoint.as_uri()}}},
    )
    with running(made) as process:
        yield process


def commit(broker: EmbeddedKafka, group: str, offset: int) -> None:
    """Of the first partition, which has 20 records."""
    consumer = KafkaConsumer(group_id=group, enable_auto_commit=False, **broker.client_settings("admin"))
    consumer.assign([TopicPartition(TOPIC, 0)])
    consumer.commit({TopicPartition(TOPIC, 0): OffsetAndMetadata(offset, "", -1)})
    consumer.close(autocommit=False)


def topics_of(broker: EmbeddedKafka) -> set[str]:
    client = KafkaAdminClient(**broker.client_settings("admin"))
    try:
        return set(client.list_topics())
    finally:
        client.close()


def refused_operations(broker: EmbeddedKafka) -> set[str]:
    """The operations that the broker has refused to the users who may write nothing, by the log of its authorizer."""
    refused = rf"Principal = User:(?:{READER}|{LISTER}) is Denied operation = (\w+) "
    return set(re.findall(refused, broker.log_file.read_text(encoding="utf-8")))


def tables(kafka: EmbeddedKafka, carrier: EmbeddedKafka, reader: str = READER) -> dict[str, dict[str, Any]]:
    """The clusters that are carried, and their carrier, which has no groups."""
    found: dict[str, dict[str, Any]] = {}
    for user, source in ((reader, "log"), (LISTER, "admin")):
        (table,) = clusters(kafka, PASSWORDS[user], user).values()
        found[source] = {**table, "collect_interval_s": 2.0, "groups_from": source, "via": "carrier"}
    own = {"events_topic": "carried.events", "findings_topic": "carried.findings", "groups_from": "admin"}
    return {**found, "carrier": {"bootstrap_servers": carrier.bootstrap_servers, **own}}


def refusal(watched: dict[str, dict[str, Any]], name: str) -> str | None:
    """What the check of a cluster says is missing; None: nothing."""
    settings = Settings(clusters=watched)
    cluster = settings.clusters[name]
    try:
        preflight.check(cluster, 5.0, settings.carrier_of(cluster))
    except PermissionMissing as missing:
        return str(missing)
    return None


def published_findings(carrier: EmbeddedKafka) -> set[tuple[str, str, str]]:
    """The clusters, groups and reasons of the findings in its topic."""
    records = map(json.loads, values_of(carrier.bootstrap_servers, "carried.findings"))
    return {(each["cluster"], each["group"], each["reason"]) for each in records}


def test_reading_the_log_must_be_permitted(kafka: EmbeddedKafka, broker: EmbeddedKafka):
    assert refusal(tables(kafka, broker, "watcher"), "log") == (
        "Cluster log: user may not read __consumer_offsets (TopicAuthorizationFailed). Grant DESCRIBE and READ on it."
    )


@pytest.mark.parametrize("cluster", WATCHED)
def test_offsets_and_lag_are_those_that_the_brokers_tell(job: JobProcess, cluster: str):
    samples = job.await_metric(LAG, 15, cluster=cluster, group="alone", partition="0")
    assert samples.value(COMMITTED, cluster=cluster, group="alone", partition="0") == 5
    assert samples.value("groupwatch_up", cluster=cluster) == 1
    assert not any(password in job.log() + job.get("/") + samples.text for password in PASSWORDS.values())


def test_a_query_of_spark_is_a_group_by_its_checkpoint(job: JobProcess):
    samples = job.await_metric(LAG, 23, cluster="guarded", group="query", partition="1")
    assert samples.value(LAG, group="query", partition="0") == 0
    assert job.group("guarded", "query")["kind"] == "spark"


def test_members_owners_and_expected_owners_are_shown(job: JobProcess, kafka: EmbeddedKafka):
    consumer = KafkaConsumer(
        TOPIC,
        group_id="managed",
        enable_auto_commit=False,
        partition_assignment_strategy=[RangePartitionAssignor],
        **kafka.client_settings("admin"),
    )
    try:
        eventually(lambda: consumer.poll(timeout_ms=500) is not None and consumer.assignment(), "an assignment")
        for cluster in WATCHED:
            job.await_metric("groupwatch_group_members", 1, cluster=cluster, group="managed")
            verdict = eventually(partial(shared, job, cluster), "the owner and the expected owner of both partitions")
            assert verdict["assignor"] == "range"
    finally:
        consumer.close(autocommit=False)
    for cluster in WATCHED:
        job.await_metric("groupwatch_group_state", 1, cluster=cluster, group="managed", state="empty")


def shared(job: JobProcess, cluster: str) -> dict[str, Any] | None:
    """The verdict once it shows what the member has; one that joins before it knows the topic joins again."""
    verdict = job.group(cluster, "managed")
    only = [member["member_id"] for member in verdict["members"]]
    owned = {place["partition"]: (place["owners"], place["expected"]) for place in verdict["partitions"]}
    return verdict if owned == dict.fromkeys(range(2), (only, *only)) else None


def test_describing_and_reading_are_enough_and_nothing_is_written(
    job: JobProcess, kafka: EmbeddedKafka, broker: EmbeddedKafka
):
    assert job.get("/").count("groupwatch writes to topics of carrier, and nothing to this cluster.") == 2
    for name in CARRIED:
        job.await_metric("groupwatch_group_findings", 1, cluster=name, group="alone", kind="lag", reason="behind")
    findings = {(name, "alone", "behind") for name in CARRIED}
    eventually(lambda: findings <= published_findings(broker), "the findings at the carrier")
    job.stop()
    commit(kafka, "alone", 7)
    with running(job):  # what its checkpoints know of both clusters is what it finds
        for name in CARRIED:
            job.await_metric(COMMITTED, 7, cluster=name, group="alone", partition="0")

    assert topics_of(kafka) == {TOPIC, "__consumer_offsets", "groupwatch.events"}  # the last by another user
    assert refused_operations(kafka) <= {"DESCRIBE", "DESCRIBE_CONFIGS", "READ"}  # it does not even try to write
    assert all(values_of(broker.bootstrap_servers, f"groupwatch.events.{name}") for name in CARRIED)
