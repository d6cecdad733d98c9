"""What a rebalance moved: partitions with another owner than before, and how many of them a sticky assignor keeps.

A member is the same over generations by its instance id if it is static, else by its member id: a static member that
comes back under a new id has not given its partitions away. Some partitions have been revoked and have no owner yet
(the first half of a cooperative rebalance, KIP-429; the reconciliation of KIP-848). They count as moved once another
member has them, and not before.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from monitor.model import Member, PartitionId, ReleasedPartitions, TopicPartition, TopicPartitions, Value

Owners = dict[TopicPartition, str]
"""Who has a partition, or had it last."""


class Moves(Value):
    """``moved`` partitions changed their owner; ``avoidable`` of them need not have. ``released`` have no owner now."""

    moved: int = 0
    avoidable: int = 0
    released: tuple[ReleasedPartitions, ...] = ()


def member_identity(member: Member) -> str:
    """Who a member is over generations. An instance id cannot be taken for a member id: those begin otherwise.

    >>> member_identity(Member(member_id="c-1", instance_id="payments-0")), member_identity(Member(member_id="c-1"))
    ('instance payments-0', 'member c-1')
    """
    return f"member {member.member_id}" if member.instance_id is None else f"instance {member.instance_id}"


def moves_between(before: Iterable[Member], released: Iterable[ReleasedPartitions], after: Iterable[Member]) -> Moves:
    """What was moved from one completed generation of a classic group to the next.

    Args:
        before: the members of the generation before.
        released: partitions without an owner in it, with who had them last.
        after: the members of the new generation.
    """
    members = tuple(after)
    last = {place: held.who for held in released for place in partitions_of(held.topics)}
    last |= {place: member_identity(member) for member in before for place in partitions_of(member.assigned)}
    now = {place: member_identity(member) for member in members for place in partitions_of(member.assigned)}
    moved = sum(place in last and last[place] != owner for place, owner in now.items())
    held = Counter(owner for place, owner in last.items() if place in now)
    has = dict.fromkeys(map(member_identity, members), 0) | Counter(now.values())
    needed = fewest_moves(held, has, alike=have_equal_subscriptions(members)) if moved else 0
    unowned = _partitions_without_owner(last, now, _subscribed_topics(members))
    return Moves(moved=moved, avoidable=max(0, moved - needed), released=partitions_by_owner(unowned))


def fewest_moves(held: Mapping[str, int], has: Mapping[str, int], *, alike: bool) -> int:
    """How many partitions the stickiest balanced assignment has to move.

    Everything of those who are gone, and of the others what they have beyond their share. With equal subscriptions
    (``alike``) the shares are as even as can be, the larger ones for those who held most: that is the optimum of the
    sticky assignors (KIP-54). With different ones each member's share is what it has now: the fewest moves to these
    very numbers, as better ones are not known to be possible.

    Args:
        held: the partitions of each member before, of those that are assigned now.
        has: the partitions of each member now, all members.
        alike: whether all subscribe the same topics.

    >>> fewest_moves({"a": 4, "b": 4}, {"a": 3, "b": 3, "c": 2}, alike=True)
    2
    >>> fewest_moves({"a": 4, "gone": 2}, {"a": 3, "b": 3}, alike=True)
    3
    """
    gone = sum(count for owner, count in held.items() if owner not in has)
    stayed = sorted((owner for owner in has if held.get(owner)), key=lambda owner: -held[owner])
    shares = _even_shares(sum(has.values()), len(has)) if alike else None
    beyond = 0
    for rank, owner in enumerate(stayed):
        share = shares[rank] if shares is not None else has[owner]
        beyond += max(0, held[owner] - share)
    return gone + beyond


def partitions_of(topics: Iterable[TopicPartitions]) -> Iterator[TopicPartition]:
    """The partitions one by one, in the order in which they were given."""
    return (TopicPartition(entry.topic, partition) for entry in topics for partition in entry.partitions)


def have_equal_subscriptions(members: Iterable[Member]) -> bool:
    """Whether all members ask for the same."""
    return len({(frozenset(member.topics), member.regex) for member in members}) <= 1


def partitions_by_owner(owners: Mapping[TopicPartition, str]) -> tuple[ReleasedPartitions, ...]:
    """Partitions by who had them, as they are stored."""
    numbers: dict[str, dict[str, list[PartitionId]]] = {}
    for place in sorted(owners):
        numbers.setdefault(owners[place], {}).setdefault(place.topic, []).append(place.partition)
    return tuple(
        ReleasedPartitions(owner, tuple(TopicPartitions(topic, tuple(own)) for topic, own in topics.items()))
        for owner, topics in sorted(numbers.items())
    )


def _even_shares(partitions: int, members: int) -> list[int]:
    share, more = divmod(partitions, members)
    return [share + (rank < more) for rank in range(members)]


def _partitions_without_owner(last: Owners, now: Owners, subscribed: frozenset[str]) -> Owners:
    """What had an owner and has none now. Topics without a subscriber do not come back as moved."""
    return {place: owner for place, owner in last.items() if place not in now and place.topic in subscribed}


def _subscribed_topics(members: Iterable[Member]) -> frozenset[str]:
    return frozenset(topic for member in members for topic in member.topics)
