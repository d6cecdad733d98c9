"""The gate of a rollout: what is missing, for how long nothing was, and what no later look can make good."""

import pytest
from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs
from monitor.expectations.expectation import Expectation, MemberRange
from monitor.expectations.look import Look, look_at
from monitor.expectations.rollout import RolloutLimits, look_again, rollout_outcome
from monitor.model import Rebalance, RebalanceCause, RebalanceInProgress
from monitor.model.expectations import Met
from tests.support.builders import ASSIGNED, NOW, catalog, commit, group, member, topic

EXPECTED = Expectation("g", members=MemberRange(2, 2))
LIMITS = RolloutLimits(since_ms=ASSIGNED - 60_000, stable_ms=10_000)
PAIR = (member("C0", ("a",), {"a": [0, 1]}), member("C1", ("a",), {"a": [2, 3]}))
READ = [commit("a", number) for number in range(4)]
TOPIC = topic("a", 4)


def look(*members, offsets=READ, at_ms=NOW, topics=(TOPIC,), **more) -> Look:
    found = GroupInputs(group(*(members or PAIR), offsets=offsets, **more), catalog(*topics, pass_ms=at_ms), at_ms)
    return look_at(found)


def unmet(found: Look, limits=LIMITS, expected=EXPECTED):
    checks = rollout_outcome(expected, limits, found).checks
    return {each.key: each.met.value for each in checks if each.met is not Met.YES}


def test_nothing_is_missing_of_a_group_that_reads():
    assert unmet(look()) == {}


def test_a_partition_without_an_owner_is_missing():
    found = look(member("C0", ("a",), {"a": [0, 1]}), member("C1", ("a",), {"a": [2]}))
    assert unmet(found)["owned"] == "no"


@pytest.mark.parametrize(
    ("offset", "committed_ms", "missing"),
    [
        pytest.param(90, NOW - 15_000, {}, id="committed since, with records left"),
        pytest.param(90, NOW - 15_001, {"committed": "no"}, id="and not for longer than usual"),
        pytest.param(90, ASSIGNED - 1, {"committed": "no"}, id="committed by the owner before"),
        pytest.param(100, ASSIGNED - 1, {}, id="nothing to read"),
    ],
)
def test_an_owner_has_to_commit_where_records_wait(offset, committed_ms, missing):
    found = look(offsets=[commit("a", 0, offset, committed_ms), *READ[1:]])
    assert {key: met for key, met in unmet(found).items() if key == "committed"} == missing


def test_where_nothing_is_committed_it_is_unknown_whether_records_wait():
    assert unmet(look(offsets=READ[1:]))["committed"] == "unknown"
    empty = replace(TOPIC, partitions=(replace(TOPIC.partitions[0], earliest=100), *TOPIC.partitions[1:]))
    assert "committed" not in unmet(look(offsets=READ[1:], topics=(empty,)))


def test_members_of_before_have_to_leave_if_all_are_to_be_replaced():
    limits = replace(LIMITS, is_replaced=True, before=frozenset({"C1", "gone"}))
    assert unmet(look(), limits) == {"replaced": "no"}
    assert unmet(look(), replace(limits, before=frozenset({"gone"}))) == {}
    assert unmet(look(), replace(limits, before=None)) == {"replaced": "unknown"}


def test_a_group_that_rebalances_is_not_judged_by_what_it_was():
    found = look(sampled=RebalanceInProgress(first_ms=NOW - 2_000, last_ms=NOW - 100))
    assert unmet(found) == {"members": "unknown", "owned": "unknown"}


def test_without_a_number_at_least_one_member_is_expected():
    assert unmet(look(), expected=Expectation("g")) == {}


def test_a_finding_counts_if_it_began_since_the_rollout():
    """The topic has grown 5 s after the assignment."""
    grown = look(topics=(topic("a", 5, grown=1),))
    assert unmet(grown)["findings"] == "no"
    later = replace(LIMITS, since_ms=ASSIGNED + 6_000)
    assert "findings" not in unmet(grown, later)


def steps(*looks: Look, limits=LIMITS):
    """The progress after each look."""
    found, before = [], None
    for each in looks:
        before = look_again(EXPECTED, limits, each, before, looks[0])
        found.append(before)
    return found


def test_it_is_over_when_nothing_was_missing_for_long_enough():
    progress = steps(look(), look(at_ms=NOW + 9_999), look(at_ms=NOW + 10_000))
    assert [each.is_over for each in progress] == [False, False, True]


def test_another_generation_breaks_the_time():
    second = look(at_ms=NOW + 9_000, generation=4, generation_ms=NOW - 1)
    progress = steps(look(), second, look(at_ms=NOW + 12_000, generation=4, generation_ms=NOW - 1))
    assert progress[-1].stable_since_ms == NOW + 9_000
    assert not progress[-1].is_over


def test_something_missing_breaks_the_time():
    alone = look(PAIR[0], at_ms=NOW + 5_000)
    progress = steps(look(), alone, look(at_ms=NOW + 11_000))
    assert [each.stable_since_ms for each in progress] == [NOW, None, NOW + 11_000]


def rebalance(ended_ms: int, **costs: int) -> Rebalance:
    return Rebalance(generation=3, started_ms=ended_ms - 500, ended_ms=ended_ms, causes=(RebalanceCause.JOIN,), **costs)


def test_the_costs_are_those_of_the_rebalances_since_the_start():
    history = (
        rebalance(LIMITS.since_ms - 1, moved=9, pause_ms=9_000),
        rebalance(LIMITS.since_ms, moved=2, avoidable=1, pause_ms=4_000, burst_records=7),
        rebalance(ASSIGNED, moved=3, pause_ms=8_000, burst_records=1),
    )
    (progress,) = steps(look(history=history, rebalances=30))
    costs = progress.costs
    assert (costs.rebalances, costs.moved, costs.avoidable, costs.pause_ms, costs.burst) == (2, 5, 1, 3_000, 8)
    assert costs.is_complete
    (shorter,) = steps(look(history=history[1:], rebalances=30))
    assert not shorter.costs.is_complete


def test_what_exceeds_a_limit_is_lost_at_once():
    history = (rebalance(ASSIGNED, pause_ms=8_000),)
    limits = replace(LIMITS, max_pause_ms=1_999, max_redelivered=5)
    (progress,) = steps(look(history=history), limits=limits)
    assert progress.is_lost
    assert progress.outcome.checks[-1].sentence == (
        "Each partition stood still for 2 s on average; expected: at most 1 s."
    )
    redelivered = steps(look(redelivered_records=10), look(redelivered_records=16), limits=limits)
    assert [each.is_lost for each in redelivered] == [False, True]
    assert redelivered[-1].costs.redelivered == 6
