"""A part of a recording, held in memory: whoever asks for many groups reads the tables once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from typing import Final, NamedTuple

import msgspec

from monitor.history.recorded import RecordedEntity, RecordedRow, RecordingError, recorded_name
from monitor.history.replay import FIRST_PASS, Base, Key
from monitor.model import PassCompleted
from monitor.tracking.serialization import (
    StoredStateError,
    decode_connect_configs_state,
    decode_group_state,
    decode_topic_state,
)

_PASS: Final = msgspec.msgpack.Decoder(PassCompleted)
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
    base = Base(recorded_ms=recorded_ms)
    try:
        for row in rows:
            base = _with_state(base, row)
    except (StoredStateError, msgspec.DecodeError) as error:
        raise RecordingError(f"The recording is damaged: {error}.") from error
    return base


def _with_state(base: Base, row: StateRow) -> Base:
    match RecordedEntity(row.entity):
        case RecordedEntity.GROUP:
            base.groups[row.name] = decode_group_state(row.state)
        case RecordedEntity.TOPIC:
            base.topics[row.name] = decode_topic_state(row.state)
        case RecordedEntity.CONNECT:
            base.configs[row.name] = decode_connect_configs_state(row.state)
        case RecordedEntity.PASS if row.name == FIRST_PASS:
            return msgspec.structs.replace(base, first_pass_ms=_NUMBER.decode(row.state))
        case _:
            return msgspec.structs.replace(base, newest_pass=_PASS.decode(row.state))
    return base


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
        return self._names(RecordedEntity.GROUP)

    @property
    def topics(self) -> list[str]:
        """The names of all topics of which something is held."""
        return self._names(RecordedEntity.TOPIC)

    def _names(self, entity: RecordedEntity) -> list[str]:
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
