"""``uniform``: answers of kafka-group-coordinator 4.3.1 that show a rule each, and what users rely on."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors.kafka_broker import UniformAssignor
from monitor.assignors.kafka_broker.group import SubscriptionType
from monitor.model import Quirk
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

ASSIGNOR = UniformAssignor()


@pytest.mark.parametrize(
    ("members", "shapes", "answer"),
    [
        pytest.param(
            [member("b", "t"), member("a", "t")],
            topics(t=3),
            {"a": {"t": [0]}, "b": {"t": [1, 2]}},
            id="the first in the map's order leaves the extra to the last",
        ),
        pytest.param(
            [member("q", "t"), member("a", "t")],
            topics(t=3),
            {"q": {"t": [0]}, "a": {"t": [1, 2]}},
            id="q and a share a place of the map, and q came first",
        ),
        pytest.param(
            [member("a", "t"), member("q", "t")],
            topics(t=3),
            {"a": {"t": [0]}, "q": {"t": [1, 2]}},
            id="q and a share a place of the map, and a came first",
        ),
        pytest.param(
            [member("a", "t", t=[0, 1]), member("b", "t", t=[2, 3, 4])],
            topics(t=5),
            {"a": {"t": [0, 1]}, "b": {"t": [2, 3, 4]}},
            id="whoever has the extra keeps it",
        ),
        pytest.param(
            [member("a", "tu", t=[0]), member("b", "tu", t=[1, 2], u=[0, 1])],
            topics(t=3, u=2),
            {"a": {"t": [0], "u": [1]}, "b": {"t": [1, 2], "u": [0]}},
            id="what is too much is given up from the end of the map of topics",
        ),
        pytest.param(
            [member("a", "t", t=[16, 1, 17, 2, 3, 15]), *(member(name, "t") for name in "bcdef")],
            topics(t=18),
            {
                "a": {"t": [1, 16, 17]},
                **{"b": {"t": [0, 4, 5]}, "c": {"t": [6, 7, 8]}, "d": {"t": [9, 10, 11]}, "e": {"t": [12, 13, 14]}},
                "f": {"t": [2, 3, 15]},
            },
            id="a set of Java has 16 before 1 and 17, and these before 2",
        ),
        pytest.param(
            [member("a", "t", t=[0, 1, 2, 3]), member("b", "tu", u=[0, 1]), member("c", "u")],
            topics(t=4, u=2),
            {"a": {"t": [0, 1, 2]}, "b": {"t": [3], "u": [0]}, "c": {"u": [1]}},
            id="different subscriptions: one partition of each topic moves",
        ),
        pytest.param(
            [member("a", "t"), member("b", "tu")],
            topics(t=3, u=3),
            {"a": {"t": [0, 1, 2]}, "b": {"u": [0, 1, 2]}},
            id="different subscriptions: the topic with one subscriber goes first",
        ),
        pytest.param(
            [member("a", "t", t=[0, 1, 2, 3]), member("b", "t"), member("c", "tu")],
            topics(t=4, u=1),
            {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}, "c": {"u": [0]}},
            id="different subscriptions: c has its one already",
        ),
    ],
)
def test_answers_of_the_original(members, shapes, answer):
    assert plain(ASSIGNOR.assign(members, shapes)) == answer


def test_the_coordinators_word_on_subscriptions_counts():
    """Told that they are the same, a and b share the first one's topic; told that they differ, the last ones move."""
    told = ASSIGNOR.assign(
        [member("a", "t"), member("b", "u")], topics(t=2, u=2), subscription_type=SubscriptionType.HOMOGENEOUS
    )
    assert plain(told) == {"a": {"t": [0]}, "b": {"t": [1]}}
    assert told.quirks == (Quirk.NOT_SUBSCRIBED, Quirk.UNASSIGNED)
    members = [member("a", "t", t=[0, 1, 3]), member("b", "t")]
    told = ASSIGNOR.assign(members, topics(t=4), subscription_type=SubscriptionType.HETEROGENEOUS)
    assert plain(told) == {"a": {"t": [0, 1]}, "b": {"t": [2, 3]}}


def test_members_can_come_in_the_order_of_the_map():
    members = [member("b", "t"), member("a", "t")]
    assert plain(ASSIGNOR.assign_in_order(members, topics(t=3))) == {"b": {"t": [0]}, "a": {"t": [1, 2]}}


@given(shapes=topic_shapes(), members=subscribers(), data=st.data())
def test_every_partition_has_one_owner_who_asked_for_it(shapes, members, data):
    answer = ASSIGNOR.assign(data.draw(having_some(members, shapes)), shapes)
    found = places(answer)
    assert Counter(place for mine in found.values() for place in mine) == Counter(wanted(members, shapes))
    assert all(place.topic in one.topics for one in members for place in found[one.member_id])
    assert answer.quirks == ()


@given(shapes=topic_shapes(), members=subscribers(asked=("t", "v", "gone")), data=st.data())
def test_with_the_same_subscriptions_members_have_equally_many_and_keep_what_they_may(shapes, members, data):
    before = data.draw(having_some(members, shapes))
    found = places(ASSIGNOR.assign(before, shapes))
    sizes = sorted(map(len, found.values()))
    assert sizes[-1] - sizes[0] <= 1
    for one in before:
        had = {(entry.topic, number) for entry in one.assigned for number in entry.partitions}
        kept = had & {(place.topic, place.partition) for place in found[one.member_id]}
        assert len(kept) >= min(len(had), sizes[0])


@given(shapes=topic_shapes(), members=subscribers(), data=st.data())
def test_nobody_has_two_more_than_another_who_could_take_one(shapes, members, data):
    """With three topics 16 rounds always suffice."""
    found = places(ASSIGNOR.assign(data.draw(having_some(members, shapes)), shapes))
    for shape in shapes:
        subscribed = [len(found[one.member_id]) for one in members if shape.topic in one.topics]
        owners = [len(mine) for mine in found.values() if any(place.topic == shape.topic for place in mine)]
        assert max(owners, default=0) - min(subscribed, default=0) <= 1


@given(shapes=topic_shapes(), members=subscribers(), data=st.data())
def test_an_answer_that_is_fed_back_stays_as_it_is(shapes, members, data):
    before = data.draw(having_some(members, shapes))
    answer = ASSIGNOR.assign(before, shapes)
    assert ASSIGNOR.assign(keeping(members, answer), shapes) == answer
