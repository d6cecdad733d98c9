"""A recording read from its tables, without Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any, Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable
from deltalake.exceptions import DeltaError, TableNotFoundError
from pyarrow import fs

from monitor.history.recorded import (
    EVENTS_VERSION,
    NotRecordedError,
    RecordedEntity,
    RecordedRow,
    RecordingError,
    recorded_name,
)
from monitor.history.replay import FIRST_PASS, Base, Key
from monitor.history.tables import EVENTS, SETTINGS, STATES, day_of
from monitor.messages.names import shown
from monitor.model import PassCompleted
from monitor.tracking.serialization import (
    StoredStateError,
    decode_connect_configs_state,
    decode_group_state,
    decode_topic_state,
)

_PASS: Final = msgspec.msgpack.Decoder(PassCompleted)
_NUMBER: Final = msgspec.msgpack.Decoder(int)


class DeltaRecording:
    """The recording in a folder (a path, or an address such as ``s3://bucket/folder``)."""

    def __init__(self, folder: str) -> None:
        """Open it.

        Raises:
            RecordingError: there is none, or it cannot be read.
        """
        self._folder = folder.rstrip("/")
        self._events = self._open_table(EVENTS.name)
        self._states = self._open_table(STATES.name)
        self._settings = self._open_table(SETTINGS.name)
        if self._events is None:
            raise RecordingError(f"There is no recording in {shown(folder)}: set [history] folder, and run groupwatch.")

    def base(self, cluster: str, at_ms: int, keys: Collection[Key]) -> Base:
        """The newest states from before an instant; see monitor.history.replay.Recording."""
        if self._states is None:
            return Base()
        newest = self._newest_states(self._states, cluster, at_ms)
        if newest is None:
            return Base()
        chosen = (pc.field("cluster") == cluster) & (pc.field("day") == day_of(newest))
        chosen &= (pc.field("recorded_ms") == newest) & _any_of(keys)
        found = self._read(self._states, ["entity", "name", "state"], chosen, f"recorded_ms = {newest}")
        try:
            return _base_of(newest, found)
        except (StoredStateError, msgspec.DecodeError) as error:
            raise RecordingError(f"The recording in {shown(self._folder)} cannot be used: {error}.") from error

    def _newest_states(self, table: DeltaTable, cluster: str, at_ms: int) -> int | None:
        """When the newest states from before an instant were recorded. Only a file with later ones, too, is read."""
        bounds = _recorded_bounds(table, cluster)
        newest = max([last_ms for _, last_ms in bounds if last_ms <= at_ms], default=None)
        mixed = [first_ms for first_ms, last_ms in bounds if first_ms <= at_ms < last_ms]
        if newest is None or (mixed and max(mixed) > newest):
            own = (pc.field("cluster") == cluster) & (pc.field("recorded_ms") <= at_ms)
            own &= pc.field("recorded_ms") > (newest or 0)
            files = f"recorded_ms > {newest or 0} AND recorded_ms <= {at_ms}"
            read = [recorded_ms for (recorded_ms,) in self._read(table, ["recorded_ms"], own, files)]
            newest = max(read, default=newest)
        return newest

    def settings(self, cluster: str, at_ms: int) -> bytes | None:
        """The settings of an instant; see monitor.history.replay.Recording."""
        if self._settings is None:
            return None
        own = pc.field("cluster") == cluster
        found = sorted(self._read(self._settings, ["recorded_ms", "settings"], own))
        by_then = [each for each in found if each[0] <= at_ms] or found[:1]  # before the first start: those of it
        return bytes(by_then[-1][1]) if by_then else None

    def reach_ms(self, cluster: str) -> int:
        """When the newest portion was recorded; see monitor.history.replay.Recording. Delta keeps it for each file."""
        newest = [last_ms for _, last_ms in _recorded_bounds(self._events, cluster)] if self._events else []
        if not newest:
            raise NotRecordedError(f"The recording in {shown(self._folder)} has no cluster {shown(cluster)}.")
        return max(newest)

    def rows(self, cluster: str, after_ms: int, at_ms: int, keys: Collection[Key]) -> list[RecordedRow]:
        """The rows of some entities; see monitor.history.replay.Recording."""
        if self._events is None:
            return []
        chosen = (pc.field("cluster") == cluster) & (pc.field("day") >= day_of(after_ms))
        chosen &= (pc.field("recorded_ms") > after_ms) & (pc.field("first_ms") <= at_ms) & _any_of(keys)
        names = ["recorded_ms", "entity", "name", "position", "events", "version"]
        files = f"recorded_ms > {after_ms} AND first_ms <= {at_ms}"
        found = list(self._read(self._events, names, chosen, files))
        unknown = {version for *_, version in found} - {EVENTS_VERSION}
        if unknown:
            raise RecordingError(
                f"The recording has events of version {min(unknown)}; this groupwatch reads version {EVENTS_VERSION}."
            )
        return [
            RecordedRow(recorded_ms, RecordedEntity(entity), name, position, events)
            for recorded_ms, entity, name, position, events, _ in found
        ]

    def _open_table(self, table: str) -> DeltaTable | None:
        try:
            return DeltaTable(f"{self._folder}/{table}")
        except TableNotFoundError:
            return None
        except (DeltaError, OSError) as error:
            raise self._unreadable(error) from error

    def _unreadable(self, error: Exception) -> RecordingError:
        return RecordingError(f"The recording in {shown(self._folder)} cannot be read: {_first_line(error)}.")

    def _files(self, table: DeltaTable) -> fs.FileSystem | None:
        """The files of a table on a disk; None: elsewhere, where Delta's own reader knows the way.

        Arrow's threads then call no Python, which may have ended when they do: that aborted the process.
        """
        return None if "://" in self._folder else fs.SubTreeFileSystem(_path_of(table), fs.LocalFileSystem())

    def _read(
        self,
        table: DeltaTable,
        names: list[str],
        chosen: Any,  # noqa: ANN401 -- Arrow has no types
        files: str | None = None,
    ) -> Iterator[tuple[Any, ...]]:
        """The chosen rows. ``files``: which files have them, by the bounds that the table's log has of each."""
        try:
            dataset = table.to_pyarrow_dataset(filesystem=self._files(table), file_pruning_predicate=files)
            found: pa.Table = dataset.to_table(names, filter=chosen)
        except (DeltaError, OSError, pa.ArrowException) as error:
            raise self._unreadable(error) from error
        return zip(*(found.column(name).to_pylist() for name in names), strict=True)


def _first_line(error: Exception) -> str:
    """What an error says first: Delta's go on with hints in colors."""
    return shown(str(error).splitlines()[0]) if str(error) else type(error).__name__


def _path_of(table: DeltaTable) -> str:
    return url2pathname(urlsplit(table.table_uri).path) if "://" in table.table_uri else table.table_uri


def _recorded_bounds(table: DeltaTable, cluster: str) -> list[tuple[int, int]]:
    """The first and the last recorded_ms of each file of a cluster, by the table's log."""
    files = table.get_add_actions(flatten=True)  # as a table of pyarrow it would load pandas: 0.2 s
    columns = (files.column(name).to_pylist() for name in ("partition.cluster", "min.recorded_ms", "max.recorded_ms"))
    return [
        (first, last) for own, first, last in zip(*columns, strict=True) if own == cluster and None not in (first, last)
    ]


def _any_of(keys: Collection[Key]) -> Any:  # noqa: ANN401 -- as above
    """The rows of these entities."""
    chosen = pc.scalar(False)
    for entity in sorted({entity for entity, _ in keys}):
        names = sorted(recorded_name(name) for each, name in keys if each is entity)
        chosen |= (pc.field("entity") == entity.value) & pc.field("name").isin(names)
    return chosen


def _base_of(recorded_ms: int, rows: Iterator[tuple[Any, ...]]) -> Base:
    base = Base(recorded_ms=recorded_ms)
    for entity, name, state in rows:
        match RecordedEntity(entity):
            case RecordedEntity.GROUP:
                base.groups[name] = decode_group_state(state)
            case RecordedEntity.TOPIC:
                base.topics[name] = decode_topic_state(state)
            case RecordedEntity.CONNECT:
                base.configs[name] = decode_connect_configs_state(state)
            case RecordedEntity.PASS if name == FIRST_PASS:
                base = msgspec.structs.replace(base, first_pass_ms=_NUMBER.decode(state))
            case _:
                base = msgspec.structs.replace(base, newest_pass=_PASS.decode(state))
    return base
