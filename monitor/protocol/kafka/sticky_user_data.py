"""What the sticky assignors of the Java client read in a member's subscription about the generation before.

``monitor.assignors`` reads the same bytes for its own purposes; the two layers know nothing of each other.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from monitor.protocol.kafka.consumer_protocol import ConsumerProtocolSubscription, NamedPartitions
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.reader import Reader
from monitor.protocol.wire.schema import Int32, Message, read_message, since

_NO_GENERATION: Final = -1


class StickyUserData(Message):
    """The user data of ``sticky``. It names no version: version 0 is what lacks the generation."""

    previous_assignment: tuple[NamedPartitions, ...]
    generation: Annotated[Int32, since(1)] = _NO_GENERATION


class Remembered(msgspec.Struct, frozen=True):
    """What a member owned, and in which generation (None: it does not say)."""

    partitions: tuple[NamedPartitions, ...] = ()
    generation: int | None = None


def remembered(protocol: str | None, subscription: ConsumerProtocolSubscription) -> Remembered | None:
    """What the assignor of this name takes from the subscription; None for assignors without a memory.

    Source: ``memberData`` of StickyAssignor and CooperativeStickyAssignor, kafka-clients 4.3.
    """
    match protocol:
        case "sticky":
            return _of_sticky(subscription.user_data)
        case "cooperative-sticky":
            return _of_cooperative(subscription)
        case _:
            return None


def _of_sticky(data: bytes | None) -> Remembered:
    """Bytes that cannot be read are a memory of nothing in generation -1."""
    if not data:
        return Remembered()
    for version in (1, 0):
        try:
            found = read_message(StickyUserData, version, Reader(data, "user data"))
        except DecodeError:
            continue
        return Remembered(found.previous_assignment, found.generation if version else None)
    return Remembered(generation=_NO_GENERATION)


def _of_cooperative(subscription: ConsumerProtocolSubscription) -> Remembered:
    """The subscription's own fields if it has them, else the generation that is alone in the user data."""
    generation: int | None = subscription.generation_id
    if subscription.generation_id < 0:
        generation = _generation_alone(subscription.user_data)
    return Remembered(subscription.owned_partitions, generation)


def _generation_alone(data: bytes | None) -> int | None:
    if data is None:
        return None
    try:
        return Reader(data, "user data").int32()
    except DecodeError:
        return _NO_GENERATION
