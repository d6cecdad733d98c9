"""The ZooKeeper consumers' assignors. The vectors say which answer it is; here are promises and edges."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors import AssignorError
from monitor.assignors.kafka_zookeeper.group import Pattern, Registration, Release, ZooKeeperGroup, ZooKeeperTopic
from monitor.assignors.kafka_zookeeper.range_threads import RangeThreads
from monitor.assignors.kafka_zookeeper.roundrobin_threads import RoundRobinThreads
from monitor.assignors.kafka_zookeeper.threads import registered_filter
from monitor.model import TopicPartition
from monitor.protocol.zookeeper.topic_filter import normalize_filter

TOPICS = ["t0", "t1", "t10", "\uffee"]
both = pytest.mark.parametrize("assignor", [RangeThreads(), RoundRobinThreads()], ids=["range", "roundrobin"])


@st.composite
def groups(draw, same=False):
    numbers = st.lists(st.integers(0, 12), unique=True, max_size=8).map(tuple)
    topics = tuple(ZooKeeperTopic(topic=name, partitions=draw(numbers)) for name in TOPICS)
    streams = st.dictionaries(st.sampled_from(TOPICS), st.integers(1, 12), min_size=1)
    ids = draw(st.lists(st.sampled_from(["c", "c-1", "C", "\U0001f600"]), unique=True, min_size=1))
    everything = dict.fromkeys(TOPICS, 2)
    asked = [everything if same else draw(streams) for _ in ids]
    registrations = tuple(
        Registration(consumer=name, pattern=Pattern.STATIC, subscription=mine)
        for name, mine in zip(ids, asked, strict=True)
    )
    return ZooKeeperGroup(registrations=registrations, topics=topics)


def taken(assignor, group):
    """Every (thread, partition) of the answer."""
    return [
        (thread.thread, TopicPartition(entry.topic, number))
        for share in assignor.allocate(group)
        for thread in share.threads
        for entry in thread.topics
        for number in entry.partitions
    ]


@both
@given(group=groups())
def test_every_existing_partition_has_one_thread_of_its_topic(assignor, group):
    found = taken(assignor, group)
    subscribed = {topic for registration in group.registrations for topic in registration.subscription}
    wanted = [TopicPartition(t.topic, p) for t in group.topics if t.topic in subscribed for p in t.partitions]
    assert Counter(place for _, place in found) == Counter(wanted)
    streams = {(r.consumer, topic): count for r in group.registrations for topic, count in r.subscription.items()}
    for thread, place in found:
        consumer, _, number = thread.rpartition("-")
        assert int(number) < streams[consumer, place.topic]


@given(group=groups(same=True))
def test_roundrobin_totals_differ_by_at_most_one_if_all_threads_are_alike(group):
    found = Counter(thread for thread, _ in taken(RoundRobinThreads(), group))
    sizes = [found[f"{r.consumer}-{number}"] for r in group.registrations for number in range(2)]
    assert max(sizes) - min(sizes) <= 1


@both
@given(group=groups(), data=st.data())
def test_the_order_of_consumers_and_topics_does_not_matter(assignor, group, data):
    mixed = ZooKeeperGroup(
        registrations=tuple(data.draw(st.permutations(group.registrations))),
        topics=tuple(data.draw(st.permutations(group.topics))),
    )
    assert sorted(taken(assignor, mixed)) == sorted(taken(assignor, group))


def test_threads_are_served_in_the_order_of_their_names():
    """c-10 comes before c-2: of two partitions the first goes to c-0, the second to c-1, and c-10 waits before c-2."""
    group = ZooKeeperGroup(
        registrations=(Registration(consumer="c", pattern=Pattern.STATIC, subscription={"t": 11}),),
        topics=(ZooKeeperTopic(topic="t", partitions=(0, 1, 2)),),
    )
    assert [thread for thread, _ in taken(RangeThreads(), group)] == ["c-0", "c-1", "c-10"]


def listed(pattern, expression, exclude_internal=True):
    registration = Registration(consumer="c", pattern=pattern, subscription={expression: 1})
    return registered_filter(registration, exclude_internal=exclude_internal)


@pytest.mark.parametrize(
    ("pattern", "expression", "allowed"),
    [
        pytest.param(Pattern.WHITE_LIST, "orders.*", ["orders", "orders.eu"], id="white list"),
        pytest.param(Pattern.BLACK_LIST, "orders.*", ["payments"], id="black list"),
        pytest.param(Pattern.WHITE_LIST, "'orders, payments'", ["orders", "payments"], id="commas, blanks, quotes"),
        pytest.param(Pattern.WHITE_LIST, ".*", ["orders", "orders.eu", "payments"], id="not the internal topic"),
        pytest.param(Pattern.WHITE_LIST, "order", [], id="the whole name has to match"),
        pytest.param(Pattern.WHITE_LIST, r"\Qorders.eu\E", ["orders.eu"], id="quoting"),
    ],
)
def test_lists_of_topics(pattern, expression, allowed):
    wanted = listed(pattern, expression)
    topics = ["orders", "orders.eu", "payments", "__consumer_offsets"]
    assert [topic for topic in topics if wanted.allows(topic)] == allowed


def test_the_internal_topic_can_be_asked_for():
    assert listed(Pattern.WHITE_LIST, ".*", exclude_internal=False).allows("__consumer_offsets")


@pytest.mark.parametrize("expression", ["[", "a**", "(?=a)", r"(a)\1", "[a-z&&[^b]]", "a{5000}"])
def test_an_expression_that_cannot_be_used_is_an_error(expression):
    with pytest.raises(AssignorError) as caught:
        listed(Pattern.WHITE_LIST, expression)
    assert str(caught.value) == f"RuntimeException: {normalize_filter(expression)} is an invalid regex."


def test_an_expression_that_would_take_for_ever_does_not():
    assert not listed(Pattern.WHITE_LIST, "(a*)*" * 20 + ".*" * 20 + "b").allows("a" * 249)


def test_a_wrong_expression_of_one_consumer_fails_all():
    registrations = (
        Registration(consumer="bad", pattern=Pattern.WHITE_LIST, subscription={"[": 1}),
        Registration(consumer="good", pattern=Pattern.STATIC, subscription={"t": 1}),
    )
    group = ZooKeeperGroup(registrations=registrations, topics=(ZooKeeperTopic(topic="t", partitions=(0,)),))
    errors = {share.consumer: share.error for share in RangeThreads().allocate(group)}
    assert errors == dict.fromkeys(["bad", "good"], "RuntimeException: [ is an invalid regex.")


def test_kafka_0_8_refuses_groups_whose_threads_differ():
    registrations = (
        Registration(consumer="a", pattern=Pattern.STATIC, subscription={"t": 1}),
        Registration(consumer="b", pattern=Pattern.STATIC, subscription={"t": 1, "u": 1}),
    )
    topics = tuple(ZooKeeperTopic(topic=name, partitions=(0,)) for name in "tu")
    group = ZooKeeperGroup(registrations=registrations, topics=topics)
    old = RoundRobinThreads(release=Release.KAFKA_0_8).allocate(group)
    assert all("Round-robin assignment is allowed only if all consumers" in share.error for share in old)
    assert all(share.error is None for share in RoundRobinThreads().allocate(group))
