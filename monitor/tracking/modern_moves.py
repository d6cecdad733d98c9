"""What moves between the members of a KIP-848 group, record by record, and what the rebalance cost once it has ended.

Every record of what a member owns now says what it gained and gave back since the one before. A partition counts as
moved when somebody else gains it than had it last; the coordinator lets nobody gain what another still has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from monitor.model import Held, HeldCount, Member, Rebalance, Reconciliation, TopicPartition
from monitor.tracking.moves import are_alike, held_by, needed_moves, places_of, who


class MovesDraft:
    """Partitions that members gave back and that nobody has yet, by who had them. ``moved`` is counted from 0."""

    __slots__ = ("_released", "moved")

    def __init__(self, released: Iterable[Held]) -> None:
        self._released = {place: held.who for held in released for place in places_of(held.topics)}
        self.moved = 0

    def change(self, member: Member, after: Reconciliation) -> None:
        """The member owns something else now."""
        had, has = _owned(member.reconciliation), _owned(after)
        owner = who(member)
        for place in has - had:
            last = self._released.pop(place, owner)
            self.moved += last != owner
        for place in had - has:
            self._released[place] = owner

    def remove(self, member: Member) -> None:
        """The member is gone, with what it owned."""
        self.change(member, Reconciliation())

    def held_counts(self, members: Iterable[Member]) -> tuple[HeldCount, ...]:
        """Who has how much, or had it last."""
        counts: dict[str, int] = {}
        for owner in self._released.values():
            counts[owner] = counts.get(owner, 0) + 1
        for member in members:
            counts[who(member)] = counts.get(who(member), 0) + len(_owned(member.reconciliation))
        return tuple(HeldCount(owner, count) for owner, count in sorted(counts.items()) if count)

    def begin_anew(self, *, keeping: bool = False) -> None:
        """Every member has what it is to have. What is left belongs to nobody any more, unless that is yet to come."""
        if not keeping:
            self._released.clear()
        self.moved = 0

    def released(self) -> tuple[Held, ...]:
        """As it is stored."""
        return held_by(self._released)


def costed(rebalance: Rebalance, moved: int, members: Mapping[str, Member]) -> Rebalance:
    """The rebalance, over, with what it moved; ``members`` are those that it ended with."""
    moved += rebalance.moved
    if not moved:
        return rebalance
    has = {who(member): len(_owned(member.reconciliation)) for member in members.values()}
    held = {entry.who: entry.partitions for entry in rebalance.held}
    needed = needed_moves(held, has, alike=are_alike(members.values())) if has else moved
    return replace(rebalance, moved=moved, avoidable=max(0, moved - needed))


def _owned(standing: Reconciliation | None) -> set[TopicPartition]:
    """By the topics' ids. What a member has yet to give back it still has."""
    if standing is None:
        return set()
    entries = (*standing.assigned, *standing.revoking)
    return {TopicPartition(entry.id, partition) for entry in entries for partition in entry.partitions}
