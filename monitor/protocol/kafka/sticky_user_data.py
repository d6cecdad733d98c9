"""What a member of an earlier generation left in its user data, as the sticky assignors of Kafka's Java client read it.

``sticky`` writes the partitions it owned and, since version 1, the generation; version 0 has no generation.
``cooperative-sticky`` writes the generation alone, for coordinators that do not hand on the subscription's own field.
Source: ``StickyAssignor`` and ``CooperativeStickyAssignor`` of kafka-clients 4.3.
"""

from __future__ import annotations

import struct
from enum import StrEnum
from typing import Final

from monitor.model import TopicPartitions, Value
from monitor.protocol.kafka.consumer_protocol import ConsumerProtocolSubscription

NO_GENERATION: Final = -1
_INT32: Final = struct.Struct(">i")
_INT16: Final = struct.Struct(">h")


class PriorAssignment(Value):
    """What a member says it owned, and in which generation (None: it does not say)."""

    owned: tuple[TopicPartitions, ...] = ()
    generation: int | None = None


def read_sticky(data: bytes | None) -> PriorAssignment:
    """What ``sticky`` takes from user data. Bytes that cannot be read are a memory of nothing in generation -1.

    >>> read_sticky(bytes.fromhex("00000001 0001 74 00000002 00000000 00000003 00000007"))
    PriorAssignment(owned=(TopicPartitions(topic='t', partitions=(0, 3)),), generation=7)
    >>> read_sticky(None), read_sticky(b"?")
    (PriorAssignment(owned=(), generation=None), PriorAssignment(owned=(), generation=-1))
    """
    if not data:
        return PriorAssignment()
    found = _parse(data)
    if found is None:
        return PriorAssignment(generation=NO_GENERATION)
    owned, position = found.owned, found.end
    if len(data) - position < _INT32.size:
        return PriorAssignment(owned=owned)  # version 0; what is left over is not looked at
    return PriorAssignment(owned=owned, generation=_INT32.unpack_from(data, position)[0])


class UserDataForm(StrEnum):
    """In which form a client wrote the user data of a subscription."""

    NULL = "null"
    EMPTY = "empty"
    GENERATION = "generation"
    """A generation alone (int32), as Kafka's Java client and Sarama write it with ``cooperative-sticky``."""
    OWNED = "owned"
    """Topics with their partitions, then a generation: ``StickyAssignorUserData`` version 1 of Kafka's Java client."""
    OWNED_BEFORE_GENERATIONS = "owned_before_generations"
    """Topics with their partitions alone, its version 0."""
    VERSIONED = "versioned"
    """An int16 that is 1, then the form OWNED: kafka-python's ``sticky``."""
    OTHER = "other"


def user_data_forms(data: bytes | None) -> frozenset[UserDataForm]:
    """The forms in which these bytes may have been written; 4 bytes that are 0 are a generation, or no topics.

    >>> sorted(user_data_forms(bytes(4))), sorted(user_data_forms(bytes.fromhex("0001 00000000 00000007")))
    ([<UserDataForm.GENERATION: 'generation'>, <UserDataForm.OWNED_BEFORE_GENERATIONS: 'owned_before_generations'>], \
[<UserDataForm.VERSIONED: 'versioned'>])
    """
    if not data:
        return _NO_DATA if data is None else _EMPTY_DATA
    found = {UserDataForm.GENERATION} if len(data) == _INT32.size else set()
    parsed = _parse(data)
    if parsed is not None and len(data) - parsed.end in _AFTER_OWNED:
        found.add(_AFTER_OWNED[len(data) - parsed.end])
    if not found and data[: _INT16.size] == _FIRST_VERSION:
        parsed = _parse(data[_INT16.size :])
        if parsed is not None and len(data) - _INT16.size - parsed.end == _INT32.size:
            found.add(UserDataForm.VERSIONED)
    return frozenset(found or {UserDataForm.OTHER})


_NO_DATA: Final = frozenset({UserDataForm.NULL})
_EMPTY_DATA: Final = frozenset({UserDataForm.EMPTY})
_AFTER_OWNED: Final = {0: UserDataForm.OWNED_BEFORE_GENERATIONS, _INT32.size: UserDataForm.OWNED}
"""The form, by how many bytes follow the topics."""
_FIRST_VERSION: Final = b"\x00\x01"


def write_versioned(memory: PriorAssignment) -> bytes:
    """As :func:`write_sticky`, with a version before it, as kafka-python's ``sticky`` writes it."""
    return _FIRST_VERSION + write_sticky(memory)


def is_foreign(data: bytes | None) -> bool:
    """Whether this is no user data of Kafka's Java client: kafka-python's ``sticky``, for one, writes a version first.

    >>> is_foreign(bytes.fromhex("0001 00000001 0001 74 00000001 00000000 00000007")), is_foreign(None)
    (True, False)
    """
    return bool(data) and _parse(data or b"") is None


def write_sticky(memory: PriorAssignment) -> bytes:
    """The user data with which a member of ``sticky`` would join again.

    >>> memory = PriorAssignment(owned=(TopicPartitions("t", (0, 3)),), generation=7)
    >>> read_sticky(write_sticky(memory)) == memory
    True
    """
    parts = [_INT32.pack(len(memory.owned))]
    for topic in memory.owned:
        name = topic.topic.encode("utf-8", "replace")
        numbers = len(topic.partitions)
        parts.append(struct.pack(f">h{len(name)}si{numbers}i", len(name), name, numbers, *topic.partitions))
    if memory.generation is not None:
        parts.append(_INT32.pack(memory.generation))
    return b"".join(parts)


def read_cooperative(data: bytes | None) -> int | None:
    """The generation that ``cooperative-sticky`` takes from user data. Too few bytes mean -1, none at all None.

    >>> read_cooperative(bytes.fromhex("00000007")), read_cooperative(b""), read_cooperative(None)
    (7, -1, None)
    """
    if data is None:
        return None
    return _INT32.unpack_from(data)[0] if len(data) >= _INT32.size else NO_GENERATION


def prior_assignment(protocol: str | None, subscription: ConsumerProtocolSubscription) -> PriorAssignment | None:
    """What the assignor of this name takes from the subscription; None for assignors without a memory.

    Source: ``memberData`` of StickyAssignor and CooperativeStickyAssignor, kafka-clients 4.3.
    """
    match protocol:
        case "sticky":
            return read_sticky(subscription.user_data)
        case "cooperative-sticky":
            return _cooperative(subscription)
        case _:
            return None


def _cooperative(subscription: ConsumerProtocolSubscription) -> PriorAssignment:
    """The subscription's own fields if it has them, else the generation that is alone in the user data."""
    generation: int | None = subscription.generation_id
    if subscription.generation_id < 0:
        generation = read_cooperative(subscription.user_data)
    owned = tuple(TopicPartitions(entry.topic, entry.partitions) for entry in subscription.owned_partitions)
    return PriorAssignment(owned=owned, generation=generation)


class _BrokenError(Exception):
    """A length that cannot be."""


class _ParsedUserData(Value):
    owned: tuple[TopicPartitions, ...]
    end: int
    """Where in the bytes they end."""


def _parse(data: bytes) -> _ParsedUserData | None:
    try:
        owned, end = _read_owned(data)
    except (struct.error, _BrokenError):
        return None
    return _ParsedUserData(owned=owned, end=end)


def _read_owned(data: bytes) -> tuple[tuple[TopicPartitions, ...], int]:
    topics, position = _read_length(data, 0, _INT32)
    owned = []
    read16, read32 = _INT16.unpack_from, _INT32.unpack_from  # a large group remembers a million topics in all
    for _ in range(topics):
        length = read16(data, position)[0]
        start, stop = position + 2, position + 2 + length
        numbers = read32(data, stop)[0] if length >= 0 else length
        position = stop + 4 + 4 * numbers
        if numbers < 0 or position > len(data):
            raise _BrokenError
        owned.append(TopicPartitions(data[start:stop].decode("utf-8", "replace"), _numbers(data, stop + 4, numbers)))
    return tuple(owned), position


def _numbers(data: bytes, position: int, numbers: int) -> tuple[int, ...]:
    return _INT32.unpack_from(data, position) if numbers == 1 else struct.unpack_from(f">{numbers}i", data, position)


def _read_length(data: bytes, position: int, form: struct.Struct) -> tuple[int, int]:
    length = form.unpack_from(data, position)[0]
    if not 0 <= length <= len(data):
        raise _BrokenError
    return length, position + form.size
