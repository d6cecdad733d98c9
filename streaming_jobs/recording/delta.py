"""One cluster's part of the tables of a recording, by Spark."""

from __future__ import annotations

import threading
from collections.abc import Collection
from typing import Any, Final

from msgspec.structs import astuple
from pyspark.sql import Column, DataFrame, DataFrameWriter, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses

from monitor.history.held import StateRow
from monitor.history.recorded import EVENTS_VERSION, RecordedRow, unknown_events
from monitor.history.tables import STATES, RowT, Table, TypedTable, day_of
from monitor.model import Entity
from monitor.tracking.serialization import is_current_state

EVENT_COLUMNS: Final = RecordedRow.__struct_fields__
HELD: Final = (*EVENT_COLUMNS, "state")
"""The columns of what verdicts are made of: each row has an event or a state."""

_CREATING: Final = threading.Lock()


PASS: Final = Entity.PASS.value
"""Its states have no version."""


def require_known_versions(events: DataFrame) -> None:
    """Refuse events of another version.

    Raises:
        RecordingError: there are some.
    """
    row = events.where(F.col("version") != EVENTS_VERSION).select("version").first()
    if row is not None:
        raise unknown_events(row[0])


def _at_states(states_ms: int) -> Column:
    return (F.col("day") == day_of(states_ms)) & (F.col("recorded_ms") == states_ms)


class RecordedTables:
    """Reads and appends."""

    def __init__(self, spark: SparkSession, cluster: str, folder: str) -> None:
        self._spark = spark
        self._cluster = cluster
        self._folder = folder

    def path(self, table: Table) -> str:
        """Where a table lies."""
        return f"{self._folder}/{table.name}"

    def has(self, table: Table) -> bool:
        """Whether the table is there; of Delta's classes, PySpark alone has none."""
        jvm: Any = self._spark._jvm
        return bool(jvm.io.delta.tables.DeltaTable.isDeltaTable(self._spark._jsparkSession, self.path(table)))

    def read(self, table: Table) -> DataFrame | None:
        """The cluster's rows; None: the table is not there yet."""
        if not self.has(table):
            return None
        return self._spark.read.format("delta").load(self.path(table)).where(F.col("cluster") == self._cluster)

    def rows_with_states(self, events: DataFrame, states_ms: int) -> DataFrame:
        """Rows of events, and the states after a portion (0: none), in the columns HELD."""
        require_known_versions(events)
        rows = events.select(*EVENT_COLUMNS, F.lit(None).cast("binary").alias("state"))
        before = self._states(states_ms)
        if before is None:
            return rows
        nothing = F.lit(None).cast("binary").alias("events")
        own = before.select("recorded_ms", "entity", "name", F.lit(0).cast("long").alias("position"), nothing, "state")
        return rows.unionByName(own)

    def states_of(self, entities: Collection[str], states_ms: int) -> tuple[StateRow, ...]:
        """The states of a few entities after a portion (0: none)."""
        before = self._states(states_ms)
        if before is None:
            return ()
        rows = before.where(F.col("entity").isin(*entities)).select(*StateRow._fields).collect()
        return tuple(StateRow(entity, name, bytes(state)) for entity, name, state in rows)

    def _states(self, states_ms: int) -> DataFrame | None:
        """All states after a portion; None: there are none (``states_ms`` 0)."""
        states = self.read(STATES) if states_ms else None
        return None if states is None else states.where(_at_states(states_ms) & F.col("state").isNotNull())

    def states_by(self, at_ms: int | None = None) -> int:
        """The number of the newest states, or of the newest by an instant; 0: there are none that can be read.

        States of another version of groupwatch are none: all that is recorded is folded again.
        """
        by_then = None if at_ms is None else F.col("recorded_ms") <= at_ms
        newest_ms = self.only_value(STATES, F.max("recorded_ms"), by_then) or 0
        states = self._states(newest_ms)
        if states is None:
            return 0
        row = states.where(F.col("entity") != PASS).select("state").first()
        return newest_ms if row is None or is_current_state(bytes(row[0])) else 0

    def only_value(self, table: Table, value: Column, where: Column | None = None) -> int | None:
        """A number that some rows of the cluster give; None: there are none."""
        rows = self.read(table)
        if rows is None:
            return None
        row = (rows if where is None else rows.where(where)).agg(value).first()
        return None if row is None or row[0] is None else int(row[0])

    def create(self, table: Table) -> None:
        """Create the table unless it is there.

        The clusters of a job share their tables. Of two that create one at once, Delta Lake refuses one
        (DELTA_PROTOCOL_CHANGED), so they take turns.
        """
        if self.has(table):
            return
        with _CREATING:
            place = f"delta.`{self.path(table)}`"
            columns = f"({table.schema}) USING delta PARTITIONED BY (cluster, day)"
            self._spark.sql(f"CREATE TABLE IF NOT EXISTS {place} {columns}")

    def append(self, table: Table, rows: DataFrame) -> None:
        """Append rows."""
        self.create(table)
        self._writer(rows).save(self.path(table))

    def append_row(self, table: TypedTable[RowT], row: RowT) -> None:
        """Append one row."""
        self.append(table, self._spark.createDataFrame([astuple(row)], table.schema).coalesce(1))

    def append_once(self, table: Table, rows: DataFrame, writer: str, version: int) -> None:
        """Append rows, unless this writer has done so already with this version or a later one."""
        self.create(table)
        self._writer(rows).option("txnAppId", writer).option("txnVersion", version).save(self.path(table))

    @staticmethod
    def _writer(rows: DataFrame) -> DataFrameWriter:
        """A table of an older groupwatch gets the columns that are new."""
        appended = rows.write.format("delta").mode("append").partitionBy("cluster", "day")
        return appended.option("mergeSchema", "true")
