"""Groups as the coordinator knows them, for the tests of its assignors."""

from __future__ import annotations

from hypothesis import strategies as st

from monitor.model import Member, TopicPartition, TopicPartitions, TopicShape

UUIDS = {"t": "AAAAAAAAAAEAAAAAAAAAAQ", "u": "AAAAAAAAAAIAAAAAAAAAAg", "v": "__________8AAAAAAAAAAA"}
"""The last one is the least: its upper half is negative."""
IDS = ["a", "b", "B", "q", "c-2", "c-10", "\U0001f600", ""]


def topics(**counts):
    return [TopicShape(topic=name, partitions=count, topic_id=UUIDS[name]) for name, count in counts.items()]


def member(name, asked, **held):
    assigned = tuple(TopicPartitions(topic, tuple(numbers)) for topic, numbers in held.items())
    return Member(member_id=name, topics=tuple(asked), assigned=assigned)


def keeping(members, assignment):
    """The members in the next round, when they have what they were given."""
    given = {entry.member_id: entry.topics for entry in assignment.members}
    return [Member(member_id=m.member_id, topics=m.topics, assigned=given[m.member_id]) for m in members]


def places(assignment):
    return {
        entry.member_id: [TopicPartition(topic.topic, number) for topic in entry.topics for number in topic.partitions]
        for entry in assignment.members
    }


def wanted(members, shapes):
    """The partitions that somebody subscribes to."""
    asked = {name for one in members for name in one.topics}
    return {TopicPartition(s.topic, number) for s in shapes if s.topic in asked for number in range(s.partitions)}


@st.composite
def topic_shapes(draw):
    counts = draw(st.lists(st.integers(0, 9), min_size=len(UUIDS), max_size=len(UUIDS)))
    return topics(**dict(zip(UUIDS, counts, strict=True)))


@st.composite
def subscribers(draw, asked=None):
    """Members that have nothing yet.

    Args:
        draw: of Hypothesis.
        asked: what everybody asks for; None: anything, each for itself.
    """
    ids = draw(st.lists(st.sampled_from(IDS), unique=True, min_size=1))
    some = st.lists(st.sampled_from([*UUIDS, "gone"]), unique=True)
    return [member(name, draw(some) if asked is None else asked) for name in ids]


@st.composite
def having_some(draw, members, shapes):
    """The same members with partitions that exist and that they ask for, no partition with two of them."""
    held = {one.member_id: {} for one in members}
    for shape in shapes:
        who = [one.member_id for one in members if shape.topic in one.topics]
        for number in range(shape.partitions if who else 0):
            owner = draw(st.sampled_from([None, *who]))
            if owner is not None:
                held[owner].setdefault(shape.topic, []).append(number)
    return [member(one.member_id, one.topics, **held[one.member_id]) for one in members]
