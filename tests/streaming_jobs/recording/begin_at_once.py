"""Several clusters begin to record in one new folder at once, as a job of several clusters does.

``python -m tests.streaming_jobs.recording.begin_at_once FOLDER CLUSTER ...``; in a process of its own: other tests have
Spark without Delta Lake's jars.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from monitor.history.tables import REACH, SETTINGS
from monitor.java_runtime.jars import job_jars
from streaming_jobs.recording.delta import RecordedTables
from streaming_jobs.runtime.session import DELTA, create_session, stop_session


def main() -> None:
    """Append a row of each cluster to two tables that are not there yet."""
    folder, *clusters = sys.argv[1:]
    spark = create_session("local[2]", 2, job_jars(is_recorded=True), DELTA)
    at_once = Barrier(len(clusters))

    def append(cluster: str) -> None:
        tables = RecordedTables(spark, cluster, folder)
        for table, value in ((SETTINGS, b"{}"), (REACH, 1)):
            known = (cluster, "2026-11-26", 1, value)
            others = (None,) * (len(table.columns) - len(known))
            row = spark.createDataFrame([(*known, *others)], table.schema).coalesce(1)
            at_once.wait(60)
            tables.append(table, row)

    with ThreadPoolExecutor(len(clusters)) as pool:
        list(pool.map(append, clusters))
    stop_session(spark, 20)


if __name__ == "__main__":
    main()
