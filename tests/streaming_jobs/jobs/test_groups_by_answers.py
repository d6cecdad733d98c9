"""A Kafka whose offsets topic may not be read: groups by the brokers' answers, and a query of Spark by its checkpoint.

docs/collectors.md tells an administrator what to grant; the job has exactly that.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import ACLResourcePatternType, KafkaAdminClient, NewTopic, ResourceType
from kafka.coordinator.assignors.range import RangePartitionAssignor

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.streaming_jobs.runtime.test_guarded_cluster import PASSWORD, clusters, grant
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
LAG = "groupwatch_partition_lag"


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    """A topic with 20 and 30 records, of which a group has committed 5 of the first."""
    users = {"admin": "admin-secret", "watcher": PASSWORD}
    with EmbeddedKafka(BrokerSettings(sasl_users=users, super_users=("admin",))) as broker:
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
        consumer = KafkaConsumer(group_id="alone", enable_auto_commit=False, **login)
        consumer.assign([TopicPartition(TOPIC, 0)])
        consumer.commit({TopicPartition(TOPIC, 0): OffsetAndMetadata(5, "", -1)})
        consumer.close(autocommit=False)
        grant(broker, *GRANTS)
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
def job(kafka: EmbeddedKafka, checkpoint: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    (table,) = clusters(kafka, PASSWORD).values()
    made = JobWithoutSpark(
        tmp_path_factory.mktemp("job"),
        {"guarded": {**table, "groups_from": "admin", "findings_topic": ""}},
        spark={"trigger_s": 1.0, "buckets": 2},
        spark_queries={"etl": {"interval_s": 1.0, "checkpoints": {"query": checkpoint.as_uri()}}},
    )
    with running(made) as process:
        yield process


def test_offsets_and_lag_are_those_that_the_brokers_tell(job: JobProcess):
    samples = job.await_metric(LAG, 15, cluster="guarded", group="alone", partition="0")
    assert samples.value("groupwatch_partition_committed_offset", group="alone", partition="0") == 5
    assert samples.value("groupwatch_up", cluster="guarded") == 1
    assert PASSWORD not in job.log() + job.get("/") + samples.text


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
        job.await_metric("groupwatch_group_members", 1, group="managed")

        def shared() -> dict[str, Any] | None:
            """The verdict once it shows what the member has; one that joins before it knows the topic joins again."""
            verdict = job.group("guarded", "managed")
            only = [member["member_id"] for member in verdict["members"]]
            owned = {place["partition"]: (place["owners"], place["expected"]) for place in verdict["partitions"]}
            return verdict if owned == dict.fromkeys(range(2), (only, *only)) else None

        verdict = eventually(shared, "the owner and the expected owner of both partitions")
        assert verdict["assignor"] == "range"
    finally:
        consumer.close(autocommit=False)
    job.await_metric("groupwatch_group_state", 1, group="managed", state="empty")
