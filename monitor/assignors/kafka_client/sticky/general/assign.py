"""The general case of ``sticky`` and ``cooperative-sticky``: members subscribe to different topics.

Source: ``AbstractStickyAssignor.GeneralAssignmentBuilder`` of kafka-clients 4.3 (KIP-54, racks as of KIP-881).

Properties, in this order (as long as no member claims a partition that does not exist):

1. Every partition of a subscribed topic has exactly one owner.
2. No single move makes the group more even: no member holds two partitions more than another subscriber of one of their
   topics. That is not always the best that several moves together could reach.
3. Members keep what they own, as far as 2 allows, except where their rack has no replica of it.

Steps:

1. *Keep*: each member keeps what it owns, still subscribes to, and (where racks count) has a replica of on its rack.
2. *Hand out*: what is left goes, topics with the fewest subscribers first, to the subscriber with the fewest
   partitions, the first by id of equal ones. Where racks count, first to those on a rack of the partition.
3. *Balance*: see ``balance``. What was just handed out moves first, unless something had to be given up in step 1.
4. *Decide*: if a member owned something before and the balancing of all partitions moved some, its result counts only
   if it is more even than the state before step 3, by the sum of all differences between two members.

The original does the same with lists that it searches and a balance that it checks for every partition, and needs
31 s for 20,000 partitions and 1,000 members. Here ``LeastLoaded`` knows the least loaded subscriber, and a partition
is only looked at where a move is possible.

Worked example: C0 owns all of t, to which C1 now subscribes too. C1, the only subscriber of u, gets u. One partition
of t follows because C0 would have two more than C1.

>>> from monitor.assignors.kafka_client.sticky import StickyAssignor
>>> from monitor.model import Member, TopicShape
>>> members = [Member(member_id="C0", topics=("t",)), Member(member_id="C1", topics=("t", "u"))]
>>> topics = [TopicShape(topic="t", partitions=4), TopicShape(topic="u", partitions=1)]
>>> for member in StickyAssignor().assign(members, topics).members:
...     print(member.member_id, [(topic.topic, topic.partitions) for topic in member.topics])
C0 [('t', (0, 1, 3))]
C1 [('t', (2,)), ('u', (0,))]
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from monitor.assignors.kafka_client.sticky.general.balance import Balance, earlier_owners
from monitor.assignors.kafka_client.sticky.general.balance_with_stale_claims import WatchfulBalance
from monitor.assignors.kafka_client.sticky.general.current_assignment import Holdings, Stretch, keep_owned, unassigned
from monitor.assignors.kafka_client.sticky.general.least_loaded import LeastLoaded
from monitor.assignors.kafka_client.sticky.general.potential_consumers import Roster, form_roster
from monitor.assignors.kafka_client.sticky.partition_index import KnownTopics
from monitor.assignors.kafka_client.sticky.prior_ownership import Claims
from monitor.assignors.kafka_client.sticky.racks import Racks
from monitor.model import Value


class GeneralAnswer(Value):
    """What every member gets: places, in the order of the original's map and lists."""

    places: list[list[int]]
    odd: bool
    """Whether a member claimed what can make the answer odd."""


def assign_general(
    member_ids: Sequence[str],
    subscriptions: Sequence[tuple[str, ...]],
    known: KnownTopics,
    claims: Claims,
    racks: Racks,
) -> GeneralAnswer:
    """Assign a group. See the module for the rule.

    Args:
        member_ids: distinct, in the order of the original's map; the other arguments and the result have this order.
        subscriptions: the topics that each member subscribes to, known or not.
        known: the topics that have partitions and a subscriber.
        claims: what the members say they own.
        racks: where members and replicas are, if that counts.

    Raises:
        AssignorError: the original throws; possible only where partitions that do not exist are claimed or where a
            member with an old generation no longer asks for what it owned.
    """
    roster = form_roster(member_ids, subscriptions, known)
    kept = keep_owned(roster, known, claims, racks)
    holdings, fresh = kept.holdings, not kept.holdings.owner
    line = unassigned(roster, known, kept)
    _hand_out(line, roster, holdings, racks)
    earlier = earlier_owners(claims, roster)
    balance = Balance(roster, known, holdings, earlier)
    if kept.phantoms or balance.has_stranger():
        balance = WatchfulBalance(roster, known, holdings, earlier, racks)
    before = [list(places) for places in holdings.lists]
    if not kept.revoked:
        balance.move_what_helps(line)
    moved = balance.move_what_helps([Stretch(topic=topic, places=known.places(topic)) for topic in roster.line])
    useless = moved and not fresh and balance.unevenness(holdings.lists) >= balance.unevenness(before)
    return GeneralAnswer(
        places=_by_position(roster, before if useless else holdings.lists), odd=isinstance(balance, WatchfulBalance)
    )


def _hand_out(line: Sequence[Stretch], roster: Roster, holdings: Holdings, racks: Racks) -> None:
    counts = holdings.sizes()
    if racks.used:
        line = _hand_out_on_racks(line, roster, holdings, racks, counts)
    standing = LeastLoaded(counts, {stretch.topic: roster.subscribers[stretch.topic] for stretch in line})
    for stretch in line:
        for place in stretch.places:
            taker = standing.least(stretch.topic)
            if taker is not None:  # a known topic has subscribers, so there is always one
                holdings.give(place, taker)
                standing.grew(taker)


Home = tuple[int, str | None]
"""A topic, and the rack of some of its subscribers (None: those without a rack, who are at home everywhere)."""


def _hand_out_on_racks(
    line: Sequence[Stretch], roster: Roster, holdings: Holdings, racks: Racks, counts: list[int]
) -> list[Stretch]:
    """Hand out what a member on the right rack can take; gives what is left."""
    crowds: dict[Home, list[int]] = defaultdict(list)
    for stretch in line:
        for rank in roster.subscribers[stretch.topic]:
            crowds[stretch.topic, racks.of_member[roster.position[rank]]].append(rank)
    standing = LeastLoaded(counts, crowds)
    left = []
    for stretch in line:
        waiting = []
        for place in stretch.places:
            homes = [(stretch.topic, rack) for rack in (None, *racks.of_partition(place))]
            least = [first for home in homes if (first := standing.least(home)) is not None]
            if least:
                taker = min(least, key=lambda rank: (counts[rank], rank))
                holdings.give(place, taker)
                standing.grew(taker)
            else:
                waiting.append(place)
        if waiting:
            left.append(Stretch(topic=stretch.topic, places=waiting))
    return left


def _by_position(roster: Roster, lists: Sequence[list[int]]) -> list[list[int]]:
    answer: list[list[int]] = [[] for _ in lists]
    for rank, position in enumerate(roster.position):
        answer[position] = lists[rank]
    return answer
