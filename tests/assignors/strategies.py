"""Groups for property tests: small enough to be read, mean enough to matter."""

from __future__ import annotations

from hypothesis import strategies as st

from monitor.model import Member, TopicShape

TOPICS = ["t0", "t1", "t10", "\uffee", "\U0001f600"]
IDS = ["a", "b", "B", "c-2", "c-10", "\uffee", "\U0001f600", ""]
RACKS = ["r0", "r1", "r2", ""]

racks = st.none() | st.sampled_from(RACKS)
subscriptions = st.lists(st.sampled_from([*TOPICS, "gone"]), max_size=7).map(tuple)
"""With repeated topics, topics that do not exist, and nothing at all."""


@st.composite
def shapes(draw):
    partitions = draw(st.sampled_from([3, 0, 1, 4, 9]))  # few, so that topics have equal counts now and then
    replicas = st.lists(racks, max_size=3).map(tuple)
    known = draw(st.just(0) | st.integers(0, partitions))  # fewer than all: some replicas are not known
    return partitions, tuple(draw(st.lists(replicas, min_size=known, max_size=known)))


@st.composite
def topic_shapes(draw):
    names = draw(st.lists(st.sampled_from(TOPICS), unique=True))
    drawn = [(name, *draw(shapes())) for name in names]
    return [TopicShape(topic=name, partitions=count, racks=known) for name, count, known in drawn]


@st.composite
def groups(draw, distinct_subscriptions=3):
    """At least one member; ids and instance ids are distinct, as the coordinator makes sure."""
    ids = draw(st.lists(st.sampled_from(IDS), unique=True, min_size=1))
    instances = draw(st.permutations([*IDS, *[None] * len(IDS)]))
    asked = st.sampled_from(draw(st.lists(subscriptions, min_size=1, max_size=distinct_subscriptions)))
    return [
        Member(member_id=name, topics=draw(asked), instance_id=instance, rack=draw(racks))
        for name, instance in zip(ids, instances, strict=False)
    ]


def equal_groups():
    """All members ask for the same."""
    return groups(distinct_subscriptions=1)
