"""A quiet fleet judged by a Spark standalone cluster of two workers: cores while idle, and the way of one commit.

``python -m tests.benchmarks.standalone [FLEET...]``. The value is the median from a commit to /metrics of 100,000
group-partitions in which records wait. Master, workers and driver share the two cores of the machine.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.benchmarks.latency import measure
from tests.benchmarks.latency_lagging import COMMITS, GOAL_S, PAUSES_S, is_shown
from tests.benchmarks.measured import cpu_s, quantile, report
from tests.benchmarks.quiet_fleet import FLEETS, LAGGING, REAL, Fleet, job_beside
from tests.support.spark_cluster import StandaloneCluster

SETTLE_S, MEASURE_S = 45, 60


def main() -> None:
    """Measure and report; seconds and cores."""
    rows = {fleet.name: on_a_cluster(fleet) for fleet in [FLEETS[name] for name in sys.argv[1:]] or [LAGGING]}
    first = next(iter(rows.values()))
    report("standalone", first["median_s"], "s", GOAL_S, first["cpu_s"], fleets=rows)


def on_a_cluster(fleet: Fleet) -> dict[str, float]:
    """Cores while idle, of all processes, then the times of the commits."""
    with (
        tempfile.TemporaryDirectory() as folder,
        StandaloneCluster(Path(folder)) as cluster,
        job_beside(fleet, on=cluster) as (bootstrap, job),
    ):
        sessions = [job.session, *(worker.session for worker in cluster.workers)]
        time.sleep(SETTLE_S)  # the JVMs compile what they run often
        before = sum(map(cpu_s, sessions))
        time.sleep(MEASURE_S)
        idle_s = sum(map(cpu_s, sessions)) - before
        times_s = measure(bootstrap, job, REAL, COMMITS, pauses_s=PAUSES_S, is_shown=is_shown)
        used_s = sum(map(cpu_s, sessions)) - before
    return {
        "idle_cores": round(idle_s / MEASURE_S, 3),
        "median_s": round(statistics.median(times_s), 3),
        "p95_s": round(quantile(times_s, 0.95), 3),
        "max_s": round(max(times_s), 3),
        "cpu_s": round(used_s, 1),
    }


if __name__ == "__main__":
    main()
