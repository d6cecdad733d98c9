"""How far apart micro-batches begin, whatever the news."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.detection.ownership.catalog_view import Topics
from monitor.model import Catalog, PartitionState, TopicState
from monitor.readiness.next_batch import (
    AT_ONCE_MS,
    GROUPS_QUIET_MS,
    JOIN_MS,
    LONGEST_PAUSE_MS,
    LONGEST_QUIET_MS,
    BatchSchedule,
    EvaluationData,
)

TIMES = st.integers(0, 100_000)


@given(st.integers(1, 5_000), st.lists(st.tuples(st.integers(0, 5_000), st.integers(0, 5_000)), max_size=60))
def test_there_are_no_more_than_one_for_each_spacing_and_one_more(spacing_ms, news):
    """Whenever news comes and however long a micro-batch takes, in any stretch of time."""
    schedule, now_ms, began = BatchSchedule(spacing_ms), 0, []
    for quiet_ms, took_ms in news:
        now_ms = max(now_ms + quiet_ms, schedule.earliest_ms if began else 0)
        schedule.begin(now_ms)
        began.append(now_ms)
        now_ms += took_ms
    for first, first_ms in enumerate(began):
        for last_ms in began[first:]:
            count = sum(first_ms <= each <= last_ms for each in began)
            assert count <= (last_ms - first_ms) // spacing_ms + 2


@given(st.integers(0, 5_000), TIMES)
def test_after_a_pause_two_follow_each_other_at_once(spacing_ms, began_ms):
    schedule = BatchSchedule(spacing_ms)
    schedule.begin(began_ms)
    assert schedule.earliest_ms == began_ms
    schedule.begin(began_ms)
    assert schedule.earliest_ms == began_ms + spacing_ms


@given(st.integers(0, 20_000), TIMES, st.none() | st.integers(-100_000, 200_000))
def test_without_news_it_begins_when_something_is_due_or_after_the_longest_pause(spacing_ms, began_ms, due_ms):
    schedule = BatchSchedule(spacing_ms)
    schedule.begin(began_ms)
    longest_ms = began_ms + max(spacing_ms, LONGEST_PAUSE_MS)
    assert schedule.latest_ms(due_ms) == min(longest_ms, longest_ms if due_ms is None else due_ms + JOIN_MS)


@pytest.mark.parametrize(
    ("interval_ms", "polled_ms", "latest_ms"),
    [
        pytest.param(10_000, 8_000, 23_000, id="15 s after the poll: the next one, which is due in 10, proves as much"),
        pytest.param(2_000, 8_000, 18_000, id="never sooner than the longest pause after it"),
        pytest.param(10_000, 28_000, LONGEST_QUIET_MS, id="but after half a minute all are read"),
        pytest.param(60_000, 100, LONGEST_QUIET_MS, id="also where polls are rare"),
    ],
)
def test_a_poll_that_found_nothing_new_lets_the_next_one_begin_later(interval_ms, polled_ms, latest_ms):
    schedule = BatchSchedule(1_000, interval_ms)
    schedule.begin(0)
    assert schedule.latest_ms(None, polled_ms) == latest_ms
    assert schedule.latest_ms(5_000, polled_ms) == 5_000 + JOIN_MS


def topics(pass_ms: int, **partitions: int) -> Topics:
    """Topics with so many partitions, as a pass saw them."""
    states = {
        name: TopicState("c", name, pass_ms, partitions=tuple(PartitionState(n, first_seen_ms=1) for n in range(count)))
        for name, count in partitions.items()
    }
    return Topics(Catalog("c", pass_ms, states))


BEFORE = topics(100_000, t=1, own=1)


@pytest.mark.parametrize(
    ("newest", "judged_by", "of_groups", "has_news"),
    [
        pytest.param(None, None, {}, False, id="no topics yet"),
        pytest.param(BEFORE, None, {}, True, id="nothing was evaluated"),
        pytest.param(BEFORE, BEFORE, {"is_polled": True}, False, id="the same pass"),
        pytest.param(topics(110_000, t=1, own=1), BEFORE, {}, False, id="a pass with nothing new"),
        pytest.param(topics(110_000, t=2, own=1), BEFORE, {}, True, id="another partition"),
        pytest.param(topics(110_000, t=1, own=2), BEFORE, {}, False, id="only its own topic has changed"),
        pytest.param(topics(110_000, t=1, own=1), BEFORE, {"is_polled": True}, True, id="groups come by polls"),
        pytest.param(topics(110_000, t=1, own=1), BEFORE, {"changed_ms": 100_000}, True, id="groups changed since"),
        pytest.param(topics(110_000, t=1, own=1), BEFORE, {"changed_ms": 99_999}, False, id="they changed before"),
    ],
)
def test_news_is_due_at_once_where_groups_may_be_evaluated(newest, judged_by, of_groups, has_news):
    data = EvaluationData(newest, judged_by, own_topics=frozenset({"own"}), **of_groups)
    assert data.has_news is has_news
    by_time = None if judged_by is None else 77
    assert data.due_ms(77, may_evaluate=True) == (AT_ONCE_MS if has_news else by_time)
    assert data.due_ms(77, may_evaluate=False) == by_time
    assert data.due_ms(None, may_evaluate=False) is None


def test_polls_wait_while_no_group_has_changed_for_long_and_never_where_groups_come_by_them():
    changed_ms = 100_000 - GROUPS_QUIET_MS
    assert EvaluationData(BEFORE, BEFORE, changed_ms - 1).polls_may_wait
    assert not EvaluationData(BEFORE, BEFORE, changed_ms).polls_may_wait
    assert not EvaluationData(BEFORE, BEFORE, changed_ms - 1, is_polled=True).polls_may_wait
    assert not EvaluationData(None, None).polls_may_wait
