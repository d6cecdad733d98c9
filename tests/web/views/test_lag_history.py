"""How the lag of groups went, against a list that simply keeps everything."""

from hypothesis import given
from hypothesis import strategies as st

from monitor.model import GroupSummary, Phase
from monitor.web.views.lag_history import LagHistory, LagPoint

MINUTE = 60_000


def summary(group: str, lag: int | None) -> GroupSummary:
    return GroupSummary("c", group, "kafka-classic", Phase.STABLE, None, 1, lag, ())


def round_of(**lags: int | None) -> list[GroupSummary]:
    return [summary(group, lag) for group, lag in lags.items()]


def test_points_come_oldest_first_and_an_unknown_lag_is_none():
    history = LagHistory()
    for at_ms, lag in ((0, 5), (15_000, None), (30_000, 0)):
        history.add(at_ms, round_of(a=lag, b=7))
    assert history.points("a") == (LagPoint(0, 5), LagPoint(15_000, None), LagPoint(30_000, 0))
    assert history.points("absent") == ()


def test_every_fourth_point_stays_the_same_while_others_come_and_the_newest_is_there():
    history = LagHistory()
    for number in range(1, 10):
        history.add(number * 15_000, round_of(a=number))
    assert [point.lag for point in history.points("a", 4)] == [4, 8, 9]
    history.add(150_000, round_of(a=10))
    assert [point.lag for point in history.points("a", 4)] == [4, 8, 10]


def test_a_lag_of_any_size_is_kept():
    history = LagHistory()
    sizes = (2**32 - 1, 2**32, 2**63 - 1, 2**70)
    for number, lag in enumerate(sizes):
        history.add(number * 15_000, round_of(small=3, large=lag))
    assert [point.lag for point in history.points("large")] == [2**32 - 1, 2**32, 2**63 - 1, 2**63 - 1]
    assert [point.lag for point in history.points("small")] == [3, 3, 3, 3]


def test_a_group_that_vanishes_is_forgotten_and_begins_anew():
    history = LagHistory()
    history.add(0, round_of(a=1, b=2))
    history.add(15_000, round_of(a=3))
    assert history.points("b") == ()
    history.add(30_000, round_of(a=4, b=5, c=6))
    assert history.points("b") == (LagPoint(30_000, 5),)
    assert history.points("c") == (LagPoint(30_000, 6),)


def test_another_group_never_inherits_what_was_there_before_it():
    history = LagHistory()
    history.add(0, round_of(old=1))
    history.add(15_000, round_of(new=2))
    assert history.points("new") == (LagPoint(15_000, 2),)


def test_half_an_hour_is_kept_in_at_most_120_points():
    history = LagHistory()
    for number in range(200):
        history.add(number * 15_000, round_of(a=number))
    points = history.points("a")
    assert (len(points), points[0].lag, points[-1].lag) == (120, 80, 199)
    history.add(200 * 15_000 + 25 * MINUTE, round_of(a=0))
    assert history.points("a")[0].at_ms == 180 * 15_000


def test_a_round_is_due_every_15_s_and_once_the_clock_has_gone_back():
    history = LagHistory()
    assert history.is_due(1_000_000)
    history.add(1_000_000, round_of(a=1))
    due = {passed: history.is_due(1_000_000 + passed) for passed in (0, 5_000, 13_999, 14_000, 15_000, -1)}
    assert due == {0: False, 5_000: False, 13_999: False, 14_000: True, 15_000: True, -1: True}


def test_rounds_of_a_time_that_has_not_come_yet_are_dropped():
    history = LagHistory()
    for at_ms, lag in ((0, 1), (15_000, 2), (30_000, 3), (14_000, 4)):
        history.add(at_ms, round_of(a=lag))
    assert history.points("a") == (LagPoint(0, 1), LagPoint(14_000, 4))


LAGS = st.none() | st.integers(min_value=0, max_value=2**63 - 1)
ROUNDS = st.lists(st.dictionaries(st.sampled_from("abcde"), LAGS), max_size=20)


@given(ROUNDS)
def test_every_group_has_the_lags_of_the_rounds_since_it_came(rounds):
    history = LagHistory()
    kept: dict[str, list[LagPoint]] = {}
    for number, lags in enumerate(rounds):
        at_ms = number * 15_000
        history.add(at_ms, round_of(**lags))
        kept = {group: [*kept.get(group, []), LagPoint(at_ms, lag)] for group, lag in lags.items()}
    told = {group: list(history.points(group)) for group in "abcde"}
    assert told == {group: kept.get(group, []) for group in "abcde"}
