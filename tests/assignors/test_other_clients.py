"""The variants of other clients, against kafka-python itself; aiokafka's by hand."""

from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor

from monitor.assignors import find
from monitor.assignors.other_clients import VARIANTS
from monitor.model import Member, TopicShape

TOPICS = ("t", "u")


@st.composite
def groups(draw, *, same_subscriptions):
    kinds = draw(st.lists(st.booleans(), min_size=1, max_size=6))
    asked = st.just(TOPICS) if same_subscriptions else st.sampled_from([("t",), ("u",), TOPICS])
    names = draw(st.permutations([f"m{number}" for number in range(len(kinds))]))
    return [
        Member(
            member_id=name,
            topics=draw(asked),
            instance_id=f"i{draw(st.integers(0, 99))}-{name}" if static else None,
            rack="r1",
        )
        for name, static in zip(names, kinds, strict=True)
    ]


def by_kafka_python(original, members, counts):
    cluster = SimpleNamespace(partitions_for_topic=lambda topic: set(range(counts[topic])))
    told = [
        SimpleNamespace(
            member_id=m.member_id, group_instance_id=m.instance_id, metadata=SimpleNamespace(topics=m.topics)
        )
        for m in members
    ]
    given_out = original.assign(cluster, told)
    return {
        member_id: {topic: list(numbers) for topic, numbers in answer.assigned_partitions if numbers}
        for member_id, answer in given_out.items()
    }


def by_variant(clients, assignor, members, counts):
    (variant,) = [variant for variant in VARIANTS[assignor] if variant.clients == clients]
    shapes = [TopicShape(topic=topic, partitions=count, racks=(("r1",),) * count) for topic, count in counts.items()]
    answer = find(assignor).assign(variant.sees(members), shapes)
    return {
        member.member_id: {entry.topic: list(entry.partitions) for entry in member.topics if entry.partitions}
        for member in answer.members
    }


COUNTS = st.fixed_dictionaries({"t": st.integers(1, 9), "u": st.integers(1, 9)})


@settings(max_examples=300, deadline=None)
@given(groups(same_subscriptions=False), COUNTS)
def test_kafka_pythons_range_is_met_exactly(members, counts):
    assert by_variant("kafka-python", "range", members, counts) == by_kafka_python(
        RangePartitionAssignor, members, counts
    )


@settings(max_examples=300, deadline=None)
@given(groups(same_subscriptions=True), COUNTS)
def test_kafka_pythons_roundrobin_is_met_exactly(members, counts):
    """With different subscriptions the original fails with a KeyError, or goes round for ever."""
    assert by_variant("kafka-python", "roundrobin", members, counts) == by_kafka_python(
        RoundRobinPartitionAssignor, members, counts
    )


@pytest.mark.parametrize(
    ("assignor", "expected"),
    [
        ("range", {"a": {"t": [0, 1]}, "b": {"t": [2]}}),
        ("roundrobin", {"a": {"t": [0, 2]}, "b": {"t": [1]}}),
    ],
)
def test_aiokafka_takes_members_by_id_alone(assignor, expected):
    members = [Member(member_id="b", topics=("t",), instance_id="i"), Member(member_id="a", topics=("t",))]
    assert by_variant("aiokafka", assignor, members, {"t": 3}) == expected
