"""A recording read from its tables, without Spark."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import starmap
from operator import itemgetter
from typing import Any, Final

import pyarrow.compute as pc

from monitor.history.delta_reader import DeltaReader, bounds_in_files, recorded_bounds, since
from monitor.history.delta_sql import DeltaSqlTables
from monitor.history.delta_states import DeltaStates
from monitor.history.held import HeldRecording, base_of
from monitor.history.recorded import (
    EVENTS_VERSION,
    NotRecordedError,
    RecordedPasses,
    RecordedRow,
    RecordingError,
    recorded_name,
    settings_in_force,
    unknown_events,
)
from monitor.history.replay import Base
from monitor.history.tables import EVENTS, REACH, SETTINGS
from monitor.messages.names import shown
from monitor.model import Entity
from monitor.tracking.cluster_fold import Key

_ALWAYS: Final = 2**62

BEYOND_EVENTS_MS: Final = 60_000
"""How long after the newest event it is known that there was no other: portions are a minute apart."""


class DeltaRecording:
    """The recording in a folder (a path, or an address such as ``s3://bucket/folder``)."""

    def __init__(self, folder: str, most_bytes: int | None = None) -> None:
        """Open it. A question that would read more than ``most_bytes`` raises TooMuchWorkError.

        Raises:
            RecordingError: there is none, or it cannot be read.
        """
        self._reader = DeltaReader(folder, most_bytes)
        self._events = self._reader.open_table(EVENTS.name)
        self._states = DeltaStates(self._reader)
        self._settings = self._reader.open_table(SETTINGS.name)
        self._reach = self._reader.open_table(REACH.name)
        if self._events is None:
            where = shown(folder)  # Delta does not tell a folder that is missing from one that is closed
            raise RecordingError(
                f"There is no recording in {where}, or this user may not read it: set [history] folder, "
                "and run groupwatch."
            )

    def base(self, cluster: str, at_ms: int, keys: Collection[Key]) -> Base:
        """The newest states from before an instant; see monitor.history.replay.Recording."""
        newest = self._states.newest_ms(cluster, at_ms)
        return Base() if newest is None else base_of(newest, self._states.rows(cluster, newest, _any_of(keys)))

    def state_ms(self, cluster: str, at_ms: int) -> int:
        """When the newest states from before an instant were stored (ms since the epoch); 0: there are none."""
        return self._states.newest_ms(cluster, at_ms) or 0

    def hold(self, cluster: str, since_ms: int, until_ms: int, groups: Collection[str] | None = None) -> HeldRecording:
        """All that verdicts between two instants are made of; ``groups`` None: those on all groups.

        Raises:
            RecordingError: the recording cannot be read.
        """
        newest = self._states.newest_ms(cluster, since_ms) or 0
        of = pc.scalar(True)
        if groups is not None:
            names = sorted(map(recorded_name, groups))
            of = (pc.field("entity") != Entity.GROUP.value) | pc.field("name").isin(names)
        return HeldRecording(
            newest,
            self._states.rows(cluster, newest, of),
            self._rows_of(cluster, newest, until_ms, of),
            reach_ms=self.reach_ms(cluster),
            settings=self.settings(cluster, until_ms),
        )

    def groups(self, cluster: str, since_ms: int, until_ms: int) -> list[str]:
        """The names of the groups that were known between two instants, sorted; some may have been deleted by then.

        Raises:
            RecordingError: the recording cannot be read.
        """
        newest = self._states.newest_ms(cluster, since_ms) or 0
        of = pc.field("entity") == Entity.GROUP.value
        known = {row.name for row in self._states.rows(cluster, newest, of)}
        known.update(name for (name,) in self._read_events(["name"], cluster, newest, until_ms, of))
        return sorted(known)

    def group_sizes(self, cluster: str, since_ms: int, until_ms: int) -> dict[str, int]:
        """The groups of :meth:`groups`, each with the size of its newest state until then in bytes; 0 if it has none.

        Raises:
            RecordingError: the recording cannot be read.
        """
        newest = self._states.newest_ms(cluster, until_ms) or 0
        of = pc.field("entity") == Entity.GROUP.value
        sizes = {row.name: len(row.state) for row in self._states.rows(cluster, newest, of)}
        return {name: sizes.get(name, 0) for name in self.groups(cluster, since_ms, until_ms)}

    def state_times(self, cluster: str, since_ms: int, until_ms: int) -> list[int]:
        """When states were recorded between two instants.

        Raises:
            RecordingError: the recording cannot be read.
        """
        return self._states.times(cluster, since_ms, until_ms)

    def passes(self, cluster: str, since_ms: int, until_ms: int) -> list[RecordedPasses]:
        """The passes of collectors between two instants, as they were recorded, in order.

        Raises:
            RecordingError: the recording cannot be read.
        """
        of = (pc.field("entity") == Entity.PASS.value) & (pc.field("last_ms") >= since_ms)
        names = ["first_ms", "last_ms", "recorded_ms"]
        return sorted(starmap(RecordedPasses, self._read_events(names, cluster, since_ms - 1, until_ms, of)))

    @property
    def sql_tables(self) -> DeltaSqlTables:
        """The tables for SQL in the same folder."""
        return DeltaSqlTables(self._reader)

    def settings(self, cluster: str, at_ms: int) -> bytes | None:
        """The settings of an instant; see monitor.history.replay.Recording."""
        return settings_in_force(self._recorded_settings(cluster), at_ms)

    def settings_between(self, cluster: str, since_ms: int, until_ms: int) -> list[tuple[int, bytes]]:
        """The settings that were in force between two instants, each with its start, the oldest first.

        Before the first start of a job, those of it count.

        Raises:
            RecordingError: the recording cannot be read.
        """
        found = self._recorded_settings(cluster)
        first = settings_in_force(found, since_ms)
        later = [each for each in found if since_ms < each[0] <= until_ms]
        return later if first is None else [(since_ms, first), *later]

    def _recorded_settings(self, cluster: str) -> list[tuple[int, bytes]]:
        if self._settings is None:
            return []
        known = self._reader.rows(self._settings, ["recorded_ms", "settings"], pc.field("cluster") == cluster)
        return sorted((recorded_ms, bytes(settings)) for recorded_ms, settings in known)

    def clusters(self) -> list[str]:
        """The names of the clusters that are recorded, sorted.

        Raises:
            RecordingError: the recording cannot be read.
        """
        return (
            []
            if self._events is None
            else sorted({cluster for cluster, _ in bounds_in_files(self._events, "max.recorded_ms")})
        )

    def begin_ms(self, cluster: str) -> int:
        """When the oldest portion was recorded that there is.

        Raises:
            RecordingError: there is none, or the recording cannot be read.
        """
        return min(oldest for oldest, _ in self._bounds(cluster))

    def reach_ms(self, cluster: str) -> int:
        """When the newest portion was recorded; see monitor.history.replay.Recording. Delta keeps it for each file."""
        newest_ms = max(newest for _, newest in self._bounds(cluster))
        return min(newest_ms, self._events_end_ms(cluster) + BEYOND_EVENTS_MS, self._complete_ms(cluster))

    def _events_end_ms(self, cluster: str) -> int:
        """When the newest event happened. A portion of an older groupwatch may be dated by a clock that was ahead."""
        assert self._events is not None, "there are bounds of its portions"
        ends = bounds_in_files(self._events, "max.last_ms")
        return max([last_ms for own, last_ms in ends if own == cluster], default=_ALWAYS)

    def _bounds(self, cluster: str) -> list[tuple[int, int]]:
        found = [] if self._events is None else recorded_bounds(self._events, cluster)
        if not found:
            raise NotRecordedError(f"The recording in {shown(self._reader.folder)} has no cluster {shown(cluster)}.")
        return found

    def _complete_ms(self, cluster: str) -> int:
        """Until when all is recorded that was logged: while a backlog is read, that is not until the newest portion."""
        if self._reach is None:
            return _ALWAYS
        found = self._reader.rows(self._reach, ["recorded_ms", "until_ms"], pc.field("cluster") == cluster)
        _, until_ms = max(found, key=itemgetter(0), default=(0, None))
        if until_ms == 0:
            raise NotRecordedError(f"The logs of cluster {shown(cluster)} have not been read to their ends yet.")
        return _ALWAYS if until_ms is None else int(until_ms)

    def rows(self, cluster: str, after_ms: int, at_ms: int, keys: Collection[Key]) -> list[RecordedRow]:
        """The rows of some entities; see monitor.history.replay.Recording."""
        return self._rows_of(cluster, after_ms, at_ms, _any_of(keys))

    def _rows_of(
        self,
        cluster: str,
        after_ms: int,
        at_ms: int,
        of: Any,  # noqa: ANN401 -- as above
    ) -> list[RecordedRow]:
        names = ["recorded_ms", "entity", "name", "position", "events", "version"]
        found = list(self._read_events(names, cluster, after_ms, at_ms, of))
        unknown = {version for *_, version in found} - {EVENTS_VERSION}
        if unknown:
            raise unknown_events(min(unknown))
        return [
            RecordedRow(recorded_ms, Entity(entity), name, position, events)
            for recorded_ms, entity, name, position, events, _ in found
        ]

    def _read_events(
        self,
        names: list[str],
        cluster: str,
        after_ms: int,
        at_ms: int,
        of: Any,  # noqa: ANN401 -- as above
    ) -> Iterator[tuple[Any, ...]]:
        """Columns of what the portions after one have, as far as it had begun to happen by an instant."""
        if self._events is None:
            return iter(())
        chosen = since(cluster, after_ms) & (pc.field("first_ms") <= at_ms) & of
        return self._reader.rows(self._events, names, chosen, f"recorded_ms > {after_ms} AND first_ms <= {at_ms}")


def _any_of(keys: Collection[Key]) -> Any:  # noqa: ANN401 -- as above
    """The rows of these entities."""
    chosen = pc.scalar(False)
    for entity in sorted({entity for entity, _ in keys}):
        names = sorted(recorded_name(name) for each, name in keys if each is entity)
        chosen |= (pc.field("entity") == entity.value) & pc.field("name").isin(names)
    return chosen
