"""@platformatic/kafka's ``roundrobin`` (@platformatic/kafka 2.12.1 and 1.35.0).

As with KafkaJS, only the *leader's* topics have owners. They are dealt in one round to all members, whether these
subscribe to them or not. But the members are not sorted: their order is that of the JoinGroup answer. A sole member
takes its topics. Source: ``roundRobinAssigner`` in ``clients/consumer/partitions-assigners.js``.

Worked example: C1 is first in the answer, and gets t-0.

>>> from msgspec.structs import replace
>>> from monitor.model import Member, TopicShape
>>> members = (Member(member_id="C1", topics=("u", "t")), Member(member_id="C0", topics=("t",)))
>>> topics = (TopicShape(topic="t", partitions=1), TopicShape(topic="u", partitions=2))
>>> group = Group(members=members, topics=topics, leader="C1")
>>> for member in RoundRobin().assign(group).members:
...     print(member.member_id, [(topic.topic, topic.partitions) for topic in member.topics])
C1 [('t', (0,)), ('u', (0,))]
C0 [('u', (1,))]

Version 1.35 sends its topics in the order in which it deals them. Version 2.12 sorts what it sends, and deals in the
order of the program. So ``possible_assignments`` tries other orders of the leader's topics.

``refusal`` knows all orders. Each topic shows at which member it began, and has to begin where the one before ended. So
an order is a path that uses every topic once, each from its first seat to its last (an Eulerian trail).

>>> other_order = replace(group, members=(replace(members[0], topics=("t", "u")), members[1]))
>>> RoundRobin().refusal(RoundRobin().assign(other_order), group) is None
True
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import islice, permutations
from typing import Final

from monitor.assignors.dialects.dealing import deal_to_everybody
from monitor.assignors.dialects.dialect import Group, ReplayedDialect
from monitor.assignors.dialects.libraries.kafkajs import leader_shapes
from monitor.assignors.dialects.refusals import first_difference, owners_by_partition
from monitor.model import Assignment, TopicPartition, TopicShape
from monitor.model.evidence import Refusal

MAX_TOPIC_ORDERS: Final = 120
"""How many orders of the leader's topics are tried: all there are of five topics."""


class RoundRobin(ReplayedDialect):
    """``roundrobin``, ``roundRobinAssigner``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails.

        Raises:
            UnknownLeaderError: the leader is no member.
        """
        return _deal(group, tuple(leader_shapes(group)))

    def possible_assignments(self, group: Group) -> Iterator[Assignment]:
        """See ``ReplayedDialect.possible_assignments``: those of up to ``MAX_TOPIC_ORDERS`` orders of topics."""
        orders = permutations(leader_shapes(group))
        return (_deal(group, shapes) for shapes in islice(orders, MAX_TOPIC_ORDERS))

    def refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """See ``CheckedDialect.refusal``. Knows all orders of the leader's topics, however many."""
        shapes = tuple(leader_shapes(group))
        order = _order_that_gives(given, group, shapes)
        return first_difference(given, _deal(group, shapes if order is None else order))


def _deal(group: Group, shapes: Sequence[TopicShape]) -> Assignment:
    return deal_to_everybody(group, group.members, shapes)


def _order_that_gives(given: Assignment, group: Group, shapes: Sequence[TopicShape]) -> list[TopicShape] | None:
    """The order of topics in which each begins where the one before ended, as far as their first partitions show it."""
    seats = {member.member_id: seat for seat, member in enumerate(group.members)}
    owners = owners_by_partition(given)
    leaving: dict[int, list[TopicShape]] = defaultdict(list)
    for shape in shapes:
        first = owners.get(TopicPartition(shape.topic, 0), ())
        if len(first) != 1 or first[0] not in seats:
            return None
        leaving[seats[first[0]]].append(shape)
    return _trail(leaving, len(seats), len(shapes))


def _trail(leaving: dict[int, list[TopicShape]], seats: int, topics: int) -> list[TopicShape] | None:
    """A trail from seat 0 over all topics, each of which leads from its seat over its partitions; if there is one.

    Hierholzer's algorithm. Where there is none, the result may be a list that is no trail.
    """
    path: list[tuple[int, TopicShape | None]] = [(0, None)]
    trail: list[TopicShape] = []
    while path:
        seat, shape = path[-1]
        if leaving.get(seat):
            following = leaving[seat].pop()
            path.append(((seat + following.partitions) % seats, following))
        else:
            path.pop()
            if shape is not None:
                trail.append(shape)
    trail.reverse()
    return trail if len(trail) == topics else None
