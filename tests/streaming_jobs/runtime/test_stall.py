"""Micro-batches that no longer end are noticed and told, and end the process in the end."""

from __future__ import annotations

import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from monitor.collectors.configured import ConfiguredCollectors
from monitor.config import ClusterSettings, Settings
from monitor.demo.servers.broker import EmbeddedKafka
from streaming_jobs.jobs.job import WATCHDOG_S
from streaming_jobs.jobs.reading_problems import ReadingProblems
from streaming_jobs.jobs.watch_targets import WatchList, WatchTarget
from streaming_jobs.runtime.stall import (
    ABANDON_FACTOR,
    FIRST_MS,
    LEAST_MS,
    LIMIT_IN_LONGEST_BATCHES,
    LIMIT_IN_TRIGGERS,
    StallWatch,
)
from tests.chaos.disk import Disk, NoDisk
from tests.streaming_jobs.runtime.stalling_job import StallingJob, jvm_of, stop_executor
from tests.support.clients import commit, create_topic
from tests.support.job_process import JobProcess, eventually

UP: Final = "groupwatch_up"
READY: Final = "groupwatch_ready"
ENDS_WITHIN_S: Final = 600
"""Ten times the longest micro-batch, which on a busy machine takes half a minute."""


# --- The rule


def watched(trigger_ms: int = 1_000) -> StallWatch:
    """A watch of a query that has started at 0 and ended its first batch, of a second and evaluated, at 5,000."""
    watch = StallWatch(trigger_ms)
    watch.restart(0)
    batch(watch, 4_000, 5_000)
    return watch


def batch(watch: StallWatch, began_ms: int, ended_ms: int) -> None:
    watch.begin(began_ms)
    watch.end(ended_ms)
    watch.evaluate(ended_ms)


def look_each_second(watch: StallWatch, until_ms: int, *, excused: bool = False) -> None:
    for now_ms in range(6_000, until_ms + 1, 1_000):
        watch.look(now_ms, excused=excused)


def test_nothing_is_expected_before_a_query_starts():
    assert not StallWatch(1_000).has_stalled(10**9)


def test_the_first_batch_of_a_job_may_take_longer():
    watch = StallWatch(1_000)
    watch.restart(1_000)
    watch.begin(2_000)
    assert not watch.has_stalled(1_000 + FIRST_MS)
    assert watch.has_stalled(1_001 + FIRST_MS)


def test_a_stall_is_reported_within_the_documented_30_seconds():
    assert not watched().has_stalled(5_000 + LEAST_MS)
    assert watched().has_stalled(5_001 + LEAST_MS)
    assert LEAST_MS + 2 * WATCHDOG_S * 1_000 <= 30_000


@pytest.mark.parametrize("begins", [True, False])
def test_a_batch_that_begins_and_does_not_end_is_no_sign_of_life(begins: bool):
    watch = watched()
    if begins:
        watch.begin(6_000)
    assert watch.has_stalled(5_001 + LEAST_MS)


def test_a_query_that_starts_again_is_no_sign_of_life():
    watch = watched()
    watch.stop()
    watch.restart(20_000)
    assert watch.has_stalled(5_001 + LEAST_MS)


def test_a_batch_that_evaluates_nothing_is_none_either_once_something_was_evaluated():
    watch = watched()
    watch.begin(30_000)
    watch.end(31_000)
    assert watch.has_stalled(5_001 + LEAST_MS)
    assert watch.ends_batches(5_001 + LEAST_MS)


def test_batches_that_read_the_backlog_are_no_stall():
    watch = StallWatch(1_000)
    watch.restart(0)
    watch.begin(1_000)
    watch.end(100_000)
    assert not watch.has_stalled(100_000 + FIRST_MS)


def test_a_poll_that_found_nothing_new_confirms_the_evaluation():
    watch = watched()
    watch.evaluate(20_000)
    assert not watch.has_stalled(20_000 + LEAST_MS)
    assert watch.has_stalled(20_001 + LEAST_MS)


def test_a_long_trigger_and_long_batches_have_their_time():
    assert not watched(60_000).has_stalled(5_000 + LIMIT_IN_TRIGGERS * 60_000)
    assert watched(60_000).has_stalled(5_001 + LIMIT_IN_TRIGGERS * 60_000)
    slow = watched()
    batch(slow, 6_000, 26_000)
    assert not slow.has_stalled(26_000 + LIMIT_IN_LONGEST_BATCHES * 20_000)
    assert slow.has_stalled(26_001 + LIMIT_IN_LONGEST_BATCHES * 20_000)


def test_a_batch_that_stalled_is_no_excuse_for_itself():
    """What it evaluated is of its beginning, so the cluster is stale until the next one."""
    watch = watched()
    watch.begin(6_000)
    watch.end(47_000)
    watch.evaluate(6_000)
    assert watch.has_stalled(47_001)
    watch.begin(47_100)
    watch.end(48_000)
    watch.evaluate(47_100)
    assert not watch.has_stalled(48_001)
    assert not watch.has_stalled(47_100 + LIMIT_IN_LONGEST_BATCHES * 41_000)
    assert watch.has_stalled(47_101 + LIMIT_IN_LONGEST_BATCHES * 41_000)


def test_the_first_batch_of_a_query_which_starts_its_workers_is_no_measure_of_the_others():
    watch = StallWatch(1_000)
    watch.restart(0)
    batch(watch, 1_000, 51_000)
    assert watch.has_stalled(51_001 + LEAST_MS)


def test_long_batches_of_long_ago_do_not_count():
    watch = watched()
    batch(watch, 6_000, 26_000)
    for second in range(30, 40):
        batch(watch, 1000 * second, 1000 * second + 500)
    assert watch.has_stalled(39_501 + LEAST_MS)


HOPELESS_MS: Final = 5_000 + ABANDON_FACTOR * LEAST_MS


def test_waiting_is_hopeless_after_ten_times_as_long():
    watch = watched()
    look_each_second(watch, HOPELESS_MS)
    assert not watch.is_hopeless(HOPELESS_MS)
    watch.look(HOPELESS_MS + 1_000, excused=False)
    assert watch.is_hopeless(HOPELESS_MS + 1_000)


def test_it_is_never_hopeless_with_an_excuse():
    watch = watched()
    look_each_second(watch, 10 * HOPELESS_MS, excused=True)
    assert not watch.is_hopeless(10 * HOPELESS_MS)
    assert watch.has_stalled(10 * HOPELESS_MS)


def test_an_excuse_interrupts_the_count_and_does_not_reset_it():
    watch = watched()
    look_each_second(watch, HOPELESS_MS)
    watch.look(HOPELESS_MS + 60_000, excused=True)
    assert not watch.is_hopeless(HOPELESS_MS + 60_000)
    watch.look(HOPELESS_MS + 61_000, excused=False)
    assert watch.is_hopeless(HOPELESS_MS + 61_000)


def test_queries_that_fail_again_and_again_are_hopeless_after_ten_times_as_long():
    watch = watched()
    for now_ms in range(6_000, HOPELESS_MS + 1_001, 1_000):
        watch.restart(now_ms)
        watch.look(now_ms, excused=False)
    watch.stop()
    assert watch.is_hopeless(HOPELESS_MS + 1_000)


def test_the_first_batch_of_a_query_after_an_outage_has_its_time():
    watch = watched()
    look_each_second(watch, HOPELESS_MS + 1_000)
    watch.restart(HOPELESS_MS)
    end_ms = HOPELESS_MS + ABANDON_FACTOR * FIRST_MS
    assert not watch.is_hopeless(end_ms)
    assert watch.is_hopeless(end_ms + 1)


# --- What is reported


EPOCH_MS: Final = 1_767_225_600_000
"""2026-01-01 00:00:00 UTC, for 0 by the other clock."""


def problems_of(watch: StallWatch, *, collect: bool = True) -> tuple[ReadingProblems, WatchTarget]:
    cluster = ClusterSettings(name="main", bootstrap_servers="localhost:1", collect=collect)
    settings = Settings(clusters={"main": cluster})
    (of_main,) = WatchList(settings, ConfiguredCollectors(settings))
    return ReadingProblems(of_main, watch), of_main


def look(problems: ReadingProblems, now_ms: int) -> str | None:
    return problems.look(now_ms, EPOCH_MS + now_ms, None)


@pytest.mark.parametrize(
    ("is_starting", "said"),
    [
        (False, "no query runs"),
        (True, "the query has not started, so the checkpoint's file system or another cluster's start hangs"),
    ],
)
def test_a_query_that_does_not_start_has_stalled_as_one_that_runs(is_starting: bool, said: str):
    problems, _ = problems_of(watched())
    problems.is_starting = is_starting
    assert look(problems, 5_000 + LEAST_MS) is None
    assert not problems.has_stalled
    assert look(problems, 5_001 + LEAST_MS) is None
    assert problems.has_stalled
    assert problems.sentence == f"no micro-batch has ended since 2026-01-01 00:00:05 UTC: {said}."


def test_before_the_first_query_none_is_expected():
    problems, _ = problems_of(StallWatch(1_000))
    assert look(problems, 10**9) is None
    assert (problems.has_stalled, problems.sentence) == (False, None)


AWAY: Final = "Cluster main: a poll of the topics failed (no response in time); retrying."


def test_a_cluster_that_is_away_has_stalled_and_the_instant_is_that_of_the_last_batch():
    """A poll that fails, is answered again and fails again changes neither."""
    problems, target = problems_of(watched())
    for now_ms in range(6_000, 5_000 + LEAST_MS, 1_000):
        target.awaited[0].problem = AWAY if now_ms % 5_000 else None
        look(problems, now_ms)
        assert not problems.has_stalled
    target.awaited[0].problem = AWAY
    assert look(problems, 5_001 + LEAST_MS) is None
    assert problems.has_stalled
    assert problems.sentence == f"{AWAY} No micro-batch has ended since 2026-01-01 00:00:05 UTC."
    target.awaited[0].problem = None
    look(problems, 10_000 + LEAST_MS)
    assert problems.has_stalled


@pytest.mark.parametrize(
    ("reason", "ends"), [("collector", False), ("brokers", False), ("awaited", False), ("failure", True)]
)
def test_only_failures_without_a_reason_outside_end_the_process(reason: str, ends: bool):
    problems, target = problems_of(watched())
    look(problems, 5_500)
    if reason == "collector":
        target.awaited[0].problem = AWAY
    elif reason == "brokers":
        problems.of_brokers = lambda: "Broker 2 does not answer."
    else:
        problems.of_query, problems.is_query_waiting = "reading stopped: it fails", reason == "awaited"
    told = [look(problems, now_ms) for now_ms in range(6_000, HOPELESS_MS + 1_001, 1_000)]
    assert told[:-1] == [None] * (len(told) - 1)
    expected = "reading stopped: it fails. No micro-batch has ended since 2026-01-01 00:00:05 UTC."
    assert told[-1] == (expected if ends else None)


def test_the_next_evaluation_ends_a_stall_at_once():
    watch = watched()
    problems, _ = problems_of(watch)
    look(problems, 5_001 + LEAST_MS)
    batch(watch, 40_000, 41_000)
    assert problems.sentence is None
    assert not problems.has_stalled


def test_the_evaluation_of_the_micro_batch_that_hung_does_not_end_the_stall():
    """What is served then is as old as the time for which it hung."""
    watch = watched()
    problems, _ = problems_of(watch)
    watch.begin(6_000)
    look(problems, 6_001 + LEAST_MS)
    before = problems.sentence
    watch.end(46_000)
    watch.evaluate(6_000)
    assert before is not None
    assert problems.sentence == before
    batch(watch, 46_500, 47_000)
    assert problems.sentence is None


def test_batches_that_evaluate_nothing_are_told_apart_from_none():
    watch = watched()
    problems, _ = problems_of(watch)
    watch.begin(30_000)
    watch.end(31_000)
    look(problems, 5_001 + LEAST_MS)
    assert problems.sentence == (
        "the log is being read again. No group has been evaluated since 2026-01-01 00:00:05 UTC."
    )


# --- Whatever hangs, on a real job


@pytest.fixture(scope="module")
def servers(broker: EmbeddedKafka) -> str:
    create_topic(broker.bootstrap_servers, "read-until-it-stalls", 1)
    commit(broker.bootstrap_servers, "reads-until-it-stalls", "read-until-it-stalls", {0: 0})
    return broker.bootstrap_servers


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Disk]:
    """A file system that a test can freeze: what writes there then waits, as on a file server that is away."""
    made = Disk(tmp_path)
    try:
        made.__enter__()
    except NoDisk as error:
        pytest.skip(f"only root can mount a file system, and not in every container: {error}")
    yield made
    made.__exit__()


def freeze_jvm(job: StallingJob) -> None:
    os.kill(job.jvm, signal.SIGSTOP)


def freeze_workers(job: StallingJob) -> None:
    for pid in job.python_workers:
        os.kill(pid, signal.SIGSTOP)


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.timeout(900)
@pytest.mark.parametrize(
    ("hang", "said"),
    [
        pytest.param(freeze_jvm, "Spark's JVM does not respond", id="jvm"),
        pytest.param(freeze_workers, "a Python worker", id="worker", marks=pytest.mark.long),
    ],
)
def test_a_job_that_hangs_says_so_and_ends_with_1(
    servers: str, tmp_path: Path, hang: Callable[[StallingJob], None], said: str
):
    await_stall(StallingJob(tmp_path, servers), hang, said)


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.long
def test_a_job_whose_executor_takes_no_tasks_ends_with_1(servers: str, tmp_path: Path):
    job = StallingJob(tmp_path, servers)
    job.start()
    try:
        job.await_ready()
        stop_executor(job)
        assert job.wait() == 1
        assert "groupwatch stopped: Cluster test: Spark accepts no more tasks (" in job.log()
    finally:
        job.kill_all()


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.long  # that one ends with 1 and says why is tested above
def test_a_job_without_file_descriptors_names_the_limit_and_ends_with_1(servers: str, tmp_path: Path):
    job = JobProcess(tmp_path, {"test": {"bootstrap_servers": servers, "collect_interval_s": 0.5}})
    job.start()
    try:
        job.await_ready()
        _, hard = resource.prlimit(jvm_of(job), resource.RLIMIT_NOFILE)
        resource.prlimit(jvm_of(job), resource.RLIMIT_NOFILE, (50, hard))  # fewer than it has open: no more are opened
        assert job.wait() == 1
        assert "groupwatch stopped: Cluster test: groupwatch has no file descriptors left: the limit" in job.log()
    finally:
        job.kill_all()


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.long
@pytest.mark.timeout(900)
def test_a_job_whose_query_fails_at_each_restart_ends_with_1(servers: str, tmp_path: Path):
    is_broken, python = tmp_path / "broken", tmp_path / "python"
    python.write_text(f'#!/bin/sh\n[ -e {is_broken} ] && exit 1\nexec {sys.executable} "$@"\n')
    python.chmod(0o755)
    job = StallingJob(tmp_path, servers, spark={"conf": {"spark.pyspark.python": str(python)}})
    job.start()
    try:
        job.await_ready()
        is_broken.touch()
        for pid in job.python_workers:
            os.kill(pid, signal.SIGKILL)
        eventually(lambda: job.status("/readyz") == 503, "that it is not ready any more", 60)
        assert "reading stopped: " in job.get_any("/readyz")
        assert job.metrics().value(UP, cluster="test") == 0
        assert job.wait(ENDS_WITHIN_S) == 1
        assert "restarting it" in job.log()
        assert "groupwatch stopped: Cluster test: reading stopped: " in job.log()
    finally:
        job.kill_all()


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.long
def test_a_checkpoint_that_hangs_is_told_and_ends_the_job_with_1(servers: str, tmp_path: Path, disk: Disk):
    job = StallingJob(tmp_path, servers, spark={"checkpoint": str(disk.path / "checkpoint")})
    with ExitStack() as frozen:
        await_stall(job, lambda _: frozen.enter_context(disk.frozen()), "the checkpoint's file system")


def await_stall(job: StallingJob, hang: Callable[[StallingJob], object], said: str) -> None:
    """Served as before while it hangs, but for what says so; then the process ends, and leaves no process behind."""
    job.start()
    try:
        job.await_ready()
        assert job.metrics().value(UP, cluster="test") == 1
        hang(job)
        eventually(lambda: job.status("/readyz") == 503, "that it is not ready any more", 60)
        told = eventually(lambda: job.get_any("/readyz") if said in job.get_any("/readyz") else None, said)
        assert told.startswith("test: no micro-batch has ended since ")
        samples = job.metrics()
        assert samples.value(UP, cluster="test") == 0
        assert samples.value(READY, cluster="test") == 1
        assert samples.value("groupwatch_partition_committed_offset", group="reads-until-it-stalls") == 0
        assert job.wait(ENDS_WITHIN_S) == 1
        assert f"groupwatch stopped: Cluster {told.strip()}" in job.log()
    finally:
        job.kill_all()
