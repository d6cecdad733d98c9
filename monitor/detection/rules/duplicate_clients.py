"""Clients of RocketMQ with the same id: each takes the other for itself, and both read the same queues."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.detection.messages.findings import duplicate_clients
from monitor.detection.ownership.context import Facts
from monitor.detection.ownership.self_assigned.duplicate_ids import duplicates_of
from monitor.model import Finding, FindingKind, GroupKind, Phase


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
