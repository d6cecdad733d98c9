"""Answers at the edges. All of them were asked of kafka-clients' own classes (4.3.1) and written down."""

from __future__ import annotations

import pickle

import pytest

from monitor.assignors import AssignorError, UnknownAssignor, find
from monitor.model import Assignment, Member, TopicShape
from tests.assignors.golden import plain

RANGE, ROUNDROBIN = find("range"), find("roundrobin")
both = pytest.mark.parametrize("assignor", [RANGE, ROUNDROBIN], ids=lambda assignor: assignor.name)


def topic(name, partitions, *racks):
    return TopicShape(topic=name, partitions=partitions, racks=tuple(tuple(replicas) for replicas in racks))


def test_other_names_are_a_value():
    assert find("sticky-but-mine") == UnknownAssignor(name="sticky-but-mine")
    assert find("Range") == UnknownAssignor(name="Range")
    assert find(None) == UnknownAssignor(name=None)


def test_range_gives_nobody_nothing():
    assert RANGE.assign([], [topic("t", 3)]) == Assignment()


def test_roundrobin_refuses_an_empty_group():
    with pytest.raises(AssignorError) as caught:
        ROUNDROBIN.assign([], [])
    assert str(caught.value) == "IllegalArgumentException: CircularIterator can only be used on non-empty lists"


def test_errors_survive_being_sent_between_processes():
    again = pickle.loads(pickle.dumps(AssignorError("NullPointerException", "why")))
    assert (again.original, again.message, str(again)) == ("NullPointerException", "why", "NullPointerException: why")
    assert str(AssignorError("NoSuchElementException")) == "NoSuchElementException"


@both
def test_members_without_anything_to_read_have_an_entry(assignor):
    members = [Member(member_id="nothing"), Member(member_id="gone", topics=("gone", "empty"))]
    assert plain(assignor.assign(members, [topic("empty", 0), topic("t", 2)])) == {"nothing": {}, "gone": {}}


@both
def test_a_topic_asked_for_twice_counts_once(assignor):
    members = [Member(member_id="A", topics=("t", "t")), Member(member_id="B", topics=("t",))]
    assert {m: len(owned["t"]) for m, owned in plain(assignor.assign(members, [topic("t", 4)])).items()} == {
        "A": 2,
        "B": 2,
    }


@both
def test_an_empty_instance_id_is_an_instance_id(assignor):
    members = [
        Member(member_id="A", topics=("t",)),
        Member(member_id="B", topics=("t",), instance_id="A"),
        Member(member_id="Z", topics=("t",), instance_id=""),
    ]
    answer = {"A": {}, "B": {"t": [1]}, "Z": {"t": [0]}}
    assert plain(assignor.assign(members, [topic("t", 2)])) == answer


@both
def test_members_with_one_instance_id_stay_in_the_order_of_the_originals_map(assignor):
    members = [Member(member_id=name, topics=("t",), instance_id="i") for name in ["o", "p"]]
    assert plain(assignor.assign(members, [topic("t", 1)])) == {"o": {}, "p": {"t": [0]}}


def test_one_topic_that_gains_from_racks_changes_the_batches_that_do_not():
    """u, v and w alone are cut in runs, since all their partitions are on the same rack. w is no batch of several."""
    topics = [topic("u", 2, "y", "y"), topic("v", 2, "y", "y"), topic("w", 1, "y")]
    names = ("t", "u", "v", "w")
    members = [Member(member_id="A", topics=names, rack="x"), Member(member_id="B", topics=names, rack="y")]
    alone = {"A": {"u": [0], "v": [0], "w": [0]}, "B": {"u": [1], "v": [1]}}
    with_t = {"A": {"t": [0], "u": [1], "v": [1], "w": [0]}, "B": {"t": [1, 2], "u": [0], "v": [0]}}
    assert plain(RANGE.assign(members, topics)) == alone
    assert plain(RANGE.assign(members, [topic("t", 3, "x", "y", "y"), *topics])) == with_t


def test_balance_comes_before_racks():
    members = [Member(member_id=name, topics=("t",), rack=rack) for name, rack in zip("ABC", "xyy", strict=True)]
    answer = plain(RANGE.assign(members, [topic("t", 4, "x", "y", "x", "x")]))
    assert answer == {"A": {"t": [0, 2]}, "B": {"t": [1]}, "C": {"t": [3]}}


def test_an_empty_rack_of_a_member_is_none_but_of_a_broker_is_one():
    members = [Member(member_id="A", topics=("t",), rack=""), Member(member_id="B", topics=("t",), rack="x")]
    answer = plain(RANGE.assign(members, [topic("t", 2, ("x",), ("x", ""))]))
    assert answer == {"A": {"t": [0]}, "B": {"t": [1]}}
    members = [Member(member_id="A", topics=("t",), rack="q"), Member(member_id="B", topics=("t",), rack="x")]
    assert plain(RANGE.assign(members, [topic("t", 2, ("x",), ("x", ""))])) == {"A": {"t": [1]}, "B": {"t": [0]}}
    assert plain(RANGE.assign(members, [topic("t", 2, ("x",), ("x", None))])) == {"A": {"t": [0]}, "B": {"t": [1]}}


def test_racks_are_not_used_if_no_member_is_on_any_of_them():
    members = [Member(member_id="A", topics=("t",), rack="x"), Member(member_id="B", topics=("t",))]
    answer = plain(RANGE.assign(members, [topic("t", 3, "y", "z", "y")]))
    assert answer == {"A": {"t": [0, 1]}, "B": {"t": [2]}}


def test_partitions_without_known_racks_match_nobody_who_has_one():
    members = [Member(member_id="A", topics=("t",), rack="x"), Member(member_id="B", topics=("t",), rack="r0")]
    answer = plain(RANGE.assign(members, [topic("t", 3, ("r0",))]))
    assert answer == {"A": {"t": [1, 2]}, "B": {"t": [0]}}


def test_roundrobin_does_not_turn_for_a_topic_without_partitions():
    asked = {"A": ("a", "b"), "B": ("a", "c"), "C": ("c",)}
    members = [Member(member_id=name, topics=topics) for name, topics in asked.items()]
    answer = plain(ROUNDROBIN.assign(members, [topic("a", 2), topic("b", 0), topic("c", 1)]))
    assert answer == {"A": {"a": [0]}, "B": {"a": [1]}, "C": {"c": [0]}}


def test_roundrobin_lines_topics_up_as_java_does():
    names = ("\uffee", "\U0001f600")
    members = [Member(member_id=name, topics=names) for name in "AB"]
    answer = plain(ROUNDROBIN.assign(members, [topic(name, 1) for name in names]))
    assert answer == {"A": {"\U0001f600": [0]}, "B": {"\uffee": [0]}}
