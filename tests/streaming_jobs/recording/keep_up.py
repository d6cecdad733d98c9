"""The upkeep of a recording by itself: a program of tests.support.delta_spark, and a process that can be killed.

``python -m tests.streaming_jobs.recording.keep_up FOLDER CLUSTER [--complete-ms MS] [--days-later DAYS]`` writes
states, evaluates all minutes that are over by then, and tidies as if it were so many days later.
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser

from pyspark.sql import SparkSession

from monitor.history.tables import DAY_MS
from streaming_jobs.recording.upkeep import Upkeep
from streaming_jobs.runtime.clock import now_ms
from tests.support.delta_session import delta_session


def run(
    spark: SparkSession, folder: str, cluster: str, complete_ms: int = 0, days_later: int | None = None
) -> int | None:
    """Keep it up; when the newest portion was recorded of which there are states now."""
    upkeep = Upkeep(spark, cluster, folder, keep_days=30)
    recorded_ms = upkeep.write_states()
    while upkeep.evaluate(complete_ms):
        pass
    if days_later is not None:
        upkeep.tidy(now_ms() + days_later * DAY_MS)
    return recorded_ms


def main() -> None:
    """Keep it up, and print what ``run`` gives."""
    parser = ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("cluster")
    parser.add_argument("--complete-ms", type=int, default=0)
    parser.add_argument("--days-later", type=int)
    asked = parser.parse_args()
    with delta_session() as spark:
        recorded_ms = run(spark, asked.folder, asked.cluster, asked.complete_ms, asked.days_later)
    sys.stdout.write(f"{recorded_ms}\n")


if __name__ == "__main__":
    main()
