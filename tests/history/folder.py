"""A recording in a folder, written without Spark: the rows that a test has, in the tables of a real one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake

from monitor.history.recorded import EVENTS_VERSION, RecordedRow, RecordedSettings, decode_events, encode_settings
from monitor.history.tables import EVENTS, SETTINGS, STATES, Table, day_of

_TYPES = {"STRING": pa.string(), "LONG": pa.int64(), "INT": pa.int32(), "BINARY": pa.binary()}


def write_recording(
    folder: Path,
    cluster: str,
    rows: Iterable[RecordedRow],
    settings: Mapping[int, RecordedSettings],
    states: Iterable[tuple[int, str, str, bytes]] = (),
) -> None:
    """``settings`` by when a job started with them; ``states``: when, the entity, its name and its state."""
    _write(folder, EVENTS, [_event_row(cluster, row) for row in rows])
    _write(
        folder, SETTINGS, [_place(cluster, at) | {"settings": encode_settings(each)} for at, each in settings.items()]
    )
    _write(
        folder,
        STATES,
        [_place(cluster, at) | {"entity": entity, "name": name, "state": state} for at, entity, name, state in states],
    )


def _place(cluster: str, recorded_ms: int) -> dict[str, Any]:
    return {"cluster": cluster, "day": day_of(recorded_ms), "recorded_ms": recorded_ms}


def _event_row(cluster: str, row: RecordedRow) -> dict[str, Any]:
    times = [each.at_ms for each in decode_events(row)]
    return _place(cluster, row.recorded_ms) | {
        "entity": row.entity.value,
        "name": row.name,
        "position": row.position,
        "first_ms": min(each.begun_ms for each in decode_events(row)),
        "last_ms": max(times),
        "version": EVENTS_VERSION,
        "events": row.events,
    }


def _write(folder: Path, table: Table, rows: list[dict[str, Any]]) -> None:
    schema = pa.schema([(column.name, _TYPES[column.type]) for column in table.columns])
    if rows:
        data = pa.Table.from_pylist(rows, schema)
        write_deltalake(str(folder / table.name), data, partition_by=["cluster", "day"], mode="append")
