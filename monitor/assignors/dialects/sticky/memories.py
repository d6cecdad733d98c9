"""What a member says it owned before, as the leader of each library reads it.

Sticky strategies of the eager protocol keep that in user data, cooperative ones in fields of the subscription. The
libraries differ in what they make of bytes that they do not know.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from typing import Final

from monitor.assignors.errors import AssignorError
from monitor.model import Member, TopicPartition, numbers
from monitor.protocol.kafka.sticky_user_data import (
    NO_GENERATION,
    PriorAssignment,
    read_cooperative,
    read_sticky,
    write_sticky,
)

MemoryReader = Callable[[Member], PriorAssignment]
"""Gives what the member owned, with the generation that it was from; nothing is owned in generation -1."""

NOTHING: Final = PriorAssignment(generation=NO_GENERATION)
_INT16: Final = struct.Struct(">h")


def read_fields(member: Member) -> PriorAssignment:
    """The fields of the subscription: librdkafka, kafka-python's ``cooperative-sticky``, @platformatic/kafka."""
    return PriorAssignment(owned=member.owned, generation=member.generation)


def read_fields_or_bare_generation(member: Member) -> PriorAssignment:
    """Sarama's ``cooperative-sticky``: where the subscription has no generation, the user data is one, alone."""
    if member.generation >= 0:
        return read_fields(member)
    generation = read_cooperative(member.user_data)
    return PriorAssignment(owned=member.owned, generation=NO_GENERATION if generation is None else generation)


def read_strictly(member: Member) -> PriorAssignment:
    """Sarama's ``sticky``: Java's form and nothing else. No generation (version 0) counts as -1.

    Raises:
        AssignorError: the user data has another form, or is empty. One such member makes the leader fail.
    """
    data = member.user_data
    if data is None:
        return NOTHING
    memory = read_sticky(data)
    if write_sticky(memory) != data:
        raise AssignorError("PacketDecodingError", f"the user data of {member.member_id} has another form")
    return PriorAssignment(
        owned=memory.owned, generation=NO_GENERATION if memory.generation is None else memory.generation
    )


def read_java_form(member: Member) -> PriorAssignment:
    """Aiokafka's ``sticky``: Java's form with a generation. What has another form is a memory of nothing."""
    memory = read_sticky(member.user_data)
    return NOTHING if memory.generation is None else memory


def read_versioned_form(member: Member) -> PriorAssignment:
    """kafka-python's ``sticky``: a version of two bytes, then Java's form. Anything else is a memory of nothing.

    >>> data = bytes.fromhex("0001 00000001 0001 74 00000001 00000003 00000007")
    >>> read_versioned_form(Member(member_id="C0", user_data=data))
    PriorAssignment(owned=(TopicPartitions(topic='t', partitions=(3,)),), generation=7)
    """
    data = member.user_data or b""
    if len(data) < _INT16.size:
        return NOTHING
    version, memory = _INT16.unpack_from(data)[0], read_sticky(data[_INT16.size :])
    if version == 0:
        return PriorAssignment(owned=memory.owned, generation=NO_GENERATION)
    return NOTHING if memory.generation is None else memory


def read_fields_or_java_form(member: Member) -> PriorAssignment:
    """franz-go's ``cooperative-sticky``: the fields if they have a generation, else the user data."""
    return read_fields(member) if member.generation >= 0 else read_lenient_java_form(member)


def read_lenient_java_form(member: Member) -> PriorAssignment:
    """franz-go's ``sticky``: Java's form. No generation, and one below 0, count as 0."""
    memory = read_sticky(member.user_data)
    return PriorAssignment(owned=memory.owned, generation=max(memory.generation or 0, 0))


def claimed_places(memory: PriorAssignment) -> Iterator[TopicPartition]:
    """The partitions of a memory, one by one, in its order."""
    return (TopicPartition(entry.topic, each) for entry in memory.owned for each in numbers(entry.partitions))
