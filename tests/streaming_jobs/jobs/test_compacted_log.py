"""A log of offsets with holes: what compaction and deletion have taken away keeps nobody waiting.

The tests tell one story in their order; a job's start is what takes the time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from kafka import KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.admin import ConfigResource, ConfigResourceType

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.streaming_jobs.jobs.clocked_job import HOUR_S, SparkJobWithClock
from tests.support.clients import admin, commit, create_topic, produce, simple_consumer, transaction
from tests.support.job_process import eventually, running

pytestmark = [pytest.mark.broker, pytest.mark.spark]

LOG = TopicPartition("__consumer_offsets", 0)
COMMITTED = "groupwatch_partition_committed_offset"
END = "groupwatch_partition_end_offset"
LAG = "groupwatch_partition_lag"
INPUT_LAG = "groupwatch_input_lag_records"
PARTITIONS = 50
COMMITS = 20

EAGER_CLEANER = {
    "log.cleaner.backoff.ms": "100",
    "log.cleaner.min.cleanable.ratio": "0.01",
    "log.retention.check.interval.ms": "100",
}
ROLLED_AT_ONCE = {"segment.ms": "1", "cleanup.policy": "compact,delete", "retention.ms": "-1"}
"""Every batch gets a segment of its own, so that all of the log but its newest batch can be compacted."""


def alter_log(bootstrap: str, configs: dict[str, str]) -> None:
    with admin(bootstrap) as client:
        client.alter_configs([ConfigResource(ConfigResourceType.TOPIC, LOG.topic, configs)])


@contextmanager
def log_reader(bootstrap: str) -> Iterator[KafkaConsumer]:
    consumer = KafkaConsumer(bootstrap_servers=bootstrap, exclude_internal_topics=False)
    try:
        consumer.assign([LOG])
        yield consumer
    finally:
        consumer.close(autocommit=False)


def offsets_left(bootstrap: str) -> tuple[list[int], int]:
    """The offsets of the records that are left in the log, and where it ends."""
    with log_reader(bootstrap) as consumer:
        consumer.seek_to_beginning(LOG)
        end, found = consumer.end_offsets([LOG])[LOG], []
        while consumer.position(LOG) < end:
            for records in consumer.poll(timeout_ms=500).values():
                found += [record.offset for record in records]
    return found, end


def commit_often(bootstrap: str, group: str) -> None:
    with simple_consumer(bootstrap, group) as consumer:
        consumer.assign([TopicPartition("t", partition) for partition in range(PARTITIONS)])
        for offset in range(1, COMMITS + 1):
            consumer.commit({TopicPartition("t", p): OffsetAndMetadata(offset, "", -1) for p in range(PARTITIONS)})


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """A cluster whose log has lost nearly all of its records to compaction, and ends with the end of a transaction."""
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=1, properties=EAGER_CLEANER)) as kafka:
        servers = kafka.bootstrap_servers
        create_topic(servers, "t", PARTITIONS)
        create_topic(servers, "deleted", 1)
        commit(servers, "first", "t", {0: 1})
        alter_log(servers, ROLLED_AT_ONCE)
        commit_often(servers, "busy")
        with transaction(servers, "transactional", "t", 7) as producer:
            producer.commit_transaction()
        eventually(lambda: len(offsets_left(servers)[0]) < 3 * PARTITIONS, "the compaction of the log")
        yield servers


@pytest.fixture(scope="module")
def job(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkJobWithClock]:
    with running(SparkJobWithClock(tmp_path_factory.mktemp("job"), bootstrap)) as process:
        yield process


def test_the_warm_up_ends_and_nothing_is_left_to_read(bootstrap: str, job: SparkJobWithClock):
    left, end = offsets_left(bootstrap)
    assert len(left) < end / 2, "the log has holes"
    assert left[-1] < end - 1, "the last offset is no record: the end of a transaction"
    samples = job.await_metric(INPUT_LAG, 0)
    assert samples.value(COMMITTED, group="busy", topic="t", partition="49") == COMMITS
    assert samples.value(COMMITTED, group="transactional", topic="t", partition="0") == 7
    assert samples.value(COMMITTED, group="first", topic="t", partition="0") == 1


def test_a_job_goes_on_where_the_log_begins_behind_its_checkpoint_and_has_holes(bootstrap: str, job: SparkJobWithClock):
    """While it is away, what it has not read is deleted, and of what comes then most is compacted.

    A topic is deleted, too, and the machine's clock is set back an hour: the passes before were all dated later.
    """
    job.await_metric(END, 0, topic="deleted", partition="0")
    job.stop()
    job.set_ahead(-HOUR_S)
    with admin(bootstrap) as client:
        client.delete_topics(["deleted"])
    commit(bootstrap, "lost", "t", {0: 1})
    delete_all(bootstrap)
    commit_often(bootstrap, "later")
    eventually(lambda: len(offsets_left(bootstrap)[0]) < 3 * PARTITIONS, "the compaction of the log")
    job.start()
    job.await_ready()
    samples = job.await_metric(INPUT_LAG, 0)
    for group in ("busy", "later"):
        assert samples.value(COMMITTED, group=group, topic="t", partition="49") == COMMITS
    eventually(lambda: not job.metrics().all(END, topic="deleted"), "two passes without the deleted topic")
    produce(bootstrap, "t", {0: 100})
    job.await_metric(END, 100, topic="t", partition="0")
    commit(bootstrap, "busy", "t", {0: 99})
    job.await_metric(LAG, 1, group="busy", partition="0")
    samples = job.await_metric(COMMITTED, 99, group="busy", partition="0")
    assert samples.value("groupwatch_up") == 1
    assert "restarting it" not in job.log()


def delete_all(bootstrap: str) -> None:
    """Have every segment of the log deleted."""
    alter_log(bootstrap, ROLLED_AT_ONCE | {"retention.ms": "1"})
    with log_reader(bootstrap) as consumer:
        end = consumer.end_offsets([LOG])[LOG]
        eventually(lambda: consumer.beginning_offsets([LOG])[LOG] >= end, "the deletion of the log")
    alter_log(bootstrap, ROLLED_AT_ONCE)
