"""Tasks of a partition run in one process, and what Spark sees of the death of any of them."""

from __future__ import annotations

import os
import signal
import socket
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
from tests.streaming_jobs.runtime.forked_workers import DIE, FAILED, TELL, WAIT, Worker, forked_workers
from tests.support.job_process import BRIEF_JVM, DRIVER_JVM, eventually

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has what homes need")


def test_a_partition_has_one_home_whichever_worker_gets_its_task():
    with forked_workers(homes=2) as daemon:
        first, second = Worker(daemon), Worker(daemon)
        even, odd = first.run(0), second.run(1)
        assert [second.run(0), first.run(1), first.run(2), second.run(3)] == [even, odd, even, odd]
        assert len({even, odd, first.pid, second.pid}) == 4


def test_a_task_without_state_runs_in_the_worker_that_it_was_given_to():
    """It may wait for a broker."""
    with forked_workers(homes=1) as daemon:
        first, second = Worker(daemon), Worker(daemon)
        home = first.run(0, WAIT)
        assert second.run(-1) == second.pid
        first.connection.sendall(b".")
        assert [first.run(-1), first.run(0)] == [first.pid, home]


def test_a_task_waits_until_its_home_has_run_the_one_before():
    with forked_workers(homes=1) as daemon:
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
    with forked_workers(homes=1, busy_limit_s=0.2) as daemon:
        first, second = Worker(daemon), Worker(daemon)
        home = first.run(0, WAIT)
        assert second.run(0) == second.pid
        first.connection.sendall(b".")
        assert first.run(0) == home
        assert second.run(0) == home


def test_a_home_that_dies_ends_its_task_and_the_next_new_worker_forks_another_one():
    """Spark starts one in place of that whose task ended."""
    with forked_workers(homes=1) as daemon:
        first, second = Worker(daemon), Worker(daemon)
        home = first.run(0)
        assert second.run(0) == home
        assert first.run(0, DIE) == FAILED
        assert second.run(0) == second.pid, "no home"
        third = Worker(daemon)
        assert third.run(0) not in {home, FAILED, second.pid, third.pid}
        assert second.run(0) == third.run(0)


def test_spark_ends_a_task_by_the_death_of_the_worker_that_it_gave_it_to():
    """The home runs the task, and may hang in it."""
    with forked_workers(homes=1) as daemon:
        first = Worker(daemon)
        home = first.run(0, WAIT)
        os.kill(first.pid, signal.SIGKILL)
        assert first.answer() == FAILED
        assert Worker(daemon).run(0) not in {home, FAILED}


def test_workers_go_and_homes_stay():
    """Spark closes the connections of workers that have been idle for a minute."""
    with forked_workers(homes=1) as daemon:
        first = Worker(daemon)
        home = first.run(0)
        first.connection.close()
        eventually(lambda: not is_alive(first.pid), "the end of the worker")
        assert Worker(daemon).run(0) == home


@pytest.mark.parametrize("is_busy", [False, True], ids=["idle", "busy"])
def test_homes_end_with_their_daemon(is_busy: bool):
    """Also if Linux kills it, as memory is short. Spark starts another one then, with homes of its own."""
    with forked_workers(homes=1) as daemon:
        worker = Worker(daemon)
        home = worker.run(0, WAIT if is_busy else TELL)
        os.kill(daemon.pid, signal.SIGKILL)
        eventually(lambda: not is_alive(home), "the end of the home")


def is_alive(pid: int) -> bool:
    """Whether there is such a process, which has not ended."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_gets_no_task_run_and_none_to_run():
    """Names of Unix sockets are known to all users of a machine."""
    with forked_workers(homes=1) as daemon:
        home = Worker(daemon).run(0)
        (name,) = names_of(home)
        assert said_as_nobody(name) == b""
        assert Worker(daemon).run(0) == home


def names_of(pid: int) -> set[str]:
    """The names of the Unix sockets that this process has."""
    inodes = {link.readlink().name for link in Path(f"/proc/{pid}/fd").iterdir() if "socket:" in str(link.readlink())}
    lines = [line.split() for line in Path("/proc/net/unix").read_text().splitlines()[1:]]
    return {line[7] for line in lines if len(line) > 7 and f"socket:[{line[6]}]" in inodes}


def said_as_nobody(name: str) -> bytes:
    """What a home says to a process of another user."""
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setuid(65_534)
        with socket.socket(socket.AF_UNIX) as line:
            line.connect("\0" + name.removeprefix("@"))
            os.write(writer, b"[" + line.recv(1))
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        said = pipe.read()
    assert said[:1] == b"[", "it could connect"
    return said[1:]


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
    assert len(set(homes[0].values())) == min(len(os.sched_getaffinity(0)), 4)
    assert others.isdisjoint(homes[0].values())
