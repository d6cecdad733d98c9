from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors import find
from monitor.assignors.anomalies import quirks_of, quirks_of_queues
from monitor.model import Assignment, Member, MemberAssignment, Quirk, TopicPartitions, TopicShape
from tests.assignors.strategies import groups, topic_shapes

MEMBERS = [Member(member_id="A", topics=("t", "u")), Member(member_id="B", topics=("t",))]
TOPICS = [TopicShape(topic="t", partitions=2), TopicShape(topic="u", partitions=1), TopicShape(topic="v", partitions=1)]


def given_to(**members):
    """An assignment, written as member={topic: [partition]}."""
    entries = {
        name: tuple(TopicPartitions(topic, tuple(partitions)) for topic, partitions in topics.items())
        for name, topics in members.items()
    }
    return Assignment(
        members=tuple(MemberAssignment(member_id=name, topics=topics) for name, topics in entries.items())
    )


@pytest.mark.parametrize(
    ("assignment", "expected"),
    [
        pytest.param(given_to(A={"t": [1], "u": [0]}, B={"t": [0]}), [], id="as one would expect it"),
        pytest.param(given_to(A={"u": [0]}, B={"t": [1, 0]}), [], id="the order of the list is free"),
        pytest.param(
            given_to(A={"t": [0, 1]}, B={"t": [], "u": [0]}), [Quirk.NOT_SUBSCRIBED], id="B did not ask for u"
        ),
        pytest.param(given_to(A={"t": [0, 1], "u": [0]}, B={"u": []}), [], id="none of what B did not ask for"),
        pytest.param(
            given_to(A={"t": [0, 1], "u": [0]}, B={"t": [1]}), [Quirk.ASSIGNED_TWICE], id="t-1 has two owners"
        ),
        pytest.param(given_to(A={"t": [0, 1, 1], "u": [0]}, B={}), [], id="twice the same owner is one owner"),
        pytest.param(given_to(A={"t": [1], "u": [0]}), [Quirk.UNASSIGNED], id="t-0 has none, and B no entry"),
        pytest.param(
            given_to(A={"t": [0, 2], "u": [0]}),
            [Quirk.DOES_NOT_EXIST, Quirk.UNASSIGNED],
            id="t-2 does not stand for t-1",
        ),
        pytest.param(given_to(A={"t": [0, 1, -1], "u": [0]}), [Quirk.DOES_NOT_EXIST], id="no partition is negative"),
        pytest.param(
            given_to(A={"t": [0, 1], "u": [0]}, B={"w": [0]}),
            [Quirk.DOES_NOT_EXIST, Quirk.NOT_SUBSCRIBED],
            id="no topic w",
        ),
        pytest.param(
            given_to(A={"t": [0, 1], "u": [0, 5]}, B={"t": [0]}, C={"v": [0], "u": [5]}),
            sorted({Quirk.ASSIGNED_TWICE, Quirk.DOES_NOT_EXIST, Quirk.NOT_SUBSCRIBED}),
            id="sorted, and C is no member at all",
        ),
    ],
)
def test_quirks_by_example(assignment, expected):
    assert list(quirks_of(assignment, MEMBERS, TOPICS)) == expected


def test_sharing_is_no_quirk_of_a_share_group():
    shared = given_to(A={"t": [0, 1], "u": [0]}, B={"t": [0, 1]})
    assert quirks_of(shared, MEMBERS, TOPICS) == (Quirk.ASSIGNED_TWICE,)
    assert quirks_of(shared, MEMBERS, TOPICS, shared=True) == ()


def test_only_assignable_partitions_can_be_missing():
    kept = given_to(A={"t": [0], "u": [0]})
    assert quirks_of(kept, MEMBERS, TOPICS) == (Quirk.UNASSIGNED,)
    for assignable in [[("t", (0,))], [("t", (0, 2, 7)), ("u", (0,))], [("v", (0,)), ("gone", (0,))], []]:
        assert quirks_of(kept, MEMBERS, TOPICS, assignable=[TopicPartitions(*each) for each in assignable]) == ()
    assert quirks_of(kept, MEMBERS, TOPICS, assignable=[TopicPartitions("t", (1,))]) == (Quirk.UNASSIGNED,)


def test_nothing_is_missing_of_a_topic_whose_metadata_has_gone():
    assert quirks_of(Assignment(), MEMBERS, [TopicShape(topic="t", partitions=-1)]) == ()


@given(members=groups(), topics=topic_shapes())
def test_range_has_no_quirks(members, topics):
    assert quirks_of(find("range").assign(members, topics), members, topics) == ()


partitions = st.lists(st.integers(-1, 3), max_size=4)
holdings = st.dictionaries(st.sampled_from("ABCD"), st.dictionaries(st.sampled_from("tuw"), partitions), max_size=4)


@given(given=holdings)
def test_quirks_are_what_their_names_say(given):
    """Asked again, partition by partition, of any assignment at all."""
    asked = {member.member_id: set(member.topics) for member in MEMBERS}
    exist = {(shape.topic, number) for shape in TOPICS for number in range(shape.partitions)}
    owns = {(who, topic, p) for who, topics in given.items() for topic, numbers in topics.items() for p in numbers}
    wanted = {(topic, p) for topic, p in exist if any(topic in topics for topics in asked.values())}
    true = {
        Quirk.NOT_SUBSCRIBED: any(topic not in asked.get(who, ()) for who, topic, _ in owns),
        Quirk.ASSIGNED_TWICE: len({(topic, p) for _, topic, p in owns}) < len(owns),
        Quirk.UNASSIGNED: bool(wanted - {(topic, p) for _, topic, p in owns}),
        Quirk.DOES_NOT_EXIST: bool({(topic, p) for _, topic, p in owns} - exist),
    }
    assert set(quirks_of(given_to(**given), MEMBERS, TOPICS)) == {quirk for quirk in Quirk if true[quirk]}


def test_quirks_of_queues():
    assert quirks_of_queues({"A": ["q0"], "B": ["q1"]}, ["q0", "q1"]) == ()
    assert quirks_of_queues({"A": ["q0", "q0"], "B": ["q1"]}, ["q0", "q1", "q1"]) == ()
    assert quirks_of_queues({"A": ["q0"], "B": ["q0", "q1"]}, ["q0", "q1"]) == (Quirk.ASSIGNED_TWICE,)
    assert quirks_of_queues({"A": ["q0"]}, ["q0", "q1"]) == (Quirk.UNASSIGNED,)
    assert quirks_of_queues({"A": ["q0", "q2"]}, ["q0"]) == (Quirk.DOES_NOT_EXIST,)
