"""Whether ties could have gone another way.

The leader of a classic group and the coordinator of a new one keep the members in a ``java.util.HashMap``. Some of the
originals let its order decide between equals. That order follows from the spelling of the member ids, which means
nothing; where the ids that we see are not certain to be those that the original saw, an answer that hangs on them
deserves a lower voice.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from itertools import count, islice, permutations
from typing import Final, Protocol, runtime_checkable

from msgspec.structs import replace

from monitor.assignors.assignor import Assignor
from monitor.assignors.errors import AssignorError
from monitor.assignors.java.hash_collisions import names_in_order
from monitor.assignors.java.order import hash_map_order, string_key
from monitor.model import Assignment, Member, MemberAssignment, TopicShape, numbers

ORDERS: Final = 16
"""How many other orders are tried.

Measured: 5 find all of the 305 golden vectors that depend on an order. Of random groups of five and more members with
``sticky`` or ``cooperative-sticky``, whose ties are the hardest to find, 1 finds 69 %, 8 find 92 % and 16 find 97 % of
what 32 find.
"""
_FEW: Final = 4
"""All orders of so few members are tried before any is tried twice."""

Outcome = list[dict[str, tuple[int, ...]]] | str
"""The partitions that each member gets, by topic, in the order of the members and without any other; or the error."""


@runtime_checkable
class OrderedAssignor(Assignor, Protocol):
    """An assignor whose answer can depend on the order in which the original's map of members iterates."""

    def assign_in_order(self, members: Sequence[Member], topics: Sequence[TopicShape]) -> Assignment:
        """As ``assign``, but the map iterates in the order of ``members``."""
        ...


def order_sensitive(
    assignor: Assignor, members: Sequence[Member], topics: Sequence[TopicShape], orders: int = ORDERS
) -> bool:
    """Whether another order of the original's maps of members changes who gets what, or whether there is an answer.

    True is certain: some other member ids, which sort as these do, lead to another outcome. False is certain for
    strategies without ``assign_in_order``, whose answer is a function of the sets alone, and otherwise means that none
    of the ``orders`` other orders tried made a difference (all there are, in a group of three). The orders are always
    the same ones. The order of the lists that members get does not count.

    The cost is that of ``orders`` + 1 assignments where nothing is found.
    """
    if not isinstance(assignor, OrderedAssignor) or len(members) < 2:
        return False
    usual = _outcome(assignor, members, topics)
    return any(_outcome(assignor, group, topics) != usual for group in _renamed_groups(members, orders))


def other_orders(size: int, limit: int) -> Iterator[tuple[int, ...]]:
    """Up to ``limit`` orders of the numbers below ``size`` other than ascending: all there are if they are few.

    Descending comes first, since it turns every pair around. What follows is as scattered as a hash can make it, each
    order with its mirror image.

    >>> list(other_orders(3, 5))
    [(2, 1, 0), (2, 0, 1), (1, 2, 0), (1, 0, 2), (0, 2, 1)]
    """
    ascending = tuple(range(size))
    orders = _all_orders(size) if size <= _FEW else _scattered_orders(size)
    return islice((order for order in orders if order != ascending), limit)


def _all_orders(size: int) -> Iterator[tuple[int, ...]]:
    return permutations(reversed(range(size)))


def _scattered_orders(size: int) -> Iterator[tuple[int, ...]]:
    yield tuple(reversed(range(size)))
    for number in count(1):
        order = _scattered(size, number)
        yield order
        yield tuple(size - 1 - place for place in order)


def _scattered(size: int, number: int) -> tuple[int, ...]:
    return tuple(sorted(range(size), key=lambda item: blake2b(b"%d of order %d" % (item, number)).digest()))


def _renamed_groups(members: Sequence[Member], orders: int) -> Iterator[list[Member]]:
    """The members under other names, which sort as theirs do, for other orders than theirs in a ``HashMap``."""
    usual = hash_map_order(member.member_id for member in members)
    alphabetical = sorted(usual, key=string_key)
    for order in other_orders(len(usual), orders):
        place = dict(zip(usual, order, strict=True))
        names = dict(zip(alphabetical, names_in_order([place[name] for name in alphabetical]), strict=True))
        yield [replace(member, member_id=names[member.member_id]) for member in members]


def _outcome(assignor: Assignor, members: Sequence[Member], topics: Sequence[TopicShape]) -> Outcome:
    try:
        assignment = assignor.assign(members, topics)
    except AssignorError as error:
        return str(error)
    given = {member.member_id: _without_order(member) for member in assignment.members}
    return [given.get(member.member_id, {}) for member in members]


def _without_order(member: MemberAssignment) -> dict[str, tuple[int, ...]]:
    return {entry.topic: tuple(sorted(numbers(entry.partitions))) for entry in member.topics if entry.partitions}
