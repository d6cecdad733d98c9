"""What the tables for SQL cost: ten minutes of 1,000 groups with 10 partitions each, evaluated one after the other.

``python -m tests.benchmarks.evaluation [GROUPS] [PARTITIONS]``: the value is the CPU time of ten minutes, in seconds,
over the same time on the clock: the share of one core that it takes.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from monitor.history.tables import DAY_MS, EVENTS, TABLES, Table
from monitor.java_runtime.jars import job_jars
from streaming_jobs.recording.evaluation import CHUNK_MS, Evaluation
from streaming_jobs.runtime.session import DELTA, create_session, stop_session
from tests.benchmarks.measured import cpu_s, report
from tests.benchmarks.recorded_day import CLUSTER, Fleet, write_recording

GOAL: Final = 0.1
COMMITS_A_MINUTE: Final = 12
MINUTES: Final = 80
CHUNKS: Final = 6
"""The first one is not counted: Java is still slow then."""


def main() -> None:
    """Measure and report."""
    groups, partitions = (int(number) for number in (sys.argv[1:] or ("1000", "10")))
    begin_ms = time.time_ns() // 1_000_000 // DAY_MS * DAY_MS - DAY_MS
    sizes = {"groups": groups, "partitions": partitions, "members": min(10, partitions)}
    fleet = Fleet(begin_ms, **sizes, commits=COMMITS_A_MINUTE, minutes=MINUTES)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_recording(folder, fleet)
        took = _evaluated_chunks(folder)
        minutes = (CHUNKS + 1) * CHUNK_MS / 60_000
        written = sum(_bytes_of(folder, table) for table in TABLES if table is not EVENTS)
    median_s = statistics.median(cpu for _, cpu in took)
    report(
        "evaluation",
        median_s * 1_000 / CHUNK_MS,
        "of a core",
        GOAL,
        median_s,
        wall_s=[round(wall, 1) for wall, _ in took],
        chunk_cpu_s=[round(cpu, 1) for _, cpu in took],
        bytes_of_a_group_partition_and_day=round(written / minutes * 1_440 / groups / partitions),
        **sizes,
    )


def _evaluated_chunks(folder: Path) -> list[tuple[float, float]]:
    """What each chunk took: on the clock, and of CPU, in seconds."""
    spark = create_session("local[2]", 2, job_jars(is_recorded=True), DELTA)
    evaluation, took = Evaluation(spark, CLUSTER, str(folder)), []
    for _ in range(CHUNKS + 1):
        chunk = evaluation.next_chunk()
        assert chunk is not None
        began, before = time.monotonic(), cpu_s(os.getpid())
        evaluation.evaluate(*chunk)
        took.append((time.monotonic() - began, cpu_s(os.getpid()) - before))
    stop_session(spark, 20)
    return took[1:]


def _bytes_of(folder: Path, table: Table) -> int:
    return sum(file.stat().st_size for file in (folder / table.name).glob("cluster=*/day=*/*.parquet"))


if __name__ == "__main__":
    main()
