from __future__ import annotations

from itertools import permutations
from math import factorial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors import find
from monitor.assignors.java.hash_collisions import names_in_order
from monitor.assignors.java.order import hash_map_order, string_key
from monitor.assignors.order_sensitivity import order_sensitive, other_orders
from tests.assignors.strategies import groups, topic_shapes


@given(places=st.integers(1, 200).flatmap(lambda size: st.permutations(range(size))))
def test_names_sort_as_they_come_and_iterate_as_wanted(places):
    names = names_in_order(places)
    assert sorted(names, key=string_key) == names
    assert [names.index(name) for name in hash_map_order(names)] == sorted(range(len(places)), key=places.__getitem__)


def test_names_for_more_members_than_sixteen_bits_can_count():
    size = 70_000
    names = names_in_order(range(size))[::-1]
    assert hash_map_order(names) == names[::-1]


@pytest.mark.parametrize("size", [2, 3, 4])
def test_a_small_group_is_tried_in_all_orders(size):
    orders = list(other_orders(size, 100))
    assert len(orders) == factorial(size) - 1
    assert {*orders, tuple(range(size))} == set(permutations(range(size)))


@pytest.mark.parametrize("size", [5, 50])
def test_a_larger_group_is_tried_in_as_many_orders_as_one_likes(size):
    orders = list(other_orders(size, 20))
    assert orders[0] == tuple(reversed(range(size)))
    assert len(set(orders)) >= 15  # of the 119 other orders of five, two may be the same by chance
    assert all(sorted(order) == list(range(size)) for order in orders)
    assert list(other_orders(size, 5)) == orders[:5]


@given(members=groups(), topics=topic_shapes())
@pytest.mark.parametrize("name", ["range", "roundrobin"])
def test_a_function_of_the_sets_alone_is_never_sensitive(name, members, topics):
    assert not order_sensitive(find(name), members, topics)
