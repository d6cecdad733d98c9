"""What collectors saw of a topic: when partitions appeared, and where they ended over the last minutes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.model import EndOffsetAt, PartitionObserved, PartitionState, TopicObserved, TopicState
from monitor.tracking.serialization import decode_topic_state, encode_state
from monitor.tracking.topic import MAX_POINTS, catalog_of, expire_topic, fold_topic


def seen(at_ms, *ends, topic_id="id", pass_ms=None, earliest=None):
    """The topic with partitions 0, 1, ... that end where the arguments say."""
    return TopicObserved(
        cluster="c",
        topic="t",
        pass_ms=at_ms if pass_ms is None else pass_ms,
        observed_ms=at_ms,
        partitions=tuple(PartitionObserved(partition=p, earliest=earliest, end=end) for p, end in enumerate(ends)),
        topic_id=topic_id,
    )


def fold(*events, state=None):
    return fold_topic("c", "t", state, events)


def history(state, partition=0):
    return [(point.at_ms, point.offset) for point in state.partitions[partition].ends]


# --- partitions -------------------------------------------------------------------------------------------------------


def test_a_partition_is_as_old_as_its_first_sight():
    state = fold(seen(10, 1), seen(20, 1, 1), seen(30, 1, 1, 1))
    assert [partition.first_seen_ms for partition in state.partitions] == [10, 20, 30]


def test_partitions_are_in_order():
    event = TopicObserved(
        cluster="c",
        topic="t",
        pass_ms=1,
        observed_ms=1,
        partitions=tuple(PartitionObserved(partition=p) for p in (2, 0, 10, 1)),
    )
    assert [partition.partition for partition in fold(event).partitions] == [0, 1, 2, 10]


@pytest.mark.parametrize(
    "anew",
    [
        pytest.param(seen(50, 3, 3, topic_id="other"), id="another id"),
        pytest.param(seen(50, 3), id="fewer partitions"),
        pytest.param(seen(50, 3, topic_id=None), id="fewer partitions, no id"),
    ],
)
def test_a_topic_that_was_created_anew_starts_anew(anew):
    state = fold(seen(10, 1, 1), seen(40, 2, 2), anew)
    assert [partition.first_seen_ms for partition in state.partitions] == [50] * len(anew.partitions)
    assert history(state) == [(50, 3)]
    assert [partition.former_ms for partition in state.partitions] == [40] * len(anew.partitions)


def test_only_partitions_that_the_former_topic_had_have_a_former_log():
    state = fold(seen(10, 1), seen(20, 5, 5, topic_id="other"), seen(30, 6, 6, 6, topic_id="other"))
    assert [partition.former_ms for partition in state.partitions] == [10, 0, 0]
    assert [partition.first_seen_ms for partition in state.partitions] == [20, 20, 30]
    again = fold(seen(90, 1, 1, 1, topic_id="third"), state=state)
    assert [partition.former_ms for partition in again.partitions] == [30, 30, 30]


def test_a_broker_that_is_away_takes_only_its_own_partitions_with_it():
    """RocketMQ and MetaQ: the topic is the same, so what is known of the others stays; nothing is of a former log."""

    def told(at_ms, *ends):
        """Of broker a two partitions, then of broker b one."""
        names = ("a-0", "a-1", "b-0")
        partitions = tuple(PartitionObserved(partition=p, end=end) for p, end in zip(names, ends, strict=False))
        return TopicObserved(cluster="c", topic="t", pass_ms=at_ms, observed_ms=at_ms, partitions=partitions)

    away = fold(told(10, 1, 2, 3), told(40_000, 4, 5))
    assert [(each.partition, each.first_seen_ms, each.former_ms) for each in away.partitions] == [
        ("a-0", 10, 0),
        ("a-1", 10, 0),
    ]
    assert history(away) == [(10, 1), (40_000, 4)]
    back = fold(told(80_000, 4, 5, 3), state=away)
    assert [(each.partition, each.first_seen_ms, each.former_ms) for each in back.partitions] == [
        ("a-0", 10, 0),
        ("a-1", 10, 0),
        ("b-0", 80_000, 0),
    ]


@pytest.mark.parametrize(("first", "second"), [("id", None), (None, "id")])
def test_an_id_that_is_not_known_is_no_change(first, second):
    state = fold(seen(10, 1, topic_id=first), seen(20, 1, topic_id=second))
    assert (state.topic_id, state.partitions[0].first_seen_ms) == ("id", 10)


def test_without_an_answer_the_number_before_stays():
    state = fold(seen(10, 5, earliest=2), seen(20, None, earliest=None))
    assert (state.partitions[0].earliest, state.partitions[0].end, history(state)) == (2, 5, [(10, 5)])


def test_when_a_log_was_first_seen_to_begin_where_it_does():
    events = seen(10, 9), seen(20, 9, earliest=0), seen(30, 9, earliest=4), seen(40, 9, earliest=4), seen(50, 9)
    dated = [fold(*events[: count + 1]).partitions[0].earliest_ms for count in range(5)]
    assert dated == [0, 20, 30, 30, 30]
    set_back = seen(100_000, 9, earliest=4), seen(200_000, 9, earliest=5), seen(120_000, 9, earliest=5)
    assert fold(*set_back).partitions[0].earliest_ms == 120_000


def test_racks_are_those_seen_last():
    def at(ms, *racks):
        partitions = (PartitionObserved(partition=0, racks=racks),)
        return TopicObserved(cluster="c", topic="t", pass_ms=ms, observed_ms=ms, partitions=partitions)

    assert fold(at(1, "a", None), at(2, "b")).partitions[0].racks == ("b",)


# --- order ------------------------------------------------------------------------------------------------------------


def test_what_is_older_than_the_newest_is_left_out():
    before = fold(seen(10, 1), seen(30, 5, 5))
    assert fold(seen(20, 3), state=before) is before


HOUR = 3_600_000


def test_a_sight_that_is_much_older_tells_that_the_clock_was_set_back_and_counts():
    """Points by the old clock would lie in the future; what is older than the new instant is true by both."""
    state = fold(seen(HOUR - 30_000, 1), seen(2 * HOUR, 5), seen(HOUR, 7), seen(HOUR + 10_000, 8))
    assert history(state) == [(HOUR - 30_000, 1), (HOUR, 7), (HOUR + 10_000, 8)]
    assert (state.pass_ms, state.observed_ms) == (HOUR + 10_000, HOUR + 10_000)


def test_an_end_that_is_not_told_when_the_clock_was_set_back_is_dated_to_that_instant():
    assert history(fold(seen(2 * HOUR, 5), seen(HOUR, None))) == [(HOUR, 5)]


def test_after_the_clock_was_set_back_nothing_was_first_seen_in_the_future():
    anew = fold(seen(HOUR, 1), seen(2 * HOUR, 1, 1, topic_id="other"), seen(HOUR, 1, 1, topic_id="other"))
    assert [partition.first_seen_ms for partition in anew.partitions] == [HOUR, HOUR]
    assert [partition.former_ms for partition in anew.partitions] == [HOUR, 0]


def test_the_same_event_twice_is_the_event_once():
    before = fold(seen(10, 1), seen(60_000, 5))
    assert fold(seen(60_000, 5), state=before) is before


def test_of_two_sights_at_the_same_instant_the_later_in_the_log_counts():
    state = fold(seen(10, 1), seen(60_000, 5), seen(60_000, 6))
    assert history(state) == [(10, 1), (60_000, 6)]


def test_a_later_sight_by_an_earlier_pass_does_not_turn_the_pass_back():
    state = fold(seen(10, 1, pass_ms=8), seen(11, 2, pass_ms=7))
    assert (state.pass_ms, state.partitions[0].end) == (8, 2)


def test_a_topic_expires_when_two_completed_passes_in_a_row_did_not_see_it():
    state = fold(seen(10, 1, pass_ms=8))
    assert expire_topic(state, 7) is state
    assert expire_topic(state, 8) is state
    missed = expire_topic(state, 9)
    assert missed == replace(state, missed=True)
    assert expire_topic(missed, 10) is None
    assert list(catalog_of("c", 9, [missed]).topics) == ["t"]
    assert list(catalog_of("c", 9, [state]).topics) == [], "told late, of an older pass"


@pytest.mark.parametrize("forged_ms", [1, 100_000, 110_000, 400_000], ids=["1970", "then", "now", "almost too late"])
def test_one_pass_that_saw_nothing_costs_no_topic_its_history(forged_ms):
    """Whatever time it names: the next real pass sees the topic again, and its history goes on."""
    state = fold(seen(100_000, 5))
    missed = expire_topic(state, forged_ms, 100_000)
    assert missed is not None
    again = fold_topic("c", "t", missed, [seen(110_000, 7)])
    assert expire_topic(again, 110_000, forged_ms) is again
    assert history(again) == [(100_000, 5), (110_000, 7)]
    assert again.partitions[0].first_seen_ms == 100_000


def test_a_topic_of_the_time_before_the_clock_was_set_back_expires_and_one_that_is_seen_now_does_not():
    """The pass before began at 2 h, then the clock was set back and one began at 1 h; another one is under way."""
    gone, there, under_way = fold(seen(2 * HOUR)), fold(seen(HOUR)), fold(seen(HOUR + 10_000))
    missed = expire_topic(gone, HOUR, 2 * HOUR)
    assert missed is not None
    assert expire_topic(missed, HOUR + 10_000, HOUR) is None
    assert expire_topic(there, HOUR, 2 * HOUR) is there
    assert expire_topic(under_way, HOUR, 2 * HOUR) is under_way


def test_two_collectors_whose_clocks_differ_by_seconds_take_no_topic_from_each_other():
    state = fold(seen(11_000, 1), seen(10_000, 1))
    assert expire_topic(state, 10_000, 11_000) is state
    assert expire_topic(state, 11_000, 10_000) is state


def test_nothing_seen_is_nothing_known():
    assert fold() is None


# --- cuts, and standstills --------------------------------------------------------------------------------------------


def test_where_the_log_ended_when_it_was_cut_stays_known_until_the_next_cut():
    events = [seen(10, 50, earliest=0), seen(20, 60, earliest=0), seen(30, 70, earliest=40), seen(40, 90, earliest=40)]
    ended = [fold(*events[: count + 1]).partitions[0].earliest_end for count in range(4)]
    assert ended == [50, 50, 70, 70]
    assert fold(*events, seen(50, 95)).partitions[0].earliest_end == 70, "the broker did not tell where it begins"
    assert fold(*events, seen(50, None, earliest=80)).partitions[0].earliest_end == 90, "nor where it ends"


def woken(*events):
    """When the log went on after a standstill, in seconds, and where it had stood."""
    (known,) = fold(*events).partitions
    return known.woken and (known.woken.at_ms // 1000, known.woken.offset)


def at(second, end):
    return seen(second * 1000, end)


STANDS = tuple(at(second, 9) for second in range(10, 600, 10))


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([*STANDS, at(609, 10)], None, id="it stood for less than ten minutes"),
        pytest.param([*STANDS, at(610, 9)], None, id="it still stands"),
        pytest.param([*STANDS, at(610, 10)], (610, 9), id="it stood for ten minutes and goes on"),
        pytest.param([*STANDS, at(610, 10), at(620, 11), at(1200, 12)], (610, 9), id="a shorter standstill"),
        pytest.param([*STANDS, at(610, 10), at(620, 11), at(1220, 12)], (1220, 11), id="the next one"),
        pytest.param([at(10, 9), at(610, 10)], (610, 9), id="nobody looked in between"),
        pytest.param([*STANDS, at(610, None), at(620, 10)], (620, 9), id="nor did the broker answer"),
        pytest.param([*STANDS, at(610, 8)], None, id="the log was truncated"),
        pytest.param([*STANDS, at(610, 10), at(500, 10)], (500, 9), id="the clock is set back"),
    ],
)
def test_when_a_log_that_had_stood_still_went_on(events, expected):
    assert woken(*events) == expected


# --- open transactions ------------------------------------------------------------------------------------------------


def held(at_s, end, stable):
    """One partition at that second."""
    return TopicObserved(
        cluster="c",
        topic="t",
        pass_ms=at_s * 1000,
        observed_ms=at_s * 1000,
        partitions=(PartitionObserved(partition=0, end=end, stable=stable),),
        topic_id="id",
    )


def stands(state):
    """Where the last stable offset stands and since when, and when the last long transaction ended and where it stood.

    Times are in seconds.
    """
    (known,) = state.partitions
    release = known.released and (known.released.at_ms // 1000, known.released.offset)
    return known.stable, known.stable_ms // 1000, release


SHORT = held(10, 9, 7), held(15, 9, 7), held(29, 9, 7)


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([held(10, 9, None)], (None, 0, None), id="there is no transaction"),
        pytest.param([held(5, 7, None), *SHORT], (7, 10, None), id="since it was first seen there"),
        pytest.param([*SHORT, held(29, 99, None)], (None, 0, None), id="it ends after 19 s, which is short"),
        pytest.param([*SHORT, held(30, 99, None)], (None, 0, (30, 7)), id="it ends after 20 s, which is long"),
        pytest.param([*SHORT, held(30, 99, 50)], (50, 30, (30, 7)), id="the next one is open already"),
        pytest.param(
            [*SHORT, held(30, 99, 50), held(49, 99, 60), held(60, 99, None)],
            (None, 0, (30, 7)),
            id="short ones do not cover the end of a long one",
        ),
        pytest.param([*SHORT, held(30, 99, 50), held(50, 99, None)], (None, 0, (50, 50)), id="a long one does"),
        pytest.param([*SHORT, held(60, None, None)], (7, 10, None), id="no answer: as before"),
        pytest.param([*SHORT, held(200, 9, 7), held(100, 9, 7)], (7, 10, None), id="the clock is set back by 100 s"),
        pytest.param(
            [held(500, 9, 7), held(540, 9, None), held(400, 9, None)],
            (None, 0, (400, 7)),
            id="the clock is set back to before the transaction ended",
        ),
        pytest.param([held(500, 9, 7), held(400, 9, 7)], (7, 400, None), id="and to before it began"),
    ],
)
def test_where_the_last_stable_offset_stands_and_since_when(events, expected):
    assert stands(fold(*events)) == expected


def test_a_topic_that_was_created_anew_has_no_transactions_of_the_former_one():
    anew = TopicObserved(
        cluster="c",
        topic="t",
        pass_ms=90_000,
        observed_ms=90_000,
        partitions=(PartitionObserved(partition=0, end=3),),
        topic_id="other",
    )
    assert stands(fold(*SHORT, anew)) == (None, 0, None)
    assert not fold(*SHORT, anew, replace(anew, observed_ms=91_000)).has_markers


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        pytest.param([held(10, 9, None), held(20, 11, None)], False, id="none was seen"),
        pytest.param([held(10, 9, 7), held(20, 11, 7)], False, id="it is open"),
        pytest.param([held(10, 9, 7), held(20, None, None)], False, id="no answer"),
        pytest.param([held(10, 9, 7), held(11, 10, None)], True, id="it has ended, after a moment"),
        pytest.param([held(10, 9, 7), held(11, 12, 10)], True, id="and the next one is open"),
        pytest.param([held(10, 9, 7), held(11, 10, None), *(held(at, at, None) for at in (20, 30))], True, id="ever"),
        pytest.param([held(500, 9, 7), held(540, 9, None), held(400, 9, None)], True, id="the clock is set back"),
    ],
)
def test_a_topic_in_which_a_transaction_was_seen_to_end_has_markers(events, expected):
    assert fold(*events).has_markers is expected


def test_a_state_is_no_larger_for_transactions_that_have_ended_but_for_the_newest_long_one():
    def size(*events):
        return len(encode_state(fold(*events)))

    plain = [held(at, 9, None) for at in range(0, 600, 5)]
    short = [held(at, 9, 7 if at % 10 else None) for at in range(0, 600, 5)]
    mark = len("has_markers") + 2  # with its length and its value, for the topic
    assert size(*short, held(600, 9, None)) == size(*plain, held(600, 9, None)) + mark
    long = [held(at, 9, at // 30) for at in range(0, 600, 5)]
    assert size(*long, held(600, 9, None)) <= size(*plain, held(600, 9, None)) + mark + 24


# --- the history of ends ----------------------------------------------------------------------------------------------


def test_the_newest_point_is_exact_and_the_others_are_20_s_apart():
    """Polled every 5 s: a point stays once the newest stored one is 20 s after its predecessor."""
    polls = [seen(at * 1000, at) for at in range(0, 65, 5)]
    assert history(fold(*polls)) == [(0, 0), (20_000, 20), (40_000, 40), (60_000, 60)]
    assert history(fold(*polls[:-1])) == [(0, 0), (20_000, 20), (40_000, 40), (55_000, 55)]


def test_a_slow_poll_keeps_every_point():
    assert history(fold(*[seen(at * 60_000, at) for at in range(4)])) == [(at * 60_000, at) for at in range(4)]


def test_of_a_run_of_equal_ends_the_first_and_the_last_stay():
    state = fold(*[seen(at * 30_000, 7) for at in range(10)], seen(300_000, 8))
    assert history(state) == [(0, 7), (270_000, 7), (300_000, 8)]


@pytest.mark.parametrize("poll_ms", [1_000, 5_000, 20_000])
def test_the_history_is_bounded_and_spans_about_ten_minutes(poll_ms):
    points = history(fold(*[seen(at, at) for at in range(0, 1_800_000, poll_ms)]))
    assert len(points) == MAX_POINTS
    assert 9 * 60_000 <= points[-1][0] - points[0][0] <= 10 * 60_000


@pytest.mark.parametrize(
    ("stood_s", "kept"),
    [
        pytest.param(40, [(0, 7), (40, 7), (41, 8), (42, 9)], id="for 40 s: the first poll after it stays"),
        pytest.param(39, [(0, 7), (39, 7), (41, 9)], id="for less: as ever"),
    ],
)
def test_the_first_poll_after_the_end_stood_still_is_kept(stood_s, kept):
    stood = [seen(at * 1000, 7) for at in range(stood_s + 1)]
    state = fold(*stood, seen((stood_s + 1) * 1000, 8), seen((stood_s + 2) * 1000, 9))
    assert history(state) == [(at * 1000, end) for at, end in kept]


@pytest.mark.parametrize(
    ("next_s", "kept"),
    [
        pytest.param(39, [(0, 7), (39, 9)], id="39 s after the one before"),
        pytest.param(40, [(0, 7), (5, 8), (40, 9)], id="40 s"),
    ],
)
def test_a_poll_replaces_no_point_if_others_have_failed_before_it(next_s, kept):
    state = fold(seen(0, 7), seen(5_000, 8), seen(next_s * 1000, 9))
    assert history(state) == [(at * 1000, end) for at, end in kept]


@given(st.lists(st.tuples(st.sampled_from([1, 5, 10, 19, 39, 60]), st.sampled_from([0, 0, 1])), min_size=150))
def test_a_full_history_spans_nine_minutes_whatever_was_polled(polls):
    """Of points that are closer than 20 s, each is beside a gap that is as much longer."""
    at_s, end, state = 0, 0, None
    for gap_s, growth in polls:
        at_s, end = at_s + gap_s, end + growth
        state = fold(seen(at_s * 1000, end), state=state)
        points = history(state)
        assert len(points) < MAX_POINTS or points[-1][0] - points[0][0] >= 540_000


def test_an_end_that_goes_backward_clears_the_history_of_its_partition_only():
    state = fold(seen(0, 5, 5), seen(30_000, 9, 9), seen(60_000, 8, 10))
    assert history(state, 0) == [(60_000, 8)]
    assert history(state, 1) == [(0, 5), (30_000, 9), (60_000, 10)]
    assert state.partitions[0].first_seen_ms == 0


HOUR = 3_600_000


def older(state):
    return [(point.at_ms, point.offset) for point in state.partitions[0].older]


def busy(hours, since=0, state=None):
    """A log that gets a record a second, looked at every minute."""
    return fold(*[seen(at, at // 1000) for at in range(since, hours * HOUR, 60_000)], state=state)


def test_the_first_older_point_is_the_first_that_left_the_history():
    """Of points a minute apart, 30 are kept; the 31st, at minute 30, makes the one of minute 0 an older one."""
    assert older(fold(*[seen(at * 60_000, at) for at in range(30)])) == []
    assert older(fold(*[seen(at * 60_000, at) for at in range(31)])) == [(0, 0)]
    assert older(fold(*[seen(at * 60_000, at) for at in range(35)])) == [(0, 0)]
    assert older(fold(*[seen(at * 60_000, at) for at in range(36)])) == [(0, 0), (300_000, 5)]


@pytest.mark.parametrize("hours", [24, 47, 100])
def test_older_points_are_few_and_reach_back_a_day(hours):
    """None of the gaps between them is more than three quarters of the age of its older end."""
    points = older(busy(hours))
    ages = [hours * HOUR - at_ms for at_ms, _ in points]
    assert len(points) <= 6
    assert 24 * HOUR <= ages[0] < 49 * HOUR
    assert all(newer > age / 4 for age, newer in pairwise(ages))


def test_older_points_go_with_the_log_that_they_are_of():
    watched = busy(5)
    assert older(watched)
    assert older(fold(seen(5 * HOUR, 1), state=watched)) == []
    assert older(fold(seen(5 * HOUR, 5 * 3600, topic_id="other"), state=watched)) == []


def test_older_points_of_the_future_are_forgotten_when_the_clock_was_set_back():
    points = older(busy(5))
    back = fold(seen(HOUR, 5 * 3600), state=busy(5))
    assert older(back) == [point for point in points if point[0] <= HOUR]


# --- promises ---------------------------------------------------------------------------------------------------------

ENDS = st.none() | st.integers(0, 4)
EVENTS = st.builds(
    lambda at, ends, topic_id: seen(at * 5_000, *ends, topic_id=topic_id),
    st.integers(0, 20),
    st.lists(ENDS, max_size=3),
    st.sampled_from(["id", "id", "id", None, "other"]),
) | st.builds(held, st.integers(0, 100), ENDS, ENDS)
LOGS = st.lists(EVENTS, max_size=15)


@given(LOGS, st.data())
def test_folding_in_pieces_is_folding_in_one_go(log, data):
    cut = data.draw(st.integers(0, len(log)))
    first = fold(*log[:cut])
    loaded = decode_topic_state(encode_state(first)) if first else None
    assert loaded == first
    assert fold(*log[cut:], state=loaded) == fold(*log)


@given(LOGS)
def test_reading_the_newest_event_again_changes_nothing(log):
    state = fold(*log)
    if state is not None:
        newest = [event for event in log if event.observed_ms == state.observed_ms][-1]
        assert fold(newest, state=state) is state


@given(LOGS)
def test_a_history_is_in_order_and_ends_with_the_end(log):
    state = fold(*log)
    for partition in state.partitions if state else ():
        assert [p.at_ms for p in partition.ends] == sorted({p.at_ms for p in partition.ends})
        assert [p.offset for p in partition.ends] == sorted(p.offset for p in partition.ends)
        assert (partition.ends[-1].offset if partition.ends else None) == partition.end
        assert [p.at_ms for p in partition.older] == sorted({p.at_ms for p in partition.older})
        assert len(partition.ends) <= MAX_POINTS
        assert all(isinstance(point, EndOffsetAt) for point in partition.ends)


def test_a_catalog_tells_since_when_its_topics_are_watched():
    """One was there when collectors began, at 5; one came at 9, and grew at 12."""
    seen = {"old": (5, 5), "new": (9, 12)}
    topics = [
        TopicState(
            cluster="c",
            topic=name,
            pass_ms=20,
            partitions=tuple(PartitionState(partition=n, first_seen_ms=ms) for n, ms in enumerate(times)),
        )
        for name, times in seen.items()
    ]
    assert catalog_of("c", 20, topics).watched_ms == 5
    assert catalog_of("c", 20, topics[1:]).watched_ms == 9
    assert catalog_of("c", 20, ()).watched_ms == 0
