"""When the end of a log counts as gone back, in the same topic: never by one poll alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import EndFall
from tests.tracking.test_topic import fold, history, seen

S = 1_000
"""A second; the polls are 10 s apart, as by default."""


def states(*events):
    """Of partition 0: what is not confirmed, the newest truncation, and the records of all."""
    partition = fold(*events).partitions[0]
    return partition.falling, partition.truncation, partition.truncations.records if partition.truncations else 0


BEFORE = seen(10 * S, 16_000), seen(20 * S, 16_056)


def test_an_end_that_two_polls_show_lower_has_gone_back():
    """It ended at 16,056 by the poll at 20 s and went on from 3,406 after 21 s: 10 s and 20 s later it is 3,590."""
    first = EndFall(from_ms=20 * S, at_ms=30 * S, before=16_056, after=3_480)
    assert states(*BEFORE, seen(30 * S, 3_480)) == (first, None, 0)
    assert states(*BEFORE, seen(30 * S, 3_480), seen(40 * S, 3_590)) == (None, first, 12_576)


@pytest.mark.parametrize(
    "events",
    [
        pytest.param([seen(30 * S, 16_000), seen(40 * S, 16_056)], id="the next poll shows the old end"),
        pytest.param(
            [seen(30 * S, 16_000), seen(40 * S, 16_060), seen(50 * S, 16_059), seen(60 * S, 16_070)], id="twice"
        ),
        pytest.param([seen(30 * S, 3_480), seen(34 * S, 3_500)], id="for less than 5 s"),
        pytest.param([seen(30 * S, 3_480), seen(40 * S, 16_056)], id="grown to the old end meanwhile"),
        pytest.param([seen(30 * S, 3_480), seen(40 * S, None), seen(50 * S, None)], id="no further answer"),
        pytest.param([seen(30 * S, None), seen(40 * S, 16_056)], id="no leader for a while"),
        pytest.param([seen(15 * S, 3_480), seen(16 * S, 3_480)], id="polls that come late"),
        pytest.param([seen(20 * S, 3_480), seen(20 * S, 3_480)], id="of the same instant"),
        pytest.param([seen(30 * S, 3_480, topic_id="other"), seen(40 * S, 3_590, topic_id="other")], id="recreated"),
        pytest.param(
            [seen(30 * S, 3_480, topic_id=None), seen(40 * S, 3_590, topic_id=None)], id="by a broker without ids"
        ),
    ],
)
def test_what_may_be_something_else_is_no_truncation(events):
    assert states(*BEFORE, *events)[1:] == (None, 0)


def test_without_topic_ids_the_lower_end_counts_and_is_no_truncation():
    events = (seen(at * S, end, topic_id=None) for at, end in [(10, 90), (20, 40), (30, 45)])
    assert states(*events) == (None, None, 0)


def test_polls_of_a_clock_that_was_set_back_confirm_nothing():
    """The old events of a minute ago come once more, and then the next one of now."""
    later = seen(100 * S, 900), seen(110 * S, 1_000), seen(20 * S, 300), seen(31 * S, 400), seen(120 * S, 1_010)
    assert states(*later) == (None, None, 0)


def test_when_the_clock_is_set_back_a_truncation_is_dated_to_then_and_what_awaited_confirmation_is_none():
    high, low = seen(140 * S, 1_000), seen(150 * S, 500)
    assert states(high, low, seen(160 * S, 510), seen(80 * S, 520)) == (None, EndFall(80 * S, 80 * S, 1_000, 500), 500)
    assert states(high, low, seen(80 * S, 510), seen(90 * S, 520)) == (None, None, 0)


def test_of_an_end_that_falls_twice_within_seconds_the_lowest_counts():
    fall = EndFall(from_ms=20 * S, at_ms=30 * S, before=16_056, after=2_000)
    assert states(*BEFORE, seen(30 * S, 9_000), seen(33 * S, 2_000), seen(40 * S, 2_100)) == (None, fall, 14_056)


def test_a_second_truncation_is_the_newest_and_the_records_add_up():
    events = *BEFORE, seen(30 * S, 56), seen(40 * S, 66), seen(50 * S, 30), seen(60 * S, 30)
    assert states(*events) == (None, EndFall(40 * S, 50 * S, 66, 30), 16_000 + 36)


def test_a_truncation_is_known_for_a_week_and_its_records_stay_counted():
    week_s = 7 * 86_400
    cut = *BEFORE, seen(30 * S, 56), seen(40 * S, 66)
    assert states(*cut, seen((30 + week_s) * S, 70))[1] is not None
    assert states(*cut, seen((31 + week_s) * S, 70)) == (None, None, 16_000)


def test_a_recreated_topic_has_no_truncation_of_the_former_one():
    assert states(*BEFORE, seen(30 * S, 56), seen(40 * S, 66), seen(50 * S, 1, topic_id="other")) == (None, None, 0)


def test_only_the_partition_whose_end_went_back_is_truncated():
    state = fold(seen(10 * S, 90, 90), seen(20 * S, 40, 95), seen(30 * S, 45, 99))
    assert [partition.truncation is None for partition in state.partitions] == [False, True]


RISES = st.lists(st.integers(0, 50), min_size=2, max_size=30)


PASSES = st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9), st.integers(1, 9)), max_size=12)
"""Of a collector: how long it waits before a poll, until it asks for the ends, and until it has written them."""


def polls(passes, ends):
    """The polls of a collector with when they are written. Each is dated when it begins, before it asks."""
    now_s = 1
    for wait_s, until_asked_s, until_written_s in passes:
        began_s, asked_s = now_s + wait_s, now_s + wait_s + until_asked_s
        now_s = asked_s + until_written_s
        yield now_s, seen(began_s * S, ends[min(asked_s, len(ends) - 1)])


@given(st.lists(st.integers(0, 50), min_size=50, max_size=50), PASSES, PASSES)
def test_a_log_that_only_grows_is_never_truncated_whatever_two_collectors_write_of_it(rises, first, second):
    ends = [sum(rises[: second_of_log + 1]) for second_of_log in range(len(rises))]
    written = sorted([*polls(first, ends), *polls(second, ends)], key=lambda each: each[0])
    events = [event for _, event in written]
    for count in range(1, len(events) + 1):
        assert states(*events[:count])[1:] == (None, 0)


@given(RISES, RISES, st.integers(1, 10_000))
def test_a_truncated_log_that_stays_below_its_old_end_is_found_with_what_the_polls_have_seen_of_it(before, after, lost):
    """However it grows, 10 s a poll: at least what lies between the polls around the truncation is lost."""
    old = [10_000 + sum(before[: index + 1]) for index in range(len(before))]
    new = [old[-1] - lost - sum(after) + sum(after[: index + 1]) for index in range(len(after))]
    events = [seen(10 * S * (index + 1), end) for index, end in enumerate([*old, *new])]
    fall = EndFall(len(old) * 10 * S, (len(old) + 1) * 10 * S, old[-1], new[0])
    assert states(*events) == (None, fall, old[-1] - new[0])


@given(RISES, st.integers(1, 5))
def test_the_history_of_a_truncated_partition_begins_with_the_lower_end(rises, end):
    state = fold(*BEFORE, seen(30 * S, end), seen(40 * S, end + 1))
    assert history(state) == [(30 * S, end), (40 * S, end + 1)]
