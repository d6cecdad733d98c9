"""Of rebalances that the history has no room for, it stays known when they ended, unless they are a past affair."""

import pytest
from msgspec.structs import replace

from monitor.model import GroupKind, GroupState, Phase, Rebalance, RebalanceCause
from monitor.tracking.rebalances.history import MAX_EARLIER_ENDS, MAX_REBALANCES, QUIET_PERIOD_MS, record_rebalance
from monitor.tracking.rebalances.membership import without_membership

Cause = RebalanceCause
NOBODY = GroupState(cluster="c", group="g", phase=Phase.STABLE)


def after(*ends_ms, causes=(Cause.JOIN,), state=NOBODY):
    for end_ms in ends_ms:
        state = record_rebalance(state, Rebalance(generation=1, started_ms=end_ms, ended_ms=end_ms, causes=causes))
    return state


def test_what_leaves_the_history_leaves_its_end_behind():
    assert after(*range(40)).earlier_ms == ()
    state = after(*range(43))
    assert (state.earlier_ms, len(state.history)) == ((0, 1, 2), MAX_REBALANCES)


@pytest.mark.parametrize("cause", [Cause.HANDOVER, Cause.STATIC_RESTART])
def test_what_follows_of_itself_leaves_nothing(cause):
    assert after(*range(43), causes=(cause,)).earlier_ms == ()
    assert after(*range(43), causes=(Cause.LEAVE, cause)).earlier_ms == (0, 1, 2)


def test_an_hour_of_calm_makes_what_was_before_a_past_affair():
    """The three that have left the history are an hour older than what is in it; a millisecond more, and none is."""
    assert QUIET_PERIOD_MS == 3_600_000
    restless = [*range(3), *range(2 + QUIET_PERIOD_MS, 42 + QUIET_PERIOD_MS)]
    assert after(*restless).earlier_ms == (0, 1, 2)
    assert after(*restless[:3], *[end + 1 for end in restless[3:]]).earlier_ms == ()
    once_a_day = [day * 86_400_000 for day in range(100)]
    assert after(*once_a_day).earlier_ms == ()


def test_a_calm_is_noticed_behind_rebalances_that_do_not_count():
    handed = after(QUIET_PERIOD_MS // 2, QUIET_PERIOD_MS + 3, causes=(Cause.HANDOVER,), state=after(0, 1, 2))
    assert after(*range(QUIET_PERIOD_MS + 4, QUIET_PERIOD_MS + 41), state=handed).earlier_ms == (0, 1), (
        "two left the history"
    )
    assert after(*range(QUIET_PERIOD_MS + 4, QUIET_PERIOD_MS + 43), state=handed).earlier_ms == ()


def test_the_memory_is_bounded():
    ends = range(0, 3_000 * 30_000, 30_000)
    state = after(*ends)
    assert state.earlier_ms == tuple(ends[-MAX_REBALANCES - MAX_EARLIER_ENDS : -MAX_REBALANCES])


def test_a_group_that_becomes_another_kind_remembers_as_before():
    state = replace(after(*range(43)), kind=GroupKind.CONSUMER)
    assert (without_membership(state).earlier_ms, without_membership(state).history) == ((0, 1, 2), state.history)
