"""What users rely on, for any group; the vectors say which of the allowed answers it is."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors import find
from monitor.model import TopicPartition
from tests.assignors.golden import plain
from tests.assignors.strategies import equal_groups, groups, topic_shapes

ASSIGNORS = [find("range"), find("roundrobin")]
both = pytest.mark.parametrize("assignor", ASSIGNORS, ids=lambda assignor: assignor.name)


@both
@given(members=groups(), topics=topic_shapes())
def test_every_subscribed_partition_has_one_owner_who_asked_for_it(assignor, members, topics):
    answer = plain(assignor.assign(members, topics))
    asked = {member.member_id: set(member.topics) for member in members}
    owned = Counter(TopicPartition(t, p) for given_to in answer.values() for t in given_to for p in given_to[t])
    subscribed = set().union(*asked.values())
    wanted = [TopicPartition(s.topic, p) for s in topics if s.topic in subscribed for p in range(s.partitions)]
    assert owned == Counter(wanted)
    assert all(answer[member].keys() <= asked[member] for member in answer)


@both
@given(members=groups(), topics=topic_shapes())
def test_members_keep_their_order_and_get_no_empty_topics(assignor, members, topics):
    answer = assignor.assign(members, topics).members
    assert [entry.member_id for entry in answer] == [member.member_id for member in members]
    for entry in answer:
        names = [topic.topic for topic in entry.topics]
        assert names == sorted(names, key=lambda name: name.encode("utf-16-be"))
        assert all(list(topic.partitions) == sorted(topic.partitions) != [] for topic in entry.topics)


@both
@given(members=groups(), topics=topic_shapes(), data=st.data())
def test_the_order_of_the_input_does_not_matter(assignor, members, topics, data):
    others = assignor.assign(data.draw(st.permutations(members)), data.draw(st.permutations(topics)))
    assert plain(others) == plain(assignor.assign(members, topics))


@given(members=groups(), topics=topic_shapes())
def test_range_shares_of_a_topic_differ_by_at_most_one(members, topics):
    answer = plain(find("range").assign(members, topics))
    for shape in topics:
        shares = [len(answer[m.member_id].get(shape.topic, [])) for m in members if shape.topic in m.topics]
        assert max(shares, default=0) - min(shares, default=0) <= 1


@given(members=groups(), topics=topic_shapes())
def test_range_partitions_topics_with_equal_counts_and_subscribers_alike(members, topics):
    answer = plain(find("range").assign(members, topics))
    subscribers = {shape.topic: {m.member_id for m in members if shape.topic in m.topics} for shape in topics}
    for one in topics:
        for other in topics:
            if one.partitions == other.partitions and subscribers[one.topic] == subscribers[other.topic]:
                assert all(owned.get(one.topic) == owned.get(other.topic) for owned in answer.values())


@given(members=equal_groups(), topics=topic_shapes())
def test_roundrobin_totals_differ_by_at_most_one_if_all_ask_for_the_same(members, topics):
    answer = plain(find("roundrobin").assign(members, topics))
    totals = [sum(map(len, owned.values())) for owned in answer.values()]
    assert max(totals) - min(totals) <= 1
