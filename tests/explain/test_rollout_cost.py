"""What a rollout will cost, worked out by hand for groups of one to three members with two partitions each.

Of range and roundrobin, everything that is open is replayed. With two members, partitions 0-3: whoever stops first
leaves two partitions to the other, a new pod takes two of its four, and so on, wherever its id sorts.
"""

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings
from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs, QuestionError
from monitor.explain.rollout_cost import RolloutQuestion, RolloutWay, Spread, forecast
from monitor.explain.rollout_plan import Rollout, rollout_typed
from monitor.model import GroupKind, GroupState, Phase, Rebalance, RebalanceCause, WireForm
from tests.detection.ownership import test_kip848 as modern
from tests.support.builders import ASSIGNED, NOW, catalog, group, member, topic
from tests.support.examples import example_count

TOPIC_ID = "AAAAAAAAAAEAAAAAAAAAAQ"
SLOW = Rollout(1, 20_000)
STOP_FIRST = Rollout(0, 20_000)
JOIN, LEAVE = RebalanceCause.JOIN, RebalanceCause.LEAVE


def pods(size: int, protocol: str, **more: object) -> GroupState:
    """Two partitions for each member: runs, or every other one for roundrobin."""
    deal = protocol == "roundrobin"
    held = [[number, number + size] if deal else [2 * number, 2 * number + 1] for number in range(size)]
    members = [member(f"C{n}", ("a",), {"a": own}, session_timeout_ms=45_000) for n, own in enumerate(held)]
    return group(*members, protocol=protocol, leader="C0", **more)


def inputs(state: GroupState) -> GroupInputs:
    a = replace(topic("a", 2 * max(1, len(state.members))), topic_id=TOPIC_ID)
    return GroupInputs(group=state, catalog=catalog(a), now_ms=NOW)


def first(state: GroupState, rollout: Rollout, **more: object) -> RolloutWay:
    return forecast(inputs(state), RolloutQuestion(rollout, **more), is_alone=True).ways[0]


@pytest.mark.parametrize("protocol", ["range", "roundrobin"])
def test_of_two_pods_that_stop_first_each_partition_moves_twice(protocol):
    """Two go to the other, two come back to its successor, and the same again. If the second old pod stops in the
    rebalance in which the first new one joins, all four go there: two, four, two. Of both kinds, each is 24 times."""
    way = first(pods(2, protocol), STOP_FIRST)
    assert (way.moves, way.rebalances) == (Spread(8, 8, 8), Spread(3, 3, 4))
    assert (way.replayed, way.is_exact) == (48, True)


@pytest.mark.parametrize("protocol", ["range", "roundrobin"])
def test_of_two_pods_that_are_recreated_partitions_move_while_one_is_alone(protocol):
    """Nobody has a partition between the old and the new pods. Two move if the old ones leave one by one, and two if
    the new ones join one by one: 0, 2, 2 or 4."""
    way = first(pods(2, protocol), rollout_typed("recreate,start=20s"))
    assert (way.moves, way.rebalances) == (Spread(0, 2, 4), Spread(2, 3, 4))


def test_a_single_pod_gives_its_partitions_away_unless_it_is_gone_before():
    """It stops before the new one joins in a quarter of the cases: then nobody takes anything from anybody."""
    way = first(pods(1, "range"), SLOW)
    assert (way.moves, way.rebalances, way.replayed) == (Spread(0, 2, 2), Spread(1, 1, 2), 8)


@pytest.mark.parametrize(
    ("protocol", "rebalances"), [("sticky", (3, 6)), ("cooperative-sticky", (3, 9))], ids=["eager", "cooperative"]
)
def test_a_sticky_assignor_moves_each_partition_once_at_least(protocol, rebalances):
    """The two of an old pod go to its successor if both happen in one rebalance: six moves, three rebalances. If an old
    one stops first, its two go to the others (three each), and two come to the new one. That is the most; a cooperative
    assignor takes a rebalance more to bring them there."""
    way = first(pods(3, protocol), SLOW)
    assert (way.moves.least, way.moves.most) == (6, 12)
    assert (way.rebalances.least, way.rebalances.most) == rebalances
    assert not way.is_exact


def test_a_group_of_the_new_protocol_moves_as_many_by_uniform():
    """As above; the coordinator needs no rebalance of its own for what it takes from somebody."""
    held = [modern.ids(modern.ORDERS, 2 * number, 2 * number + 1) for number in range(2)]
    members = [modern.member(name, assigned=own, target=own) for name, own in zip("xy", held, strict=True)]
    whole = GroupInputs(group=modern.group(*members), catalog=modern.CATALOG, now_ms=NOW)
    way = forecast(whole, RolloutQuestion(SLOW), is_alone=True).ways[0]
    assert (way.assignor, way.protocol) == ("uniform", "consumer")
    assert (way.moves.least, way.moves.most) == (4, 8)
    assert (way.rebalances.least, way.rebalances.most) == (2, 4)


def test_static_members_that_come_back_in_time_move_nothing():
    way = first(pods(3, "range"), SLOW, is_static=True)
    assert (way.moves, way.rebalances, way.whole_pause_ms) == (Spread(0, 0, 0), Spread(0, 0, 0), None)
    assert way.unknown == (
        "Partitions stand still while their pod restarts, for about 20 s; no rebalance measures that.",
    )


def test_static_members_that_come_back_too_late_cost_what_others_cost():
    """60 s are more than their session timeout of 45 s. They stop first, as two of one instance id cannot be there."""
    way = first(pods(2, "range"), Rollout(1, 60_000), is_static=True)
    assert (way.moves, way.rebalances) == (Spread(8, 8, 8), Spread(3, 3, 4))


def test_other_ways_are_told_beside():
    ways = forecast(inputs(pods(2, "range")), RolloutQuestion(STOP_FIRST)).ways
    assert [(each.assignor, each.protocol, each.is_static) for each in ways] == [
        ("range", "classic", False),
        ("range", "classic", True),
        ("cooperative-sticky", "classic", False),
        ("uniform", "consumer", False),
    ]
    assert [(each.moves.least, each.moves.most) for each in ways[1:]] == [(0, 0), (8, 8), (8, 8)]


def rebalance(pause_ms: int, *causes: RebalanceCause, **more: object) -> Rebalance:
    fields = {"generation": 2, "started_ms": NOW, "ended_ms": NOW, "paused_partitions": 4, **more}
    return Rebalance(causes=causes, pause_ms=pause_ms, **fields)


def test_pauses_are_those_of_the_groups_own_rebalances():
    """Four partitions stood still for 8 s and 4 s together, so for 2 s and 1 s each. Those before the group changed its
    assignor, the first one, one that nobody noticed and one without commits tell nothing."""
    history = (
        rebalance(90_000, JOIN),
        rebalance(90_000, RebalanceCause.ASSIGNOR),
        rebalance(90_000, JOIN, is_first=True),
        rebalance(90_000, RebalanceCause.STATIC_RESTART),
        rebalance(0, JOIN, paused_partitions=0),
        rebalance(8_000, JOIN),
        rebalance(4_000, LEAVE),
    )
    ways = forecast(inputs(pods(2, "range", history=history)), RolloutQuestion(STOP_FIRST)).ways
    assert (ways[0].pause_ms, ways[0].measured) == (Spread(1_000, 1_000, 2_000), 2)
    assert ways[0].whole_pause_ms == Spread(3_000, 3_000, 8_000)
    assert (ways[2].pause_ms, ways[2].unknown) == (
        None,
        ("No cooperative rebalance of this group has been measured, so its pauses are unknown.",),
    )


SARAMA = {"client_id": "sarama", "wire": WireForm(subscription_version=1, assignment_version=0)}
EMPTY = GroupState(cluster="c", group="g", phase=Phase.EMPTY, protocol_type="consumer", generation=4, phase_ms=ASSIGNED)
PAIR = pods(2, "range")
MIXED = replace(PAIR, members=(replace(PAIR.members[0], instance_id="i"), PAIR.members[1]))
GO = {"wire": WireForm(subscription_version=1, assignment_version=3), "is_abridged": True}
GO |= {"client_id": "app (github.com/segmentio/kafka-go)"}


@pytest.mark.parametrize(
    ("state", "sentence"),
    [
        (EMPTY, "Group g has no members (it is empty), so there is nothing to assign."),
        (
            replace(PAIR, protocol="own"),
            "groupwatch does not support the group's assignor own for this group; it supports range, roundrobin, "
            "sticky, cooperative-sticky, and those of client libraries, for example sarama.roundrobin.",
        ),
        (
            MIXED,
            "Some members of group g have a group.instance.id and others have none; groupwatch forecasts such rollouts "
            "only as if all were static.",
        ),
        (
            replace(PAIR, kind=GroupKind.SHARE),
            "Group g is a kafka-share group; groupwatch forecasts rollouts of classic and KIP-848 consumer groups "
            "only.",
        ),
        (
            group(*[replace(each, **SARAMA) for each in PAIR.members], protocol="sticky", leader="C0"),
            "groupwatch cannot replay the sticky of Sarama: its result depends on what only the leader knows.",
        ),
        (
            replace(PAIR, members=(PAIR.members[0], replace(PAIR.members[1], **GO))),
            "Members of group g use Kafka's Java client, kafka-go; which one leads, and by whose assignor, is not "
            "known before.",
        ),
    ],
)
def test_what_cannot_be_forecast_is_told_without_a_number(state, sentence):
    with pytest.raises(QuestionError) as why:
        first(state, SLOW)
    assert str(why.value) == sentence


@pytest.mark.parametrize("text", ["", "surge=x", "surge=1,start=2h", "start", "recreate=1", "surge=-1"])
def test_what_is_no_rollout_is_told(text):
    with pytest.raises(QuestionError, match="is no rollout; give for example surge=1,start=20s"):
        rollout_typed(text)


@settings(max_examples=example_count(0.2))
@given(
    size=st.integers(1, 2),
    protocol=st.sampled_from(["range", "roundrobin", "sticky"]),
    surge=st.sampled_from([0, 1, 2, None]),
    start_ms=st.sampled_from([2_000, 20_000]),
)
def test_every_partition_moves_unless_all_pods_are_gone_and_least_is_never_above_most(size, protocol, surge, start_ms):
    way = first(pods(size, protocol), Rollout(surge, start_ms))
    for each in (way.moves, way.rebalances):
        assert 0 <= each.least <= each.median <= each.most
    assert way.moves.least >= (2 * size if size > 1 and start_ms > 2_000 and surge == 1 else 0)
    assert way.rebalances.most <= 2 * size
