"""Orders of the leader's topics, against all orders there are."""

from __future__ import annotations

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.assignors.dialects import Group
from monitor.assignors.dialects.libraries.platformatic import MAX_TOPIC_ORDERS, RoundRobin
from monitor.assignors.dialects.libraries.platformatic_sticky import locale_key
from monitor.model import Member, TopicShape
from monitor.model.evidence import RefusalReason

NAMES = ("a", "b", "c", "d", "e", "f", "g")
TINY = ("a", "b", "c", "d")


def group_of(members, counts, topics):
    """The first member leads, and names the topics in this order."""
    first, *others = (Member(member_id=f"C{number}", topics=topics) for number in reversed(range(members)))
    shapes = tuple(TopicShape(topic=name, partitions=counts[name]) for name in topics)
    return Group(members=(first, *others), topics=shapes, leader=first.member_id)


@given(
    members=st.integers(1, 4),
    counts=st.fixed_dictionaries({name: st.integers(0, 4) for name in TINY}),
    other=st.fixed_dictionaries({name: st.integers(0, 4) for name in TINY}),
    order=st.permutations(TINY),
)
def test_exactly_what_some_order_gives_is_accepted(members, counts, other, order):
    rule, group = RoundRobin(), group_of(members, counts, TINY)
    orders = [group_of(members, counts, names) for names in permutations(TINY)]
    everything = [rule.assign(replace(group, members=each.members)) for each in orders]
    possible = list(rule.possible_assignments(group))
    assert all(answer in everything for answer in possible)
    for answer in everything:
        assert answer in possible
        assert rule.refusal(answer, group) is None
    foreign = rule.assign(group_of(members, other, tuple(order)))
    assert (rule.refusal(foreign, group) is None) is (foreign in everything)


def test_all_orders_of_many_topics_are_known_though_not_all_are_tried():
    counts = dict(zip(NAMES, (3, 5, 1, 4, 2, 6, 5), strict=True))
    rule, group = RoundRobin(), group_of(3, counts, NAMES)
    assert len(list(rule.possible_assignments(group))) == MAX_TOPIC_ORDERS < 5040
    last = rule.assign(group_of(3, counts, NAMES[::-1]))
    assert last not in list(rule.possible_assignments(group))
    assert rule.refusal(last, group) is None


def test_a_topic_that_begins_where_none_ended_is_refused():
    """a has one partition and b two, so b begins with the second member, or a with the first again."""
    rule, group = RoundRobin(), group_of(3, {"a": 1, "b": 2}, ("a", "b"))
    wrong = rule.assign(group_of(3, {"a": 2, "b": 1}, ("a", "b")))
    refusal = rule.refusal(wrong, group)
    assert refusal is not None
    assert refusal.reason is RefusalReason.NOT_ASSIGNABLE  # a-1


@pytest.mark.parametrize(
    "ordered",
    [
        "t-1 T-1 t-1-1 t-10 t-2 t-a t-A T-a T-A t.2 t1 ta tA zz zZ Zz ZZ",
        "a A a_ a_b a- a-b a. a.b a0 aa aA Aa AA ab Ab b B c c.d",
    ],
)
def test_topics_stand_in_the_order_of_the_locale(ordered):
    """What Node 20 makes of these names with localeCompare."""
    names = ordered.split()
    by_code_point = sorted(names)
    assert by_code_point != names
    assert sorted(by_code_point, key=locale_key) == names
