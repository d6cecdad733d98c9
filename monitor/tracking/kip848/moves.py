"""What moves between the members of a KIP-848 group, record by record, and what the rebalance cost once it has ended.

Every record of what a member owns now shows what it gained and gave back since the one before. A partition counts as
moved when its new owner is not its last one; the coordinator lets no member gain what another still has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from monitor.model import (
    IdPartitions,
    Member,
    OwnershipCount,
    Rebalance,
    Reconciliation,
    ReleasedPartitions,
    TopicPartition,
)
from monitor.tracking.rebalances.impact import Handover
from monitor.tracking.rebalances.moves import (
    fewest_moves,
    have_equal_subscriptions,
    member_identity,
    partitions_by_owner,
    partitions_of,
)


class MovesDraft:
    """Partitions that members gave back and that have no owner yet, by who had them. ``moved`` is counted from 0."""

    __slots__ = ("_released", "_stopped", "handed", "moved")

    def __init__(self, released: Iterable[ReleasedPartitions]) -> None:
        held = tuple(released)
        self._released = {place: each.who for each in held for place in partitions_of(each.topics)}
        self._stopped = {place: each.stopped_ms for each in held for place in partitions_of(each.topics)}
        self.moved = 0
        self.handed: dict[TopicPartition, Handover] = {}
        """What has moved since this was last emptied; topics by their ids."""

    def change(self, member: Member, after: Reconciliation) -> None:
        """The member owns something else now."""
        had, has = _owned_partitions(member.reconciliation), _owned_partitions(after)
        owner = member_identity(member)
        for place in has - had:
            last, stopped_ms = self._released.pop(place, owner), self._stopped.pop(place, None)
            if last != owner:
                self.moved += 1
                self.handed[place] = Handover(after.since_ms, stopped_ms)
        if had <= has:
            return
        told = _topic_partitions(member.reconciliation.revoking if member.reconciliation else ())
        told_ms = member.reconciliation.since_ms if member.reconciliation else None
        for place in had - has:
            self._released[place] = owner
            self._stopped[place] = told_ms if place in told else after.since_ms or None

    def remove(self, member: Member, at_ms: int) -> None:
        """The member is gone, with what it owned; a record before that may have shown the loss of what it owned."""
        self.change(member, Reconciliation(since_ms=at_ms))
        owner = member_identity(member)
        for place, stopped_ms in self._stopped.items():
            if stopped_ms is None and self._released[place] == owner:
                self._stopped[place] = at_ms

    def held_counts(self, members: Iterable[Member]) -> tuple[OwnershipCount, ...]:
        """Who has how much, or had it last."""
        counts: dict[str, int] = {}
        for owner in self._released.values():
            counts[owner] = counts.get(owner, 0) + 1
        for member in members:
            counts[member_identity(member)] = counts.get(member_identity(member), 0) + len(
                _owned_partitions(member.reconciliation)
            )
        return tuple(OwnershipCount(owner, count) for owner, count in sorted(counts.items()) if count)

    def reset(self, *, keeping: bool = False) -> None:
        """Every member has what it is to have. What is left has no owner any more, unless that is yet to come."""
        if not keeping:
            self._released.clear()
            self._stopped.clear()
        self.moved = 0

    def released(self) -> tuple[ReleasedPartitions, ...]:
        """As it is stored."""
        by_time: dict[int | None, dict[TopicPartition, str]] = {}
        for place, owner in self._released.items():
            by_time.setdefault(self._stopped.get(place), {})[place] = owner
        return tuple(
            sorted(
                (
                    replace(held, stopped_ms=at_ms)
                    for at_ms, owners in by_time.items()
                    for held in partitions_by_owner(owners)
                ),
                key=lambda held: (held.who, held.stopped_ms or 0),
            )
        )


def with_move_counts(rebalance: Rebalance, moved: int, members: Mapping[str, Member]) -> Rebalance:
    """The rebalance, over, with what it moved; ``members`` are those that it ended with."""
    moved += rebalance.moved
    if not moved:
        return rebalance
    has = {member_identity(member): len(_owned_partitions(member.reconciliation)) for member in members.values()}
    held = {entry.who: entry.partitions for entry in rebalance.held}
    needed = fewest_moves(held, has, alike=have_equal_subscriptions(members.values())) if has else moved
    return replace(rebalance, moved=moved, avoidable=max(0, moved - needed))


def _owned_partitions(reconciliation: Reconciliation | None) -> set[TopicPartition]:
    """By the topics' ids. What a member has yet to give back it still has."""
    if reconciliation is None:
        return set()
    return _topic_partitions((*reconciliation.assigned, *reconciliation.revoking))


def _topic_partitions(entries: Iterable[IdPartitions]) -> set[TopicPartition]:
    return {TopicPartition(entry.id, partition) for entry in entries for partition in entry.partitions}
