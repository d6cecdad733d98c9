"""Partitions on their way in a KIP-848 group: one member still has them, another is to have them.

A handover is normal and takes a heartbeat or two. The old owner has as long as its rebalance timeout to give
partitions back, and is fenced after that; one that takes longer holds up the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from monitor.detection.ownership.context import Owners
from monitor.model import GroupState, Handover, Member, TopicPartition, TopicPartitions


def handovers_of(
    group: GroupState, member: Member, revoking: Iterable[TopicPartitions], targets: Owners
) -> Iterator[Handover]:
    """What this member still has and is not to have, by who is to have it.

    Args:
        group: the group.
        member: one of it, with what it has, by name.
        revoking: those of its partitions that the broker has requested it to revoke.
        targets: who is to own what.
    """
    told = {TopicPartition(entry.topic, number) for entry in revoking for number in entry.partitions}
    on_their_way: dict[tuple[bool, str | None], list[TopicPartition]] = {}
    for entry in member.assigned:
        for number in entry.partitions:
            place = TopicPartition(entry.topic, number)
            heirs = targets.get(place, ())
            if member.member_id not in heirs:
                on_their_way.setdefault((place in told, heirs[0] if heirs else None), []).append(place)
    standing_ms = (member.reconciliation.since_ms if member.reconciliation is not None else 0) or group.generation_ms
    for (is_told, heir), places in on_their_way.items():
        yield Handover(
            owner=member.member_id,
            heir=heir,
            is_told=is_told,
            since_ms=standing_ms if is_told else max(standing_ms, group.generation_ms),
            grace_ms=member.rebalance_timeout_ms or None,
            partitions=tuple(sorted(places)),
        )
