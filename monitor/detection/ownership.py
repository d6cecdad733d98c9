"""Who owns what, as the newest generation says."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.facts import Facts, Owners, Ownership
from monitor.detection.sentences import double_owned
from monitor.model import (
    Finding,
    FindingKind,
    GroupKind,
    GroupState,
    Member,
    MemberAssignment,
    Phase,
    Sharing,
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


def find_double_owned(facts: Facts) -> Iterable[Finding]:
    """Partitions that two members hold in the same generation: both read them, every record is processed twice.

    The members of a share group are meant to (KIP-932), as are those of a RocketMQ group that broadcasts.
    """
    if facts.group.kind is GroupKind.SHARE or facts.group.sharing is not Sharing.EXCLUSIVE:
        return
    double = {place: owners for place, owners in facts.ownership.owners.items() if len(owners) > 1}
    if double:
        by_strategy = {place: owners for place, owners in double.items() if _is_by_strategy(facts, place)}
        for is_mixed, own in ((True, by_strategy), (False, {p: o for p, o in double.items() if p not in by_strategy})):
            if own:
                yield _double_owned(facts, own, is_mixed)


def _is_by_strategy(facts: Facts, place: TopicPartition) -> bool:
    """Whether several members take it because each shares partitions out by another strategy (RocketMQ)."""
    return facts.expectation.fit is not None and len(facts.expectation.replayed.get(place, ())) > 1


def _double_owned(facts: Facts, double: Owners, is_mixed: bool) -> Finding:
    partitions = tuple(sorted(double))
    return Finding(
        kind=FindingKind.DOUBLE_OWNED,
        reason="mixed_strategy" if is_mixed else "same_generation",
        since_ms=facts.not_later_than_now(facts.group.generation_ms),
        sentence=double_owned(partitions, double[partitions[0]], facts.group, is_mixed=is_mixed),
        partitions=partitions,
        members=tuple(sorted({owner for owners in double.values() for owner in owners})),
    )
