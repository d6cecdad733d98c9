"""What the job needs of memory for 100,000 group-partitions, and whether that grows: ``… memory [MINUTES]`` (20).

The partitions' histories of commits are full from the start, as they are after half an hour of this load.

The value is the most that the driver's Python and the Python workers together had (PSS); the JVM is told beside it.
"""

from __future__ import annotations

import sys
import time

import numpy as np

from monitor.model.commit_history import RECENT, SLOTS
from tests.benchmarks.measured import cpu_s, memory_mb, report
from tests.benchmarks.offsets_log import Crowd, broker_with_topics, loaded_job
from tests.support.job_process import JobProcess

CROWD = Crowd(groups=2_000, partitions=50, members=2)
COMMITS_S = 1_000
HISTORY = SLOTS + RECENT + 1
APART_S = CROWD.groups * CROWD.partitions // COMMITS_S
EVERY_S = 5
GOAL_MB = 2_000


def main() -> None:
    """Measure and report; MB."""
    minutes = float(sys.argv[1]) if len(sys.argv) > 1 else 20
    with (
        broker_with_topics(CROWD) as kafka,
        loaded_job(kafka, CROWD, COMMITS_S, rounds=HISTORY, apart_s=APART_S) as job,
    ):
        before = cpu_s(job.session)
        samples = watched(job, minutes * 60)
        cpu = cpu_s(job.session) - before
    python = [sample["python"] for sample in samples]
    java = [sample["java"] for sample in samples]
    report(
        "memory",
        max(python),
        "MB",
        GOAL_MB,
        cpu,
        minutes=minutes,
        first_mb=round(python[0]),
        last_mb=round(python[-1]),
        slope_mb_an_hour=slope_mb_an_hour(python),
        python_mb=seldom(python),
        jvm_mb=round(max(java)),
        jvm_slope_mb_an_hour=slope_mb_an_hour(java),
        jvm_each_mb=seldom(java),
    )


def slope_mb_an_hour(samples: list[float]) -> float:
    """How fast it grows. The first quarter does not count: each worker comes to have every bucket."""
    later = samples[len(samples) // 4 :]
    return round(float(np.polyfit(np.arange(len(later)) * EVERY_S / 3600, later, 1)[0]), 1)


def seldom(samples: list[float]) -> list[int]:
    """Some two dozen of them, for a look at the course."""
    return [round(size) for size in samples[:: max(1, len(samples) // 24)]]


def watched(job: JobProcess, seconds: float) -> list[dict[str, float]]:
    """The memory of the job now and then."""
    samples = []
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        samples.append(memory_mb(job.session))
        time.sleep(EVERY_S)
    return samples


if __name__ == "__main__":
    main()
