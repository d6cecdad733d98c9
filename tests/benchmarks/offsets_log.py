"""A real broker whose offsets log holds what a coordinator would have written of many groups (see Fill.java)."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kafka import KafkaProducer
from kafka.admin import NewTopic

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from monitor.java_runtime.jars import kafka_jars
from tests.support.background import Background
from tests.support.clients import admin, commit
from tests.support.java_program import java_command
from tests.support.job_process import JobProcess, running

LOG_PARTITIONS = 8
PRODUCE_EVERY_S: Final = 4.0
_PROGRAM = Path(__file__).parent / "Fill.java"


RECORDING: Final = "history"
"""The folder of a recording, in that of its job."""


@dataclass(frozen=True)
class Crowd:
    """The groups of a benchmark, and their topics, which have ``partitions`` each.

    Group N reads ``reads`` topics, from N modulo ``topics`` on. A real group that commits meanwhile is named in
    ``beside``: groups whose commits would stand in the same partition of the log are left out.
    """

    groups: int
    partitions: int
    members: int = 0
    topics: int = 20
    reads: int = 1
    group_name: str = "group"
    topic_name: str = "topic"
    beside: str = ""

    @property
    def topic_names(self) -> list[str]:
        """The topics, in order."""
        return [f"{self.topic_name}-{number}" for number in range(self.topics)]


@contextmanager
def broker_with_topics(*crowds: Crowd) -> Iterator[EmbeddedKafka]:
    """A broker with the topics of all crowds, and with an offsets topic that has one commit."""
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=LOG_PARTITIONS, heap_mb=1024)) as kafka:
        with admin(kafka.bootstrap_servers) as client:
            topics = {name: crowd.partitions for crowd in crowds for name in crowd.topic_names}
            for name, partitions in topics.items():  # a broker refuses 10,000 partitions at once
                client.create_topics([NewTopic(name, partitions, 1)])
            client.wait_for_topics(list(topics), timeout_ms=300_000)
        commit(kafka.bootstrap_servers, "first", crowds[0].topic_names[0], {0: 0})
        yield kafka


def fill(kafka: EmbeddedKafka, crowd: Crowd, rounds: int, apart_s: int = 0) -> int:
    """Write the generations of all groups, then so many commits of every partition; the number of records.

    The commits of a partition say to be ``apart_s`` seconds apart, and the last ones to be of now.
    """
    with filling(kafka, crowd, rounds, 0, apart_s=apart_s) as process:
        told, _ = process.communicate()
    return int(told)


@contextmanager
def filling(
    kafka: EmbeddedKafka, crowd: Crowd, rounds: int, commits_s: int, *, apart_s: int = 0, before: int = 0
) -> Iterator[subprocess.Popen[str]]:
    """The same at a pace (commits a second), as a process that goes on meanwhile; it is ended with the block.

    ``before``: how many rounds have been written before; their offsets are not committed again.
    """
    of_commits = (rounds, commits_s, LOG_PARTITIONS)
    counts = (crowd.groups, crowd.partitions, crowd.members, *of_commits, crowd.topics, crowd.reads)
    options = ("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
    arguments = (kafka.bootstrap_servers, *map(str, counts), crowd.group_name, crowd.topic_name, crowd.beside)
    arguments += (str(1000 * apart_s), str(before))
    command = java_command(_PROGRAM, *arguments, options=options, jars=kafka_jars())
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def produce_everywhere(producer: KafkaProducer, crowd: Crowd) -> None:
    """A record into every partition, so that the lag of every partition of every group changes."""
    for name in crowd.topic_names:
        for partition in range(crowd.partitions):
            producer.send(name, b"x", partition=partition)
    producer.flush()


class Producing(Background):
    """Records into every partition again and again, for the time of the block."""

    def __init__(self, kafka: EmbeddedKafka, crowd: Crowd) -> None:
        super().__init__()
        self._kafka, self._crowd = kafka, crowd

    def _run(self) -> None:
        """With one producer: to make one anew each time took a tenth of the machine that is measured."""
        producer = KafkaProducer(bootstrap_servers=self._kafka.bootstrap_servers, linger_ms=50)
        try:
            while not self._stopping.wait(PRODUCE_EVERY_S):
                produce_everywhere(producer, self._crowd)
        finally:
            producer.close()


@contextmanager
def loaded_job(
    kafka: EmbeddedKafka,
    crowd: Crowd,
    commits_s: int,
    *,
    trigger_s: float = 1.0,
    rounds: int = 1,
    apart_s: int = 0,
    is_recorded: bool = False,
    is_scaled: bool = False,
    carrier: str | None = None,
    **cluster: object,
) -> Iterator[JobProcess]:
    """A job that is ready and follows so many commits a second for the time of the block.

    Before it starts, every partition has ``rounds`` commits that say to be ``apart_s`` seconds apart. ``cluster``:
    further settings of its cluster. ``is_recorded``: it has a recording in the folder RECORDING of its own.
    ``is_scaled``: it says at once how many members each group needs.
    ``carrier``: the brokers of another cluster, without groups, to which the job writes in place of this one.
    """
    fill(kafka, crowd, rounds, apart_s)
    with tempfile.TemporaryDirectory() as folder:
        clusters = {"bench": {"bootstrap_servers": kafka.bootstrap_servers, **cluster}}
        if carrier is not None:
            clusters["bench"]["via"] = "carrier"
            clusters["carrier"] = {"bootstrap_servers": carrier, "groups_from": "admin"}
        spark = {"trigger_s": trigger_s, "buckets": 8}
        more: dict[str, Any] = {"history": {"folder": str(Path(folder) / RECORDING)}} if is_recorded else {}
        if is_scaled:
            more["scale"] = [{"groups": ".*", "down_after_s": 0}]
        with (
            running(JobProcess(Path(folder), clusters, jvm=None, spark=spark, **more)) as job,
            filling(kafka, crowd, 100_000, commits_s, before=rounds),
        ):
            yield job
