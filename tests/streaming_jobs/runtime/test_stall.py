"""Micro-batches that no longer end are noticed and told, and end the process in the end."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from monitor.collectors.configured import ConfiguredCollectors
from monitor.config import ClusterSettings, Settings
from monitor.demo.servers.broker import EmbeddedKafka
from streaming_jobs.jobs.reading_problems import ReadingProblems
from streaming_jobs.jobs.watch_targets import WatchList
from streaming_jobs.runtime.stall import (
    ABANDON_FACTOR,
    FIRST_MS,
    LEAST_MS,
    LIMIT_IN_LONGEST_BATCHES,
    LIMIT_IN_TRIGGERS,
    StallWatch,
)
from tests.chaos.disk import Disk, NoDisk
from tests.streaming_jobs.runtime.stalling_job import StallingJob, stop_executor
from tests.support.clients import commit, create_topic
from tests.support.job_process import eventually

UP: Final = "groupwatch_up"
READY: Final = "groupwatch_ready"
ENDS_WITHIN_S: Final = 600
"""Ten times the longest micro-batch, which on a busy machine takes half a minute."""


# --- The rule


def watched(trigger_ms: int = 1_000) -> StallWatch:
    """A watch of a query that has started at 0 and ended its first batch, of a second, at 5,000."""
    watch = StallWatch(trigger_ms)
    watch.restart(0)
    watch.begin(4_000)
    watch.end(5_000)
    return watch


def test_nothing_is_expected_before_a_query_starts():
    assert not StallWatch(1_000).has_stalled(10**9)


def test_the_first_batch_may_take_longer():
    watch = StallWatch(1_000)
    watch.restart(1_000)
    watch.begin(2_000)
    assert not watch.has_stalled(1_000 + FIRST_MS)
    assert watch.has_stalled(1_001 + FIRST_MS)


def test_a_query_has_stalled_when_no_batch_has_ended_for_too_long():
    assert not watched().has_stalled(5_000 + LEAST_MS)
    assert watched().has_stalled(5_001 + LEAST_MS)


@pytest.mark.parametrize("begins", [True, False])
def test_a_batch_that_begins_and_does_not_end_is_no_sign_of_life(begins: bool):
    watch = watched()
    if begins:
        watch.begin(6_000)
    assert watch.has_stalled(5_001 + LEAST_MS)


def test_a_long_trigger_and_long_batches_have_their_time():
    assert not watched(60_000).has_stalled(5_000 + LIMIT_IN_TRIGGERS * 60_000)
    assert watched(60_000).has_stalled(5_001 + LIMIT_IN_TRIGGERS * 60_000)
    slow = watched()
    slow.begin(6_000)
    slow.end(26_000)
    assert not slow.has_stalled(26_000 + LIMIT_IN_LONGEST_BATCHES * 20_000)
    assert slow.has_stalled(26_001 + LIMIT_IN_LONGEST_BATCHES * 20_000)


def test_long_batches_of_long_ago_do_not_count():
    watch = watched()
    watch.begin(6_000)
    watch.end(26_000)
    for second in range(30, 40):
        watch.begin(1000 * second)
        watch.end(1000 * second + 500)
    assert watch.has_stalled(39_501 + LEAST_MS)


def test_waiting_is_hopeless_after_ten_times_as_long():
    assert not watched().is_hopeless(5_000 + ABANDON_FACTOR * LEAST_MS)
    assert watched().is_hopeless(5_001 + ABANDON_FACTOR * LEAST_MS)


@pytest.mark.parametrize("is_starting", [False, True])
def test_a_query_that_does_not_start_has_stalled_as_one_that_runs(is_starting: bool):
    """Where none is to run, as before the first pass of a collector, none is expected."""
    cluster = ClusterSettings(name="main", bootstrap_servers="localhost:1", collect=False)
    settings = Settings(clusters={"main": cluster})
    (of_main,) = WatchList(settings, ConfiguredCollectors(settings))
    problems = ReadingProblems(of_main, watched())
    problems.is_starting = is_starting
    assert problems.look(20_000, 0, None) is None
    assert problems.look(20_000 + LEAST_MS + 1, 0, None) is None
    assert problems.has_stalled is is_starting


def test_a_cluster_that_was_away_has_its_time_anew():
    watch = watched()
    watch.expect(500_000)
    assert not watch.has_stalled(500_000 + LEAST_MS)
    assert watch.has_stalled(500_001 + LEAST_MS)


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
        told = job.get_any("/readyz")
        assert told.startswith("test: no micro-batch has ended since ")
        assert said in told
        samples = job.metrics()
        assert samples.value(UP, cluster="test") == 0
        assert samples.value(READY, cluster="test") == 1
        assert samples.value("groupwatch_partition_committed_offset", group="reads-until-it-stalls") == 0
        assert job.wait(ENDS_WITHIN_S) == 1
        assert f"groupwatch stopped: Cluster {told.strip()}" in job.log()
    finally:
        job.kill_all()
