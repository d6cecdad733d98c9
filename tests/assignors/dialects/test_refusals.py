"""Reasons and their places, by hand: three members, the third of which does not subscribe to t."""

from __future__ import annotations

import pytest

from monitor.assignors.dialects import DIALECTS, Group, UnknownLeaderError
from monitor.model import Assignment, Member, MemberAssignment, TopicPartition, TopicPartitions, TopicShape
from monitor.model.evidence import Refusal, RefusalReason

MEMBERS = (
    Member(member_id="C0", topics=("t",)),
    Member(member_id="C1", topics=("t",)),
    Member(member_id="C2", topics=("u",)),
)
GROUP = Group(
    members=MEMBERS, topics=(TopicShape(topic="t", partitions=3), TopicShape(topic="u", partitions=1)), leader="C0"
)
T0, T1, T2, T9 = (TopicPartition("t", partition) for partition in (0, 1, 2, 9))
RIGHT = {"C0": {"t": (0, 1)}, "C1": {"t": (2,)}, "C2": {"u": (0,)}}


def given(owners):
    return Assignment(
        members=tuple(
            MemberAssignment(name, tuple(TopicPartitions(topic, own) for topic, own in topics.items()))
            for name, topics in owners.items()
        )
    )


CASES = [
    pytest.param("C0", {}, Refusal(RefusalReason.UNASSIGNED, T0, other="C0"), id="dropped"),
    pytest.param("C1", {"t": (1, 2)}, Refusal(RefusalReason.ASSIGNED_TWICE, T1, "C0", "C1"), id="two owners"),
    pytest.param("C9", {"t": (9,)}, Refusal(RefusalReason.UNKNOWN_MEMBER, T9, "C9"), id="no member"),
    pytest.param("C1", {"t": (2, 9)}, Refusal(RefusalReason.NOT_ASSIGNABLE, T9, "C1"), id="does not exist"),
]


@pytest.mark.parametrize(("member", "topics", "refusal"), CASES)
def test_a_replayed_dialect_names_the_first_difference(member, topics, refusal):
    rule = DIALECTS["aiokafka.range"].rule
    assert rule.refusal(given(RIGHT), GROUP) is None
    assert rule.refusal(given(RIGHT | {member: topics}), GROUP) == refusal


def test_an_owner_that_is_not_the_expected_one_is_named_with_it():
    swapped = RIGHT | {"C0": {"t": (0, 2)}, "C1": {"t": (1,)}}
    refusal = DIALECTS["aiokafka.range"].rule.refusal(given(swapped), GROUP)
    assert refusal == Refusal(RefusalReason.OTHER_OWNER, T1, "C1", "C0")


@pytest.mark.parametrize("name", ["sarama.sticky", "franz-go.sticky", "kafka-go.rack-affinity"])
@pytest.mark.parametrize(
    ("changes", "refusal"),
    [
        pytest.param({"C0": {}}, Refusal(RefusalReason.UNASSIGNED, T0), id="dropped"),
        pytest.param({"C1": {"t": (1, 2)}}, Refusal(RefusalReason.ASSIGNED_TWICE, T1, "C0", "C1"), id="two owners"),
        pytest.param({"C9": {"t": (9,)}}, Refusal(RefusalReason.UNKNOWN_MEMBER, T9, "C9"), id="no member"),
        pytest.param({"C1": {"t": (2, 9)}}, Refusal(RefusalReason.DOES_NOT_EXIST, T9, "C1"), id="does not exist"),
        pytest.param(
            {"C1": {}, "C2": {"t": (2,), "u": (0,)}},
            Refusal(RefusalReason.NOT_SUBSCRIBED, T2, "C2"),
            id="does not subscribe",
        ),
    ],
)
def test_a_checked_dialect_names_what_is_unsound(name, changes, refusal):
    rule = DIALECTS[name].rule
    assert rule.refusal(given(RIGHT), GROUP) is None
    assert rule.refusal(given(RIGHT | changes), GROUP) == refusal


@pytest.mark.parametrize("name", ["sarama.sticky", "franz-go.sticky"])
def test_a_partition_that_could_move_makes_an_assignment_uneven(name):
    uneven = RIGHT | {"C0": {"t": (0, 1, 2)}, "C1": {}}
    assert DIALECTS[name].rule.refusal(given(uneven), GROUP) == Refusal(RefusalReason.UNEVEN, T0, "C0", "C1")


@pytest.mark.parametrize("name", ["kafkajs.RoundRobinAssigner", "platformatic.roundrobin"])
def test_strategies_of_the_leader_need_it(name):
    group = Group(members=MEMBERS, topics=GROUP.topics)
    with pytest.raises(UnknownLeaderError, match="The leader None is no member of the group"):
        DIALECTS[name].rule.refusal(given(RIGHT), group)


def test_a_library_that_fails_gave_nothing():
    refusal = DIALECTS["kafka-python.roundrobin"].rule.refusal(given(RIGHT), GROUP)
    assert refusal is not None
    assert (refusal.reason, refusal.failure) == (RefusalReason.FAILS, "KeyError: (None, 'C0')")


def test_user_data_of_another_form_makes_saramas_leader_fail():
    members = (*MEMBERS[:2], Member(member_id="C2", topics=("u",), user_data=b""))
    refusal = DIALECTS["sarama.sticky"].rule.refusal(given(RIGHT), Group(members=members, topics=GROUP.topics))
    assert refusal is not None
    assert refusal.reason is RefusalReason.FAILS
    assert "C2" in (refusal.failure or "")
