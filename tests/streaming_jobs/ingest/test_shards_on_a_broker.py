"""Two jobs that share the groups of a cluster show together what one job shows.

The tests tell one story in their order; a job's start is what takes the time.
"""

from __future__ import annotations

import os
import subprocess
import sys
import urllib.error
from collections.abc import Iterator
from pathlib import Path

import pytest

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from streaming_jobs.ingest.sharding import shard_of
from tests.support.clients import commit, create_topic, member, produce, produce_into_offsets_log
from tests.support.job_process import JobProcess, Samples, eventually
from tests.support.without_spark import JobWithoutSpark

TOPIC = "read"
GROUPS = {f"group-{number}" for number in range(12)}
HELD = "held"
END = "groupwatch_partition_end_offset"
GROUP_ENTITIES = ("groupwatch_partition_committed_offset", "groupwatch_partition_lag", "groupwatch_group_state")


def test_what_is_no_shard_ends_the_command_with_one_sentence():
    command = [sys.executable, "-m", "monitor.cli", "run", "--shard", "4/3"]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 2
    assert ended.stderr == "groupwatch cannot start: --shard should be like 1/3, the first of three shards.\n"


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=2)) as kafka:
        servers = kafka.bootstrap_servers
        create_topic(servers, TOPIC, 2)
        produce(servers, TOPIC, {0: 20, 1: 30})
        for number, group in enumerate(sorted(GROUPS)):
            commit(servers, group, TOPIC, {0: number, 1: 2 * number})
        with member(servers, HELD, TOPIC, silence_limit_s=3600):
            yield servers


def job(folder: Path, bootstrap: str, **cluster: str) -> JobProcess:
    folder.mkdir()
    clusters = {"test": {"bootstrap_servers": bootstrap, "collect_interval_s": 1.0, **cluster}}
    return JobWithoutSpark(folder, clusters, spark={"master": "local[1]", "buckets": 2, "trigger_s": 1.0})


@pytest.fixture(scope="module")
def second(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    made = job(tmp_path_factory.mktemp("shards") / "second", bootstrap)
    made.environment = {**os.environ, "GROUPWATCH_SHARD": "2/2"}
    with made:
        yield made


@pytest.fixture(scope="module")
def first(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    made = job(tmp_path_factory.mktemp("shards") / "first", bootstrap)
    made.command += ["--shard", "1/2"]
    with made:
        yield made


@pytest.fixture(scope="module")
def whole(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[JobProcess]:
    """A job for all groups has a collector too, so it needs an events topic of its own."""
    with job(tmp_path_factory.mktemp("shards") / "whole", bootstrap, events_topic="events.of-the-whole") as made:
        yield made


def groups(samples: Samples) -> set[str]:
    return {sample.labels["group"] for sample in samples.all("groupwatch_group_state")}


def series(samples: Samples, *names: str) -> list[tuple[object, ...]]:
    return sorted((s.name, *sorted(s.labels.items()), s.value) for name in names for s in samples.all(name))


def readyz(process: JobProcess) -> str:
    """What /readyz says, whatever its status; nothing if nobody listens."""
    try:
        return process.get("/readyz")
    except urllib.error.HTTPError as error:
        with error:
            return error.read().decode()
    except OSError:
        return ""


@pytest.mark.broker
@pytest.mark.jobs
def test_a_shard_waits_for_the_passes_of_the_first(second: JobProcess, whole: JobProcess):
    """The job for all groups starts beside it, to save time; its passes are on another topic."""
    sentence = "Cluster test: there is no groupwatch.events yet; the job of the first shard creates it."
    eventually(lambda: sentence in readyz(second), sentence)
    assert readyz(second).startswith("Shard 2 of 2: other jobs watch the other groups.\n")
    assert second.metrics().value("groupwatch_up") == 0


@pytest.mark.broker
@pytest.mark.jobs
def test_the_shards_show_together_what_one_job_shows(first: JobProcess, second: JobProcess, whole: JobProcess):
    for process in (first, second, whole):
        process.await_ready()
    halves, one = (first.metrics(), second.metrics()), whole.metrics()
    assert groups(one) == GROUPS | {HELD}
    for number, half in enumerate(halves, start=1):
        assert groups(half) == {group for group in groups(one) if shard_of(group, 2) == number} != set()
        assert half.value("groupwatch_shard_info", shard=str(number), of="2") == 1
    together = [each for half in halves for each in series(half, *GROUP_ENTITIES)]
    assert sorted(together) == series(one, *GROUP_ENTITIES)
    assert one.value("groupwatch_shard_info", shard="1", of="1") == 1
    whole.stop()  # it has been compared


@pytest.mark.broker
@pytest.mark.jobs
def test_the_ends_of_partitions_are_shown_by_the_first_shard_alone(first: JobProcess, second: JobProcess):
    assert {sample.labels["partition"] for sample in first.metrics().all(END, topic=TOPIC)} == {"0", "1"}
    assert second.metrics().all(END) == []


@pytest.mark.broker
@pytest.mark.jobs
def test_a_record_that_cannot_be_read_is_counted_once(first: JobProcess, second: JobProcess, bootstrap: str):
    """And the second shard goes on with the first one's passes: its groups' lag is known by them."""
    produce_into_offsets_log(bootstrap, b"\x7f\xff\x00\x00", b"x")
    create_topic(bootstrap, "later", 1)
    produce(bootstrap, "later", {0: 7})
    group = next(name for name in (f"late-{n}" for n in range(100)) if shard_of(name, 2) == 2)
    commit(bootstrap, group, "later", {0: 3})
    second.await_metric("groupwatch_partition_lag", 4, group=group, topic="later", partition="0")
    first.await_metric("groupwatch_decode_errors_total", 1, reason="unknown_key_version")
    assert second.metrics().all("groupwatch_decode_errors_total") == []
    assert first.status(f"/api/v1/groups/test/{group}") == 404
    assert second.status(f"/api/v1/groups/test/{group}") == 200
