"""Who owns what, as the newest generation says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Owners, Ownership
from monitor.model import (
    GroupState,
    Member,
    MemberAssignment,
    Phase,
    TopicPartition,
)

_WITH_MEMBERS: Final = frozenset({Phase.STABLE, Phase.ASSIGNING, Phase.RECONCILING})


def owners_by_partition(holdings: Iterable[MemberAssignment]) -> Owners:
    """The owners of every partition somebody holds, by member id, each once.

    >>> from monitor.model import TopicPartitions
    >>> both = MemberAssignment(member_id="C0", topics=(TopicPartitions("t", (0, 1)),))
    >>> one = MemberAssignment(member_id="C1", topics=(TopicPartitions("t", (1,)),))
    >>> owners_by_partition([both, one])[TopicPartition("t", 1)]
    ('C0', 'C1')
    """
    owners: Owners = {}
    for holding in holdings:
        sole = (holding.member_id,)
        for entry in holding.topics:
            for partition in entry.partitions:
                place = TopicPartition(entry.topic, partition)
                others = owners.setdefault(place, sole)
                if holding.member_id not in others:
                    owners[place] = tuple(sorted(others + sole))
    return owners


def read_ownership(group: GroupState) -> Ownership:
    """What the members of the group subscribe and hold.

    ``complete`` says that every member's bytes could be read, so that "nobody owns it" is certain and not merely
    "nobody whom we can read". Of a member that cannot be read, what can be counts.
    """
    subscriptions = {member.topics for member in group.members}
    known = [member for member in group.members if member.unreadable is None or member.assignment_read]
    is_lived_in = group.phase in _WITH_MEMBERS and group.protocol_type == "consumer" and bool(group.members)
    return Ownership(
        owners=owners_by_partition(MemberAssignment(member_id=m.member_id, topics=m.assigned) for m in known),
        subscribed=frozenset[str]().union(*subscriptions),
        complete=is_lived_in and all(member.unreadable is None for member in group.members),
        is_lived_in=is_lived_in,
        owners_known=is_lived_in and len(known) == len(group.members),
    )


def held_since_ms(group: GroupState, member: Member) -> int:
    """Since when a member has held exactly what it holds: of the generation; in a KIP-848 group, of its own record."""
    return group.generation_ms if member.reconciliation is None else member.reconciliation.since_ms
