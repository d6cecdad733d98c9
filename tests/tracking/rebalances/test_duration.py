"""How long rebalances took, of two clocks that nobody compares: what is told always contains the truth."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.errors import KafkaConnectionError
from msgspec.structs import replace

from monitor.collectors.kafka.rebalance_sampler import RebalanceSampler
from monitor.model import Member, MembershipStored, OffsetCommitted, RebalanceSampled, Value
from monitor.tracking.group import fold_group
from monitor.tracking.rebalances.duration import (
    FOLLOW_UP_MS,
    MAX_CLOCK_OFFSET_MS,
    MAX_OBSERVATIONS,
    SAME_OFFSET_MS,
    STALE_ANSWER_MS,
    SYNCED_CLOCKS_MS,
)
from tests.support.examples import example_count

START_MS = 10_000_000
AWAITED_MS = MAX_CLOCK_OFFSET_MS + FOLLOW_UP_MS
"""How far the log is read before a sight is judged."""


class Truth(Value):
    """A rebalance as it was, by the broker's clock: begun, all had joined, stored, and no longer said to go on."""

    begun_ms: int
    joined_ms: int
    stored_ms: int
    shown_ms: int


class World:
    """One group and its broker, as kafka-python's admin client tells of them; ``now_ms`` is the broker's clock."""

    def __init__(self, truths, ahead_ms, chance, lost=0.0):
        self.truths, self.ahead_ms, self.chance, self.lost = truths, ahead_ms, chance, lost
        self.now_ms = START_MS

    def collectors_clock(self):
        return self.now_ms + self.ahead_ms

    def describe_cluster(self):
        return {"brokers": [{"broker_id": 1, "rack": None}]}

    def list_groups(self, broker_ids, states_filter):
        """The answer is made at some instant of the time that it takes."""
        before, after = self.chance.randint(0, 100), self.chance.randint(0, 100)
        self.now_ms += before
        goes_on = any(each.begun_ms <= self.now_ms < each.shown_ms for each in self.truths)
        self.now_ms += after
        if self.chance.random() < self.lost:
            raise KafkaConnectionError
        return [{"group_id": "g", "group_state": "PreparingRebalance"}] if goes_on else []

    def samples(self, until_ms):
        """What the collector writes, asking about once a second."""
        states = RebalanceSampler("c")
        while self.now_ms < until_ms:
            states.begin_pass()
            for some in states.ask(self, self.collectors_clock):
                yield from some
            self.now_ms += self.chance.randint(800, 1_200)


def stored(number, truth):
    return MembershipStored(
        group="g",
        generation=number,
        protocol_type="consumer",
        protocol="range",
        leader=None,
        stored_ms=truth.stored_ms,
        members=(Member(member_id=f"m{number}"),),
        state_ms=truth.joined_ms,
    )


def committed(at_ms):
    return OffsetCommitted("g", "t", 0, at_ms // 1_000, at_ms)


@st.composite
def truths(draw, apart_ms=0):
    """Rebalances of all lengths, close to each other or far apart."""
    length = st.one_of(st.integers(0, 2_000), st.integers(0, 12_000), st.integers(0, 70_000))
    found, now_ms = [], START_MS
    for _ in range(draw(st.integers(1, 12))):
        begun_ms = now_ms + apart_ms + draw(length)
        joined_ms = begun_ms + draw(length)
        now_ms = joined_ms + draw(st.integers(0, 500))
        found.append(Truth(begun_ms, joined_ms, now_ms, now_ms + draw(st.integers(0, STALE_ANSWER_MS - 1))))
    return found


def in_batches(log, samples, chance):
    """The events of both logs, each in its order, in batches."""
    left = [list(log), list(samples)]
    while any(left):
        batch = []
        for _ in range(chance.randint(1, 6)):
            source = chance.choice([each for each in left if each] or [[]])
            batch += [source.pop(0)] if source else []
        yield batch


@settings(max_examples=example_count(3))
@given(
    st.one_of(
        st.tuples(truths(), st.integers(-SYNCED_CLOCKS_MS, SYNCED_CLOCKS_MS)),
        st.tuples(truths(2 * MAX_CLOCK_OFFSET_MS + 10_000), st.integers(-MAX_CLOCK_OFFSET_MS, MAX_CLOCK_OFFSET_MS)),
    ),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.1, 0.5]),
    st.sampled_from([1, 5]),
)
def test_the_true_beginning_lies_in_what_is_told_of_two_clocks(truths_and_clock, seed, lost, first):
    """Of clocks that agree, always; of those that differ, where no other rebalance can be meant: whether one ends or
    the next may be known to half a minute only, where most answers are lost."""
    found, ahead_ms = truths_and_clock
    chance = random.Random(seed)
    end_ms = found[-1].stored_ms + AWAITED_MS + MAX_CLOCK_OFFSET_MS + 5_000
    generations = dict(enumerate(found, first))
    log = [stored(number, truth) for number, truth in generations.items()]
    log += [committed(at_ms) for at_ms in range(START_MS, end_ms, 7_000)]
    log.sort(key=lambda event: event.stored_ms if isinstance(event, MembershipStored) else event.committed_ms)
    samples = list(World(found, ahead_ms, chance, lost).samples(end_ms))
    state, total_ms = None, 0
    for batch in in_batches(log, samples, chance):
        state = fold_group("c", "g", state, batch)
        for rebalance in state.history if state else ():
            truth = generations[rebalance.generation]
            assert truth.begun_ms <= rebalance.started_ms <= truth.joined_ms
            if rebalance.uncertainty_ms is not None:
                assert rebalance.started_ms - rebalance.uncertainty_ms <= truth.begun_ms
        if state is not None:
            assert total_ms <= state.rebalance_ms, "a counter"
            total_ms = state.rebalance_ms
    assert total_ms == sum(each.ended_ms - each.started_ms for each in state.history)


def told(found, ahead_ms, *, seed=1):
    """Of each rebalance, once everything was read: by how much it began before it is said to, and the uncertainty."""
    end_ms = found[-1].stored_ms + AWAITED_MS + MAX_CLOCK_OFFSET_MS + 5_000
    samples = World(found, ahead_ms, random.Random(seed)).samples(end_ms)
    log = [stored(number, truth) for number, truth in enumerate(found, 1)]
    state = fold_group("c", "g", None, [*log, *samples, committed(end_ms)])
    return [
        (each.started_ms - truth.begun_ms, each.uncertainty_ms)
        for each, truth in zip(state.history, found, strict=True)
    ]


def steps(*stable_ms, lasting_ms=5_000):
    """Rebalances that last so long and follow each other after these times."""
    found, now_ms = [], START_MS
    for each in stable_ms:
        begun_ms = now_ms + each
        now_ms = begun_ms + lasting_ms
        found.append(Truth(begun_ms, now_ms, now_ms, now_ms))
    return found


CLOCKS = pytest.mark.parametrize("ahead_ms", [-MAX_CLOCK_OFFSET_MS, -8_000, 0, 2_500, 8_000, MAX_CLOCK_OFFSET_MS])
SECONDS_MS = 3 * 1_400 + STALE_ANSWER_MS
"""Two questions at the beginning, two at the end, with what answers take: so exact is a lone rebalance."""


@CLOCKS
def test_a_lone_rebalance_is_known_to_some_seconds_whatever_the_clocks_say(ahead_ms):
    for late_ms, uncertainty_ms in told(steps(90_000, 90_000, 90_000), ahead_ms):
        assert 0 <= late_ms <= uncertainty_ms <= SECONDS_MS


@CLOCKS
def test_five_that_follow_each_other_at_uneven_times_tell_themselves_how_far_the_clocks_are_apart(ahead_ms):
    """All but one offset would leave some of them without an end."""
    for late_ms, uncertainty_ms in told(steps(90_000, 9_000, 13_000, 6_000, 17_000), ahead_ms):
        assert 0 <= late_ms <= uncertainty_ms <= SECONDS_MS


def test_a_quick_rebalance_does_not_borrow_the_time_of_the_one_before_when_the_collectors_clock_is_ahead():
    """It takes 20 ms, 4 s after the first, which the collector dates 6 s later: the second itself was never seen."""
    found = steps(90_000, 300_000)
    quick = Truth(*(found[-1].stored_ms + late_ms for late_ms in (4_000, 4_010, 4_020, 4_020)))
    _, (late_ms, uncertainty_ms), second = told([*found, quick], 6_000)
    assert 0 <= late_ms <= uncertainty_ms <= SECONDS_MS, "the one of five minutes ago tells the offset"
    assert second == (10, None)
    (late_ms, uncertainty_ms), second = told([found[0], quick], 6_000)
    assert 0 <= late_ms <= uncertainty_ms, "either may be meant"
    assert second == (10, None)


# --- by hand ----------------------------------------------------------------------------------------------------------

JOINED_MS, STORED_MS = START_MS + 64_990, START_MS + 65_000
BEFORE = stored(1, Truth(START_MS - 10, START_MS - 5, START_MS, START_MS))
AFTER = stored(2, Truth(0, JOINED_MS, STORED_MS, STORED_MS))
AHEAD_MS = 8_000
OVER = RebalanceSampled(
    cluster="c",
    group="g",
    state=None,
    since_ms=START_MS + 60_000 + AHEAD_MS,
    sampled_ms=STORED_MS + 300 + AHEAD_MS,
    interval_ms=1_000,
    seen_ms=STORED_MS - 700 + AHEAD_MS,
    gap_ms=1_000,
    broker=1,
)
ENOUGH = committed(OVER.sampled_ms + AWAITED_MS + 1)


def fold(*events, state=None):
    return fold_group("c", "g", state, events)


def later(event, by_ms):
    names = ("since_ms", "seen_ms", "sampled_ms")
    return replace(event, **{name: getattr(event, name) + by_ms for name in names})


def newest(state):
    return state.history[-1].started_ms, state.history[-1].uncertainty_ms


def test_the_bounds_of_a_lone_rebalance():
    """It was seen for 4.3 s and 0.5 s of them may have been after its end: so it began 3.8 s before it, or earlier; and
    from the question before the first to the one after the last passed 6.3 s."""
    state = fold(BEFORE, AFTER, OVER, ENOUGH)
    assert newest(state) == (STORED_MS - 3_800, 6_300 - 3_800)
    assert state.rebalance_ms == 5 + 3_800
    assert [each.is_recorded for each in state.observations] == [True]


@pytest.mark.parametrize("place", range(3))
def test_the_order_in_which_the_two_logs_are_read_changes_nothing(place):
    log = [BEFORE, AFTER, ENOUGH]
    order = [log[0], *log[1:][:place], OVER, *log[1:][place:]]
    state = None
    for event in order:
        state = fold(event, state=state)
    assert state == fold(BEFORE, AFTER, OVER, ENOUGH)


def test_nothing_is_told_before_all_ends_are_known_that_can_be_meant():
    state = fold(BEFORE, AFTER, OVER, committed(OVER.sampled_ms + MAX_CLOCK_OFFSET_MS))
    assert newest(state) == (JOINED_MS, None)
    assert newest(fold(committed(OVER.sampled_ms + MAX_CLOCK_OFFSET_MS + 1), state=state))[1] is not None
    assert newest(fold(ENOUGH, state=state))[1] is not None


def test_nothing_is_told_where_the_log_does_not_reach_back_to_all_ends_that_can_be_meant():
    """The first record is of generation 4, so there were others before, which compaction has taken."""
    alone = replace(AFTER, generation=4)
    state = fold(alone, OVER, ENOUGH)
    assert newest(state) == (JOINED_MS, None)
    assert [each.is_recorded for each in state.observations] == [True], "and it is not asked again"
    assert newest(fold(replace(AFTER, generation=1), OVER, ENOUGH)) == (STORED_MS - 3_800, 2_500), "the very first"


def test_a_sight_whose_end_is_in_no_log_tells_nothing():
    later = replace(AFTER, stored_ms=STORED_MS + 60_000, state_ms=STORED_MS + 59_990)
    assert newest(fold(BEFORE, later, OVER, committed(later.stored_ms + 200_000))) == (STORED_MS + 59_990, None)


def test_a_rebalance_that_follows_at_once_began_between_the_end_of_the_one_before_and_the_next_look():
    """One sight of two: the second's beginning was not seen, but the collector looked every second."""
    second = stored(3, Truth(0, STORED_MS + 3_990, STORED_MS + 4_000, STORED_MS + 4_000))
    over = replace(OVER, sampled_ms=second.stored_ms + 300 + AHEAD_MS, seen_ms=second.stored_ms - 700 + AHEAD_MS)
    state = fold(BEFORE, AFTER, second, over, committed(over.sampled_ms + AWAITED_MS + 1))
    # If the sight ended with the first, 8.3 s of it came before 65 s; with the second, 4.3 s (0.5 s less at most).
    assert state.history[1].started_ms == STORED_MS + 4_000 - 7_800
    assert state.history[1].started_ms - state.history[1].uncertainty_ms == STORED_MS - 10_300
    assert newest(state) == (STORED_MS + 3_990, 3_990), "after the first had ended, before all had joined"


def test_a_second_sight_tells_which_end_the_first_one_had():
    """The ends are 4 s and then 30 s apart; no other offset than 8 s gives all three an end."""
    second = stored(3, Truth(0, STORED_MS + 3_990, STORED_MS + 4_000, STORED_MS + 4_000))
    third = stored(4, Truth(0, STORED_MS + 33_990, STORED_MS + 34_000, STORED_MS + 34_000))
    over = later(OVER, 34_000)
    over = replace(over, since_ms=over.seen_ms - 1_000)
    state = fold(BEFORE, AFTER, second, OVER, third, over, committed(over.sampled_ms + AWAITED_MS + 1))
    assert state.history[1].uncertainty_ms == 2_500
    assert newest(state) == (third.stored_ms - 500, 2_500)


def test_an_event_of_an_older_collector_says_less_and_nothing_wrong():
    """When it was last seen is not told, so all of it but the first moment may have been after the end."""
    older = replace(OVER, seen_ms=None, gap_ms=None, broker=None)
    started_ms, uncertainty_ms = newest(fold(BEFORE, AFTER, older, ENOUGH))
    assert (started_ms, started_ms - uncertainty_ms) == (JOINED_MS, STORED_MS - 6_300)


def test_a_collector_that_had_not_looked_before_cannot_say_when_it_began_but_that_it_had():
    state = fold(BEFORE, AFTER, replace(OVER, interval_ms=None), ENOUGH)
    assert newest(state) == (STORED_MS - 3_800, None), "the generation before it is too old to tell more"


def test_an_event_that_is_written_twice_is_one_sight():
    assert len(fold(BEFORE, AFTER, OVER, OVER, ENOUGH, OVER).observations) == 1


@pytest.mark.parametrize(
    "odd",
    [
        pytest.param(replace(OVER, sampled_ms=OVER.since_ms - 1), id="the clock was set back"),
        pytest.param(replace(OVER, seen_ms=OVER.since_ms - 1), id="seen before it was first seen"),
        pytest.param(replace(OVER, since_ms=2**62), id="a time that no clock gives"),
    ],
)
def test_a_sight_against_time_is_no_sight(odd):
    assert fold(BEFORE, AFTER, odd, ENOUGH).observations == ()


def test_sights_are_bounded():
    state = fold(BEFORE)
    for number in range(MAX_OBSERVATIONS + 5):
        state = fold(replace(OVER, sampled_ms=OVER.sampled_ms + number), state=state)
    assert len(state.observations) == MAX_OBSERVATIONS
    late = replace(OVER, sampled_ms=OVER.sampled_ms + SAME_OFFSET_MS + MAX_OBSERVATIONS + 5)
    state = fold(late, state=fold(ENOUGH, committed(late.sampled_ms), state=state))
    assert [each.over_ms for each in state.observations] == [late.sampled_ms], (
        "not those that have told all and are old"
    )


def test_a_rebalance_that_was_seen_once_may_have_been_over_and_began_after_it_was_not_seen_yet():
    """Asked at 64.3 s of the broker's clock if it ended just after, or at 65.5 s if it was shown for 0.5 s more."""
    once = replace(OVER, since_ms=OVER.seen_ms, gap_ms=0)
    assert newest(fold(BEFORE, AFTER, once, ENOUGH)) == (JOINED_MS, JOINED_MS - (STORED_MS - 2_000))


def test_a_clock_that_was_set_is_noticed_and_what_was_seen_before_that_is_forgotten():
    """The second each fits the second end at 8 s no more, but 30 s later the third one is the first of a new time."""
    second = stored(3, Truth(0, STORED_MS + 99_990, STORED_MS + 100_000, STORED_MS + 100_000))
    third = stored(4, Truth(0, STORED_MS + 199_990, STORED_MS + 200_000, STORED_MS + 200_000))
    state = fold(BEFORE, AFTER, OVER, second, later(OVER, 111_000), third, later(OVER, 211_000), committed(10**8))
    assert [each.uncertainty_ms for each in state.history] == [None, 2_500, None, 2_500]
    assert [each.over_ms for each in state.observations] == [OVER.sampled_ms + 111_000, OVER.sampled_ms + 211_000]


def test_another_broker_has_another_clock():
    """Two ends, 40 s apart, and sights 28 s apart: by one clock not both have an end, by the clocks of two they do."""
    second = stored(3, Truth(0, STORED_MS + 39_990, STORED_MS + 40_000, STORED_MS + 40_000))
    end = committed(START_MS + 300_000)
    here = fold(BEFORE, AFTER, second, OVER, later(OVER, 28_000), end).history
    assert [each.uncertainty_ms for each in here] == [None, 2_500, None]
    elsewhere = fold(BEFORE, AFTER, second, OVER, replace(later(OVER, 28_000), broker=2), end).history
    assert [each.uncertainty_ms for each in elsewhere] == [None, 2_500, 2_500]
