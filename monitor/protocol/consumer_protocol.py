"""ConsumerProtocol: what a member of a classic "consumer" group asked for, and what its leader gave it.

The broker stores these bytes as they come and never looks inside, so anything may be in them. Readers take
``min(version, 3)`` and ignore what follows: newer versions only append (Kafka's ConsumerProtocol.deserializeVersion,
schemas ConsumerProtocolSubscription and ConsumerProtocolAssignment). The encoding is never flexible.
"""

from __future__ import annotations

from typing import Final

from monitor.model import TopicPartitions, Value
from monitor.protocol.reader import Reader

_NEWEST: Final = 3


class Subscription(Value, frozen=True):
    """What a member joined with; the defaults stand for what an older version does not carry."""

    topics: tuple[str, ...] = ()
    user_data: bytes | None = None
    owned: tuple[TopicPartitions, ...] = ()
    generation: int = -1
    rack: str | None = None


def decode_subscription(data: bytes) -> Subscription:
    """The subscription in these bytes; no bytes at all are an empty one.

    >>> decode_subscription(bytes.fromhex("0000 00000001 0002 7430 ffffffff")).topics
    ('t0',)

    Raises:
        DecodeError: The bytes end too early, or are none of ConsumerProtocol.
    """
    if not data:
        return Subscription()
    reader = Reader(data, "subscription")
    version = _version(reader)
    return Subscription(
        topics=reader.array(reader.string),
        user_data=reader.nullable_bytes(),
        owned=_topics(reader) if version >= 1 else (),
        generation=reader.int32() if version >= 2 else -1,
        rack=reader.nullable_string() if version >= 3 else None,
    )


def decode_assignment(data: bytes) -> tuple[TopicPartitions, ...]:
    """The assignment in these bytes, as its leader ordered it; no bytes at all are an empty one.

    >>> decode_assignment(bytes.fromhex("0000 00000001 0002 7430 00000002 00000000 00000001 ffffffff"))
    (TopicPartitions(topic='t0', partitions=(0, 1)),)

    Raises:
        DecodeError: The bytes end too early, or are none of ConsumerProtocol.
    """
    if not data:
        return ()
    reader = Reader(data, "assignment")
    _version(reader)
    assigned = _topics(reader)
    reader.nullable_bytes()  # the user data of an assignment: only its own assignor can read it
    return assigned


def _version(reader: Reader) -> int:
    version = reader.int16()
    if version < 0:
        raise reader.unknown_version()
    return min(version, _NEWEST)


def _topics(reader: Reader) -> tuple[TopicPartitions, ...]:
    return reader.array(lambda: TopicPartitions(reader.string(), reader.array(reader.int32)))
