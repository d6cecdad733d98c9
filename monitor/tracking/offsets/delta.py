"""What commits change of a group, apart from all that they leave as it was.

A group of 10,000 partitions is megabytes of state; a micro-batch moves some of its offsets. What is stored and sent is
what has moved.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec
from msgspec.structs import replace

from monitor.model import STATE_VERSION, CommittedOffset, GroupState
from monitor.tracking.serialization import Envelope, StateCorruptError, StateVersionError

Offsets = tuple[CommittedOffset, ...]


_ENVELOPES: Final = msgspec.msgpack.Decoder(Envelope)
_OFFSETS: Final = msgspec.msgpack.Decoder(Offsets)
KIND: Final = "change of offsets"


def offset_delta(before: GroupState, after: GroupState) -> Offsets | None:
    """The committed offsets that differ; None if anything else differs too, or if partitions have come or gone."""
    if len(before.offsets) != len(after.offsets) or _without_offsets(before) != _without_offsets(after):
        return None
    pairs = zip(before.offsets, after.offsets, strict=True)
    moved = [(old, new) for old, new in pairs if old is not new and old != new]
    if any((old.topic, old.partition) != (new.topic, new.partition) for old, new in moved):
        return None
    return tuple([new for _, new in moved])


def apply_delta(group: GroupState, moved: Iterable[CommittedOffset]) -> GroupState:
    """The group after its offsets have moved: ``apply_delta(before, offset_delta(before, after)) == after``."""
    newest = {(offset.topic, offset.partition): offset for offset in moved}
    return replace(group, offsets=tuple([newest.get((old.topic, old.partition), old) for old in group.offsets]))


def encode_delta(moved: Offsets) -> bytes:
    """Moved offsets as bytes that name the version of the states."""
    return msgspec.msgpack.encode((STATE_VERSION, moved))


def decode_delta(data: bytes) -> Offsets:
    """The moved offsets in these bytes.

    Raises:
        StateVersionError: another version wrote them.
        StateCorruptError: the bytes are no such thing.
    """
    try:
        envelope = _ENVELOPES.decode(data)
        if envelope.version != STATE_VERSION:
            raise StateVersionError(envelope.version)
        return _OFFSETS.decode(envelope.body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError, MemoryError) as error:
        raise StateCorruptError(KIND) from error


def _without_offsets(group: GroupState) -> GroupState:
    return replace(group, offsets=())
