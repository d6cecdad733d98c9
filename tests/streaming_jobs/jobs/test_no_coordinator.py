"""No group coordinator answers, though the log of offsets can be read: a job needs none, and reads it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.assignors.java.text import string_hash
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.clients import LOG, admin, commit, create_topic, spoil_offsets_log
from tests.support.without_spark import JobWithoutSpark

pytestmark = [
    pytest.mark.broker,
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),  # kafka-python leaves those of failed connections
]


@pytest.fixture
def kafka() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(BrokerSettings(heap_mb=384, offsets_topic_partitions=1)) as broker:
        create_topic(broker.bootstrap_servers, "read", 1)
        commit(broker.bootstrap_servers, "reads", "read", {0: 0})
        yield broker


def mend_coordinator(kafka: EmbeddedKafka) -> None:
    """Give the log a second partition: half of all groups have a coordinator again."""
    with admin(kafka.bootstrap_servers, "__admin_client") as client:
        client.create_partitions({LOG: 2})
    kafka.kill()
    kafka.start()


def test_a_job_starts_without_a_coordinator_and_reads_what_comes_with_one(kafka: EmbeddedKafka, tmp_path: Path):
    cluster = {"bootstrap_servers": kafka.bootstrap_servers, "collect_interval_s": 0.5}
    job = JobWithoutSpark(tmp_path, {"test": cluster})
    spoil_offsets_log(kafka.bootstrap_servers, 1)
    kafka.kill()
    kafka.start()
    job.start()
    try:
        job.await_ready()
        samples = job.await_metric("groupwatch_partition_committed_offset", 0, group="reads")
        assert samples.value("groupwatch_up", cluster="test") == 1

        mend_coordinator(kafka)
        group = next(name for name in map("goes-on-{}".format, range(9)) if partition_of(name, 2) == 1)
        commit(kafka.bootstrap_servers, group, "read", {0: 0})
        job.await_metric("groupwatch_partition_committed_offset", 0, group=group)
        assert job.stop() == 0
    finally:
        job.kill_all()


def partition_of(group: str, partitions: int) -> int:
    """The partition of the log that has the records of a group (GroupMetadataManager.partitionFor)."""
    return abs(string_hash(group)) % partitions
