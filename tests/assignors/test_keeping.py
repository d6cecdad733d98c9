"""What users rely on from the assignors that keep what members have, for any group whose claims can be true."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.assignors.kafka_broker import UniformAssignor
from monitor.assignors.kafka_client.rejoining import rejoining
from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor, StickyAssignor
from monitor.model import Member, TopicPartition, TopicPartitions, TopicShape

NAMES = ["t0", "t1", "t10", "\uffee", "\U0001f600"]
IDS = ["a", "b", "B", "c-2", "c-10", "\uffee", "\U0001f600"]
UUIDS = [f"{letter}AAAAAAAAAAAAAAAAAAAAA" for letter in "ABzQg"]
KEEPING = {
    "sticky": StickyAssignor().assign,
    "cooperative-sticky": CooperativeStickyAssignor().target,
    "uniform": UniformAssignor().assign,
}
each = pytest.mark.parametrize("assign", KEEPING.values(), ids=KEEPING.keys())
CLIENTS = [KEEPING["sticky"], KEEPING["cooperative-sticky"]]


@st.composite
def topics(draw):
    counts = draw(st.lists(st.integers(1, 7), min_size=1, max_size=len(NAMES)))
    return [
        TopicShape(topic=name, partitions=count, topic_id=uuid)
        for name, uuid, count in zip(NAMES, UUIDS, counts, strict=False)
    ]


@st.composite
def groups(draw, same):
    """Members with what they have: nobody has what another has, what does not exist or what it does not ask for."""
    shapes = draw(topics())
    names = [shape.topic for shape in shapes]
    subscriptions = st.lists(st.sampled_from(names), min_size=1, unique=True).map(tuple)
    ids = draw(st.lists(st.sampled_from(IDS), unique=True, min_size=1))
    asked = {name: tuple(names) if same else draw(subscriptions) for name in ids}
    has = {name: {} for name in ids}
    for shape in shapes:
        able = [name for name in ids if shape.topic in asked[name]]
        for number, owner in enumerate(draw(st.lists(st.sampled_from([None, *able]), max_size=shape.partitions))):
            if owner is not None:
                has[owner].setdefault(shape.topic, []).append(number)
    members = [Member(member_id=name, topics=asked[name], assigned=held(has[name])) for name in ids]
    return list(rejoining(members, generation=1)), shapes


def held(numbers):
    return tuple(TopicPartitions(topic, tuple(of_topic)) for topic, of_topic in numbers.items())


def places(entries):
    return [TopicPartition(entry.topic, number) for entry in entries for number in entry.partitions]


def given_to(assignment):
    return {member.member_id: places(member.topics) for member in assignment.members}


def next_round(members, assignment):
    """The members as they join again, with what they were given."""
    pairs = zip(members, assignment.members, strict=True)
    joined = [Member(member_id=m.member_id, topics=m.topics, assigned=given.topics) for m, given in pairs]
    return list(rejoining(joined, generation=2))


any_group = groups(same=False) | groups(same=True)


@each
@given(group=any_group)
def test_every_partition_has_one_owner_who_asked_for_it(assign, group):
    members, shapes = group
    answer = given_to(assign(members, shapes))
    asked = {member.member_id: set(member.topics) for member in members}
    subscribed = set().union(*asked.values())
    wanted = [TopicPartition(s.topic, p) for s in shapes if s.topic in subscribed for p in range(s.partitions)]
    assert Counter(place for mine in answer.values() for place in mine) == Counter(wanted)
    assert all(place.topic in asked[name] for name, mine in answer.items() for place in mine)


@each
@given(group=groups(same=True))
def test_with_equal_subscriptions_totals_differ_by_at_most_one(assign, group):
    sizes = [len(mine) for mine in given_to(assign(*group)).values()]
    assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize("assign", CLIENTS, ids=["sticky", "cooperative-sticky"])
@given(group=any_group)
def test_no_single_move_makes_the_group_more_even(assign, group):
    members, shapes = group
    answer = given_to(assign(members, shapes))
    for name, mine in answer.items():
        for place in mine:
            others = [m.member_id for m in members if place.topic in m.topics]
            assert len(mine) <= min(len(answer[other]) for other in others if other != name or len(others) == 1) + 1


@each
@given(group=groups(same=True))
def test_with_equal_subscriptions_nobody_gives_up_more_than_evenness_asks_for(assign, group):
    members, shapes = group
    answer = given_to(assign(members, shapes))
    share = sum(shape.partitions for shape in shapes) // len(members)
    for member in members:
        had = places(member.assigned)
        assert len(set(had) & set(answer[member.member_id])) >= min(len(had), share)


@each
@given(group=any_group)
def test_an_assignment_fed_back_does_not_change(assign, group):
    members, shapes = group
    first = assign(members, shapes)
    after = {name: set(mine) for name, mine in given_to(assign(next_round(members, first), shapes)).items()}
    assert after == {name: set(mine) for name, mine in given_to(first).items()}


@each
@given(group=any_group, data=st.data())
def test_the_order_of_the_topics_does_not_matter(assign, group, data):
    members, shapes = group
    others = given_to(assign(members, data.draw(st.permutations(shapes))))
    assert {name: set(mine) for name, mine in others.items()} == {
        name: set(mine) for name, mine in given_to(assign(members, shapes)).items()
    }


@given(group=any_group)
def test_cooperative_sticky_gives_nobody_what_another_still_owns(group):
    members, shapes = group
    answer = given_to(CooperativeStickyAssignor().assign(members, shapes))
    owners = {place: member.member_id for member in members for place in places(member.owned)}
    assert all(owners.get(place, name) == name for name, mine in answer.items() for place in mine)


@given(group=any_group)
def test_cooperative_sticky_reaches_its_target_in_the_next_generation(group):
    members, shapes = group
    cooperative = CooperativeStickyAssignor()
    first = cooperative.assign(members, shapes)
    again = next_round(members, first)
    assert given_to(cooperative.assign(again, shapes)) == given_to(cooperative.target(again, shapes))
