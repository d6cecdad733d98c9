"""Records that nobody can read, and a job that dies: counted, survived, and nothing is lost.

A broker of its own: once a coordinator meets such a record in its partition it can fail for good, and with it the
groups of that partition. So the records go to a partition that the tests' groups are not in.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from monitor.assignors.java.order import string_hash
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.clients import commit, create_topic, member, produce_into_offsets_log
from tests.support.job_process import JobProcess, Samples, eventually, running
from tests.support.without_spark import JobWithoutSpark

pytestmark = [pytest.mark.broker, pytest.mark.jobs]

PARTITIONS = 8
HOSTILE_PARTITION = 5
COUNTERS = ("groupwatch_group_rebalances_total", "groupwatch_decode_errors_total")


def group_beside(prefix: str) -> str:
    """A group that is not in the hostile partition (where a group is: the formats' page of Kafka's coordinator)."""
    names = (f"{prefix}-{number}" for number in range(100))
    return next(name for name in names if abs(string_hash(name)) % PARTITIONS != HOSTILE_PARTITION)


@pytest.fixture(scope="module")
def bootstrap() -> Iterator[str]:
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=PARTITIONS)) as kafka:
        create_topic(kafka.bootstrap_servers, "read", 3)
        commit(kafka.bootstrap_servers, group_beside("first"), "read", {0: 0})
        yield kafka.bootstrap_servers


@pytest.fixture(scope="module")
def clusters(bootstrap: str) -> dict[str, dict[str, Any]]:
    return {"test": {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5}}


@pytest.fixture(scope="module")
def job(
    bootstrap: str, clusters: dict[str, dict[str, Any]], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JobProcess]:
    folder = tmp_path_factory.mktemp("job")
    (folder / "expectations.toml").write_text('[[expect]]\ngroups = "first-.*"\n')
    expectations = {"file": str(folder / "expectations.toml")}
    with running(JobWithoutSpark(folder, clusters, expectations=expectations)) as process:
        yield process


@pytest.fixture
def spark_job(clusters: dict[str, dict[str, Any]], tmp_path: Path) -> Iterator[JobProcess]:
    with running(JobProcess(tmp_path, clusters)) as process:
        yield process


def decode_errors(samples: Samples) -> dict[str, float]:
    found = samples.all("groupwatch_decode_errors_total")
    return {sample.labels["reason"]: sample.value for sample in found}


def test_records_that_cannot_be_read_are_counted_and_hurt_nothing_else(job: JobProcess, bootstrap: str):
    def put(key: bytes | None, value: bytes | None) -> None:
        produce_into_offsets_log(bootstrap, key, value, HOSTILE_PARTITION)

    group = group_beside("unhurt")
    put(b"\x00\x01\x00\x09short", b"\x00\x01")  # a commit's key that ends before its group's name
    put(b"\x7f\xff\x00\x00", b"x")  # a key type that nobody knows
    put(b"\x7f\xff\x00\x00", b"y")
    commit(bootstrap, group, "read", {0: 0})
    job.await_metric("groupwatch_partition_committed_offset", 0, group=group, partition="0")
    eventually(lambda: sum(decode_errors(job.metrics()).values()) == 3, "all three records counted")
    assert decode_errors(job.metrics()) == {"underflow": 1, "unknown_key_version": 2}
    assert job.metrics().value("groupwatch_evaluation_errors_total") == 0
    assert job.log().count("undecodable record") == 2, "each reason is logged once"
    assert f"partition {HOSTILE_PARTITION} offset" in job.log()


@pytest.mark.long  # the chaos of the suite kills it in three ways
def test_kill_9_and_restart_lose_no_group_and_no_count(spark_job: JobProcess, bootstrap: str):
    job = spark_job
    group = group_beside("survivor")
    with member(bootstrap, group, "read"):
        job.await_metric("groupwatch_group_members", 1, group=group)
        before = job.metrics()
        verdict = job.group("test", group)
        job.kill_9()
    with member(bootstrap, group, "read"):  # it has left and joins again while nobody watches
        job.start()
        job.await_ready()
        after = job.metrics()

    assert groups(before) <= groups(after)
    for counter in COUNTERS:
        for sample in before.all(counter):
            now = after.value(counter, **sample.labels)
            assert now is not None
            assert now >= sample.value, f"{counter} {sample.labels}"
    assert after.value(COUNTERS[0], group=group) > before.value(COUNTERS[0], group=group)
    assert decode_errors(after) == decode_errors(before)
    assert job.group("test", group)["generation"] > verdict["generation"]
    for other in groups(before) - {group}:
        committed = before.value("groupwatch_partition_committed_offset", group=other, partition="0")
        assert after.value("groupwatch_partition_committed_offset", group=other, partition="0") == committed


def test_a_second_job_on_the_checkpoint_of_a_running_one_is_refused_in_one_sentence(job: JobProcess, bootstrap: str):
    checkpoint = job.folder / "checkpoint"
    folder = job.folder / "again"
    folder.mkdir()
    again = JobWithoutSpark(folder, {"test": {"bootstrap_servers": bootstrap}}, spark={"checkpoint": str(checkpoint)})
    again.start()
    assert again.wait() == 2
    assert (
        f"groupwatch cannot start: The checkpoint {checkpoint}/test is in use by process {job.pid} on " in again.log()
    )
    assert "Traceback" not in again.log()


def test_a_restart_serves_what_was_served_before_marked_stale_until_it_is_ready(job: JobProcess):
    job.await_metric("groupwatch_ready", 1)
    before = groups(job.metrics())
    assert job.stop() == 0
    job.start()
    eventually(lambda: job.status("/readyz") == 503, "the page of the job that was started again", pause_s=0.1)
    assert "test: Restarted: shows the groups as evaluated before." in job.get_any("/readyz")
    again = job.metrics()
    assert again.value("groupwatch_ready") == 0
    assert groups(again) == before
    assert again.value("groupwatch_up") == 0
    job.await_ready()
    assert groups(job.metrics()) == before
    backlogs = re.findall(r"__consumer_offsets has a backlog of (\d+) offsets", job.log())
    assert int(backlogs[0]) > 0
    assert backlogs[-1] == "0", "the checkpoint has read all of it"


def test_the_time_of_expectations_goes_on_after_a_kill_and_the_time_between_is_unknown(job: JobProcess):
    job.await_ready()
    eventually(lambda: expected_seconds(job.metrics())["yes"] > 0, "time in which the expectation is met")
    before, began_s = expected_seconds(job.metrics()), time.time()
    job.kill_9()
    job.start()
    job.await_ready()
    eventually(lambda: expected_seconds(job.metrics())["unknown"] > before["unknown"], "the time of the restart")
    after = expected_seconds(job.metrics())
    assert after["yes"] >= before["yes"]
    assert after["no"] == before["no"]
    passed_s = sum(after.values()) - sum(before.values())
    assert passed_s <= time.time() - began_s + 30, "what had not been shown before it was killed is in it, too"


def expected_seconds(samples: Samples) -> dict[str, float]:
    found = samples.all("groupwatch_expectation_seconds_total")
    return dict.fromkeys(("yes", "no", "unknown"), 0.0) | {each.labels["met"]: each.value for each in found}


def groups(samples: Samples) -> set[str]:
    return {sample.labels["group"] for sample in samples.all("groupwatch_group_state")}
