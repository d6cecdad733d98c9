"""From the members of a group to what each of them gets, for both sticky assignors."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from monitor.assignors.anomalies import quirks_of
from monitor.assignors.java.order import hash_map_order
from monitor.assignors.kafka_client.sticky.general.assign import assign_general
from monitor.assignors.kafka_client.sticky.partition_index import KnownTopics, Places, known_topics
from monitor.assignors.kafka_client.sticky.prior_ownership import settle_claims
from monitor.assignors.kafka_client.sticky.racks import find_racks
from monitor.assignors.kafka_client.sticky.uniform import assign_uniform
from monitor.model import Assignment, Member, MemberAssignment, TopicShape, Value
from monitor.protocol.kafka.sticky_user_data import PriorAssignment


class Question(Value):
    """A group to assign."""

    ordered: tuple[Member, ...]
    """The members in the order of the original's map."""
    members: tuple[Member, ...]
    """The members in the order of the answer."""
    topics: tuple[TopicShape, ...]
    visit_order: tuple[str, ...] | None = None
    """The member ids in the order in which the uniform case visits them; None: as Java's ``HashMap``."""


def ask(members: Sequence[Member], topics: Sequence[TopicShape]) -> Question:
    """What the original's caller asks: its map is a ``HashMap``. Of members with one id the last counts."""
    by_id = {member.member_id: member for member in members}
    ordered = tuple(by_id[member_id] for member_id in hash_map_order(by_id))
    return Question(ordered=ordered, members=tuple(members), topics=tuple(topics))


class Solution(Value):
    """What the members get, in the order of the original's map."""

    known: KnownTopics
    places: tuple[Places, ...]
    moving: dict[int, int] | None
    """The partitions that another member may still hold, with their takers; None: not found out (general case)."""
    odd: bool
    """Whether the answer can have quirks."""


def solve(question: Question, memories: Sequence[PriorAssignment], seen_generation: int) -> Solution:
    """Assign a group.

    Args:
        question: the group.
        memories: what each member says it owned, in the order of the original's map.
        seen_generation: see ``settle_claims``.

    Raises:
        AssignorError: the original throws.
    """
    members, topics = question.ordered, question.topics
    known = known_topics(members, topics)
    claims = settle_claims(memories, [member.generation for member in members], known, seen_generation)
    racks = find_racks(members, known, topics)
    ids = [member.member_id for member in members]
    subscriptions = [member.topics for member in members]
    if not count_as_equal(subscriptions):
        answer = assign_general(ids, subscriptions, known, claims, racks)
        places = tuple(np.array(mine, np.int64) for mine in answer.places)
        return Solution(known=known, places=places, moving=None, odd=answer.odd)
    number = {member_id: position for position, member_id in enumerate(ids)}
    visits = [number[member_id] for member_id in (question.visit_order or hash_map_order(ids))]
    uniform = assign_uniform(ids, visits, known, claims, racks)
    odd = uniform.odd or len({frozenset(topics) for topics in set(subscriptions)}) > 1
    return Solution(known=known, places=uniform.places, moving=uniform.moving, odd=odd)


def count_as_equal(subscriptions: Iterable[tuple[str, ...]]) -> bool:
    """Whether all subscriptions count as the same, in the order of the original's map.

    Two quirks: the comparison is with the first subscription that is not empty, so empty ones before it count as equal.
    Their members are given partitions to which they do not subscribe. And only the number of names and their presence
    are compared, so a name that is there twice can replace another.

    >>> count_as_equal([(), ("t",), ("t",)]), count_as_equal([("t",), (), ("t",)])
    (True, False)
    """
    wanted: frozenset[str] = frozenset()
    equal: set[tuple[str, ...]] = set()
    for topics in subscriptions:
        if not wanted:
            wanted = frozenset(topics)
        elif topics not in equal:
            if len(topics) != len(wanted) or not wanted.issuperset(topics):
                return False
            equal.add(topics)
    return True


def to_assignment(solution: Solution, question: Question) -> Assignment:
    """The answer for the caller."""
    given = {
        member.member_id: MemberAssignment(member.member_id, solution.known.named(places))
        for member, places in zip(question.ordered, solution.places, strict=True)
    }
    answer = Assignment(members=tuple(given[name] for name in dict.fromkeys(m.member_id for m in question.members)))
    if not solution.odd:
        return answer
    return Assignment(members=answer.members, quirks=quirks_of(answer, question.ordered, question.topics))
