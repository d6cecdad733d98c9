"""Who owns what, as the newest generation says."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from monitor.detection.client_libraries.habits import DROPPING
from monitor.detection.ownership.assigners import metadata_age_ms
from monitor.detection.ownership.context import Owners, Ownership
from monitor.detection.ownership.copies import without_copies
from monitor.model import (
    UNKNOWN_LIBRARY,
    ClientLibrary,
    GroupState,
    Member,
    MemberAssignment,
    Phase,
    TopicPartition,
)

_WITH_MEMBERS: Final = frozenset({Phase.STABLE, Phase.NOT_READY, Phase.ASSIGNING, Phase.RECONCILING})


def owners_by_partition(holdings: Iterable[MemberAssignment]) -> Owners:
    """The owners of every partition that a member holds, by member id, each once.

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


def read_ownership(group: GroupState, libraries: Mapping[str, ClientLibrary] | None = None) -> Ownership:
    """What the members of the group subscribe and hold. ``libraries``: the client library of each, by member id.

    ``complete`` says that every member's bytes could be read, so that "it has no owner" is certain and not merely
    "it has no owner that we can read". Of a member that cannot be read, what can be counts.
    """
    subscriptions = {member.topics for member in group.members}
    known = [member for member in group.members if member.unreadable is None or member.assignment_read]
    holders = owners_by_partition(MemberAssignment(member_id=m.member_id, topics=m.assigned) for m in known)
    owners, shared = without_copies(group, holders)
    is_lived_in = group.phase in _WITH_MEMBERS and group.protocol_type == "consumer" and bool(group.members)
    return Ownership(
        owners=owners,
        subscribed=frozenset[str]().union(*subscriptions),
        complete=is_lived_in and all(member.unreadable is None for member in group.members),
        is_lived_in=is_lived_in,
        owners_known=is_lived_in and len(known) == len(group.members),
        dropped=_dropped(known, owners, libraries) if libraries else frozenset(),
        shared=shared,
        metadata_age_ms=metadata_age_ms(group, libraries or {}),
    )


def _dropped(
    members: Iterable[Member], owners: Owners, libraries: Mapping[str, ClientLibrary]
) -> frozenset[TopicPartition]:
    """The partitions whose one owner does not subscribe to the topic and, by the habit of its library, drops them."""
    return frozenset(
        [
            place
            for member in members
            for entry in member.assigned
            if entry.topic not in member.topics and _drops(libraries.get(member.member_id, UNKNOWN_LIBRARY))
            for place in [TopicPartition(entry.topic, number) for number in entry.partitions]
            if len(owners[place]) == 1
        ]
    )


def _drops(library: ClientLibrary) -> bool:
    return bool(library.libraries) and DROPPING.issuperset(library.libraries)


def held_since_ms(group: GroupState, member: Member) -> int:
    """Since when a member has held exactly what it holds: of the generation; in a KIP-848 group, of its own record."""
    return group.generation_ms if member.reconciliation is None else member.reconciliation.since_ms


def began_ms(group: GroupState, member: Member) -> int:
    """Since when this process may have read what it holds: a static member comes back into the same generation."""
    return max(held_since_ms(group, member), member.returned_ms)
