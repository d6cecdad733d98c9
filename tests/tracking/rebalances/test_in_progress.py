"""That a classic group rebalances now, by samples of a collector; how long it took is checked by
test_rebalance_duration.py."""

import pytest
from msgspec.structs import replace

from monitor.model import (
    SAMPLE_LIFETIME_MS,
    EpochStored,
    GroupDeleted,
    GroupKind,
    Member,
    MembershipStored,
    MemberStored,
    OffsetCommitted,
    Phase,
    RebalanceCause,
    RebalanceInProgress,
    RebalanceSampled,
)
from monitor.tracking.group import fold_group

BEGUN_MS = 1_000_000
"""When the generation before was stored."""


def fold(*events, state=None):
    return fold_group("c", "g", state, events)


def generation(number, *members, at, joined=None):
    return MembershipStored(
        group="g",
        generation=number,
        protocol_type="consumer",
        protocol="range" if members else None,
        leader=None,
        stored_ms=at,
        members=tuple(Member(member_id=name) for name in members),
        state_ms=at if joined is None else joined,
    )


def sample(at, *, since=None, interval=1_000, state="PreparingRebalance"):
    return RebalanceSampled(
        cluster="c",
        group="g",
        state=state,
        since_ms=at if since is None else since,
        sampled_ms=at,
        interval_ms=interval,
    )


def over(at):
    return sample(at, state=None, interval=None)


STABLE = fold(generation(3, "a", at=BEGUN_MS))
FIRST_MS = BEGUN_MS + 60_000
STORED_MS = FIRST_MS + 5_000
NEXT = generation(4, "a", "b", at=STORED_MS, joined=STORED_MS - 10)


def newest(state):
    """Started, how exactly, ended; and what all of them have taken."""
    rebalance = state.history[-1]
    return rebalance.started_ms, rebalance.uncertainty_ms, rebalance.ended_ms, state.rebalance_ms - STABLE.rebalance_ms


def test_without_samples_a_rebalance_begins_when_all_had_joined_and_the_waiting_is_not_known():
    assert newest(fold(NEXT, state=STABLE)) == (STORED_MS - 10, None, STORED_MS, 10)


def test_while_it_lasts_it_is_known_since_when_and_until_when_it_was_seen():
    state = fold(sample(FIRST_MS), sample(FIRST_MS + 4_000, since=FIRST_MS), state=STABLE)
    assert state.sampled == RebalanceInProgress(FIRST_MS, FIRST_MS + 4_000, 1_000)
    assert replace(state, sampled=None) == STABLE, "and nothing else"


@pytest.mark.parametrize("late_ms", [-5_000, 0, 1_000])
def test_a_sample_hardly_younger_than_the_generation_tells_nothing_of_now(late_ms):
    assert fold(sample(BEGUN_MS + late_ms, since=BEGUN_MS + 5_000 + late_ms), state=STABLE).sampled is None


def test_a_sample_of_long_ago_changes_nothing():
    assert fold(sample(BEGUN_MS - SAMPLE_LIFETIME_MS - 1), state=STABLE) is STABLE


def test_one_that_is_younger_does():
    assert fold(sample(BEGUN_MS + 1_001), state=STABLE).sampled.first_ms == BEGUN_MS + 1_001


def test_the_next_rebalance_that_follows_at_once_begins_with_the_generation_before_it():
    """A cooperative handover: the sampler never saw the group stable in between."""
    state = fold(
        sample(FIRST_MS), NEXT, sample(STORED_MS + 500, since=FIRST_MS), sample(STORED_MS + 1_500, since=FIRST_MS),
        state=STABLE,
    )  # fmt: skip
    assert state.sampled == RebalanceInProgress(STORED_MS, STORED_MS + 1_500, 1_000)
    ahead = fold(sample(FIRST_MS), sample(STORED_MS + 1_500, since=FIRST_MS), NEXT, state=STABLE)
    assert ahead.sampled == RebalanceInProgress(STORED_MS, STORED_MS + 1_500, 1_000), (
        "the events were read ahead of the log"
    )


def test_a_collector_that_starts_anew_does_not_make_it_younger():
    again = FIRST_MS + 20_000
    state = fold(sample(FIRST_MS), sample(again, interval=None), state=STABLE)
    assert state.sampled == RebalanceInProgress(FIRST_MS, again, 1_000)
    much_later = again + SAMPLE_LIFETIME_MS + 1
    assert fold(sample(much_later), state=state).sampled.first_ms == much_later, "nobody had looked meanwhile"


def test_a_rebalance_whose_coordinator_died_does_not_lend_its_beginning_to_a_later_one():
    later = generation(4, "a", at=FIRST_MS + SAMPLE_LIFETIME_MS + 1)
    for events in ([sample(FIRST_MS)], [sample(FIRST_MS), over(FIRST_MS + 1_000)]):
        state = fold(*events, later, state=STABLE)
        assert newest(state)[1:3] == (None, later.stored_ms)
        assert state.sampled is None
    again = fold(sample(FIRST_MS), over(FIRST_MS + 1_000), sample(FIRST_MS + 9_000), state=STABLE)
    assert again.sampled == RebalanceInProgress(FIRST_MS + 9_000, FIRST_MS + 9_000, 1_000)


def test_that_it_is_over_is_known_before_the_log_tells_it():
    state = fold(sample(FIRST_MS), over(FIRST_MS + 2_000), state=STABLE)
    assert state.sampled == RebalanceInProgress(FIRST_MS, FIRST_MS, 1_000, over=True)
    assert fold(NEXT, state=state).sampled is None
    assert fold(over(FIRST_MS), state=STABLE).sampled is None


def test_what_a_collector_whose_clock_is_ahead_says_of_the_rebalance_before_is_over_with_its_end():
    """It dates the rebalance that ended at STORED_MS 8 s later, and the next one, of 20 ms, comes before that."""
    quick = generation(5, "a", at=STORED_MS + 4_000, joined=STORED_MS + 3_990)
    samples = [sample(FIRST_MS + 8_000), sample(STORED_MS + 7_500, since=FIRST_MS + 8_000), over(STORED_MS + 8_500)]
    state = fold(NEXT, *samples, quick, state=STABLE)
    assert state.sampled is None
    assert newest(state)[:3] == (STORED_MS + 3_990, None, STORED_MS + 4_000)


STATIC = Member(member_id="s", instance_id="i")
WITH_STATIC = fold(replace(generation(3, at=BEGUN_MS), members=(STATIC,)))


def restarted(at):
    return replace(generation(3, at=at), members=(replace(STATIC, member_id="s2"),))


def test_a_static_members_return_is_written_when_the_group_is_stable_and_so_ends_what_was_seen():
    state = fold(sample(FIRST_MS), restarted(FIRST_MS + 3_000), state=WITH_STATIC)
    assert state.history[-1].causes == (RebalanceCause.STATIC_RESTART,)
    assert newest(state)[:3] == (FIRST_MS + 3_000, None, FIRST_MS + 3_000), "nobody had to stop for it"
    assert state.sampled is None
    before = fold(sample(FIRST_MS), restarted(FIRST_MS - 3_000), state=WITH_STATIC)
    assert before.sampled == RebalanceInProgress(FIRST_MS, FIRST_MS, 1_000)


def test_a_late_sample_is_not_taken_for_a_static_members_return():
    enough = OffsetCommitted("g", "t", 0, 1, STORED_MS + 200_000)
    seen = replace(over(STORED_MS + 700), since_ms=FIRST_MS, seen_ms=STORED_MS - 300, interval_ms=1_000)
    state = fold(restarted(FIRST_MS - 2_000), NEXT, seen, enough, state=WITH_STATIC)
    assert [each.uncertainty_ms is None for each in state.history] == [True, True, False]
    assert state.history[1].started_ms == state.history[1].ended_ms == FIRST_MS - 2_000


COMMITTED = OffsetCommitted("g", "t", 0, 1, 1)
MODERN = MemberStored("g", GroupKind.CONSUMER, Member(member_id="m"), 1)


@pytest.mark.parametrize(
    "before",
    [
        pytest.param([], id="nothing is known of it"),
        pytest.param([COMMITTED, generation(3, "a", at=5), GroupDeleted("g", 9)], id="deleted"),
        pytest.param([MODERN, EpochStored("g", GroupKind.CONSUMER, 2, 1)], id="a KIP-848 group"),
    ],
)
def test_a_sample_of_a_group_that_is_no_classic_one_changes_nothing(before):
    state = fold(*before)
    assert fold(sample(FIRST_MS), state=state) is state


def test_nothing_stays_of_a_sampled_group_that_is_deleted_or_converted():
    sampled = fold(sample(FIRST_MS), state=STABLE)
    assert fold(GroupDeleted(group="g", deleted_ms=FIRST_MS), state=sampled).sampled is None
    modern = fold(MODERN, state=sampled)
    assert modern.kind is GroupKind.CONSUMER
    assert modern.sampled is None


def test_a_group_that_was_just_created_is_seen_in_its_first_rebalance():
    created = replace(generation(0, at=FIRST_MS - 100), protocol_type="")
    state = fold(created, sample(FIRST_MS + 2_000, since=FIRST_MS), state=None)
    assert (state.phase, state.sampled.first_ms) == (Phase.OFFSETS_ONLY, FIRST_MS)


def test_times_that_no_clock_gives_do_no_harm():
    odd = fold(sample(2**63 - 1, since=2**63 - 1), sample(FIRST_MS, since=2**63 - 1), state=STABLE)
    assert odd.sampled is not None
    assert newest(fold(NEXT, state=odd))[:3] == (STORED_MS - 10, None, STORED_MS)
