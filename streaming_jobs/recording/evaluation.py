"""Evaluates what was recorded, ten minutes at a time, and writes the tables for questions in SQL. Each row once."""

from __future__ import annotations

import logging
from typing import Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses

from monitor.history.recorded import settings_in_force
from monitor.history.tables import EVALUATED, EVENTS, PARTITION_MINUTES, SETTINGS, TOLD, Table, day_of
from monitor.messages.notification import utc
from monitor.model import Entity
from monitor.model.group_choice import ALL, GroupChoice
from streaming_jobs.recording.bucket_rows import ROWS, TABLE, BucketRows, Minutes
from streaming_jobs.recording.delta import RecordedTables

log = logging.getLogger(__name__)

CHUNK_MS: Final = 600_000
"""How much is evaluated at once. Chunks begin at full ten minutes, so a chunk that is tried again is the same."""

STEPS_MS: Final = (20_000, 30_000, 60_000)
"""How far apart groups are judged. Beside each minute, whose points are stored, findings are followed by it."""

MOST_ROWS: Final = 500_000
"""How many partitions are judged in a chunk, all instants together, before these come further apart."""

BUCKET_BYTES: Final = 64 * 2**20
"""How much of the events a worker holds at once."""


class Evaluation:
    """The evaluation of one cluster's part of the tables. For one thread."""

    def __init__(self, spark: SparkSession, cluster: str, folder: str, groups: GroupChoice = ALL) -> None:
        self._groups = groups
        self._spark = spark
        self._cluster = cluster
        self._tables = RecordedTables(spark, cluster, folder)
        self.until_ms: int | None = None
        """Until when the tables have all rows (ms since the epoch); None: it has not been looked for."""
        self.failed_groups = 0
        """How many groups could not be evaluated in the newest ten minutes."""

    def next_chunk(self) -> tuple[int, int] | None:
        """The minutes that are evaluated next, from the first instant to the last; None: nothing is recorded."""
        if self.until_ms is None:
            self.until_ms = self._last_instant_ms()
        return None if self.until_ms is None else (self.until_ms, self.until_ms + CHUNK_MS)

    def evaluate(self, since_ms: int, until_ms: int) -> None:
        """Evaluate these minutes and write what they tell, unless that is written already."""
        minutes = self._minutes(since_ms, until_ms)
        tasks = max(1, self._spark.sparkContext.defaultParallelism // 2)  # what is watched has the other cores
        held = self._held_rows(minutes).repartition(tasks, "bucket")
        rows = held.groupBy("bucket").applyInArrow(BucketRows(minutes, self._groups).tell_rows, ROWS)
        told = rows.persist(StorageLevel.DISK_ONLY)
        try:
            counts = {row[TABLE]: int(row["count"]) for row in told.groupBy(TABLE).count().collect()}
            for table in TOLD:
                if counts.get(table.name) or not self._tables.has(table):  # a table without rows can be asked, too
                    self._append(table, told.where(F.col(TABLE) == table.name), until_ms)
            self._append(EVALUATED, _sum_counts(told, day_of(since_ms)), until_ms)
            self._count_failed(told, since_ms, until_ms)
        finally:
            told.unpersist()
        self.until_ms = until_ms

    def _count_failed(self, told: DataFrame, since_ms: int, until_ms: int) -> None:
        row = told.where(F.col(TABLE) == EVALUATED.name).agg(F.sum("failed_groups")).first()
        self.failed_groups = int((row and row[0]) or 0)
        if self.failed_groups:
            log.warning(
                "Cluster %s: %d groups could not be evaluated from %s to %s; the tables for SQL have no rows of them.",
                self._cluster,
                self.failed_groups,
                utc(since_ms),
                utc(until_ms),
            )

    def _last_instant_ms(self) -> int | None:
        """Until when the tables have all rows; at first, the beginning of the chunk in which the recording begins."""
        known = self._tables.only_value(EVALUATED, F.max("until_ms"))
        if known is not None:
            return known
        first_ms = self._tables.only_value(EVENTS, F.min("recorded_ms"))
        return None if first_ms is None else first_ms // CHUNK_MS * CHUNK_MS

    def _minutes(self, since_ms: int, until_ms: int) -> Minutes:
        return Minutes(
            cluster=self._cluster,
            since_ms=since_ms,
            until_ms=until_ms,
            recorded_ms=self._tables.states_by(since_ms),
            step_ms=_step_ms(self._count_partitions(since_ms), until_ms - since_ms),
            settings=self._settings(since_ms),
        )

    def _count_partitions(self, at_ms: int) -> int:
        """How many partitions the groups had at an instant that is evaluated: the same at each call."""
        at_it = (F.col("day") == day_of(at_ms)) & (F.col("at_ms") == at_ms)
        return self._tables.only_value(PARTITION_MINUTES, F.count("*"), at_it) or 0

    def _settings(self, at_ms: int) -> bytes | None:
        settings = self._tables.read(SETTINGS)
        rows = [] if settings is None else settings.collect()
        return settings_in_force([(row["recorded_ms"], bytes(row["settings"])) for row in rows], at_ms)

    def _held_rows(self, minutes: Minutes) -> DataFrame:
        """The states before the chunk and the events since: those of groups in buckets, all others in each of these."""
        events = self._tables.read(EVENTS)
        assert events is not None, "there is no chunk before there are events"
        after = (
            (F.col("day") >= day_of(minutes.recorded_ms))
            & (F.col("recorded_ms") > minutes.recorded_ms)
            & (F.col("first_ms") <= minutes.reach_ms)
        )
        rows = self._tables.rows_with_states(events.where(after), minutes.recorded_ms)
        held_bytes = rows.agg(F.sum(F.octet_length("events"))).first()
        buckets = 1 + int((held_bytes and held_bytes[0]) or 0) // BUCKET_BYTES
        is_group = F.col("entity") == Entity.GROUP.value
        of_all = rows.where(~is_group).crossJoin(
            self._spark.range(buckets).select(F.col("id").cast("int").alias("bucket"))
        )
        of_groups = rows.where(is_group).withColumn("bucket", F.abs(F.hash("name") % buckets))
        return of_groups.unionByName(of_all)

    def _append(self, table: Table, rows: DataFrame, until_ms: int) -> None:
        """Append the rows; Delta leaves it out if this chunk's are there."""
        own = rows.select(*[column.name for column in table.columns])
        self._tables.append_once(table, own.coalesce(1), f"evaluated-{self._cluster}", until_ms // CHUNK_MS)


def _sum_counts(told: DataFrame, day: str) -> DataFrame:
    """What the buckets evaluated, as one row."""
    return (
        told.where(F.col(TABLE) == EVALUATED.name)
        .groupBy("cluster", "since_ms", "until_ms")
        .agg(F.sum("groups").cast("int").alias("groups"), F.sum("failed_groups").cast("int").alias("failed_groups"))
        .withColumn("day", F.lit(day))
    )


def _step_ms(partitions: int, chunk_ms: int) -> int:
    """How far apart groups with so many partitions, all together, are judged.

    >>> _step_ms(10_000, 600_000), _step_ms(100_000, 600_000)
    (20000, 60000)
    """
    fitting = (step_ms for step_ms in STEPS_MS if partitions * chunk_ms // step_ms <= MOST_ROWS)
    return next(fitting, STEPS_MS[-1])
