"""Writes the portions of one cluster's recording, each with a number after the one before it."""

from __future__ import annotations

import logging
from typing import Final

from pyspark import StorageLevel
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses

from monitor.history.portions import BELIEVED_AHEAD_MS, PortionTimes, portion_number
from monitor.history.tables import CLOCK, EVENTS, day_of
from streaming_jobs.recording.delta import RecordedTables

log = logging.getLogger(__name__)

QUERY_ID: Final = "sql.streaming.queryId"
"""Where Spark has the id of the query whose micro-batch this is (StreamExecution.QUERY_ID_KEY). Delta's own sink names
its commits by it, as recorders before this one did: their last micro-batch is not written twice."""


class PortionWriter:
    """Writes each micro-batch once (a foreachBatch function). For one query at a time."""

    def __init__(self, tables: RecordedTables, cluster: str, every_ms: int) -> None:
        self._tables = tables
        self._cluster = cluster
        self._every_ms = every_ms
        self._is_told = False
        self.newest_ms = 0
        """The number of the newest portion; 0: there is none, or it is not known yet."""
        self.is_dated = True
        """Whether the newest portion is not numbered by a clock that is behind those of the brokers."""

    def begin(self) -> None:
        """A query begins: go on after what is recorded."""
        self.newest_ms = max(self.newest_ms, self._tables.only_value(EVENTS, F.max("recorded_ms")) or 0)

    def __call__(self, rows: DataFrame, batch_id: int) -> None:
        """Write the rows of a micro-batch (streaming_jobs.recording.rows), unless they are written already."""
        held = rows.persist(StorageLevel.DISK_ONLY)  # or the logs would be read and decoded for each of two questions
        try:
            times = self._times(held)
            if times is not None:
                number = portion_number(self.newest_ms, times, self._every_ms)
                self._tables.append_once(EVENTS, self._with_number(held, number), _query_id(rows), batch_id)
                self.newest_ms = number
                self._note_dates(times)
        finally:
            held.unpersist()

    def _times(self, rows: DataFrame) -> PortionTimes | None:
        """The times of a portion; None: it has no rows."""
        newest = F.greatest(F.col(CLOCK.name), F.lit(self.newest_ms))
        beyond = F.col("last_ms") > newest + BELIEVED_AHEAD_MS
        believed = F.when(~beyond, F.col("last_ms"))
        found = rows.agg(F.max(CLOCK.name), F.count("*"), F.count_if(beyond), F.max(believed)).first()
        if found is None or found[0] is None:
            return None
        return PortionTimes(clock_ms=found[0], rows=found[1], beyond=found[2], last_ms=found[3])

    def _with_number(self, rows: DataFrame, number: int) -> DataFrame:
        return rows.select(
            F.lit(self._cluster).alias("cluster"),
            F.lit(day_of(number)).alias("day"),
            F.lit(number).cast("long").alias("recorded_ms"),
            "*",
        )

    def _note_dates(self, times: PortionTimes) -> None:
        self.is_dated = times.is_dated
        if not times.is_dated and not self._is_told:
            log.warning(
                "Cluster %s: most recorded events are more than an hour later than the clock of this machine. "
                "Set the clock.",
                self._cluster,
            )
        self._is_told = not times.is_dated


def _query_id(rows: DataFrame) -> str:
    found = rows.sparkSession.sparkContext.getLocalProperty(QUERY_ID)
    assert found is not None, "Spark names the query of each micro-batch"
    return found
