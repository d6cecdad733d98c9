"""Several clusters begin to record in one new folder at once, as a job of several clusters does.

A program of tests.support.delta_spark.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from pyspark.sql import SparkSession

from monitor.history.tables import REACH, SETTINGS
from streaming_jobs.recording.delta import RecordedTables


def run(spark: SparkSession, folder: str, *clusters: str) -> None:
    """Append a row of each cluster to two tables that are not there yet."""
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
