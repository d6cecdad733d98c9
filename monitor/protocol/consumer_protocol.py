"""ConsumerProtocol: what a member of a classic "consumer" group asked for, and what its leader gave it.

The broker stores these bytes as they come and never looks inside, so anything may be in them. Readers take
``min(version, 3)`` and ignore what follows: newer versions only append (Kafka's ConsumerProtocol.deserializeVersion,
schemas ConsumerProtocolSubscription and ConsumerProtocolAssignment). The encoding is never flexible.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Generic, TypeVar

import msgspec

from monitor.model import TopicPartitions
from monitor.protocol.reader import Reader
from monitor.protocol.schema import Int32, Message, read_message, since

M = TypeVar("M", bound=Message)


class NamedPartitions(Message):
    """Some partitions of a topic."""

    topic: str
    partitions: tuple[Int32, ...]


class ConsumerProtocolSubscription(Message):
    """What a member joined with; the defaults stand for what an older version does not carry."""

    newest: ClassVar[int] = 3

    topics: tuple[str, ...] = ()
    user_data: bytes | None = None
    owned_partitions: Annotated[tuple[NamedPartitions, ...], since(1)] = ()
    generation_id: Annotated[Int32, since(2)] = -1
    rack_id: Annotated[str | None, since(3)] = None


class ConsumerProtocolAssignment(Message):
    """What a member was given, as its leader ordered it; only its own assignor can read the user data."""

    newest: ClassVar[int] = 3

    assigned_partitions: tuple[NamedPartitions, ...] = ()
    user_data: bytes | None = None


class Embedded(msgspec.Struct, Generic[M], frozen=True):
    """A message inside a member's bytes: the version they name, what was read, and how many bytes were left over."""

    version: int
    message: M
    unread: int


def read_subscription(data: bytes) -> Embedded[ConsumerProtocolSubscription]:
    """The subscription in these bytes.

    >>> read_subscription(bytes.fromhex("0000 00000001 0002 7430 ffffffff")).message.topics
    ('t0',)

    Raises:
        DecodeError: The bytes end too early, or are none of ConsumerProtocol.
    """
    return _read(ConsumerProtocolSubscription, data, "subscription")


def read_assignment(data: bytes) -> Embedded[ConsumerProtocolAssignment]:
    """The assignment in these bytes.

    Raises:
        DecodeError: The bytes end too early, or are none of ConsumerProtocol.
    """
    return _read(ConsumerProtocolAssignment, data, "assignment")


def by_topic(partitions: tuple[NamedPartitions, ...]) -> tuple[TopicPartitions, ...]:
    """The same in the words of the model."""
    return tuple([TopicPartitions(entry.topic, entry.partitions) for entry in partitions])


def _read(message: type[M], data: bytes, where: str) -> Embedded[M]:
    reader = Reader(data, where)
    version = reader.int16()
    if version < 0:
        raise reader.unknown_version()
    found = read_message(message, min(version, message.newest), reader)
    return Embedded(version, found, reader.remaining)
