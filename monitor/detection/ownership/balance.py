"""How even the partitions of a group are shared out, as one value that can be set beside another."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from monitor.detection.ownership.context import Owners, Ownership
from monitor.detection.ownership.optimum import smallest_largest
from monitor.model import Member, Value
from monitor.model.evidence import Balance


def balance_of(members: tuple[Member, ...], ownership: Ownership) -> Balance | None:
    """How even the owned partitions are. None if no partition has an owner, or if a member cannot be read.

    A partition that its owner does not subscribe is left out on both sides: no assignment may give it to that member.
    One with two owners is work for two on both sides: that is another finding, and not also an imbalance.
    """
    if not ownership.complete:
        return None
    distinct = {member.topics: frozenset(member.topics) for member in members}
    topics_of = {member.member_id: distinct[member.topics] for member in members}
    loads: Counter[str] = Counter()
    partitions: Counter[str] = Counter()
    for place, owners in ownership.owners.items():
        rightful = [owner for owner in owners if place.topic in topics_of[owner]]
        loads.update(rightful)
        partitions[place.topic] += len(rightful)
    if not loads:
        return None
    largest = max(loads.values())
    member_id = min(member for member, load in loads.items() if load == largest)
    optimum = smallest_largest(list(topics_of.values()), partitions)
    return Balance(member_id=member_id, largest=largest, optimum=optimum, topics=len(partitions))


class BalanceSide(Value):
    """How evenly the members own the partitions."""

    member_id: str
    """The member with most partitions."""
    largest: int
    """Its number of partitions."""
    optimum: int
    """Partitions of the largest member in an optimal assignment."""
    ratio: float
    """largest divided by optimum."""


def balance_side(members: Sequence[Member], owners: Owners) -> BalanceSide | None:
    """How evenly these members own these partitions; None if no partition has an owner."""
    subscribed = frozenset(topic for member in members for topic in member.topics)
    balance = balance_of(tuple(members), Ownership(owners=owners, subscribed=subscribed, complete=True))
    if balance is None:
        return None
    return BalanceSide(
        member_id=balance.member_id, largest=balance.largest, optimum=balance.optimum, ratio=balance.ratio
    )
