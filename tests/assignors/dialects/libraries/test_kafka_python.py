"""kafka-python's strategies against kafka-python itself, for groups that hypothesis makes up."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.coordinator.assignors.cooperative_sticky import CooperativeStickyAssignor
from kafka.coordinator.assignors.range import RangePartitionAssignor
from kafka.coordinator.assignors.roundrobin import RoundRobinPartitionAssignor
from kafka.coordinator.assignors.sticky.sticky_assignor import StickyPartitionAssignor
from kafka.coordinator.assignors.sticky.user_data import StickyAssignorUserData

from monitor.assignors import AssignorError
from monitor.assignors.dialects import DIALECTS, Group
from monitor.model import Member, TopicPartitions, TopicShape
from monitor.protocol.kafka.sticky_user_data import NO_GENERATION
from tests.assignors.dialects.golden import assignment_of, plain
from tests.support.examples import example_count

TOPICS = ("t", "u", "v")
PLAIN = {"range": RangePartitionAssignor, "roundrobin": RoundRobinPartitionAssignor}
STICKY = {"sticky": StickyPartitionAssignor, "cooperative-sticky": CooperativeStickyAssignor}


@pytest.fixture(autouse=True)
def _quiet():
    logging.disable(logging.CRITICAL)  # the library complains of odd claims
    yield
    logging.disable(logging.NOTSET)


@st.composite
def groups(draw):
    names = draw(st.permutations([f"C{number}" for number in range(draw(st.integers(1, 5)))]))
    counts = {topic: draw(st.integers(1, 6)) for topic in TOPICS}
    return Group(
        members=tuple(draw(members(name, counts)) for name in names),
        topics=tuple(TopicShape(topic=topic, partitions=count) for topic, count in counts.items()),
    )


@st.composite
def members(draw, name, counts):
    """Claims are hardly ever of a partition that exists for this member alone; generations differ."""
    claimed = draw(st.sets(st.sampled_from(TOPICS)))
    numbers = {topic: st.sets(st.integers(0, counts[topic]), min_size=1) for topic in TOPICS}
    return Member(
        member_id=name,
        topics=tuple(draw(st.permutations(TOPICS))[: draw(st.sampled_from([3, 3, 1, 2]))]),
        instance_id=draw(st.sampled_from([None, f"i{name}"])),
        owned=tuple(TopicPartitions(topic, tuple(sorted(draw(numbers[topic])))) for topic in sorted(claimed)),
        generation=draw(st.sampled_from([7, 7, 6, 0, NO_GENERATION])),
    )


def by_the_library(original, group, user_data):
    wanted = {topic for member in group.members for topic in member.topics}  # a leader knows no other topics
    counts = {shape.topic: shape.partitions for shape in group.topics if shape.topic in wanted}
    cluster = SimpleNamespace(
        topics=lambda: set(counts),
        partitions_for_topic=lambda topic: set(range(counts[topic])) if topic in counts else None,
    )
    joined = [
        SimpleNamespace(
            member_id=member.member_id,
            group_instance_id=member.instance_id,
            metadata=SimpleNamespace(
                topics=list(member.topics),
                user_data=user_data(member),
                generation_id=member.generation,
                owned_partitions=[SimpleNamespace(topic=o.topic, partitions=list(o.partitions)) for o in member.owned],
            ),
        )
        for member in group.members
    ]
    answer = original.assign(cluster, joined)
    return {
        name: {topic: sorted(numbers) for topic, numbers in given_out.assigned_partitions if numbers}
        for name, given_out in answer.items()
    }


@pytest.mark.parametrize("protocol", PLAIN)
@settings(max_examples=example_count(1.5))
@given(group=groups())
def test_the_plain_strategies_are_met_exactly(protocol, group):
    theirs = outcome(lambda: by_the_library(PLAIN[protocol], group, lambda _: b""))
    assert outcome(lambda: plain(DIALECTS[f"kafka-python.{protocol}"].rule.assign(group))) == theirs


def outcome(assign):
    """What is given, or the text of the failure."""
    try:
        return assign()
    except KeyError as error:
        return f"KeyError: {error}"
    except AssignorError as error:
        return str(error)


def written(member):
    owned = [(entry.topic, list(entry.partitions)) for entry in member.owned]
    return StickyAssignorUserData(owned, member.generation).encode() if owned else b""


@pytest.mark.parametrize("protocol", STICKY)
@settings(max_examples=example_count(1.5))
@given(group=groups())
def test_the_sticky_strategies_are_met_but_for_the_order_of_sets(protocol, group):
    rule = DIALECTS[f"kafka-python.{protocol}"].rule
    seen = group
    if protocol == "sticky":  # its memory is in the user data alone
        seen = Group(members=tuple(without_fields(member) for member in group.members), topics=group.topics)
    theirs = outcome(lambda: by_the_library(STICKY[protocol](), group, written))
    if isinstance(theirs, str):
        assert outcome(lambda: rule.assign(seen)).startswith("KeyError")
    else:
        assert rule.refusal(assignment_of(theirs), seen) is None


def without_fields(member):
    return Member(
        member_id=member.member_id, topics=member.topics, instance_id=member.instance_id, user_data=written(member)
    )
