"""Records that real consumers did not read, as they skipped them or died of one."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from kafka import ConsumerRebalanceListener, KafkaConsumer, KafkaProducer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewPartitions
from kafka.coordinator.assignors.range import RangePartitionAssignor

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.clients import admin, commit, create_topic
from tests.support.frail_consumer import MOST_RECORDS, POISON
from tests.support.job_process import JobProcess, eventually, running
from tests.support.pods import Pods, java_consumer
from tests.support.without_spark import JobWithoutSpark

pytestmark = [pytest.mark.broker, pytest.mark.jobs]

RECORDS = {"overtaken": 3_500, "to-the-end": 2_000, "reset": 2_000, "fast": 3_500}
"""Of each topic that is filled: few more than a test needs, as each takes a millisecond of CPU."""
INFORMATION = {"perhaps", "new_partition"}
SESSIONS = {
    "group.consumer.session.timeout.ms": "6000",
    "group.consumer.min.session.timeout.ms": "6000",
    "group.consumer.heartbeat.interval.ms": "1000",
    "group.consumer.min.heartbeat.interval.ms": "1000",
}


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    """Topics whose records were there when the job began to look."""
    with EmbeddedKafka(BrokerSettings(properties=SESSIONS)) as kafka:
        for topic, count in RECORDS.items():
            fill_topic(kafka.bootstrap_servers, topic, count)
        create_topic(kafka.bootstrap_servers, "first", 1)
        commit(kafka.bootstrap_servers, "first", "first", {0: 0})
        yield kafka.bootstrap_servers


@pytest.fixture(scope="module")
def job(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    clusters = {"test": {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5}}
    with running(
        JobWithoutSpark(tmp_path_factory.mktemp("job"), clusters, detection={"commit_silence_s": 20})
    ) as started:
        yield started


class AtTheEnd(ConsumerRebalanceListener):
    """Begins at the end of what it is assigned, as ``auto.offset.reset=latest`` does without committed offsets."""

    def __init__(self, consumer: KafkaConsumer) -> None:
        self._consumer = consumer

    def on_partitions_revoked(self, revoked: object) -> None:
        """Nothing to do."""

    def on_partitions_assigned(self, assigned: object) -> None:
        """Go to the end, before the first fetch."""
        self._consumer.seek_to_end()


class Reader:
    """A member of the group that is called like its topic; it fetches a few records at once, and commits each."""

    def __init__(self, bootstrap: str, topic: str, *, at_the_end: bool = False, per_s: float = 25.0) -> None:
        self.read: set[int] = set()
        self._topic, self._pause_s, self._at_the_end = topic, 1 / per_s, at_the_end
        self._consumer = KafkaConsumer(
            bootstrap_servers=bootstrap,
            group_id=topic,
            enable_auto_commit=False,
            auto_offset_reset="earliest",
            max_partition_fetch_bytes=2_000,
            fetch_max_bytes=2_000,
            partition_assignment_strategy=[RangePartitionAssignor],
        )
        self._consumer.subscribe([topic], listener=AtTheEnd(self._consumer) if at_the_end else None)

    def __enter__(self) -> Reader:
        while not self._consumer.assignment():
            self._note(self._consumer.poll(timeout_ms=200, max_records=1))
        if self._at_the_end:
            self._commit(self._consumer.position(self._place))
        return self

    def __exit__(self, *_: object) -> None:
        self._consumer.close(autocommit=False)

    @property
    def _place(self) -> TopicPartition:
        return TopicPartition(self._topic, 0)

    def take(self, count: int) -> None:
        """Read until so many records of partition 0 were read in all, and commit each."""
        while len(self.read) < count:
            self._note(self._consumer.poll(timeout_ms=500, max_records=1))
            time.sleep(self._pause_s)  # the pace of the consumer is what is tested

    def _note(self, found: dict[TopicPartition, list[Any]]) -> None:
        for record in found.get(self._place, []):
            self.read.add(record.offset)
            self._commit(record.offset + 1)

    def _commit(self, offset: int) -> None:
        self._consumer.commit({self._place: OffsetAndMetadata(offset, "", -1)})


def fill_topic(bootstrap: str, topic: str, count: int) -> None:
    """A topic of one partition with records of 1 kB, few in a batch."""
    create_topic(bootstrap, topic, 1)
    with closing(KafkaProducer(bootstrap_servers=bootstrap, batch_size=2_000, linger_ms=5)) as producer:
        for _ in range(count):
            producer.send(topic, b"x" * 1_000)
        producer.flush()


def group(job: JobProcess, name: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(job.get(f"/api/v1/groups/test/{name}"))
    return found


def skips(job: JobProcess, name: str) -> dict[str, dict[str, Any]]:
    """The findings about skipped records, by reason."""
    return {each["reason"]: each for each in group(job, name).get("findings", []) if each["kind"] == "skipped"}


def bounds(job: JobProcess, name: str) -> tuple[int, int]:
    found = group(job, name).get("skips", [])
    return sum(each.get("at_least", 0) for each in found), sum(each["at_most"] for each in found)


def test_retention_that_overtakes_a_living_consumer(bootstrap: str, job: JobProcess):
    with Reader(bootstrap, "overtaken") as reader:
        reader.take(61)
        with admin(bootstrap) as client:
            client.delete_records({TopicPartition("overtaken", 0): 3_000})
        reader.take(101)
        eventually(lambda: "retention" in skips(job, "overtaken"), "the finding")
    least, most = bounds(job, "overtaken")
    missed = max(reader.read) + 1 - len(reader.read)
    assert missed > 2_000
    assert least <= missed <= most
    assert most - least < 500


def test_a_restart_at_the_end_and_a_reset_by_an_administrator(bootstrap: str, job: JobProcess):
    """Both leave the groups without lag; only what the group did by itself is a finding."""
    for name in ("to-the-end", "reset"):
        with Reader(bootstrap, name) as reader:
            reader.take(61)
    with admin(bootstrap) as client:
        client.alter_group_offsets("reset", {TopicPartition("reset", 0): OffsetAndMetadata(RECORDS["reset"], "", -1)})
    with Reader(bootstrap, "to-the-end", at_the_end=True):
        eventually(lambda: "perhaps" in skips(job, "to-the-end"), "the finding")
    least, most = bounds(job, "to-the-end")
    assert least <= RECORDS["to-the-end"] - 61 <= most
    assert least == 0
    job.await_metric("groupwatch_partition_committed_offset", RECORDS["reset"], group="reset", partition="0")
    assert skips(job, "reset") == {}


def test_what_a_consumer_reads_at_full_speed_is_no_accusation(bootstrap: str, job: JobProcess):
    """Slowly, then fast; then a restart with a backlog that is read as fast."""
    with Reader(bootstrap, "fast") as reader:
        reader.take(30)
    with Reader(bootstrap, "fast", per_s=100_000) as reader:
        reader.take(1_500)
    with Reader(bootstrap, "fast", per_s=100_000) as reader:
        reader.take(1_500)
        job.await_metric("groupwatch_partition_committed_offset", 3_030, group="fast", partition="0")
    assert INFORMATION.issuperset(skips(job, "fast"))


def test_records_of_a_new_partition_are_information(bootstrap: str, job: JobProcess):
    create_topic(bootstrap, "grown", 1)
    with closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:
        producer.send("grown", b"x", partition=0).get(timeout=30)
        with Reader(bootstrap, "grown") as reader:
            reader.take(1)
            job.await_metric("groupwatch_partition_committed_offset", 1, group="grown", partition="0")
            with admin(bootstrap) as client:
                client.create_partitions({"grown": NewPartitions(2)})
        with closing(KafkaProducer(bootstrap_servers=bootstrap)) as late:
            for _ in range(1_200):
                late.send("grown", b"x", partition=1)
            late.flush()
    with Reader(bootstrap, "grown") as reader:
        reader._consumer.commit({TopicPartition("grown", 1): OffsetAndMetadata(1_200, "", -1)})
        eventually(lambda: "new_partition" in skips(job, "grown"), "the finding")
    assert INFORMATION.issuperset(skips(job, "grown"))
    assert bounds(job, "grown") == (0, 1_200)


@contextmanager
def frail(bootstrap: str, topic: str, client: str, instance: str = "") -> Iterator[subprocess.Popen[bytes]]:
    """A consumer of the topic; it leaves at the end of the block, if it still lives."""
    words = [bootstrap, topic, client, *([instance] if instance else [])]
    process = subprocess.Popen([sys.executable, "-m", "tests.support.frail_consumer", *words])
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=60)


@contextmanager
def written(bootstrap: str, partitions: dict[str, int]) -> Iterator[KafkaProducer]:
    """Ten records a second come into each partition of these topics."""
    over = Event()
    with closing(KafkaProducer(bootstrap_servers=bootstrap)) as producer:

        def write() -> None:
            while not over.wait(0.1):
                for topic, count in partitions.items():
                    for number in range(count):
                        producer.send(topic, b"x", partition=number)

        thread = Thread(target=write)
        thread.start()
        try:
            yield producer
        finally:
            over.set()
            thread.join()


def findings(job: JobProcess, name: str) -> dict[tuple[str, str], str]:
    """The sentences of a group's findings."""
    return {(each["kind"], each["reason"]): each["sentence"] for each in group(job, name).get("findings", [])}


def deploy(bootstrap: str, topic: str, over: Event) -> None:
    """Three members; each in turn is ended and started again, until it is over."""
    with ExitStack() as last:
        members = [ExitStack() for _ in range(3)]
        for number, member in enumerate(members):
            last.enter_context(member).enter_context(frail(bootstrap, topic, f"m{number}"))
        turn = 0
        while not over.wait(4):
            number = turn % 3
            members[number].close()
            members[number].enter_context(frail(bootstrap, topic, f"m{number}"))
            turn += 1


def test_a_record_of_which_consumers_die_beside_a_deployment(bootstrap: str, job: JobProcess):
    """A static member is started again six seconds after each death, so nobody else has to stop."""
    over, partitions = Event(), {"poisoned": 2, "deployed": 3}
    for topic, count in partitions.items():
        create_topic(bootstrap, topic, count)
    deployment = Thread(target=deploy, args=(bootstrap, "deployed", over))
    with ExitStack() as until_told:
        producer = until_told.enter_context(written(bootstrap, partitions))
        until_told.callback(deployment.join)
        until_told.callback(over.set)
        deployment.start()
        until_told.enter_context(frail(bootstrap, "poisoned", "z", "z"))
        with frail(bootstrap, "poisoned", "a", "a") as reader:
            owned = {"group": "poisoned", "topic": "poisoned", "partition": "0"}
            eventually(lambda: (job.metrics().value("groupwatch_partition_committed_offset", **owned) or 0) > 50, "it")
            poison = producer.send("poisoned", POISON, partition=0).get(timeout=30).offset
            reader.wait(timeout=60)
        for _ in range(3):
            time.sleep(6)  # longer than a usual commit takes
            with frail(bootstrap, "poisoned", "a", "a") as reader:
                reader.wait(timeout=60)
        told = eventually(lambda: findings(job, "poisoned").get(("lag", "stuck_record")), "the finding")
        assert ("lag", "not_committing") not in findings(job, "poisoned")
        assert ("lag", "stuck_record") not in findings(job, "deployed")
    sentence = r"The record at offset (\d+) of partition 0 of poisoned, .* at most (\d+) records? apart\."
    found = re.match(sentence, told)
    assert found is not None, told
    first, more = int(found[1]), int(found[2])
    assert first <= poison < first + more + MOST_RECORDS, "it, or one soon after it"
    assert "At least 2 owners in a row" in told


@pytest.mark.long  # two JVMs that are started again and again; the test above has threads of librdkafka
@pytest.mark.parametrize("protocol", ["classic", "consumer"])
def test_a_record_of_which_pods_of_javas_client_die(bootstrap: str, job: JobProcess, tmp_path: Path, protocol: str):
    """Two pods whose process dies and is started again, as in Kubernetes: no static member, no other owner."""
    name = f"crashing-{protocol}"
    create_topic(bootstrap, name, 2)
    commands = [java_consumer(bootstrap, name, f"{name}-{pod}", protocol) for pod in range(2)]
    with written(bootstrap, {name: 2}) as producer, Pods(commands, 5, tmp_path / "pods.log") as pods:
        owned = {"group": name, "topic": name, "partition": "0"}
        eventually(lambda: (job.metrics().value("groupwatch_partition_committed_offset", **owned) or 0) > 50, "it")
        poison = producer.send(name, POISON, partition=0).get(timeout=30).offset
        told = eventually(lambda: owners_that_left(job, name), "the finding")
    assert pods.deaths > 2
    offset = re.search(r" offset (\d+)", told)
    assert offset is not None, told
    assert int(offset[1]) <= poison


def owners_that_left(job: JobProcess, name: str) -> str | None:
    """The finding about a record at which owners leave, or without a record that can be accused, of these owners."""
    found = findings(job, name)
    told = found.get(("lag", "stuck_record"), "") + found.get(("lag", "not_committing"), "")
    return told if "owners in a row began" in told else None
