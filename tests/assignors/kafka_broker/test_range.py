"""The broker's ``range``: answers of kafka-group-coordinator 4.3.1, and what users rely on."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.assignors.kafka_broker import BrokerRangeAssignor
from monitor.assignors.kafka_broker.group import SubscriptionType
from monitor.model import Quirk
from tests.assignors.golden import plain
from tests.assignors.kafka_broker.groups import having_some, member, places, subscribers, topic_shapes, topics, wanted

ASSIGNOR = BrokerRangeAssignor()


@pytest.mark.parametrize(
    ("members", "shapes", "answer"),
    [
        pytest.param(
            [
                member("a", "tuv"),
                replace(member("b", "tuv"), instance_id="z"),
                replace(member("c", "tu"), instance_id="y"),
            ],
            topics(t=5, u=5, v=2),
            {
                "a": {"t": [4], "u": [4], "v": [1]},
                "b": {"t": [2, 3], "u": [2, 3], "v": [0]},
                "c": {"t": [0, 1], "u": [0, 1]},
            },
            id="static members first, by instance id",
        ),
        pytest.param(
            [member("c-10", "t", t=[2, 3]), member("c-2", "t", t=[0, 1])],
            topics(t=4),
            {"c-10": {"t": [0, 1]}, "c-2": {"t": [2, 3]}},
            id="by member id as a text, and what they had plays no part",
        ),
        pytest.param(
            [member("\uffee", "t"), member("\U0001f600", "t")],
            topics(t=3),
            {"\U0001f600": {"t": [0, 1]}, "\uffee": {"t": [2]}},
            id="texts are compared by UTF-16 code units",
        ),
        pytest.param(
            [member("a", "tu"), member("b", "tu")],
            topics(t=1, u=3),
            {"a": {"t": [0], "u": [0, 1]}, "b": {"u": [2]}},
            id="fewer partitions than members",
        ),
    ],
)
def test_answers_of_the_original(members, shapes, answer):
    assert plain(ASSIGNOR.assign(members, shapes)) == answer


def test_a_wrong_word_on_subscriptions_makes_an_odd_answer():
    members = [member("a", "t"), member("b", "u")]
    told = ASSIGNOR.assign(members, topics(t=2, u=2), subscription_type=SubscriptionType.HOMOGENEOUS)
    assert plain(told) == {"a": {"t": [0]}, "b": {"t": [1]}}
    assert told.quirks == (Quirk.NOT_SUBSCRIBED, Quirk.UNASSIGNED)


@given(shapes=topic_shapes(), members=subscribers(), data=st.data())
def test_every_partition_has_one_owner_who_asked_for_it_whatever_members_had(shapes, members, data):
    answer = ASSIGNOR.assign(members, shapes)
    assert ASSIGNOR.assign(data.draw(having_some(members, shapes)), shapes) == answer
    found = places(answer)
    assert Counter(place for mine in found.values() for place in mine) == Counter(wanted(members, shapes))
    assert all(place.topic in one.topics for one in members for place in found[one.member_id])


@given(members=subscribers(asked="tu"), count=st.integers(0, 9))
def test_topics_of_one_size_are_cut_alike_into_runs(members, count):
    for entry in ASSIGNOR.assign(members, topics(t=count, u=count)).members:
        runs = [topic.partitions for topic in entry.topics]
        assert len(set(runs)) <= 1
        assert all(list(run) == list(range(run[0], run[-1] + 1)) for run in runs)
