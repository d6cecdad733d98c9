"""Which partitions nobody reads in a generation, by the log alone."""

from __future__ import annotations

from monitor.model import Member, MembershipStored, TopicPartitions
from tests.clients.generations import misplaced, unassigned


def generation(*members: Member) -> MembershipStored:
    return MembershipStored("g", 1, "consumer", "roundrobin", None, stored_ms=1000, members=members)


def member(topics: str, **given: tuple[int, ...]) -> Member:
    assigned = tuple(TopicPartitions(topic, numbers) for topic, numbers in given.items())
    return Member(member_id=topics, topics=tuple(topics), assigned=assigned)


def test_what_somebody_subscribes_to_and_nobody_was_given_is_unassigned():
    read = generation(member("ab", a=(0,)), member("a", a=(1,)))
    assert unassigned(read, {"a": 2, "b": 2, "c": 9}) == {("b", 0), ("b", 1)}


def test_what_only_a_stranger_to_the_topic_was_given_is_misplaced():
    read = generation(member("ab", a=(0,), b=(0,)), member("a", a=(1,), b=(1,)))
    assert misplaced(read) == {("b", 1)}
    assert unassigned(read, {"a": 2, "b": 2}) == frozenset()


def test_in_a_generation_without_members_nothing_is_left():
    assert unassigned(generation(), {"a": 2}) == misplaced(generation()) == frozenset()
