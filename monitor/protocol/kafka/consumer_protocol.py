"""ConsumerProtocol: what a member of a classic "consumer" group asked for, and what its leader gave it.

The broker stores these bytes as they come and never looks inside, so anything may be in them. Readers take
``min(version, 3)`` and ignore what follows: newer versions only append (Kafka's ConsumerProtocol.deserializeVersion,
schemas ConsumerProtocolSubscription and ConsumerProtocolAssignment). The encoding is never flexible.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Final, Generic, TypeVar

import msgspec

from monitor.model import TopicPartitions
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.reader import Reader
from monitor.protocol.wire.schema import Int32, Message, read_message, since

M = TypeVar("M", bound=Message)

_VERSION_BYTES: Final = 2


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
    """A message inside a member's bytes: the version they name, what was read, and how many bytes were left over.

    ``is_abridged``: the bytes end before the last fields of that version, which have their defaults.
    """

    version: int
    message: M
    unread: int
    is_abridged: bool = False


def read_subscription(data: bytes) -> Embedded[ConsumerProtocolSubscription]:
    """The subscription in these bytes.

    >>> read_subscription(bytes.fromhex("0000 00000001 0002 7430 ffffffff")).message.topics
    ('t0',)

    Raises:
        DecodeError: The bytes end too early, or are none of ConsumerProtocol.
    """
    return _read(ConsumerProtocolSubscription, data, "subscription")


def accept_subscription(data: bytes) -> Embedded[ConsumerProtocolSubscription]:
    """The subscription in these bytes, also if it ends exactly where one of an older version ends.

    kafka-go and @platformatic/kafka before 2.12 name version 1 and leave out the owned partitions. Kafka's Java client
    refuses that (:func:`read_subscription`); Sarama and franz-go read it as version 0, and the group works.

    >>> found = accept_subscription(bytes.fromhex("0001 00000001 0002 7430 ffffffff"))
    >>> found.message.topics, found.is_abridged
    (('t0',), True)

    Raises:
        DecodeError: The bytes end elsewhere, or are none of ConsumerProtocol.
    """
    try:
        return read_subscription(data)
    except DecodeError:
        abridged = _read_abridged(data)
        if abridged is None:
            raise
        return abridged


def read_assignment(data: bytes) -> Embedded[ConsumerProtocolAssignment]:
    """The assignment in these bytes.

    Raises:
        DecodeError: The bytes end too early, or are none of ConsumerProtocol.
    """
    return _read(ConsumerProtocolAssignment, data, "assignment")


def by_topic(partitions: tuple[NamedPartitions, ...]) -> tuple[TopicPartitions, ...]:
    """The same in the words of the model. A topic that is named twice, as librdkafka's range may, has all of it.

    >>> twice = (NamedPartitions(topic="t", partitions=(0, 1)), NamedPartitions(topic="t", partitions=(2,)))
    >>> by_topic(twice)
    (TopicPartitions(topic='t', partitions=(0, 1, 2)),)
    """
    if len(partitions) < 2 or len({entry.topic for entry in partitions}) == len(partitions):  # nearly always
        return tuple([TopicPartitions(entry.topic, entry.partitions) for entry in partitions])
    found: dict[str, tuple[int, ...]] = {}
    for entry in partitions:
        found[entry.topic] = found.get(entry.topic, ()) + entry.partitions
    return tuple([TopicPartitions(topic, numbers) for topic, numbers in found.items()])


def _read_abridged(data: bytes) -> Embedded[ConsumerProtocolSubscription] | None:
    """The subscription in bytes that end with the last field of an older version than they name; None: they do not."""
    named = Reader(data).int16() if len(data) >= _VERSION_BYTES else 0
    for version in range(min(named, ConsumerProtocolSubscription.newest) - 1, -1, -1):
        reader = Reader(data, "subscription")
        reader.skip(_VERSION_BYTES)
        try:
            found = read_message(ConsumerProtocolSubscription, version, reader)
        except DecodeError:
            continue
        if not reader.remaining:
            return Embedded(named, found, 0, is_abridged=True)
    return None


def _read(message: type[M], data: bytes, where: str) -> Embedded[M]:
    reader = Reader(data, where)
    version = reader.int16()
    if version < 0:
        raise reader.unknown_version()
    found = read_message(message, min(version, message.newest), reader)
    return Embedded(version, found, reader.remaining)
