"""How long from the start of the program until it is ready: the first start, and one with the checkpoint.

``python -m tests.benchmarks.start``. 3,000,000 commits of 2,000 groups of 50 partitions; the machine has been prepared
(``groupwatch prepare``). The value is the first start's.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from streaming_jobs.jobs.prepare import run_prepare
from tests.benchmarks.measured import cpu_s, report
from tests.benchmarks.offsets_log import Crowd, broker_with_topics, fill
from tests.benchmarks.quiet_fleet import with_records
from tests.support.job_process import JobProcess

CROWD = Crowd(groups=2_000, partitions=50)
ROUNDS = 30
RUNS = 3
LIMIT_S = 600
GOAL_S = 14.0
GOALS = {"first_s": GOAL_S, "first_cpu_s": 18.0, "again_s": 9.0, "again_cpu_s": 10.0}


def main() -> None:
    """Measure and report; seconds."""
    run_prepare(None)
    with broker_with_topics(CROWD) as kafka:
        records = fill(kafka, CROWD, ROUNDS)
        with_records(kafka.bootstrap_servers, CROWD, ROUNDS)
        runs = [both_starts(kafka.bootstrap_servers) for _ in range(RUNS)]
    first, again = (sorted(each) for each in zip(*runs, strict=True))
    middle = RUNS // 2
    report(
        "start",
        first[middle][0],
        "s",
        GOAL_S,
        first[middle][1],
        again_s=again[middle][0],
        again_cpu_s=again[middle][1],
        first_runs=first,
        again_runs=again,
        records=records,
        goals=GOALS,
    )


def both_starts(bootstrap: str) -> tuple[tuple[float, float], tuple[float, float]]:
    """Seconds and seconds of CPU until ready, of a job without a state and of the same one started again."""
    clusters = {"bench": {"bootstrap_servers": bootstrap}}
    with tempfile.TemporaryDirectory() as folder:
        job = JobProcess(Path(folder), clusters, jvm=None, spark={"buckets": 8})
        return started(job), started(job)


def started(job: JobProcess) -> tuple[float, float]:
    """Start it, await that it is ready, and stop it some micro-batches later."""
    began = time.perf_counter()
    with job:
        job.await_ready(LIMIT_S)
        took_s, used_s = time.perf_counter() - began, cpu_s(job.session)
        time.sleep(5)
    return round(took_s, 2), round(used_s, 1)


if __name__ == "__main__":
    main()
