"""The broker's assignors: answers at the edges, asked of kafka-group-coordinator 4.3.1, and what users rely on."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors import AssignorError
from monitor.assignors.kafka_broker import BrokerRangeAssignor, ShareSimpleAssignor, UniformAssignor
from monitor.assignors.kafka_broker.computed_map import computed_map_order
from monitor.assignors.kafka_broker.group import SubscriptionType
from monitor.assignors.registry import System, find
from monitor.model import Assignment, Member, Quirk, TopicPartition, TopicPartitions, TopicShape
from tests.assignors.vectors import plain

UUIDS = {"t": "AAAAAAAAAAEAAAAAAAAAAQ", "u": "AAAAAAAAAAIAAAAAAAAAAg", "\uffee": "__________8AAAAAAAAAAA"}


def topics(**counts):
    return [TopicShape(topic=name, partitions=count, topic_id=UUIDS[name]) for name, count in counts.items()]


def member(name, asked, **held):
    assigned = tuple(TopicPartitions(topic, tuple(numbers)) for topic, numbers in held.items())
    return Member(member_id=name, topics=tuple(asked), assigned=assigned)


@pytest.mark.parametrize(
    ("members", "shapes", "error"),
    [
        pytest.param(
            [member("A", "t", t=[5]), member("B", "t")],
            topics(t=2),
            "PartitionAssignorException: Partitions were left unassigned",
            id="a partition that does not exist takes the place of one that does",
        ),
        pytest.param(
            [member("A", "tu", t=[5]), member("B", "t")],
            topics(t=2, u=1),
            "ArrayIndexOutOfBoundsException: Index 5 out of bounds for length 2",
            id="the same with different subscriptions",
        ),
        pytest.param(
            [member("A", "t", t=[0]), member("B", "t", t=[0])],
            topics(t=2),
            "PartitionAssignorException: Partitions were left unassigned",
            id="two members have one partition",
        ),
        pytest.param(
            [member("A", "t")],
            topics(t=-1),
            "PartitionAssignorException: Members are subscribed to topic AAAAAAAAAAEAAAAAAAAAAQ which doesn't exist in "
            "the topic metadata.",
            id="a topic whose metadata has gone",
        ),
    ],
)
def test_uniform_fails_as_the_original(members, shapes, error):
    with pytest.raises(AssignorError) as caught:
        UniformAssignor().assign(members, shapes)
    assert str(caught.value) == error


def test_with_different_subscriptions_two_members_can_keep_one_partition():
    answer = UniformAssignor().assign([member("A", "tu", t=[0]), member("B", "t", t=[0])], topics(t=3, u=1))
    assert plain(answer) == {"A": {"u": [0], "t": [0, 1]}, "B": {"t": [0, 2]}}
    assert answer.quirks == (Quirk.ASSIGNED_TWICE,)


def test_range_fails_with_other_words_for_a_topic_whose_metadata_has_gone():
    with pytest.raises(
        AssignorError, match=r"^PartitionAssignorException: Member is subscribed to a non-existent topic$"
    ):
        BrokerRangeAssignor().assign([member("A", "t")], topics(t=-1))


@pytest.mark.parametrize(
    "assignor", [UniformAssignor(), BrokerRangeAssignor(), ShareSimpleAssignor()], ids=lambda a: a.name
)
def test_nobody_and_nothing_to_read(assignor):
    assert assignor.assign([], topics(t=2)) == Assignment()
    assert plain(assignor.assign([member("A", ""), member("B", "")], topics(t=2))) == {"A": {}, "B": {}}
    assert plain(assignor.assign([member("A", ["no-such-topic"])], topics(t=2))) == {"A": {}}


def test_the_coordinators_word_on_subscriptions_counts():
    """It says that both ask for the same, so the first one's topics are shared by both."""
    members = [member("A", "t"), member("B", "u")]
    told = BrokerRangeAssignor().assign(members, topics(t=2, u=2), subscription_type=SubscriptionType.HOMOGENEOUS)
    assert plain(told) == {"A": {"t": [0]}, "B": {"t": [1]}}


@pytest.mark.parametrize(
    ("members", "shapes", "answer"),
    [
        pytest.param(
            [member(name, "t") for name in "ABCDE"],
            topics(t=2),
            {"A": {"t": [0, 1]}, "B": {"t": [0]}, "C": {"t": [0]}, "D": {"t": [1]}, "E": {"t": [1]}},
            id="more members than partitions",
        ),
        pytest.param(
            [member(name, "t") for name in "AB"],
            topics(t=5),
            {"A": {"t": [0, 2, 4]}, "B": {"t": [1, 3]}},
            id="more partitions than members",
        ),
        pytest.param(
            [member("A", "t", u=[1]), member("B", "")],
            topics(t=2, u=2),
            {"A": {"t": [0, 1], "u": [1]}, "B": {}},
            id="what nobody asks for any more stays",
        ),
    ],
)
def test_share_groups(members, shapes, answer):
    assert plain(ShareSimpleAssignor().assign(members, shapes)) == answer


def test_a_share_group_can_run_out_of_members():
    """t-2 is no longer assignable, stays with A, and takes its due."""
    members = [member("A", "t", t=[2]), member("B", "t")]
    with pytest.raises(AssignorError, match=r"^NoSuchElementException$"):
        ShareSimpleAssignor().assign(members, topics(t=3), assignable=[TopicPartitions("t", (0,))])


def test_a_map_filled_by_compute_if_absent_has_an_order_of_its_own():
    """Asked of Java 17: new HashMap(6), computeIfAbsent of 9, 0, 4, 5, 1, 3, 6, and of 9 again, which doubles it."""
    keys = [9, 0, 4, 5, 1, 3, 6]
    assert computed_map_order(keys, int, capacity=6) == [0, 1, 9, 3, 4, 5, 6]
    assert computed_map_order([*keys, 9], int, capacity=6) == [0, 1, 3, 4, 5, 6, 9]


def test_names_on_the_wire():
    assert find("uniform", System.KAFKA_BROKER) == UniformAssignor()
    assert find("range", System.KAFKA_BROKER) == BrokerRangeAssignor()


NAMES = list(UUIDS)


@st.composite
def groups(draw):
    counts = draw(st.lists(st.integers(0, 9), min_size=len(NAMES), max_size=len(NAMES)))
    shapes = [TopicShape(topic=n, partitions=c, topic_id=UUIDS[n]) for n, c in zip(NAMES, counts, strict=True)]
    asked = st.lists(st.sampled_from([*NAMES, "gone"]), unique=True, max_size=4)
    ids = draw(st.lists(st.sampled_from(["a", "b", "B", "c-2", "c-10", "\U0001f600"]), unique=True, min_size=1))
    return [member(name, draw(asked)) for name in ids], shapes


def places(assignment):
    return {
        m.member_id: [TopicPartition(entry.topic, p) for entry in m.topics for p in entry.partitions]
        for m in assignment.members
    }


def wanted(members, shapes):
    subscribed = {name for one in members for name in one.topics}
    return {TopicPartition(s.topic, p) for s in shapes if s.topic in subscribed for p in range(s.partitions)}


@given(group=groups(), data=st.data())
def test_range_shares_each_topic_evenly_whatever_the_order(group, data):
    members, shapes = group
    answer = BrokerRangeAssignor().assign(members, shapes)
    found = places(answer)
    assert Counter(place for mine in found.values() for place in mine) == Counter(wanted(members, shapes))
    for shape in shapes:
        sizes = [sum(p.topic == shape.topic for p in found[m.member_id]) for m in members if shape.topic in m.topics]
        assert max(sizes, default=0) - min(sizes, default=0) <= 1
    mixed = BrokerRangeAssignor().assign(data.draw(st.permutations(members)), data.draw(st.permutations(shapes)))
    assert {name: set(mine) for name, mine in places(mixed).items()} == {n: set(mine) for n, mine in found.items()}


@given(group=groups())
def test_a_fresh_share_group_reads_every_partition_about_equally_often(group):
    members, shapes = group
    found = places(ShareSimpleAssignor().assign(members, shapes))
    readers = Counter(place for mine in found.values() for place in mine)
    assert readers.keys() == wanted(members, shapes)
    assert all(place.topic in m.topics for m in members for place in found[m.member_id])
    for shape in shapes:
        subscribers = sum(shape.topic in m.topics for m in members)
        most = -(-max(subscribers, len(members)) // max(shape.partitions, 1))
        assert all(readers[TopicPartition(shape.topic, p)] <= most for p in range(shape.partitions))


@given(group=groups())
def test_a_fresh_share_group_gives_everybody_something_if_there_is_something(group):
    members, shapes = group
    existing = {shape.topic for shape in shapes if shape.partitions}
    found = places(ShareSimpleAssignor().assign(members, shapes))
    assert all(found[m.member_id] for m in members if existing & set(m.topics))
