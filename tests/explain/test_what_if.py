"""What-if: small groups whose new assignment was worked out by hand from the assignors' documents."""

from collections import Counter

import hypothesis.strategies as st
import pytest
from hypothesis import given
from msgspec.structs import replace

from monitor.detection.evaluate import evaluate
from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.explain.what_if import Change, PartitionCount, WhatIf, what_if
from monitor.model import GroupKind, GroupState, Phase, TopicPartition, WireForm
from tests.detection.ownership import test_kip848 as modern
from tests.support.builders import ASSIGNED, NOW, catalog, group, member, range_by_hand, topic

TOPICS = catalog(topic("a", 3), topic("b", 3))
BOTH = ("a", "b")
# range: each topic is cut in runs, so C0 gets the extra of both.
C0 = member("C0", BOTH, {"a": [0, 1], "b": [0, 1]}, client_id="front")
C1 = member("C1", BOTH, {"a": [2], "b": [2]}, client_id="back", instance_id=None)
PAIR = group(C0, C1)


def asked(state: GroupState, change: Change, topics=TOPICS) -> WhatIf:
    return what_if(GroupInputs(group=state, catalog=topics, now_ms=NOW), change)


def after(answer: WhatIf) -> dict[str, dict[str, tuple[int, ...]]]:
    return {each.member_id: {t.topic: t.partitions for t in each.after} for each in answer.members}


def moved(answer: WhatIf) -> list[tuple[str, int, tuple[str, ...], tuple[str, ...]]]:
    return [(move.topic, move.partition, move.before, move.after) for move in answer.moves]


def test_nothing_changes_where_nothing_is_changed():
    answer = asked(PAIR, Change())
    assert after(answer) == {"C0": {"a": (0, 1), "b": (0, 1)}, "C1": {"a": (2,), "b": (2,)}}
    assert (answer.moves, answer.orphans, answer.idle) == ((), (), ())
    assert answer.balance_before == answer.balance_after
    assert (answer.balance_after.largest, answer.balance_after.optimum) == (4, 3)


def test_roundrobin_instead_of_range_evens_out_two_topics():
    """The circle is a0 a1 a2 b0 b1 b2 and C0 C1 C0 C1 C0 C1: three each, so a1, a2 and b1 and b2 change or stay so:
    C0 has a0 a2 b1, C1 has a1 b0 b2."""
    answer = asked(PAIR, Change(assignor="roundrobin"))
    assert after(answer) == {"C0": {"a": (0, 2), "b": (1,)}, "C1": {"a": (1,), "b": (0, 2)}}
    assert moved(answer) == [
        ("a", 1, ("C0",), ("C1",)),
        ("a", 2, ("C1",), ("C0",)),
        ("b", 0, ("C0",), ("C1",)),
    ]
    assert (answer.balance_before.largest, answer.balance_after.largest, answer.balance_after.optimum) == (4, 3, 3)
    assert (answer.assignor_before, answer.assignor) == ("range", "roundrobin")
    assert (
        "All members support roundrobin; the simulation does not check the assignors that they offer."
        in answer.assumptions
    )


@pytest.mark.parametrize("assignor", ["sticky", "cooperative-sticky"])
def test_a_sticky_assignor_moves_one_partition_where_one_is_enough(assignor):
    answer = asked(PAIR, Change(assignor=assignor))
    assert len(answer.moves) == 1
    assert (answer.moves[0].before, answer.moves[0].after) == (("C0",), ("C1",))
    assert [each.partitions_after for each in answer.members] == [3, 3]


def test_a_third_member_takes_the_end_of_each_topic():
    """Three runs of one each; "new-1" sorts behind "C0" and "C1"."""
    answer = asked(PAIR, Change(members=3))
    assert after(answer) == {
        "C0": {"a": (0,), "b": (0,)},
        "C1": {"a": (1,), "b": (1,)},
        "new-1": {"a": (2,), "b": (2,)},
    }
    assert moved(answer) == [
        ("a", 1, ("C0",), ("C1",)),
        ("a", 2, ("C1",), ("new-1",)),
        ("b", 1, ("C0",), ("C1",)),
        ("b", 2, ("C1",), ("new-1",)),
    ]
    assert [each.joins for each in answer.members] == [False, False, True]
    assert answer.assumptions == (
        "All members rejoin with current topic metadata and remember their partitions.",
        "New members (new-1) subscribe to a, b and have no rack and no instance id.",
        "The order of new members depends on ids that they do not have yet; the simulation uses these names.",
    )


def test_members_beyond_the_partitions_would_be_idle():
    answer = asked(PAIR, Change(members=5))
    assert answer.idle == ("new-2", "new-3")
    assert [each.idle for each in answer.members] == [False, False, False, True, True]


@pytest.mark.parametrize("name", ["C1", "back"], ids=["by id", "by client id"])
def test_without_a_member_the_other_gets_all(name):
    answer = asked(PAIR, Change(without=(name,)))
    assert after(answer) == {"C0": {"a": (0, 1, 2), "b": (0, 1, 2)}, "C1": {}}
    assert [each.leaves for each in answer.members] == [False, True]
    assert moved(answer) == [("a", 2, ("C1",), ("C0",)), ("b", 2, ("C1",), ("C0",))]


def test_of_members_that_are_not_named_static_ones_stay():
    """ "z" is static, so it comes first in the assignors' order, and "C0" leaves."""
    static = replace(C1, member_id="z", instance_id="i1")
    answer = asked(group(C0, static), Change(members=1))
    assert [each.member_id for each in answer.members if each.leaves] == ["C0"]
    assert answer.assumptions[-1] == "The members that leave are the last in the assignors' order (C0)."


def test_more_partitions_are_handed_out():
    """Five of a: C0 gets 0-2, C1 gets 3 and 4."""
    answer = asked(PAIR, Change(partitions=(PartitionCount("a", 5),)))
    assert after(answer) == {"C0": {"a": (0, 1, 2), "b": (0, 1)}, "C1": {"a": (3, 4), "b": (2,)}}
    assert moved(answer) == [("a", 2, ("C1",), ("C0",)), ("a", 3, (), ("C1",)), ("a", 4, (), ("C1",))]


def test_changes_can_be_combined():
    """Without C1, with two members: C0 and new-1. Round robin over a0-a3 and b0-b2: seven, C0 has four of them."""
    change = Change(assignor="roundrobin", members=2, without=("C1",), partitions=(PartitionCount("a", 4),))
    assert after(asked(PAIR, change)) == {"C0": {"a": (0, 2), "b": (0, 2)}, "C1": {}, "new-1": {"a": (1, 3), "b": (1,)}}


def test_a_topic_that_loses_its_only_subscriber_is_nobodys_any_more():
    only = member("C2", ("c",), {"c": [0]})
    answer = asked(group(C0, C1, only), Change(without=("C2",)), catalog(topic("a", 3), topic("b", 3), topic("c", 1)))
    assert ("c", 0, ("C2",), ()) in moved(answer)
    assert answer.orphans == (TopicPartition("c", 0),)


SARAMA = {"client_id": "sarama", "wire": WireForm(subscription_version=1, assignment_version=0)}


def of_sarama(protocol):
    """Of a: 0 and 2 to C0, 1 to C1, of b the others, as both of Kafka's and Sarama's roundrobin deal 3 partitions."""
    first = member("C0", BOTH, {"a": [0, 2], "b": [1]}, **SARAMA)
    return group(first, member("C1", BOTH, {"a": [1], "b": [0, 2]}, **SARAMA), protocol=protocol, leader="C0")


def test_a_sticky_assignor_that_is_only_checked_is_simulated_by_kafkas():
    answer = asked(of_sarama("sticky"), Change())
    assert answer.assignor == "sticky"
    assert (
        "The sticky of Sarama cannot be simulated; the simulation uses that of Kafka's Java client."
        in answer.assumptions
    )


def test_a_group_of_another_library_is_simulated_by_the_assignor_of_its_leader():
    """Sarama deals by text: a-10 and a-11 come before a-2, so C0 has a 0, 10, 2, 4, 6, 8."""
    grown = catalog(topic("a", 12), topic("b", 3))
    answer = asked(of_sarama("roundrobin"), Change(), grown)
    assert (answer.assignor, answer.assignor_before) == ("sarama.roundrobin", "sarama.roundrobin")
    assert after(answer)["C0"]["a"] == (0, 2, 4, 6, 8, 10)
    assert after(answer)["C1"]["a"] == (1, 3, 5, 7, 9, 11)
    assert "A member that uses Sarama 1.61.1 leads the group." in answer.assumptions


def test_a_name_means_the_assignor_of_the_leaders_library():
    """Sarama deals by text, Kafka's Java client by number (above)."""
    grown = catalog(topic("a", 12), topic("b", 3))
    answer = asked(of_sarama("range"), Change(assignor="roundrobin"), grown)
    assert answer.assignor == "sarama.roundrobin"
    assert after(answer)["C0"]["a"] == (0, 2, 4, 6, 8, 10)
    stand_in = asked(of_sarama("range"), Change(assignor="cooperative-sticky"))
    assert stand_in.assignor == "cooperative-sticky"
    assert (
        "The cooperative-sticky of Sarama cannot be simulated; the simulation uses that of Kafka's Java client."
        in stand_in.assumptions
    )


def test_a_name_of_kafkas_own_assignor_is_told_as_such():
    told = "The simulation uses the cooperative-sticky of Kafka's Java client."
    assert told in asked(PAIR, Change(assignor="cooperative-sticky")).assumptions
    unknown = group(replace(C0, wire=None), replace(C1, wire=None))
    assert told in asked(unknown, Change(assignor="cooperative-sticky")).assumptions


def test_the_assignor_of_another_library_can_be_named():
    """kafka-go begins anew with C0 for each topic."""
    answer = asked(PAIR, Change(assignor="kafka-go.roundrobin"))
    assert after(answer) == {"C0": {"a": (0, 2), "b": (0, 2)}, "C1": {"a": (1,), "b": (1,)}}


def test_a_leader_brings_the_assignor_of_its_library():
    """Kafka's Java client deals a0 a1 a2 b0 b1 b2 to C0 C1 C0 C1 C0 C1; kafka-go begins anew for b."""
    go = {"wire": WireForm(subscription_version=1, assignment_version=3), "is_abridged": True}
    go |= {"client_id": "app (github.com/segmentio/kafka-go)"}
    mixed = group(C0, replace(C1, **go), protocol="roundrobin", leader="C0")
    assert after(asked(mixed, Change())) == {"C0": {"a": (0, 2), "b": (1,)}, "C1": {"a": (1,), "b": (0, 2)}}
    led = asked(mixed, Change(leader="C1"))
    assert led.assignor == "kafka-go.roundrobin"
    assert after(led) == {"C0": {"a": (0, 2), "b": (0, 2)}, "C1": {"a": (1,), "b": (1,)}}


@pytest.mark.parametrize(
    ("state", "change", "sentence"),
    [
        (PAIR, Change(leader="C7"), "The group has no member C7; its members are C0 (front), C1 (back)."),
        (
            group(replace(C0, wire=None), C1),
            Change(leader="C0"),
            "The client library of C0 is not known; name an assignor, for example sarama.range.",
        ),
        (
            PAIR,
            Change(assignor="sarama.sticky"),
            "groupwatch cannot simulate the sticky of Sarama: its result depends on what only the leader knows.",
        ),
    ],
)
def test_a_leader_or_a_library_that_cannot_be_simulated_is_told(state, change, sentence):
    with pytest.raises(QuestionError) as told:
        asked(state, change)
    assert str(told.value) == sentence


def test_a_topic_that_grew_is_handed_out_by_a_rebalance():
    answer = asked(PAIR, Change(), catalog(topic("a", 4, grown=1), topic("b", 3)))
    assert moved(answer) == [("a", 3, (), ("C1",))]


@pytest.mark.parametrize(("pass_ms", "given"), [(ASSIGNED, {"a"}), (ASSIGNED + 1, {"a", "b"})])
def test_a_topic_that_the_generation_lacks_may_be_gone_and_is_handed_out_once_a_newer_pass_has_seen_it(pass_ms, given):
    """The generation has all of "a" and nothing of "b", which the catalog's older pass still saw."""
    state = group(member("C0", BOTH, {"a": [0, 1, 2]}))
    answer = asked(state, Change(), catalog(topic("a", 3), topic("b", 3), pass_ms=pass_ms))
    assert after(answer)["C0"].keys() == given


HALF = modern.member("x", assigned=modern.ids(modern.ORDERS, 0, 1), target=modern.ids(modern.ORDERS, 0, 1, 2, 3))


def test_a_group_of_the_new_protocol_keeps_its_targets_with_uniform():
    """ "x" is to have all four. A second member takes two of them, and the two that stay were x's."""
    answer = asked(modern.group(HALF), Change(members=2), modern.CATALOG)
    assert (answer.assignor_before, answer.assignor) == ("uniform", "uniform")
    assert {each.member_id: each.partitions_after for each in answer.members} == {"x": 2, "new-1": 2}
    assert answer.members[0].partitions_before == 4
    assert {(move.before, move.after) for move in answer.moves} == {(("x",), ("new-1",))}
    assert len(answer.moves) == 2
    assert answer.assumptions[0].startswith("The assignment before is the coordinator's target assignment")


def test_a_group_of_the_new_protocol_with_range_gets_runs():
    """ "new-1" sorts before "x"."""
    answer = asked(modern.group(HALF), Change(members=2, assignor="range"), modern.CATALOG)
    assert after(answer) == {"x": {"orders": (2, 3)}, "new-1": {"orders": (0, 1)}}


@pytest.mark.parametrize(("chosen", "given"), [(7, {"orders"}), (6, {"orders", "bills"})])
def test_a_topic_that_the_targets_lack_is_handed_out_while_the_broker_has_yet_to_choose_anew(chosen, given):
    """The epoch is newer than the catalog: "bills" is gone if its targets lack it, and those before tell nothing."""
    both = modern.member("x", target=modern.ids(modern.ORDERS, 0, 1, 2, 3), topics=("orders", "bills"))
    state = replace(modern.group(both), target_epoch=chosen)
    answer = asked(state, Change(), replace(modern.CATALOG, pass_ms=ASSIGNED))
    assert after(answer)["x"].keys() == given


TWINS = group(replace(C0, client_id="same"), replace(C1, client_id="same"))
EMPTY = GroupState(cluster="c", group="g", phase=Phase.EMPTY, protocol_type="consumer", generation=4, phase_ms=ASSIGNED)


@pytest.mark.parametrize(
    ("state", "change", "sentence"),
    [
        (PAIR, Change(without=("C9",)), "The group has no member C9; its members are C0 (front), C1 (back)."),
        (TWINS, Change(without=("same",)), "2 members match same; use a member id: C0 (same), C1 (same)."),
        (PAIR, Change(without=("C0", "C1")), "Group g would have no members: nothing would be assigned."),
        (PAIR, Change(members=0), "groupwatch simulates 1 to 10,000 members, not 0."),
        (
            PAIR,
            Change(assignor="uniform"),
            "groupwatch does not support the assignor uniform for this group; "
            "it supports range, roundrobin, sticky, cooperative-sticky, and those of client libraries, for example "
            "sarama.roundrobin.",
        ),
        (
            modern.group(HALF),
            Change(assignor="sticky"),
            "groupwatch does not support the assignor sticky for this group; it supports range, uniform.",
        ),
        (
            replace(PAIR, protocol="mine\n"),
            Change(),
            r"groupwatch does not support the group's assignor mine\n for this group; "
            "it supports range, roundrobin, sticky, cooperative-sticky, and those of client libraries, for example "
            "sarama.roundrobin.",
        ),
        (
            PAIR,
            Change(partitions=(PartitionCount("x", 5),)),
            "No member subscribes to x; the group's topics are a, b.",
        ),
        (
            PAIR,
            Change(partitions=(PartitionCount("a", 2),)),
            "a has 3 partitions; Kafka cannot change that to 2: a topic can only grow.",
        ),
        (PAIR, Change(partitions=(PartitionCount("a", 10**9),)), "groupwatch simulates at most 1,000,000 partitions."),
        (EMPTY, Change(members=2), "Group g has no members (it is empty), so there is nothing to assign."),
        (
            modern.group(HALF, kind=GroupKind.SHARE),
            Change(),
            "Group g is a share group: its members consume partitions together, without owners.",
        ),
        (
            replace(PAIR, protocol_type="mine"),
            Change(),
            "Group g has the protocol type mine, not consumer.",
        ),
        (
            group(C0, replace(C1, unreadable="broken")),
            Change(),
            "Some members of group g have unreadable subscriptions, so its assignment cannot be simulated.",
        ),
    ],
)
def test_what_cannot_be_asked_is_told_with_what_can(state, change, sentence):
    topics = modern.CATALOG if state.kind is not GroupKind.CLASSIC else TOPICS
    with pytest.raises(QuestionError) as told:
        asked(state, change, topics)
    assert str(told.value) == sentence


@st.composite
def small_groups(draw):
    """Groups of up to five members with any subscriptions to three topics, as the assignor left them or not."""
    counts = {name: draw(st.integers(1, 6)) for name in ("a", "b", "c")}
    names = draw(st.lists(st.sampled_from(["C0", "C1", "C2", "C3", "C4"]), min_size=1, max_size=5, unique=True))
    subscriptions = {name: draw(st.lists(st.sampled_from("abc"), min_size=1, unique=True)) for name in names}
    protocol = draw(st.sampled_from(["range", "roundrobin", "sticky", "cooperative-sticky"]))
    state = group(*range_by_hand(subscriptions, counts), protocol=protocol)
    return state, catalog(*(topic(name, count) for name, count in counts.items()))


@given(small_groups(), st.integers(1, 7), st.sampled_from([None, "range", "roundrobin", "sticky"]))
def test_every_partition_that_somebody_asks_for_has_one_owner_and_the_moves_lead_there(made, members, assignor):
    state, topics = made
    answer = asked(state, Change(members=members, assignor=assignor), topics)
    staying = [each.member_id for each in answer.members if not each.leaves]
    assert len(staying) == members
    held = Counter((t.topic, p) for each in answer.members for t in each.after for p in t.partitions)
    assert set(held.values()) <= {1}
    missing = {(place.topic, place.partition) for place in answer.orphans}
    assert held.keys().isdisjoint(missing)
    subscribed = {name for each in state.members for name in each.topics}
    assert held.keys() | missing == {(name, p.partition) for name in subscribed for p in topics.topics[name].partitions}
    owners = {(t.topic, p): each.member_id for each in answer.members for t in each.before for p in t.partitions}
    for move in answer.moves:
        assert owners.pop((move.topic, move.partition), None) == (move.before[0] if move.before else None)
        if move.after:
            owners[move.topic, move.partition] = move.after[0]
    assert owners == {(t.topic, p): each.member_id for each in answer.members for t in each.after for p in t.partitions}


@given(small_groups())
def test_a_rebalance_now_gives_what_the_verdict_expects(made):
    """The verdict asks the assignor on another way; a page and an answer must not contradict each other."""
    state, topics = made
    verdict = evaluate(state, topics, NOW, DetectionSettings())
    expected = {(row.topic, row.partition): row.expected for row in verdict.partitions if row.expected is not None}
    answer = asked(state, Change(), topics)
    assert expected == {
        (t.topic, p): each.member_id for each in answer.members for t in each.after for p in t.partitions
    }
