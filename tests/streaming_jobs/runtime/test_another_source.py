"""A checkpoint is of one Kafka, one offsets topic, one ZooKeeper: another at the same address is not taken for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
from msgspec.structs import replace

from monitor.collectors.errors import AnotherSource
from monitor.collectors.passes.known_source import KnownSource
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.streaming_jobs.jobs.system_job import SystemJob, tell
from tests.streaming_jobs.jobs.test_systems_in_a_job import QUEUES, of_rocketmq
from tests.support.clients import admin, commit, create_topic, produce
from tests.support.job_process import JobProcess, eventually, running
from tests.support.without_spark import JobWithoutSpark

SMALL: Final = BrokerSettings(heap_mb=384, offsets_topic_partitions=2)
EVENTS: Final = "groupwatch.events"
COMMITTED: Final = "groupwatch_partition_committed_offset"
MEMBERS: Final = "groupwatch_group_members"


# --- The rule


def test_what_is_read_first_is_what_is_read_from_then_on():
    source = KnownSource("prod")
    source.require("a")
    source.require("a")
    source.require(None)  # a server that is too old to tell, or does not tell it now
    with pytest.raises(AnotherSource):
        source.require("b")
    assert source.replaced is not None
    assert "its id is b, and was a" in source.replaced


def test_what_a_checkpoint_is_of_counts_from_the_first_reading_on():
    source = KnownSource("prod")
    source.expected = "a"
    with pytest.raises(AnotherSource):
        source.require("b")


# --- On real servers

on_brokers = pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")  # kafka-python leaves failed connections


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    with EmbeddedKafka(SMALL) as broker:
        fill(broker.bootstrap_servers, "before", 7)
        yield broker


def fill(servers: str, group: str, offset: int) -> None:
    """A topic with ten records, and a group that has committed so far."""
    create_topic(servers, "read", 1)
    produce(servers, "read", {0: 10})
    commit(servers, group, "read", {0: offset})


def job_on(kafka: EmbeddedKafka, folder: Path, kind: type[JobProcess] = JobProcess) -> JobProcess:
    clusters = {"test": {"bootstrap_servers": kafka.bootstrap_servers, "collect_interval_s": 0.5}}
    # The groups commit once: on a busy machine that is longer ago than the minute of the default.
    return kind(folder, clusters, detection={"commit_silence_s": 600})


def made_anew(kafka: EmbeddedKafka) -> None:
    """Another cluster at the same address, as after a reinstallation."""
    kafka.stop()
    kafka.start()


@contextmanager
def groups_seen(job: JobProcess) -> Iterator[set[str]]:
    """The groups that the metrics name at any instant of the block, with what is found of each."""
    seen: set[str] = set()
    stop = threading.Event()

    def look() -> None:
        while not stop.wait(0.1):
            try:
                samples = job.metrics()
            except OSError:
                continue
            seen.update(each.labels["group"] for each in samples.all(COMMITTED))
            seen.update(
                f"{each.labels['kind']} of {each.labels['group']}" for each in samples.all("groupwatch_group_findings")
            )

    thread = threading.Thread(target=look, daemon=True)
    thread.start()
    try:
        yield seen
    finally:
        stop.set()
        thread.join()


@pytest.mark.broker
@pytest.mark.jobs
@on_brokers
def test_an_events_topic_that_was_deleted_while_the_job_runs_is_made_anew_and_a_new_kafka_is_refused(tmp_path: Path):
    """Kafka at the address of the old one: while the job runs, and at the next start. --rebuild takes it as it is.

    One job for both, as a start takes longer than either.
    """
    with EmbeddedKafka(SMALL) as kafka, job_that_lost_its_events(kafka, tmp_path, JobWithoutSpark) as job:
        with groups_seen(job) as seen:
            made_anew(kafka)
            fill(kafka.bootstrap_servers, "after", 3)
            assert job.wait() == 2
        assert seen == {"before"}
        assert "another system answers at this address: its id is " in job.log()

        job.start()
        assert job.wait() == 2
        refused = job.log().splitlines()[-1]
        assert refused.startswith("groupwatch cannot start: Cluster test: ")
        assert f"checkpoint {tmp_path}/checkpoint/test" in refused
        assert "--rebuild" in refused

        job.start("--rebuild")
        job.await_ready()
        samples = job.await_metric(COMMITTED, 3, group="after")
        assert samples.all(COMMITTED, group="before") == []
        assert job.stop() == 0


@pytest.mark.broker
@pytest.mark.jobs
@pytest.mark.long
@on_brokers
@pytest.mark.parametrize("topic", [EVENTS, "__consumer_offsets"])
def test_a_topic_that_was_created_anew_is_refused(tmp_path: Path, topic: str):
    with EmbeddedKafka(SMALL) as kafka:
        fill(kafka.bootstrap_servers, "before", 7)
        job = job_on(kafka, tmp_path)
        job.start()
        try:
            job.await_ready()
            assert job.stop() == 0
            with admin(kafka.bootstrap_servers, "__admin_client") as client:  # who may do that with internal topics
                client.delete_topics([topic])
                eventually(lambda: topic not in client.list_topics(), f"the end of {topic}")
            commit(kafka.bootstrap_servers, "after", "read", {0: 3})
            if topic == EVENTS:  # by somebody else: what the job makes itself, it takes for its own
                create_topic(kafka.bootstrap_servers, topic, 1)
            job.start()
            assert job.wait() == 2
            assert f"The topic {topic} is not the one of the checkpoint {tmp_path}/checkpoint/test" in job.log()
        finally:
            job.kill_all()


@pytest.mark.broker
@pytest.mark.jobs
@pytest.mark.long
@on_brokers
def test_nor_does_it_cost_anything_at_the_next_start_or_where_it_was_deleted_before(tmp_path: Path):
    with EmbeddedKafka(SMALL) as kafka, job_that_lost_its_events(kafka, tmp_path) as job:
        assert job.stop() == 0
        job.start()
        assert_follows(job, kafka, 9)
        assert job.stop() == 0
        lose_events(kafka)
        job.start()
        assert_follows(job, kafka, 10)


@contextmanager
def job_that_lost_its_events(
    kafka: EmbeddedKafka, folder: Path, kind: type[JobProcess] = JobProcess
) -> Iterator[JobProcess]:
    """A job whose events topic was deleted while it ran, and that has gone on."""
    fill(kafka.bootstrap_servers, "before", 7)
    with running(job_on(kafka, folder, kind)) as job:
        job.await_metric(COMMITTED, 7, group="before")
        lose_events(kafka)
        assert_follows(job, kafka, 8)
        eventually(lambda: f"{EVENTS} was missing and has been created again" in job.log(), "a word about it")
        yield job


def assert_follows(job: JobProcess, kafka: EmbeddedKafka, offset: int) -> None:
    """What is committed and produced now is seen: the group is two records behind."""
    job.await_ready()
    commit(kafka.bootstrap_servers, "before", "read", {0: offset})
    job.await_metric(COMMITTED, offset, group="before")
    produce(kafka.bootstrap_servers, "read", {0: 1})
    job.await_metric("groupwatch_group_lag", 3, group="before")


def lose_events(kafka: EmbeddedKafka) -> None:
    with admin(kafka.bootstrap_servers) as client:
        client.delete_topics([EVENTS])


def system_job(kafka: EmbeddedKafka, folder: Path) -> SystemJob:
    cluster = {"bootstrap_servers": kafka.bootstrap_servers, "collect_interval_s": 0.5, "groups_from": "admin"}
    tell(folder, "carrier", replace(of_rocketmq("carrier", "none", 0, 0, 0), topics=(), groups=()))
    return SystemJob(
        folder,
        {"carrier": cluster},
        spark={"trigger_s": 0.5, "buckets": 2},
        rocketmq={"orders": {"name_servers": "localhost:1", "interval_s": 0.5}},
    )


@pytest.mark.broker
@pytest.mark.jobs
@pytest.mark.long  # the same refusal as of a new Kafka, by the id of a system
def test_another_system_behind_the_same_name_is_refused(kafka: EmbeddedKafka, tmp_path: Path):
    """As a ZooKeeper that was set up anew: its tree was born another time."""
    of_old = replace(of_rocketmq("orders", "payers", 70, 100, 0), source_id="1-1760000000000")
    tell(tmp_path, "orders", of_old)
    job = system_job(kafka, tmp_path)
    job.start()
    try:
        job.await_ready()
        job.await_metric(COMMITTED, 70, group="payers", partition=QUEUES[0])
        with groups_seen(job) as seen:
            tell(tmp_path, "orders", replace(of_rocketmq("orders", "buyers", 1, 1, 1), source_id="1-1770000000000"))
            assert job.wait() != 0
        assert {each for each in seen if "buyers" in each} == set()
        job.start()
        assert job.wait() != 0
        assert "its id is 1-1770000000000, and was 1-1760000000000" in job.log().splitlines()[-1]

        tell(tmp_path, "orders", of_old)
        job.start()
        job.await_ready()
    finally:
        job.kill_all()


@pytest.mark.broker
@pytest.mark.jobs
@pytest.mark.long
def test_of_a_system_without_an_id_nothing_remains_that_is_not_read_again(kafka: EmbeddedKafka, tmp_path: Path):
    """RocketMQ has none. Each reading is of the whole, so what the new one does not have is gone with the first."""
    tell(tmp_path, "orders", of_rocketmq("orders", "payers", 70, 100, 0))
    job = system_job(kafka, tmp_path)
    job.start()
    try:
        job.await_ready()
        job.await_metric(COMMITTED, 70, group="payers", partition=QUEUES[0])
        assert job.stop() == 0
        after = of_rocketmq("orders", "payers", 3, 5, 5)
        (topic,) = after.topics
        short = replace(topic, partitions=tuple(replace(each, end=5) for each in topic.partitions))
        tell(tmp_path, "orders", replace(after, topics=(short,)))
        job.start()
        job.await_ready()
        with groups_seen(job) as seen:
            samples = job.await_metric(COMMITTED, 3, group="payers", partition=QUEUES[0])
            assert samples.value("groupwatch_group_lag", group="payers") == 2
            assert samples.value(MEMBERS, group="payers") == 1
        assert seen == {"payers"}
    finally:
        job.kill_all()
