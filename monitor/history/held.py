"""A part of a recording, held in memory: whoever asks for many groups reads the tables once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

import msgspec

from monitor.history.recorded import RecordedRow, RecordingError, recorded_name
from monitor.history.replay import FIRST_PASS, Base
from monitor.model import Entity, PassHistory
from monitor.tracking.cluster_fold import PASS_HISTORY, Key
from monitor.tracking.serialization import STATE_DECODERS, EntityState, StoredStateError

_NUMBER: Final = msgspec.msgpack.Decoder(int)


class StateRow(NamedTuple):
    """The state of an entity, as the table of states has it."""

    entity: str
    name: str
    state: bytes


def base_of(recorded_ms: int, rows: Iterable[StateRow]) -> Base:
    """The states of some entities after a portion of the recording.

    Raises:
        RecordingError: a state cannot be read.
    """
    try:
        return Base(recorded_ms=recorded_ms, states=dict(map(_state_of, rows)))
    except (StoredStateError, msgspec.DecodeError) as error:
        raise RecordingError(f"The recording is damaged: {error}.") from error


def _state_of(row: StateRow) -> tuple[Key, EntityState]:
    key = Entity(row.entity), row.name
    if key == FIRST_PASS:
        return PASS_HISTORY, PassHistory(first_ms=_NUMBER.decode(row.state))
    return key, STATE_DECODERS[key[0]](row.state)


class HeldRecording:
    """The states after one portion, and rows since. It answers for instants from then on, as far as it reaches."""

    def __init__(
        self,
        recorded_ms: int,
        states: Iterable[StateRow],
        rows: Iterable[RecordedRow],
        reach_ms: int,
        settings: bytes | None,
    ) -> None:
        self._recorded_ms = recorded_ms
        self._states: dict[tuple[str, str], StateRow] = {(row.entity, row.name): row for row in states}
        self._rows: dict[tuple[str, str], list[RecordedRow]] = defaultdict(list)
        for row in rows:
            self._rows[row.entity, row.name].append(row)
        self._reach_ms = reach_ms
        self._settings = settings

    @property
    def groups(self) -> list[str]:
        """The names of all groups of which something is held."""
        return self._names(Entity.GROUP)

    @property
    def topics(self) -> list[str]:
        """The names of all topics of which something is held."""
        return self._names(Entity.TOPIC)

    def _names(self, entity: Entity) -> list[str]:
        return sorted({name for each, name in (*self._states, *self._rows) if each == entity})

    def base(self, cluster: str, at_ms: int, keys: Collection[Key]) -> Base:
        """The states that are held; see monitor.history.replay.Recording."""
        if not self._recorded_ms:
            return Base()
        return base_of(self._recorded_ms, [self._states[key] for key in map(_row_key, keys) if key in self._states])

    def settings(self, cluster: str, at_ms: int) -> bytes | None:
        """The settings that are held; see monitor.history.replay.Recording."""
        return self._settings

    def reach_ms(self, cluster: str) -> int:
        """Until when it reaches; see monitor.history.replay.Recording."""
        return self._reach_ms

    def rows(self, cluster: str, after_ms: int, at_ms: int, keys: Collection[Key]) -> list[RecordedRow]:
        """The rows of some entities; see monitor.history.replay.Recording."""
        return [row for key in map(_row_key, keys) for row in self._rows.get(key, ()) if row.recorded_ms > after_ms]


def _row_key(key: Key) -> tuple[str, str]:
    entity, name = key
    return entity, recorded_name(name)
