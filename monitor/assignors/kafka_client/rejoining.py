"""Members as they would join if the group rebalanced now."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from monitor.model import Member
from monitor.protocol.kafka.sticky_user_data import PriorAssignment, write_sticky


def rejoining(members: Iterable[Member], generation: int) -> tuple[Member, ...]:
    """Each member remembers what it was assigned in this generation, in every form in which assignors look for it.

    >>> from monitor.model import TopicPartitions
    >>> [member] = rejoining([Member(member_id="C0", assigned=(TopicPartitions("t", (1,)),))], generation=7)
    >>> member.owned, member.generation, member.user_data.hex()
    ((TopicPartitions(topic='t', partitions=(1,)),), 7, '00000001000174000000010000000100000007')
    """
    return tuple(
        replace(
            member,
            owned=member.assigned,
            generation=generation,
            user_data=write_sticky(PriorAssignment(owned=member.assigned, generation=generation)),
        )
        for member in members
    )
