"""What a recording costs, beside the same job without one, and how long a question about the past takes.

``python -m tests.benchmarks.recording [TRIGGER_S]``: 5,000 commits a second of 1,000 groups with 10 partitions each.
The value is the median micro-batch with a recording over that without.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from pathlib import Path

from tests.benchmarks.measured import quantile, report
from tests.benchmarks.offsets_log import RECORDING, broker_with_topics, loaded_job
from tests.benchmarks.steady import COMMITS_S, CROWD, MEASURE_S, Load
from tests.support.job_process import JobProcess

GOAL = 1.1
DAY_S = 86_400
ASKED = 5
"""How often the past is asked for; the median counts."""


def main() -> None:
    """Measure both, and report."""
    trigger_s = float(sys.argv[1]) if len(sys.argv) > 1 else 2.0
    with broker_with_topics(CROWD) as kafka:
        with loaded_job(kafka, CROWD, COMMITS_S, trigger_s=trigger_s) as job:
            without = Load.of(job)
        with loaded_job(kafka, CROWD, COMMITS_S, trigger_s=trigger_s, is_recorded=True) as job:
            recorded = Load.of(job)
            folder = job.folder / RECORDING
            begun_bytes = _size(folder)
            time.sleep(2 * MEASURE_S)
            written = _size(folder) - begun_bytes
            asked_s = _explained(job)
    median = statistics.median
    report(
        "recording",
        median(recorded.batches) / median(without.batches),
        "micro-batch with / without",
        GOAL,
        recorded.cpu_s,
        cpu_without_s=round(without.cpu_s, 1),
        batch_s=[round(median(load.batches), 3) for load in (without, recorded)],
        batch_p95_s=[round(quantile(load.batches, 0.95), 3) for load in (without, recorded)],
        bytes_of_a_group_partition_and_day=round(written / (2 * MEASURE_S) * DAY_S / CROWD.groups / CROWD.partitions),
        explain_at_s=round(asked_s, 2),
        memory_mb=[{kind: round(size) for kind, size in load.memory_mb.items()} for load in (without, recorded)],
    )


def _size(folder: Path) -> int:
    """Of the tables' files, in bytes."""
    return sum(file.stat().st_size for file in folder.glob("*/cluster=*/day=*/*.parquet"))


def _explained(job: JobProcess) -> float:
    """How long ``groupwatch explain --at`` takes, from the folder, in seconds."""
    group = f"{CROWD.group_name}-0"
    command = [sys.executable, "-m", "monitor.cli", "explain", "bench", group, "--at", "-90s"]
    took = []
    for _ in range(ASKED):
        began = time.monotonic()
        subprocess.run([*command, "--history", str(job.folder / RECORDING)], check=True, capture_output=True)
        took.append(time.monotonic() - began)
    return statistics.median(took)


if __name__ == "__main__":
    main()
