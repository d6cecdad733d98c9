"""How long a backlog takes: 3,000,000 commits of 2,000 groups of 50 partitions, from the start of the query to ready.

The job is a process of its own; the JVM and Spark have started before the clock does. The value is the median of
several jobs, one after the other: the first also waits for a broker that has just written the log. The machine has been
prepared (``groupwatch prepare``); two more jobs start as on one that has not.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from monitor.java_runtime.find_java import find_java
from streaming_jobs.jobs.prepare import run_prepare
from streaming_jobs.runtime.class_archive import USE
from streaming_jobs.runtime.session import drivers_jvm
from tests.benchmarks.measured import cpu_s, report
from tests.benchmarks.offsets_log import Crowd, broker_with_topics, fill
from tests.support.job_process import JobProcess, eventually

CROWD = Crowd(groups=2_000, partitions=50)
ROUNDS = 30
RUNS = 4
UNPREPARED_RUNS = 2
GOAL_S = 12.0
KMINION_CPU_S = 14.0


def main() -> None:
    """Measure and report; seconds."""
    run_prepare(None)
    with broker_with_topics(CROWD) as kafka:
        records = fill(kafka, CROWD, ROUNDS)
        replays = [replay(kafka.bootstrap_servers) for _ in range(RUNS)]
        unprepared = [replay(kafka.bootstrap_servers, as_unprepared()) for _ in range(UNPREPARED_RUNS)]
    took_s = statistics.median(each.took_s for each in replays)
    report(
        "replay",
        took_s,
        "s",
        GOAL_S,
        statistics.median(each.cpu_s for each in replays),
        records=records,
        records_s=round(records / took_s),
        runs_s=[round(each.took_s, 2) for each in replays],
        runs_cpu_s=[round(each.cpu_s, 1) for each in replays],
        unprepared_s=[round(each.took_s, 2) for each in unprepared],
        unprepared_cpu_s=[round(each.cpu_s, 1) for each in unprepared],
        cpu_goal_s=2 * KMINION_CPU_S,
    )


@dataclass(frozen=True)
class Replay:
    """What one job needed."""

    took_s: float
    cpu_s: float


def as_unprepared() -> str:
    """Options of a JVM that names Java's own archive, as it is used by default, so that groupwatch's is not."""
    return f"{USE}{find_java().home / 'lib' / 'server' / 'classes.jsa'} {drivers_jvm({})}"


def replay(bootstrap: str, jvm: str | None = None) -> Replay:
    """Start a job without any state, and await that it is ready. ``jvm``: its options; None: those of a deployment."""
    clusters = {"bench": {"bootstrap_servers": bootstrap}}
    with tempfile.TemporaryDirectory() as folder:
        job = JobProcess(Path(folder), clusters, jvm=jvm, spark={"trigger_s": 1.0, "buckets": 8})
        with job:
            eventually(lambda: "has a backlog of" in job.log(), "the start of the query")
            began, cpu_before = time.perf_counter(), cpu_s(job.session)
            job.await_ready(600)
            return Replay(time.perf_counter() - began, cpu_s(job.session) - cpu_before)


if __name__ == "__main__":
    main()
