"""How the broker's assignors fail and what they are called. Asked of kafka-group-coordinator 4.3.1."""

from __future__ import annotations

import pytest

from monitor.assignors import AssignorError
from monitor.assignors.kafka_broker import BrokerRangeAssignor, ShareSimpleAssignor, UniformAssignor
from monitor.assignors.registry import System, find
from monitor.model import Assignment, Quirk, TopicPartitions
from tests.assignors.golden import plain
from tests.assignors.kafka_broker.groups import member, topics


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


def test_names_on_the_wire():
    assert find("uniform", System.KAFKA_BROKER) == UniformAssignor()
    assert find("range", System.KAFKA_BROKER) == BrokerRangeAssignor()


def test_a_share_group_can_run_out_of_members():
    """t-2 is no longer assignable, stays with A, and takes its due."""
    members = [member("A", "t", t=[2]), member("B", "t")]
    with pytest.raises(AssignorError, match=r"^NoSuchElementException$"):
        ShareSimpleAssignor().assign(members, topics(t=3), assignable=[TopicPartitions("t", (0,))])
