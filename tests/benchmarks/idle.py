"""What a job needs while nobody commits: cores, over a minute. ``python -m tests.benchmarks.idle [FLEET...]``.

The value is that of 100,000 group-partitions in which records wait. See tests/benchmarks/quiet_fleet.py for the fleets.
"""

from __future__ import annotations

import sys
import time

from tests.benchmarks.measured import cpu_s, memory_mb, report
from tests.benchmarks.quiet_fleet import Fleet, chosen, job_beside

MEASURE_S = 60
GOAL_CORES = 0.15
GOALS = {
    "lagging": GOAL_CORES,
    "caught_up": 0.10,
    "stopped": 0.15,
    "silent": 0.15,
    "one_group": 0.06,
    "million_lagging": 0.5,
}


def main() -> None:
    """Measure and report; cores."""
    rows = {fleet.name: idle(fleet) for fleet in chosen(sys.argv[1:])}
    first = next(iter(rows.values()))
    report("idle", first["cores"], "cores", GOAL_CORES, first["cores"] * MEASURE_S, fleets=rows, goals=GOALS)


def idle(fleet: Fleet) -> dict[str, float]:
    """The cores and the memory of a job beside the fleet."""
    with job_beside(fleet) as (_, job):
        time.sleep(fleet.settle_s)
        before = cpu_s(job.session)
        time.sleep(MEASURE_S)
        used = cpu_s(job.session) - before
        memory, findings = memory_mb(job.session), job.metrics().all("groupwatch_group_findings")
    found = {"cores": round(used / MEASURE_S, 3), "findings": sum(each.value for each in findings)}
    return found | {f"{kind}_mb": round(size) for kind, size in memory.items()}


if __name__ == "__main__":
    main()
