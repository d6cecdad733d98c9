"""What keeps a recording quick to read and bounded: states once an hour, larger files, and an end for old days."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses

from monitor.history.tables import DAY_MS, EVENTS, STATES, day_of
from streaming_jobs.recording.states import StateFold
from streaming_jobs.runtime.clock import now_ms

STATES_EVERY_MS: Final = 3_600_000
AFTER_START_MS: Final = 600_000
"""A start has enough to do."""

FILES_A_DAY: Final = 4
"""Into how many files a day is put together at most: of 100,000 group-partitions, they have 200 MB each."""

ORDERED_BY: Final = ("entity", "name", "recorded_ms")

OF_ONE: Final = ("group", "topic", "connect", "pass")
OF_ALL: Final = ("pass", "listing")
"""What rows of these tell concerns every entity."""


class Upkeep:
    """The upkeep of one cluster's part of the tables. For one thread."""

    def __init__(
        self,
        spark: SparkSession,
        cluster: str,
        folder: str,
        keep_days: int,
        clock_ms: Callable[[], int] = now_ms,
    ) -> None:
        self._spark = spark
        self._cluster = cluster
        self._folder = folder
        self._keep_days = keep_days
        self._clock_ms = clock_ms
        self._states_ms: int | None = None
        self._tidied_day = ""
        self._begun_ms = clock_ms()

    def run_if_due(self) -> None:
        """Write states if the newest are an hour old; once a day, and after a start, tidy and drop what is too old."""
        at_ms = self._clock_ms()
        if at_ms - self._begun_ms >= AFTER_START_MS and self._tidied_day != day_of(at_ms):
            self._tidied_day = day_of(at_ms)
            self.tidy(at_ms)
        if self._states_ms is None:
            self._states_ms = self._newest_states() or self._first_recorded()
        if self._states_ms is not None and at_ms - self._states_ms >= STATES_EVERY_MS:
            self.write_states()

    def write_states(self) -> int | None:
        """The states after the newest portion; the time of that, None if there is none. Written once, whoever dies."""
        events = self._table(EVENTS.name)
        recorded_ms = _only_value(events.agg(F.max("recorded_ms")))
        if recorded_ms is None:
            return None
        before_ms = self._newest_states() or 0
        if recorded_ms > before_ms:
            frame = self._fold(events, before_ms, recorded_ms)
            (
                frame.coalesce(1)
                .sortWithinPartitions("entity", "name")
                .write.format("delta")
                .mode("append")
                .partitionBy("cluster", "day")
                .option("txnAppId", f"states-{self._cluster}")
                .option("txnVersion", recorded_ms)
                .save(f"{self._folder}/{STATES.name}")
            )
        self._states_ms = recorded_ms
        return recorded_ms

    def _fold(self, events: DataFrame, before_ms: int, recorded_ms: int) -> DataFrame:
        """The states before, with the events since."""
        rows = events.where((F.col("recorded_ms") > before_ms) & (F.col("recorded_ms") <= recorded_ms))
        of_all = rows.where(F.col("entity").isin(*OF_ALL)).select(*StateFold.EVENT_COLUMNS).collect()
        fold = StateFold(self._cluster, recorded_ms, [tuple(row) for row in of_all])
        known = rows.where(F.col("entity").isin(*OF_ONE)).select(
            *StateFold.EVENT_COLUMNS, F.lit(None).cast("binary").alias("state")
        )
        if before_ms:
            before = self._table(STATES.name).where(F.col("recorded_ms") == before_ms)
            known = known.unionByName(
                before.select(
                    "recorded_ms",
                    "entity",
                    "name",
                    F.lit(0).cast("long").alias("position"),
                    F.lit(None).cast("binary").alias("events"),
                    "state",
                )
            )
        return known.groupBy("entity", "name").applyInPandas(fold.fold_rows, STATES.schema)

    def tidy(self, at_ms: int) -> None:
        """Put the small files of the day before together, and drop days that are older than they are to be kept."""
        yesterday = day_of(at_ms - DAY_MS)
        for table in self._tables():
            # The first hour of the oldest day of events needs states of the day before.
            kept_days = self._keep_days + (table == STATES.name)
            oldest = day_of(at_ms - kept_days * DAY_MS)
            place = f"delta.`{self._folder}/{table}`"
            own = f"cluster = {_quoted(self._cluster)}"
            self._put_together(table, f"{own} AND day = '{yesterday}'")
            self._spark.sql(f"DELETE FROM {place} WHERE {own} AND day < '{oldest}'")
            self._spark.sql(f"VACUUM {place} LITE")  # by the table's log: to list all files took 29 s instead of 2

    def _put_together(self, table: str, chosen: str) -> None:
        """Write these rows once more, into a few files that are sorted, unless they are in so few.

        OPTIMIZE with ZORDER does not sort within files, nor finely if it is told to: of 100,000 group-partitions, a
        name then stood in a tenth of a day.
        """
        place = f"{self._folder}/{table}"
        rows = self._spark.read.format("delta").load(place).where(chosen)
        if len(rows.inputFiles()) <= FILES_A_DAY:
            return
        ordered = rows.repartitionByRange(FILES_A_DAY, *ORDERED_BY).sortWithinPartitions(*ORDERED_BY)
        moved = ordered.write.format("delta").mode("overwrite").option("dataChange", "false")
        moved.option("replaceWhere", chosen).save(place)

    def _newest_states(self) -> int | None:
        if STATES.name not in self._tables():
            return None
        return _only_value(self._table(STATES.name).agg(F.max("recorded_ms")))

    def _first_recorded(self) -> int | None:
        return _only_value(self._table(EVENTS.name).agg(F.min("recorded_ms")))

    def _table(self, name: str) -> DataFrame:
        return self._spark.read.format("delta").load(f"{self._folder}/{name}").where(F.col("cluster") == self._cluster)

    def _tables(self) -> list[str]:
        """The tables that are there; of Delta's classes, PySpark alone has none."""
        jvm: Any = self._spark._jvm
        is_table = jvm.io.delta.tables.DeltaTable.isDeltaTable
        session = self._spark._jsparkSession
        return [table.name for table in (EVENTS, STATES) if is_table(session, f"{self._folder}/{table.name}")]


def _only_value(frame: DataFrame) -> int | None:
    """The number of a frame with one row and one column; None: there is none."""
    row = frame.first()
    return None if row is None or row[0] is None else int(row[0])


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
