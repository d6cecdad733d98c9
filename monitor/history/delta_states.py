"""The states of a recording, read from their table without Spark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pyarrow.compute as pc

from monitor.history.delta_reader import DeltaReader, recorded_bounds, since
from monitor.history.held import StateRow
from monitor.history.tables import STATES, day_of
from monitor.model import Entity
from monitor.tracking.serialization import is_current_state


class DeltaStates:
    """The table of states in a folder; without one, there are none."""

    def __init__(self, reader: DeltaReader) -> None:
        """Open it.

        Raises:
            RecordingError: it cannot be read.
        """
        self._reader = reader
        self._table = reader.open_table(STATES.name)
        self._version_known: dict[int, bool] = {}

    def rows(
        self,
        cluster: str,
        recorded_ms: int,
        of: Any,  # noqa: ANN401 -- Arrow has no types
        most: int | None = None,
    ) -> Iterator[StateRow]:
        """The states after a portion, at most so many. ``of``: which entities.

        Raises:
            RecordingError: the table cannot be read.
        """
        if self._table is None:
            return iter(())
        chosen = (pc.field("cluster") == cluster) & (pc.field("day") == day_of(recorded_ms))
        chosen &= (pc.field("recorded_ms") == recorded_ms) & of & pc.field("state").is_valid()
        files = f"recorded_ms = {recorded_ms}"
        return map(StateRow._make, self._reader.rows(self._table, [*StateRow._fields], chosen, files, most))

    def times(self, cluster: str, since_ms: int, until_ms: int) -> list[int]:
        """When states were recorded between two instants.

        Raises:
            RecordingError: the recording cannot be read.
        """
        if self._table is None:
            return []
        chosen = since(cluster, since_ms) & (pc.field("recorded_ms") <= until_ms)
        files = f"recorded_ms > {since_ms} AND recorded_ms <= {until_ms}"
        return sorted(
            {recorded_ms for (recorded_ms,) in self._reader.rows(self._table, ["recorded_ms"], chosen, files)}
        )

    def newest_ms(self, cluster: str, at_ms: int) -> int | None:
        """When the newest states from before an instant were recorded; None: there are none that can be read.

        Those of another version of groupwatch are none: all events that are kept say as much.

        Raises:
            RecordingError: the table cannot be read.
        """
        newest = self._newest_written_ms(cluster, at_ms)
        return None if newest is None or self._has_another_version(cluster, newest) else newest

    def _has_another_version(self, cluster: str, recorded_ms: int) -> bool:
        if recorded_ms not in self._version_known:
            versioned = pc.field("entity") != Entity.PASS.value  # the only states without one
            row = next(self.rows(cluster, recorded_ms, versioned, most=1), None)
            self._version_known[recorded_ms] = row is not None and not is_current_state(row.state)
        return self._version_known[recorded_ms]

    def _newest_written_ms(self, cluster: str, at_ms: int) -> int | None:
        """When the newest states were recorded, whoever did. Only a file with later ones, too, is read."""
        if self._table is None:
            return None
        bounds = recorded_bounds(self._table, cluster)
        newest = max([last_ms for _, last_ms in bounds if last_ms <= at_ms], default=None)
        mixed = [first_ms for first_ms, last_ms in bounds if first_ms <= at_ms < last_ms]
        if newest is None or (mixed and max(mixed) > newest):
            own = (pc.field("cluster") == cluster) & (pc.field("recorded_ms") <= at_ms)
            own &= pc.field("recorded_ms") > (newest or 0)
            files = f"recorded_ms > {newest or 0} AND recorded_ms <= {at_ms}"
            read = [recorded_ms for (recorded_ms,) in self._reader.rows(self._table, ["recorded_ms"], own, files)]
            newest = max(read, default=newest)
        return newest
