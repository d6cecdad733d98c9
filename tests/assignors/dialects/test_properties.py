"""What the dialects promise for any group; the vectors say which of the allowed answers it is.

A group is asked of all dialects at once: to draw one takes longer than to assign it.
"""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.assignors import AssignorError, find
from monitor.assignors.dialects import DIALECTS, Exactness, Group, ReplayedDialect
from monitor.model import Assignment, MemberAssignment, TopicPartitions
from monitor.model.evidence import RefusalReason
from tests.assignors.strategies import equal_groups, groups, topic_shapes
from tests.support.examples import example_count

REPLAYED = {name: row.rule for name, row in DIALECTS.items() if isinstance(row.rule, ReplayedDialect)}
EXACT = {name: rule for name, rule in REPLAYED.items() if DIALECTS[name].exactness is Exactness.EXACT}


@st.composite
def led_groups(draw):
    members = tuple(draw(groups()))
    leader = draw(st.sampled_from([member.member_id for member in members]))
    return Group(members=members, topics=tuple(draw(topic_shapes())), leader=leader)


def said(rule, group):
    """The answer, or the text of the failure."""
    try:
        return rule.assign(group)
    except AssignorError as error:
        return str(error)


@given(group=led_groups())
def test_a_replayed_dialect_accepts_what_it_gives_and_gives_the_likeliest_first(group):
    for name, rule in REPLAYED.items():
        possible = list(rule.possible_assignments(group))
        likeliest = said(rule, group)
        assert isinstance(likeliest, str) or likeliest == possible[0], name
        for answer in possible:
            assert rule.refusal(answer, group) is None, name


@given(group=led_groups())
def test_members_keep_their_order_and_get_no_empty_topics(group):
    for name, rule in REPLAYED.items():
        for answer in rule.possible_assignments(group):
            assert [entry.member_id for entry in answer.members] == [member.member_id for member in group.members]
            for entry in answer.members:
                topics = [topic.topic for topic in entry.topics]
                assert topics == sorted(topics, key=lambda topic: topic.encode("utf-16-be")), name
                assert all(list(topic.partitions) == sorted(topic.partitions) != [] for topic in entry.topics), name


@given(group=led_groups(), data=st.data())
def test_an_exact_answer_does_not_depend_on_the_order_of_the_input(group, data):
    members = tuple(data.draw(st.permutations(group.members)))
    other = replace(group, members=members, topics=tuple(data.draw(st.permutations(group.topics))))
    for name, rule in EXACT.items():
        answer, again = said(rule, group), said(rule, other)
        if isinstance(answer, str):
            assert again == answer, name
        else:
            assert {entry.member_id: entry for entry in again.members} == {
                entry.member_id: entry for entry in answer.members
            }, name


@given(members=equal_groups(), topics=topic_shapes())
def test_kafkas_first_assignment_of_a_group_is_good_enough_for_the_checked_dialects(members, topics):
    """All members subscribe to the same and own nothing, so any even assignment will do; one topic has one answer."""
    plain = [replace(member, instance_id=None) for member in members]
    group = Group(members=tuple(plain), topics=tuple(topics))
    answer = find("sticky").assign(plain, topics)
    assert DIALECTS["sarama.sticky"].rule.refusal(answer, group) is None
    refusal = DIALECTS["franz-go.sticky"].rule.refusal(answer, group)
    assert refusal is None or refusal.reason is RefusalReason.OTHER_OWNER


@settings(max_examples=example_count(0.5))
@given(group=led_groups())
def test_who_is_no_member_owns_nothing(group):
    everything = tuple(
        TopicPartitions(shape.topic, tuple(range(shape.partitions))) for shape in group.topics if shape.partitions
    )
    stranger = Assignment(members=(MemberAssignment("nobody here", everything),))
    for name, row in DIALECTS.items():
        assert not everything or row.rule.refusal(stranger, group) is not None, name
