"""What the numbers of members cost: 5,000 commits a second of 2,000 groups, which all lag.

``python -m tests.benchmarks.scaled [TRIGGER_S]``: the value is the CPU time of a job with an entry ``[[scale]]`` for
all groups over that of the same job without one. All groups have records waiting, so all have a number.
"""

from __future__ import annotations

import statistics
import sys

from tests.benchmarks.measured import report
from tests.benchmarks.offsets_log import Crowd, Producing, broker_with_topics, loaded_job
from tests.benchmarks.quiet_fleet import with_records
from tests.benchmarks.steady import COMMITS_S, Load
from tests.support.job_process import JobProcess, eventually

CROWD = Crowd(groups=2_000, partitions=10, members=2)
WAITING = 1_000
"""Records in each partition before the first job: more than are committed until the end of the second."""
GOAL = 1.03


def main() -> None:
    """Measure both, and report."""
    trigger_s = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    with broker_with_topics(CROWD) as kafka:
        with_records(kafka.bootstrap_servers, CROWD, committed=WAITING)
        with Producing(kafka, CROWD):
            with loaded_job(kafka, CROWD, COMMITS_S, trigger_s=trigger_s) as job:
                without = Load.of(job)
            with loaded_job(kafka, CROWD, COMMITS_S, trigger_s=trigger_s, is_scaled=True) as job:
                eventually(lambda: numbers(job) == CROWD.groups, "a number for each group", 300)
                scaled = Load.of(job)
    report(
        "scaled",
        scaled.cpu_s / without.cpu_s,
        "CPU time with / without",
        GOAL,
        scaled.cpu_s,
        cpu_without_s=round(without.cpu_s, 1),
        batch_s=[round(statistics.median(load.batches), 3) for load in (without, scaled)],
        memory_mb=[{kind: round(size) for kind, size in load.memory_mb.items()} for load in (without, scaled)],
    )


def numbers(job: JobProcess) -> int:
    """Of how many groups it says how many members they need."""
    return len(job.metrics().all("groupwatch_group_wanted_members"))


if __name__ == "__main__":
    main()
