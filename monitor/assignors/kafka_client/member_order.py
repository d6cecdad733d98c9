"""The order in which the client's assignors serve members."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.assignors.java.order import hash_map_order, string_key
from monitor.model import Member


def in_assignment_order(members: Sequence[Member]) -> list[Member]:
    """Static members first, by instance id; then dynamic members, by member id (both in Java's string order).

    A static member thereby keeps its place when it restarts with a new member id (KIP-345). An empty instance id is an
    instance id. Source: ``AbstractPartitionAssignor.MemberInfo.compareTo``.

    Two members with one instance id, which a coordinator does not allow, compare as equal there: they stay in the
    order of the original's ``HashMap`` of members.

    >>> static = [Member(member_id="a", instance_id="i2"), Member(member_id="b", instance_id="i1")]
    >>> [member.member_id for member in in_assignment_order([Member(member_id="A"), *static])]
    ['b', 'a', 'A']
    """
    by_id = {member.member_id: member for member in members}
    if _shares_instances(by_id.values()):
        by_id = {member_id: by_id[member_id] for member_id in hash_map_order(by_id)}
    return sorted(by_id.values(), key=_order)


def _order(member: Member) -> tuple[bool, bytes]:
    name = member.member_id if member.instance_id is None else member.instance_id
    return member.instance_id is None, string_key(name)


def _shares_instances(members: Iterable[Member]) -> bool:
    instances = [member.instance_id for member in members if member.instance_id is not None]
    return len(set(instances)) < len(instances)
