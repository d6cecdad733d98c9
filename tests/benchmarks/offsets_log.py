"""A real broker whose offsets log holds what a coordinator would have written of many groups (see Fill.java)."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from kafka import KafkaProducer
from kafka.admin import NewTopic

from monitor.embedded.broker import EmbeddedKafka
from monitor.embedded.jars import kafka_jars
from monitor.embedded.settings import BrokerSettings
from tests.java_program import java_command
from tests.job_process import JobProcess, running
from tests.streaming_jobs.clients import admin, commit

LOG_PARTITIONS = 8
_PROGRAM = Path(__file__).parent / "Fill.java"


@dataclass(frozen=True)
class Crowd:
    """The groups of a benchmark. Group N reads topic N modulo ``topics``; each topic has ``partitions``."""

    groups: int
    partitions: int
    members: int = 0
    topics: int = 20


@contextmanager
def broker_with_topics(crowd: Crowd) -> Iterator[EmbeddedKafka]:
    """A broker with the topics, and with an offsets topic that has one commit."""
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=LOG_PARTITIONS, heap_mb=1024)) as kafka:
        with admin(kafka.bootstrap_servers) as client:
            names = [f"topic-{number}" for number in range(crowd.topics)]
            client.create_topics([NewTopic(name, crowd.partitions, 1) for name in names])
            client.wait_for_topics(names)
        commit(kafka.bootstrap_servers, "group-0", "topic-0", {0: 0})
        yield kafka


def fill(kafka: EmbeddedKafka, crowd: Crowd, rounds: int) -> int:
    """Write the generations of all groups, then so many commits of every partition; the number of records."""
    with filling(kafka, crowd, rounds, 0) as process:
        told, _ = process.communicate()
    return int(told)


@contextmanager
def filling(kafka: EmbeddedKafka, crowd: Crowd, rounds: int, commits_s: int) -> Iterator[subprocess.Popen[str]]:
    """The same at a pace (commits a second), as a process that goes on meanwhile; it is ended with the block."""
    counts = (crowd.groups, crowd.partitions, crowd.members, rounds, commits_s, LOG_PARTITIONS, crowd.topics)
    options = ("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    command = java_command(_PROGRAM, kafka.bootstrap_servers, *map(str, counts), options=options, jars=kafka_jars())
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def produce_everywhere(kafka: EmbeddedKafka, crowd: Crowd) -> None:
    """A record into every partition, so that the lag of every partition of every group changes."""
    producer = KafkaProducer(bootstrap_servers=kafka.bootstrap_servers, linger_ms=50)
    try:
        for number in range(crowd.topics):
            for partition in range(crowd.partitions):
                producer.send(f"topic-{number}", b"x", partition=partition)
        producer.flush()
    finally:
        producer.close()


@contextmanager
def loaded_job(crowd: Crowd, commits_s: int, trigger_s: float = 1.0) -> Iterator[JobProcess]:
    """A job that is ready and follows so many commits a second for the time of the block."""
    with broker_with_topics(crowd) as kafka, tempfile.TemporaryDirectory() as folder:
        fill(kafka, crowd, 1)
        clusters = {"bench": {"bootstrap_servers": kafka.bootstrap_servers}}
        spark = {"trigger_s": trigger_s, "buckets": 8}
        with (
            running(JobProcess(Path(folder), clusters, jvm="", spark=spark)) as job,
            filling(kafka, crowd, 100_000, commits_s),
        ):
            yield job
