"""Clients of RocketMQ that were given the same id: each takes the other for itself, and both read the same queues.

A client's id is its address with its instance name (by default the process id, which is 1 in most containers). The
broker keeps one entry for an id, so a group of two such clients looks as if it had one member.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from monitor.detection.facts import Facts
from monitor.detection.sentences import duplicate_clients
from monitor.model import Finding, FindingKind, GroupKind, GroupState, Phase, Sharing


def duplicates_of(group: GroupState) -> tuple[str, ...]:
    """The ids that several clients of the group have, sorted: with more than one connection, or listed twice."""
    if group.sharing is not Sharing.EXCLUSIVE:
        return ()
    listed = Counter(member.member_id for member in group.members)
    return tuple(sorted({m.member_id for m in group.members if m.connections > 1 or listed[m.member_id] > 1}))


def find_duplicate_clients(facts: Facts) -> Iterable[Finding]:
    """Several connections with the id of one member, for longer than a broker keeps those of a client that vanished."""
    group = facts.group
    if group.kind is not GroupKind.ROCKETMQ or group.phase is not Phase.STABLE:
        return
    twice = duplicates_of(group)
    if not twice or facts.now_ms - group.generation_ms < facts.settings.connection_expiry_ms:
        return
    owners = facts.ownership.owners.items()
    partitions = tuple(sorted(p for p, own in owners if p in facts.known and not frozenset(own).isdisjoint(twice)))
    yield Finding(
        kind=FindingKind.DOUBLE_OWNED,
        reason="duplicate_client_id",
        since_ms=facts.not_later_than_now(group.generation_ms),
        sentence=duplicate_clients(twice, partitions, group),
        partitions=partitions,
        members=twice,
    )
