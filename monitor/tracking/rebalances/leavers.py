"""Members that have left their group, as its log shows: with what they had, and since when."""

from __future__ import annotations

from monitor.model import STATIC_LEAVE_EPOCH, GroupState, Member, PartitionId, Value
from monitor.model.departures import longest_standing_ms
from monitor.protocol.offsets_topic import topic_key_of


class Leaver(Value):
    """A member that is gone from its group.

    ``since_ms`` is since when it had exactly these partitions, ``longest_ms`` how long it may have stood still: that
    long the group waits for a member that hangs, or that has died. Topics are names, or keys as in OffsetCommitted.
    """

    since_ms: int
    left_ms: int
    longest_ms: int
    partitions: tuple[tuple[str | int, PartitionId], ...]


def leavers_between(before: GroupState, after: GroupState, left_ms: int) -> list[Leaver]:
    """The members of a classic group that are not in its next generation, or have another id in the same one."""
    stayed = {member.member_id for member in after.members}
    gone = [member for member in before.members if member.member_id not in stayed]
    return [
        Leaver(
            since_ms=max(before.generation_ms, member.returned_ms),
            left_ms=left_ms,
            longest_ms=longest_standing_ms(member),
            partitions=tuple([(each.topic, number) for each in member.assigned for number in each.partitions]),
        )
        for member in gone
    ]


def leavers_of(member: Member | None, left_ms: int) -> list[Leaver]:
    """A member of a KIP-848 group that left, or whose record of what it owns was deleted; none if not known what.

    A static member may only go away (STATIC_LEAVE_EPOCH). The time from then until its session is over does not count.
    """
    reconciliation = None if member is None else member.reconciliation
    if member is None or reconciliation is None or reconciliation.epoch == STATIC_LEAVE_EPOCH or not left_ms:
        return []
    owned = (*reconciliation.assigned, *reconciliation.revoking)
    partitions = [(topic_key_of(each.id), number) for each in owned for number in each.partitions]
    return [Leaver(reconciliation.since_ms, left_ms, longest_standing_ms(member), tuple(partitions))]
