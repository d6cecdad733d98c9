"""How long after the only commit /metrics shows it, beside a fleet in which nobody else commits.

``python -m tests.benchmarks.latency_lagging [FLEET...]``. The value is the median of 100,000 group-partitions in which
records wait; the commits come at random moments.
"""

from __future__ import annotations

import statistics
import sys
import time
import urllib.request
import zlib

from tests.benchmarks.latency import measure
from tests.benchmarks.measured import cpu_s, quantile, report
from tests.benchmarks.quiet_fleet import REAL, Fleet, chosen, job_beside
from tests.support.job_process import JobProcess

COMMITS = 20
PAUSES_S = (1.5, 4.5)
SETTLE_S = 20
GOAL_S = 0.7
GOALS = {"lagging": GOAL_S, "caught_up": 0.6, "one_group": 0.5, "million_lagging": 2.0}
PIECE_BYTES = 100_000
NEXT_FAMILY = b" groupwatch_partition_end_offset "
"""What comes after the committed offsets."""


def main() -> None:
    """Measure and report; seconds."""
    rows = {fleet.name: beside(fleet) for fleet in chosen(sys.argv[1:])}
    first = next(iter(rows.values()))
    report("latency-lagging", first["median_s"], "s", GOAL_S, first["cpu_s"], fleets=rows, goals=GOALS, p95_goal_s=1.0)


def beside(fleet: Fleet) -> dict[str, float]:
    """The times of the commits beside a fleet."""
    with job_beside(fleet) as (bootstrap, job):
        time.sleep(SETTLE_S)
        before = cpu_s(job.session)
        times_s = measure(bootstrap, job, REAL, COMMITS, pauses_s=PAUSES_S, is_shown=is_shown)
        used_s = cpu_s(job.session) - before
    return {
        "median_s": round(statistics.median(times_s), 3),
        "p95_s": round(quantile(times_s, 0.95), 3),
        "max_s": round(max(times_s), 3),
        "min_s": round(min(times_s), 3),
        "cpu_s": round(used_s, 1),
    }


def is_shown(job: JobProcess, line: bytes) -> bool:
    """Whether a scrape has this line. No more is unpacked than up to it: a million group-partitions are 500 MB."""
    unpacking, kept = zlib.decompressobj(wbits=31), b""
    request = urllib.request.Request(f"{job.url}/metrics", headers={"Accept-Encoding": "gzip"})
    with urllib.request.urlopen(request, timeout=60) as response:
        while piece := response.read(PIECE_BYTES):
            kept = kept[-len(line) :] + unpacking.decompress(piece)
            if line in kept:
                return True
            if NEXT_FAMILY in kept:
                return False
    return False


if __name__ == "__main__":
    main()
