"""One huge group does not hold up the job: it is read, judged, shown and followed beside ordinary groups.

The log is written by Kafka's own record classes (tests/benchmarks/Fill.java), as a coordinator would have written it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.protocol.kafka.group_metadata import group_partition
from monitor.protocol.kafka.records.classic import OffsetCommitKey, OffsetCommitValue
from tests.benchmarks.offsets_log import LOG_PARTITIONS, Crowd, broker_with_topics, fill
from tests.support.clients import produce, produce_into_offsets_log
from tests.support.encoding import encoded, encoded_key
from tests.support.job_process import JobProcess, eventually
from tests.support.without_spark import JobWithoutSpark

pytestmark = [pytest.mark.broker, pytest.mark.jobs, pytest.mark.timeout(900)]

ORDINARY: Final = Crowd(groups=200, partitions=4, members=2, topics=10)
ROUNDS: Final = 3
PATIENCE_S: Final = 400
MANY: Final = 1000
"""So many partitions has each topic of the larger group."""
PLACE: Final = ("wide-1", 7)
"""The partition that is committed once more than all others."""


def wide(topics: int, partitions: int) -> Crowd:
    """A group with as many members as each of its topics has partitions: each owns one of each topic."""
    return Crowd(1, partitions, members=partitions, topics=topics, reads=topics, group_name="huge", topic_name="wide")


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(wide(2, 300), id="300 members, 600 partitions"),
        pytest.param(wide(10, MANY), id="1,000 members, 10,000 partitions", marks=pytest.mark.long),
    ],
)
def crowd(request: pytest.FixtureRequest) -> Crowd:
    return request.param


@pytest.fixture(scope="module")
def kafka(crowd: Crowd) -> Iterator[EmbeddedKafka]:
    with broker_with_topics(crowd, ORDINARY) as kafka:
        fill(kafka, ORDINARY, ROUNDS)
        fill(kafka, crowd, ROUNDS)
        for topic in crowd.topic_names:  # or its commits would be beyond the end, which is a finding after a while
            produce(kafka.bootstrap_servers, topic, dict.fromkeys(range(crowd.partitions), ROUNDS))
        yield kafka


def places_of(crowd: Crowd) -> list[tuple[str, int]]:
    return [(topic, number) for topic in crowd.topic_names for number in range(crowd.partitions)]


def committed(job: JobProcess) -> dict[tuple[str, int], int]:
    rows = job.group("c", "huge-0")["partitions"]
    return {(row["topic"], row["partition"]): row["committed"] for row in rows}


def commit(kafka: EmbeddedKafka, offset: int) -> None:
    """One more commit of PLACE, as the coordinator writes it: to it, the members are away and may not commit."""
    key = encoded_key(1, OffsetCommitKey(group="huge-0", topic=PLACE[0], partition=PLACE[1]))
    now_ms = time.time_ns() // 1_000_000
    value = encoded(OffsetCommitValue(offset=offset, metadata="", commit_timestamp=now_ms), 3)
    produce_into_offsets_log(kafka.bootstrap_servers, key, value, group_partition("huge-0", LOG_PARTITIONS))


def job_of(kafka: EmbeddedKafka, folder: Path, kind: type[JobProcess] = JobProcess) -> JobProcess:
    return kind(folder, {"c": {"bootstrap_servers": kafka.bootstrap_servers}})


def test_it_is_judged_and_followed_like_any_group(crowd: Crowd, kafka: EmbeddedKafka, tmp_path: Path):
    """The larger one with Spark: its state and its rows are what takes Spark long."""
    places = places_of(crowd)
    with job_of(kafka, tmp_path, JobWithoutSpark if crowd.partitions < MANY else JobProcess) as job:
        job.await_ready(PATIENCE_S)
        verdict = job.group("c", "huge-0")
        rows = {(row["topic"], row["partition"]): row for row in verdict["partitions"]}
        assert verdict["expectation"] == "exact"
        assert verdict.get("findings", []) == []
        assert {place: row["owners"] for place, row in rows.items()} == {
            (topic, number): [f"huge-0-member-{number:04}"] for topic, number in places
        }
        assert {place: row["expected"] for place, row in rows.items()} == {
            (topic, number): f"huge-0-member-{number:04}" for topic, number in places
        }
        assert committed(job) == dict.fromkeys(places, ROUNDS)
        assert job.get("/groups/c/huge-0?all").count("huge-0-member-") >= len(places)
        samples = job.metrics()
        assert len(samples.all("groupwatch_partition_committed_offset", group="huge-0")) == len(places)
        assert samples.value("groupwatch_group_members", group="huge-0") == crowd.members
        assert len(samples.all("groupwatch_group_members")) == ORDINARY.groups + 1

        commit(kafka, 50)
        newest = dict.fromkeys(places, ROUNDS) | {PLACE: 50}
        eventually(lambda: committed(job) == newest, "the commit of one partition", PATIENCE_S)


@pytest.mark.long
def test_what_moved_is_in_the_checkpoint(crowd: Crowd, kafka: EmbeddedKafka, tmp_path: Path):
    newest = dict.fromkeys(places_of(crowd), ROUNDS) | {PLACE: 60}
    job = job_of(kafka, tmp_path)
    with job:
        job.await_ready(PATIENCE_S)
        commit(kafka, 60)
        eventually(lambda: committed(job) == newest, "the commit of one partition", PATIENCE_S)
    with job:
        job.await_ready(PATIENCE_S)
        assert committed(job) == newest
