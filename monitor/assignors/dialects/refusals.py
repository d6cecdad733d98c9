"""How an assignment differs from the one that an assignor gives, as a refusal of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping

from monitor.model import Assignment, TopicPartition
from monitor.model.evidence import Refusal, RefusalReason

OwnersByPartition = Mapping[TopicPartition, tuple[str, ...]]
"""The owners of each partition that has any, in the order of the assignment."""


def owners_by_partition(assignment: Assignment) -> OwnersByPartition:
    """Who owns each partition. A topic may be named twice: its partitions are added up.

    >>> from monitor.model import MemberAssignment, TopicPartitions
    >>> twice = (TopicPartitions("t", (0,)), TopicPartitions("t", (2,)))
    >>> owners = owners_by_partition(Assignment(members=(MemberAssignment("C0", twice),)))
    >>> [(place.partition, names) for place, names in owners.items()]
    [(0, ('C0',)), (2, ('C0',))]
    """
    owners: dict[TopicPartition, dict[str, None]] = defaultdict(dict)
    for member in assignment.members:
        for entry in member.topics:
            for partition in entry.partitions:
                owners[TopicPartition(entry.topic, partition)][member.member_id] = None
    return {place: tuple(names) for place, names in owners.items()}


def first_difference(given: Assignment, expected: Assignment) -> Refusal | None:
    """The first partition, by topic and number, whose owner is not the expected one; None: the two are equal.

    Args:
        given: what may have been given.
        expected: what the assignor gives: an entry for every member, and at most one owner of a partition.
    """
    owners, rightful = owners_by_partition(given), owners_by_partition(expected)
    if owners == rightful:
        return None
    members = {member.member_id for member in expected.members}
    place = min(place for place in owners.keys() | rightful.keys() if owners.get(place) != rightful.get(place))
    return _difference(place, owners.get(place, ()), rightful.get(place, ()), members)


def _difference(
    place: TopicPartition, owners: tuple[str, ...], rightful: tuple[str, ...], members: set[str]
) -> Refusal:
    other = rightful[0] if rightful else None
    if not owners:
        return Refusal(RefusalReason.UNASSIGNED, place, other=other)
    if len(owners) > 1:
        return Refusal(RefusalReason.ASSIGNED_TWICE, place, owners[0], owners[1])
    if owners[0] not in members:
        return Refusal(RefusalReason.UNKNOWN_MEMBER, place, owners[0], other)
    if other is None:
        return Refusal(RefusalReason.NOT_ASSIGNABLE, place, owners[0])
    return Refusal(RefusalReason.OTHER_OWNER, place, owners[0], other)
