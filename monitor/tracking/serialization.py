"""States as bytes: msgpack, with the version that wrote them in front so that any version can tell.

What there is most of (committed offsets, points of a history) is written as arrays without field names. A state of
another version is refused: to read it with another shape than it was written in would lose what it says.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeVar

import msgspec

from monitor.model import (
    STATE_VERSION,
    ConnectConfigsState,
    Entity,
    GroupState,
    GrownLog,
    PassCompleted,
    PassHistory,
    SourceState,
    TopicState,
)

EntityState = GroupState | TopicState | SourceState | PassCompleted | PassHistory | ConnectConfigsState | GrownLog
"""What is known of an entity."""

State = TypeVar("State", GroupState, TopicState, SourceState, PassHistory, ConnectConfigsState, GrownLog)


class StoredStateError(Exception):
    """A stored state that cannot be used."""


class StateVersionError(StoredStateError):
    """The state was written by a groupwatch with another version of the states, older or newer.

    Attributes:
        written: The version of the state.
    """

    def __init__(self, written: int) -> None:
        super().__init__(written)
        self.written: Final = written

    def __str__(self) -> str:
        """The sentence for the operator."""
        return f"the state was written in version {self.written}; this groupwatch reads version {STATE_VERSION}"


class StateCorruptError(StoredStateError):
    """The bytes are no state of the kind asked for.

    Attributes:
        kind: The kind asked for, as its class is called: "GroupState", ...
    """

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        self.kind: Final = kind

    def __str__(self) -> str:
        """The sentence for the operator; the cause says what was found."""
        return f"the stored bytes are no {self.kind}"


class Envelope(msgspec.Struct, array_like=True, frozen=True):
    """The version is outside the body: a state leaves out what has its default, and the default version moves."""

    version: int
    body: msgspec.Raw


_ENCODER: Final = msgspec.msgpack.Encoder()
_ENVELOPES: Final = msgspec.msgpack.Decoder(Envelope)
_GROUPS: Final = msgspec.msgpack.Decoder(GroupState)
_TOPICS: Final = msgspec.msgpack.Decoder(TopicState)
_SOURCES: Final = msgspec.msgpack.Decoder(SourceState)
_CONNECT_CONFIGS: Final = msgspec.msgpack.Decoder(ConnectConfigsState)
_GROWN_LOGS: Final = msgspec.msgpack.Decoder(GrownLog)
_PASSES: Final = msgspec.msgpack.Decoder(PassCompleted)
_PASS_HISTORIES: Final = msgspec.msgpack.Decoder(PassHistory)


def encode_state(state: EntityState) -> bytes:
    """The state as bytes that name its version; of a pass, the event as it is: its version is that of events."""
    return _ENCODER.encode(state if isinstance(state, PassCompleted) else (state.version, state))


def decode_group_state(data: bytes) -> GroupState:
    """The group in these bytes.

    Raises:
        StateVersionError: Another version wrote it.
        StateCorruptError: The bytes are no GroupState.
    """
    return _decode(_GROUPS, data, "GroupState")


def decode_topic_state(data: bytes) -> TopicState:
    """The topic in these bytes.

    Raises:
        StateVersionError: Another version wrote it.
        StateCorruptError: The bytes are no TopicState.
    """
    return _decode(_TOPICS, data, "TopicState")


def decode_source_state(data: bytes) -> SourceState:
    """The source in these bytes.

    Raises:
        StateVersionError: Another version wrote it.
        StateCorruptError: The bytes are no SourceState.
    """
    return _decode(_SOURCES, data, "SourceState")


def decode_connect_configs_state(data: bytes) -> ConnectConfigsState:
    """The configurations of a Connect cluster in these bytes.

    Raises:
        StateVersionError: Another version wrote it.
        StateCorruptError: The bytes are no ConnectConfigsState.
    """
    return _decode(_CONNECT_CONFIGS, data, "ConnectConfigsState")


def decode_grown_log(data: bytes) -> GrownLog:
    """By how many partitions groups are placed, in these bytes.

    Raises:
        StateVersionError: Another version wrote it.
        StateCorruptError: The bytes are no GrownLog.
    """
    return _decode(_GROWN_LOGS, data, "GrownLog")


def decode_pass(data: bytes) -> PassCompleted:
    """The completed pass in these bytes.

    Raises:
        StateCorruptError: The bytes are none.
    """
    try:
        return _PASSES.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise StateCorruptError("PassCompleted") from error


def decode_pass_history(data: bytes) -> PassHistory:
    """The passes so far in these bytes.

    Raises:
        StateVersionError: Another version wrote it.
        StateCorruptError: The bytes are no PassHistory.
    """
    return _decode(_PASS_HISTORIES, data, "PassHistory")


STATE_DECODERS: Final[Mapping[Entity, Callable[[bytes], EntityState]]] = MappingProxyType(
    {
        Entity.GROUP: decode_group_state,
        Entity.TOPIC: decode_topic_state,
        Entity.SOURCE: decode_source_state,
        Entity.PASS: decode_pass,
        Entity.PASSES: decode_pass_history,
        Entity.CONNECT: decode_connect_configs_state,
        Entity.PLACES: decode_grown_log,
    }
)
"""Of each entity that has a state, what reads its bytes; these raise StoredStateError."""


def is_current_state(data: bytes) -> bool:
    """Whether the bytes do not name another version of the states."""
    try:
        return _ENVELOPES.decode(data).version == STATE_VERSION
    except msgspec.DecodeError:
        return True


def _decode(decoder: msgspec.msgpack.Decoder[State], data: bytes, kind: str) -> State:
    try:
        envelope = _ENVELOPES.decode(data)
        if envelope.version != STATE_VERSION:
            raise StateVersionError(envelope.version)
        return decoder.decode(envelope.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, MemoryError) as error:
        raise StateCorruptError(kind) from error
