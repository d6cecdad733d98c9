"""How long a backlog takes: 3,000,000 commits of 2,000 groups of 50 partitions, from the start of the query to ready.

The job is a process of its own; the JVM and Spark have started before the clock does.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from tests.benchmarks.measured import cpu_s, report
from tests.benchmarks.offsets_log import Crowd, broker_with_topics, fill
from tests.job_process import JobProcess, eventually

CROWD = Crowd(groups=2_000, partitions=50)
ROUNDS = 30
GOAL_S = 12.0
KMINION_CPU_S = 14.0


def main() -> None:
    """Measure and report; seconds."""
    with broker_with_topics(CROWD) as kafka, tempfile.TemporaryDirectory() as folder:
        records = fill(kafka, CROWD, ROUNDS)
        clusters = {"bench": {"bootstrap_servers": kafka.bootstrap_servers}}
        job = JobProcess(Path(folder), clusters, jvm=None, spark={"trigger_s": 1.0, "buckets": 8})
        with job:
            eventually(lambda: "offsets to read" in job.log(), "the start of the query")
            began, cpu_before = time.perf_counter(), cpu_s(job.session)
            job.await_ready(600)
            took_s, cpu = time.perf_counter() - began, cpu_s(job.session) - cpu_before
            series = job.get("/metrics").count("\n")
    report(
        "replay",
        took_s,
        "s",
        GOAL_S,
        cpu,
        records=records,
        records_s=round(records / took_s),
        lines=series,
        cpu_goal_s=2 * KMINION_CPU_S,
    )


if __name__ == "__main__":
    main()
