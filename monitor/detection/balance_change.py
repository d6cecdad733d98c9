"""How even an assignment is, as one value that can be set beside another."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.detection.facts import Owners, Ownership
from monitor.detection.imbalance import balance_of
from monitor.model import Member, Value


class BalanceSide(Value):
    """The member with most partitions, how many they are, how many the largest must have at least, and their ratio."""

    member_id: str
    largest: int
    optimum: int
    ratio: float


def balance_side(members: Sequence[Member], owners: Owners) -> BalanceSide | None:
    """How even it is that these members own these partitions; None if nobody owns anything."""
    subscribed = frozenset(topic for member in members for topic in member.topics)
    balance = balance_of(tuple(members), Ownership(owners=owners, subscribed=subscribed, complete=True))
    if balance is None:
        return None
    return BalanceSide(
        member_id=balance.member_id, largest=balance.largest, optimum=balance.optimum, ratio=balance.ratio
    )
