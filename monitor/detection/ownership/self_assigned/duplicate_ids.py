"""Clients of RocketMQ that were given the same id: each takes the other for itself, and both read the same queues.

A client's id is its address with its instance name (by default the process id, which is 1 in most containers). The
broker keeps one entry for an id, so a group of two such clients looks as if it had one member.
"""

from __future__ import annotations

from collections import Counter

from monitor.model import GroupState, Sharing


def duplicates_of(group: GroupState) -> tuple[str, ...]:
    """The ids that several clients of the group have, sorted: with more than one connection, or listed twice."""
    if group.sharing is not Sharing.EXCLUSIVE:
        return ()
    listed = Counter(member.member_id for member in group.members)
    return tuple(sorted({m.member_id for m in group.members if m.connections > 1 or listed[m.member_id] > 1}))
