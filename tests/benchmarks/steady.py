"""What a steady load costs: 5,000 commits a second of 1,000 groups with 10 partitions each.

``python -m tests.benchmarks.steady [TRIGGER_S]``. The value is the median micro-batch over the trigger's interval.
"""

from __future__ import annotations

import statistics
import sys
import time
from dataclasses import dataclass
from typing import Self

from tests.benchmarks.measured import cpu_s, memory_mb, quantile, report
from tests.benchmarks.offsets_log import Crowd, broker_with_topics, loaded_job
from tests.support.job_process import JobProcess

CROWD = Crowd(groups=1_000, partitions=10)
COMMITS_S = 5_000
SETTLE_S, MEASURE_S = 60, 60
SHARE_GOAL, CORE_GOAL = 0.5, 0.6


def main() -> None:
    """Measure and report."""
    trigger_s = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    with broker_with_topics(CROWD) as kafka, loaded_job(kafka, CROWD, COMMITS_S, trigger_s=trigger_s) as job:
        load = Load.of(job)
    load.report("steady", SHARE_GOAL, trigger_s, commits_s=COMMITS_S, cores_goal=CORE_GOAL)


@dataclass(frozen=True)
class Load:
    """What a job under a steady load was seen to need."""

    batches: list[float]
    behind: list[float]
    cpu_s: float
    memory_mb: dict[str, float]

    @classmethod
    def of(cls, job: JobProcess) -> Self:
        """Let it settle, then watch it."""
        time.sleep(SETTLE_S)  # the JVM compiles what it runs often
        before = cpu_s(job.session)
        batches, behind = watched(job)
        return cls(batches, behind, cpu_s(job.session) - before, memory_mb(job.session))

    def report(self, name: str, goal: float, trigger_s: float, **details: object) -> None:
        """Write and print it, as the median micro-batch over the trigger's interval."""
        report(
            name,
            statistics.median(self.batches) / trigger_s,
            "batch / trigger",
            goal,
            self.cpu_s,
            trigger_s=trigger_s,
            batch_s=round(statistics.median(self.batches), 3),
            batch_p95_s=round(quantile(self.batches, 0.95), 3),
            cores_used=round(self.cpu_s / MEASURE_S, 3),
            most_records_behind=max(self.behind),
            memory_mb={kind: round(size) for kind, size in self.memory_mb.items()},
            **details,
        )


def watched(job: JobProcess) -> tuple[list[float], list[float]]:
    """Durations of micro-batches in seconds, and how many records were still to be read, once a second."""
    batches, behind = [], []
    deadline = time.monotonic() + MEASURE_S
    while time.monotonic() < deadline:
        own = [line for line in job.get("/metrics").splitlines() if 'cluster="bench"}' in line]
        values = {line.split("{")[0]: float(line.rpartition(" ")[2]) for line in own}
        batches.append(values["groupwatch_batch_duration_seconds"])
        behind.append(values.get("groupwatch_input_lag_records", 0.0))
        time.sleep(1)
    return batches, behind


if __name__ == "__main__":
    main()
