"""Share groups: answers of kafka-group-coordinator 4.3.1 where something is odd, and what users rely on."""

from __future__ import annotations

from collections import Counter
from math import ceil

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors.kafka_broker import ShareSimpleAssignor
from monitor.model import Quirk, TopicPartition, TopicPartitions
from tests.assignors.golden import plain
from tests.assignors.kafka_broker.groups import (
    having_some,
    keeping,
    member,
    places,
    subscribers,
    topic_shapes,
    topics,
    wanted,
)

ASSIGNOR = ShareSimpleAssignor()


def test_after_a_turn_in_vain_nothing_more_is_given():
    """Each of three partitions should have three readers: seven members, of which a and d should read two.

    Both have t-0 already, so they are asked for it in vain. t-1 is then not offered to them, though they lack it.
    """
    had = {"a": 0, "b": 1, "c": 1, "d": 0, "e": 2, "f": 2, "g": 2}
    answer = ASSIGNOR.assign([member(name, "t", t=[number]) for name, number in had.items()], topics(t=3))
    assert plain(answer) == {name: {"t": [number]} for name, number in had.items()}


def test_a_turn_in_vain_may_come_after_one_with_success():
    """c and d may read only one, and lose t-0. b takes it; a, who may read two, has it already."""
    had = {"a": [0], "b": [], "c": [0, 1], "d": [0, 1], "e": [1]}
    answer = ASSIGNOR.assign([member(name, "t", t=numbers) for name, numbers in had.items()], topics(t=2))
    assert plain(answer) == {"a": {"t": [0]}, "b": {"t": [0]}, "c": {"t": [1]}, "d": {"t": [1]}, "e": {"t": [1]}}


def test_a_partition_with_too_many_readers_loses_the_first():
    members = [member("a", "t", t=[0]), member("b", "t", t=[0])]
    assert plain(ASSIGNOR.assign(members, topics(t=2))) == {"a": {"t": [1]}, "b": {"t": [0]}}


def test_members_can_come_in_the_order_of_the_map():
    members = [member("b", "t"), member("a", "t")]
    assert plain(ASSIGNOR.assign(members, topics(t=3))) == {"b": {"t": [1]}, "a": {"t": [0, 2]}}
    assert plain(ASSIGNOR.assign_in_order(members, topics(t=3))) == {"b": {"t": [0, 2]}, "a": {"t": [1]}}


@pytest.mark.parametrize(
    ("members", "partitions", "assignable", "answer", "quirks"),
    [
        pytest.param(
            [member("a", "t", t=[2]), member("b", "t")],
            3,
            (0, 1),
            {"a": {"t": [2]}, "b": {"t": [0]}},
            (Quirk.UNASSIGNED,),
            id="what is no longer assignable stays and takes the place of what is",
        ),
        pytest.param(
            [member("a", "t", t=[5]), member("b", "t")],
            2,
            None,
            {"a": {"t": [5]}, "b": {"t": [0]}},
            (Quirk.DOES_NOT_EXIST, Quirk.UNASSIGNED),
            id="the same for what does not exist",
        ),
    ],
)
def test_odd_answers_say_so(members, partitions, assignable, answer, quirks):
    allowed = None if assignable is None else [TopicPartitions("t", assignable)]
    found = ASSIGNOR.assign(members, topics(t=partitions), assignable=allowed)
    assert plain(found) == answer
    assert found.quirks == quirks


def test_what_nobody_asks_for_any_more_goes_if_all_ask_for_the_same():
    members = [member("a", "t", t=[0], u=[0]), member("b", "t")]
    assert plain(ASSIGNOR.assign(members, topics(t=2, u=2))) == {"a": {"t": [0]}, "b": {"t": [1]}}


def test_what_nobody_asks_for_any_more_stays_if_subscriptions_differ():
    answer = ASSIGNOR.assign([member("A", "t", u=[1]), member("B", "")], topics(t=2, u=2))
    assert plain(answer) == {"A": {"t": [0, 1], "u": [1]}, "B": {}}
    assert Quirk.NOT_SUBSCRIBED in answer.quirks


def test_who_has_too_many_gives_up_the_first():
    members = [member("a", "t", t=[0, 1, 2, 3]), member("b", "tu", u=[0, 1])]
    answer = {"a": {"t": [2, 3]}, "b": {"t": [0, 1], "u": [0, 1]}}
    assert plain(ASSIGNOR.assign(members, topics(t=4, u=2))) == answer


@given(shapes=topic_shapes(), members=subscribers(), data=st.data())
def test_everything_is_read_by_those_who_asked_for_it(shapes, members, data):
    found = ASSIGNOR.assign(data.draw(having_some(members, shapes)), shapes)
    readers = {place for mine in places(found).values() for place in mine}
    assert readers == wanted(members, shapes)
    assert all(place.topic in one.topics for one in members for place in places(found)[one.member_id])
    assert found.quirks == ()


@given(shapes=topic_shapes(), members=subscribers(asked="tu"))
def test_with_the_same_subscriptions_shares_are_even(shapes, members):
    found = places(ASSIGNOR.assign(members, shapes))
    everything = wanted(members, shapes)
    sharing = ceil(len(members) / len(everything)) if everything else 0
    assert set(Counter(place for mine in found.values() for place in mine).values()) <= {sharing}
    sizes = [len(mine) for mine in found.values()]
    assert max(sizes) - min(sizes) <= 1


@given(shapes=topic_shapes(), members=subscribers())
def test_a_fresh_answer_that_is_fed_back_stays_as_it_is(shapes, members):
    answer = ASSIGNOR.assign(members, shapes)
    assert ASSIGNOR.assign(keeping(members, answer), shapes) == answer


@given(shapes=topic_shapes(), members=subscribers(), data=st.data())
def test_only_assignable_partitions_are_given(shapes, members, data):
    allowed = [
        TopicPartitions(shape.topic, tuple(number for number in range(shape.partitions) if data.draw(st.booleans())))
        for shape in shapes
    ]
    found = ASSIGNOR.assign(members, shapes, assignable=allowed)
    may = {TopicPartition(entry.topic, number) for entry in allowed for number in entry.partitions}
    assert {place for mine in places(found).values() for place in mine} == may & wanted(members, shapes)
