"""Tasks of a partition run in one process, and what Spark sees of the death of any of them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.streaming.stateful_processor import StatefulProcessor, StatefulProcessorHandle, TimerValues

from monitor.java_runtime.jars import spark_kafka_jars
from streaming_jobs.runtime.session import create_session, stop_session
from streaming_jobs.runtime.worker_daemon import HOMES_PER_CORE
from tests.streaming_jobs.runtime.forked_workers import DIE, FAIL, FAILED, HANG, TELL, WAIT, Worker, forked_workers
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM, eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what homes need")


def test_a_partition_has_one_home_whichever_worker_gets_its_task():
    with forked_workers() as daemon:
        first, second = Worker(daemon), Worker(daemon)
        even, odd = first.run(0), second.run(1)
        assert [second.run(0), first.run(1), first.run(0), second.run(1)] == [even, odd, even, odd]
        assert len({even, odd, first.pid, second.pid}) == 4


def test_a_task_without_state_runs_in_the_worker_that_it_was_given_to():
    """It may wait for a broker."""
    with forked_workers() as daemon:
        first, second = Worker(daemon), Worker(daemon)
        home = first.run(0, WAIT)
        assert second.run(-1) == second.pid
        first.connection.sendall(b".")
        assert [first.run(-1), first.run(0)] == [first.pid, home]


def test_a_task_waits_until_its_home_has_run_the_one_before():
    with forked_workers() as daemon:
        first, second = Worker(daemon), Worker(daemon)
        home = first.run(0, WAIT)
        second.begin(0)
        second.connection.settimeout(0.3)
        with pytest.raises(TimeoutError):
            second.answer()
        first.connection.sendall(b".")
        second.connection.settimeout(30)
        assert second.answer() == home


def test_a_worker_that_waits_too_long_runs_its_task_itself():
    with forked_workers(busy_limit_s=0.2) as daemon:
        first, second = Worker(daemon), Worker(daemon)
        home = first.run(0, WAIT)
        assert second.run(0) == second.pid
        first.connection.sendall(b".")
        assert first.run(0) == home
        assert second.run(0) == home


def test_a_home_that_dies_ends_its_task_and_has_a_successor():
    with forked_workers() as daemon:
        first, second = Worker(daemon), Worker(daemon)
        home = first.run(0)
        assert second.run(0) == home
        assert first.run(0, DIE) == FAILED
        successor = second.run(0)
        assert successor not in {home, FAILED, second.pid}
        assert second.run(-1) == second.pid, "the task before has ended"
        os.kill(successor, signal.SIGKILL)
        assert second.run(0) not in {home, successor, FAILED, second.pid}, "one that died between two tasks"


def test_a_home_ends_with_a_task_that_fails():
    """PySpark ends a worker for that: what such a task has left in memory is unknown."""
    with forked_workers() as daemon:
        first, second = Worker(daemon), Worker(daemon)
        home = first.run(0, FAIL)
        assert second.run(0) not in {home, FAILED, second.pid}


@pytest.mark.parametrize("act", [WAIT, HANG], ids=["waits", "hangs in C"])
def test_spark_ends_a_task_by_the_death_of_the_worker_that_it_gave_it_to(act: bytes):
    """The home runs the task, and may hang in it."""
    with forked_workers() as daemon:
        first = Worker(daemon)
        home = first.run(0, act)
        os.kill(first.pid, signal.SIGKILL)
        assert first.answer() == FAILED
        eventually(lambda: not is_alive(home), "the end of the home")
        assert Worker(daemon).run(0) not in {home, FAILED}


def test_workers_go_and_homes_stay():
    """Spark closes the connections of workers that have been idle for a minute."""
    with forked_workers() as daemon:
        first = Worker(daemon)
        home = first.run(0)
        first.connection.close()
        eventually(lambda: not is_alive(first.pid), "the end of the worker")
        assert Worker(daemon).run(0) == home


@pytest.mark.parametrize("act", [TELL, WAIT, HANG], ids=["idle", "busy", "hangs in C"])
def test_homes_end_with_their_daemon(act: bytes):
    """Also if Linux kills it, as memory is short. Spark starts another one then, with homes of its own."""
    with forked_workers() as daemon:
        worker = Worker(daemon)
        home = worker.run(0, act)
        os.kill(daemon.pid, signal.SIGKILL)
        eventually(lambda: not is_alive(home), "the end of the home")


def is_alive(pid: int) -> bool:
    """Whether there is such a process, which has not ended."""
    try:
        return stat_of(pid)[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def stat_of(pid: int) -> list[str]:
    """What Linux says of a process, from its state on; then comes its parent."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()


def test_without_a_keeper_workers_run_their_tasks():
    with forked_workers() as daemon:
        worker = Worker(daemon)
        home, keeper = worker.run(0), int(stat_of(worker.run(0))[1])
        assert worker.run(-1) == worker.pid, "the task before has ended"
        os.kill(keeper, signal.SIGKILL)
        eventually(lambda: not is_alive(home), "the end of the home")
        assert [worker.run(0), worker.run(-1)] == [worker.pid] * 2


@pytest.fixture
def spark(tmp_path: Path) -> Iterator[SparkSession]:
    session = create_session("local[2]", 4, spark_kafka_jars(), {DRIVER_JVM: BRIEF_JVM}, tmp_path / "spark.log")
    assert session.streams.active == []  # states have a coordinator once there is a manager of queries
    yield session
    stop_session(session)


class Processes(StatefulProcessor):
    """Says in which process a key is."""

    def init(self, handle: StatefulProcessorHandle) -> None:
        """There is no state."""

    def handleInputRows(  # type: ignore[override] # noqa: N802 -- Spark's name
        self,
        key: tuple[int],
        rows: Iterator[pd.DataFrame],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """One row."""
        yield pd.DataFrame({"id": [key[0]], "pid": [os.getpid()]})

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
def test_sparks_tasks_with_state_run_at_home_and_all_others_where_spark_has_them_run(spark: SparkSession):
    def workers(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            yield pa.RecordBatch.from_pydict({"id": batch.column("id"), "pid": [os.getpid()] * batch.num_rows})

    numbers = spark.range(0, 40, numPartitions=4)
    with_state = numbers.groupBy("id").transformWithStateInPandas(Processes(), "id long, pid long", "Update", "None")
    homes = [{row.id: row.pid for row in with_state.collect()} for _ in range(5)]
    others = {row.pid for row in numbers.mapInArrow(workers, "id long, pid long").collect()}
    assert homes == [homes[0]] * 5
    assert len(set(homes[0].values())) == min(HOMES_PER_CORE * len(os.sched_getaffinity(0)), 4)
    assert others.isdisjoint(homes[0].values())
