"""@platformatic/kafka's ``cooperative-sticky`` (@platformatic/kafka 2.12.1).

An algorithm of its own under Java's name. Only the *leader's* topics have owners. A *reader* of a topic is a member
that subscribes to it. Names are compared in units of UTF-16, unless stated otherwise.

Steps:

1. *Claims*: only members with the newest generation count. A member owns what it claims, still subscribes to, and no
   other one claims. What several of them claim is *contested*, and has no owner.
2. *Keep*: everybody keeps what it owns.
3. *Hand out*: what is left goes, by topic and number, to the reader with the fewest partitions, the first by id.
4. *Balance*: with n partitions and m members, readers or not, a member should have at least floor(n / m) and at most
   ceil(n / m). The first member by id that has too few takes one from a member that has too many, the largest first.
   It gets that one's first partition, in the order of the *locale*, that it subscribes to. This continues while a
   member with too few can take one from any with too many.
5. *Withhold*: what came to a member that did not own it has no owner, if another member claims it (contested or not)
   and did not get it.

The locale is taken for English. A topic's name has ``_ - .``, digits and letters, which come in this order. Letters are
compared without their case at first; of names that are equal then, small letters come first.

Source: ``cooperativeStickyAssigner`` in ``clients/consumer/partitions-assigners.js``.

Worked example: C0 owns everything and has to give up two partitions. C1 gets them in the next round.

>>> from monitor.model import TopicPartitions
>>> owned = (TopicPartitions("t", (0, 1, 2, 3)),)
>>> members = (Member(member_id="C0", topics=("t",), owned=owned, generation=4), Member(member_id="C1", topics=("t",)))
>>> group = Group(members=members, topics=(TopicShape(topic="t", partitions=4),), leader="C0")
>>> for member in CooperativeSticky().assign(group).members:
...     print(member.member_id, [topic.partitions for topic in member.topics])
C0 [(2, 3)]
C1 []
"""

from __future__ import annotations

from bisect import insort
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final

from monitor.assignors.dialects.dealing import assign_places
from monitor.assignors.dialects.dialect import Group, ReplayedDialect
from monitor.assignors.dialects.libraries.kafkajs import leader_shapes
from monitor.assignors.dialects.member_orders import by_member_id_in_utf16
from monitor.assignors.dialects.sticky.memories import claimed_places, read_fields
from monitor.assignors.java.text import string_key
from monitor.assignors.kafka_client.sticky.general.least_loaded import LeastLoaded
from monitor.model import Assignment, Member, TopicPartition, TopicShape, Value, number

_PUNCTUATION: Final = "_-."
"""What is no digit and no letter, in the order of the locale, before all of these."""


class CooperativeSticky(ReplayedDialect):
    """``cooperative-sticky``, ``cooperativeStickyAssigner``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails.

        Raises:
            UnknownLeaderError: the leader is no member.
        """
        members = by_member_id_in_utf16(group.members)
        topics = _topics_to_assign(group)
        claims = _claims(members, topics)
        holdings = _Holdings(members)
        for place, rank in claims.owners.items():
            holdings.give(place, rank)
        _hand_out(topics, members, holdings)
        _balance(members, holdings)
        places = {
            member.member_id: [place for place in holdings.places(rank) if not claims.is_withheld(place, rank)]
            for rank, member in enumerate(members)
        }
        return assign_places(group, places)


class _Claims(Value):
    """Whose word counts. Members are ranks, their places by member id."""

    owners: dict[TopicPartition, int]
    contested: frozenset[TopicPartition]
    claimants: dict[TopicPartition, frozenset[int]]
    """All members that claim an owned or contested partition, whether their claim counts or not."""

    def is_withheld(self, place: TopicPartition, taker: int) -> bool:
        """Whether the taker, to which the partition should go, has to wait for a claimant that does not get it."""
        if place in self.contested:
            return any(rank != taker for rank in self.claimants[place])
        return self.owners.get(place, taker) != taker


def _topics_to_assign(group: Group) -> list[TopicShape]:
    read = frozenset[str]().union(*{member.topics for member in group.members})
    return sorted((s for s in leader_shapes(group) if s.topic in read), key=lambda shape: string_key(shape.topic))


def _claims(members: Sequence[Member], topics: Sequence[TopicShape]) -> _Claims:
    counts = {shape.topic: shape.partitions for shape in topics}
    newest = max((member.generation for member in members), default=-1)
    claimants: dict[TopicPartition, list[int]] = defaultdict(list)
    trusted: dict[TopicPartition, list[int]] = defaultdict(list)
    for rank, member in enumerate(members):
        for place in claimed_places(read_fields(member)):
            if 0 <= number(place.partition) < counts.get(place.topic, 0):
                claimants[place].append(rank)
                if member.generation == newest and place.topic in member.topics:
                    trusted[place].append(rank)
    contested = frozenset(place for place, ranks in trusted.items() if len(ranks) > 1)
    return _Claims(
        owners={place: ranks[0] for place, ranks in trusted.items() if len(ranks) == 1},
        contested=contested,
        claimants={place: frozenset(claimants[place]) for place in trusted},
    )


class _Holdings:
    """What each member holds (by rank), topic by topic, partitions ascending."""

    def __init__(self, members: Sequence[Member]) -> None:
        self.sizes = [0] * len(members)
        self._topics: list[dict[str, list[int]]] = [{} for _ in members]

    def give(self, place: TopicPartition, rank: int) -> None:
        insort(self._topics[rank].setdefault(place.topic, []), number(place.partition))
        self.sizes[rank] += 1

    def take_first(self, rank: int, wanted: frozenset[str]) -> TopicPartition | None:
        """Take away the member's first partition of these topics, in the order of the locale; None: it has none."""
        held = self._topics[rank]
        topic = min(held.keys() & wanted, key=locale_key, default=None)
        if topic is None:
            return None
        partition = held[topic].pop(0)
        if not held[topic]:
            del held[topic]
        self.sizes[rank] -= 1
        return TopicPartition(topic, partition)

    def owned(self) -> set[TopicPartition]:
        """All partitions that have an owner."""
        return {place for rank in range(len(self.sizes)) for place in self.places(rank)}

    def places(self, rank: int) -> Iterator[TopicPartition]:
        return (TopicPartition(topic, each) for topic, held in self._topics[rank].items() for each in held)


def _hand_out(topics: Sequence[TopicShape], members: Sequence[Member], holdings: _Holdings) -> None:
    readers = {
        shape.topic: [rank for rank, member in enumerate(members) if shape.topic in member.topics] for shape in topics
    }
    standing = LeastLoaded(list(holdings.sizes), readers)
    owned = holdings.owned()
    for shape in topics:
        for place in (TopicPartition(shape.topic, partition) for partition in range(shape.partitions)):
            taker = None if place in owned else standing.least(shape.topic)
            if taker is not None:
                holdings.give(place, taker)
                standing.grew(taker)


def _balance(members: Sequence[Member], holdings: _Holdings) -> None:
    """Move partitions from members that have too many to those that have too few, as long as that is possible."""
    least, rest = divmod(sum(holdings.sizes), max(len(members), 1))
    most = least + (rest > 0)
    poor = [rank for rank, size in enumerate(holdings.sizes) if size < least]
    rich = sorted((-size, rank) for rank, size in enumerate(holdings.sizes) if size > most)
    for taker in poor:  # who can take nothing more now never can: the rich only lose
        wanted = frozenset(members[taker].topics)
        while holdings.sizes[taker] < least and _move_one(rich, taker, wanted, holdings, most):
            pass


def _move_one(rich: list[tuple[int, int]], taker: int, wanted: frozenset[str], holdings: _Holdings, most: int) -> bool:
    """Move one partition to the taker, from the first of the rich that has one for it; whether any has.

    The rich are pairs of minus the size and the rank, in order.
    """
    for position, (_, giver) in enumerate(rich):
        place = holdings.take_first(giver, wanted)
        if place is not None:
            holdings.give(place, taker)
            del rich[position]
            if holdings.sizes[giver] > most:
                insort(rich, (-holdings.sizes[giver], giver))
            return True
    return False


def locale_key(name: str) -> tuple[list[int], list[bool]]:
    """The sort key of a topic's name as JavaScript's ``localeCompare`` orders it; see the module.

    >>> sorted(["t1", "T", "t", "t-a", "t_1", "t-A", "t.2"], key=locale_key)
    ['t', 'T', 't_1', 't-a', 't-A', 't.2', 't1']
    """
    return [_weight(letter) for letter in name.lower()], [letter.isupper() for letter in name]


def _weight(letter: str) -> int:
    place = _PUNCTUATION.find(letter)
    return ord(letter) if place < 0 else place
