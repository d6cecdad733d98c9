"""Members as they would join if the group rebalanced now."""

from __future__ import annotations

from collections.abc import Iterable
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from monitor.model import Member
from monitor.protocol.kafka.sticky_user_data import PriorAssignment, write_sticky, write_versioned


def rejoining(
    members: Iterable[Member], generation: int, kafka_python: AbstractSet[str] = frozenset()
) -> tuple[Member, ...]:
    """Each member remembers what it was assigned in this generation, in every form in which assignors look for it.

    ``kafka_python``: the ids of members that write their user data as kafka-python does.

    >>> from monitor.model import TopicPartitions
    >>> [member] = rejoining([Member(member_id="C0", assigned=(TopicPartitions("t", (1,)),))], generation=7)
    >>> member.owned, member.generation, member.user_data.hex()
    ((TopicPartitions(topic='t', partitions=(1,)),), 7, '00000001000174000000010000000100000007')
    """
    return tuple(_rejoining(member, generation, is_versioned=member.member_id in kafka_python) for member in members)


def _rejoining(member: Member, generation: int, *, is_versioned: bool) -> Member:
    memory = PriorAssignment(owned=member.assigned, generation=generation)
    user_data = write_versioned(memory) if is_versioned else write_sticky(memory)
    return replace(member, owned=member.assigned, generation=generation, user_data=user_data)
