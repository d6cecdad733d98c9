"""The tables for questions in SQL, read without Spark."""

from __future__ import annotations

import pyarrow.compute as pc
from msgspec import ValidationError, convert

from monitor.history.delta_reader import DeltaReader
from monitor.history.recorded import NotRecordedError, RecordingError, recorded_name
from monitor.history.tables import EVALUATED, RowT, TypedTable, day_of
from monitor.messages.names import shown


class DeltaSqlTables:
    """The tables for SQL in the folder of a recording."""

    def __init__(self, reader: DeltaReader) -> None:
        self._reader = reader

    def evaluated_span(self, cluster: str) -> tuple[int, int]:
        """From when until when the tables for SQL have all rows; see monitor.history.sql.days.ToldTables."""
        table = self._reader.open_table(EVALUATED.name)
        own = pc.field("cluster") == cluster
        found = [] if table is None else list(self._reader.rows(table, ["since_ms", "until_ms"], own))
        if not found:
            raise NotRecordedError(f"Nothing of cluster {shown(cluster)} has been evaluated for the tables yet.")
        return int(min(since_ms for since_ms, _ in found)), int(max(until_ms for _, until_ms in found))

    def group_rows(self, table: TypedTable[RowT], cluster: str, group: str, since_ms: int, until_ms: int) -> list[RowT]:
        """The group's rows of some days; see monitor.history.sql.days.ToldTables."""
        found = self._reader.open_table(table.name)
        if found is None:
            return []
        chosen = (pc.field("cluster") == cluster) & (pc.field("group_name") == recorded_name(group))
        chosen &= (pc.field("day") >= day_of(since_ms)) & (pc.field("day") <= day_of(until_ms))
        there = {field.name for field in found.schema().fields}  # an older groupwatch knew fewer columns
        names = [column.name for column in table.columns if column.name in there]
        empty = dict.fromkeys(column.name for column in table.columns)
        rows = self._reader.rows(found, names, chosen)
        try:
            return [convert(empty | dict(zip(names, row, strict=True)), table.rows) for row in rows]
        except ValidationError as error:
            raise RecordingError(
                f"The table {table.name} of the recording has a value that this groupwatch does not know."
            ) from error
