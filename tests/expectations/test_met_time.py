"""For how long an entry was met: what is counted adds up to the time that passed, and nothing unmeasured is good."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.expectations.entries import EntriesOfCluster, Unread
from monitor.expectations.expectation import Expectation, Expectations
from monitor.expectations.met_time import MetAccount, MetTime
from monitor.expectations.missing_groups import MissingGroups
from monitor.expectations.verification import KnownGroups, verify_cluster
from monitor.model.expectations import Met
from tests.support.examples import example_count

YES, NO, UNKNOWN = Met.YES, Met.NO, Met.UNKNOWN
SECOND, MINUTE, HOUR = 1_000, 60_000, 3_600_000
DAY = 24 * HOUR
START = 1_795_305_600_000


def counted(*observed: tuple[int, Met]) -> MetTime:
    (first_ms, met), *rest = observed
    account = MetAccount(first_ms, met)
    for at_ms, each in rest:
        account = account.observe(at_ms, each)
    return account.time


@pytest.mark.parametrize(
    ("before", "after", "apart_ms", "time"),
    [
        (YES, YES, 60_000, MetTime(yes_ms=60_000)),
        (YES, YES, 60_001, MetTime(unknown_ms=60_001)),
        (NO, NO, 60_001, MetTime(unknown_ms=60_001)),
        (YES, NO, 5_000, MetTime(yes_ms=5_000)),
        (NO, YES, 5_000, MetTime(no_ms=5_000)),
        (YES, UNKNOWN, 5_000, MetTime(unknown_ms=5_000)),
        (UNKNOWN, YES, 5_000, MetTime(unknown_ms=5_000)),
        (YES, YES, -5_000, MetTime()),
    ],
)
def test_the_time_between_two_observations(before, after, apart_ms, time):
    assert counted((START, before), (START + apart_ms, after)) == time


def test_after_a_clock_was_set_back_counting_continues():
    account = MetAccount(START, YES).observe(START - HOUR, YES).observe(START - HOUR + SECOND, YES)
    assert account.time == MetTime(yes_ms=SECOND)


def test_a_restart_is_unknown_however_short():
    account = MetAccount(START, YES).observe(START + SECOND, YES).after_restart()
    assert account.observe(START + 3 * SECOND, YES).time == MetTime(yes_ms=SECOND, unknown_ms=2 * SECOND)


def test_a_simulated_day_with_three_restarts_and_an_outage_adds_up():
    """Met but from 10:00 to 10:30. Down from 03:00 to 03:02, 12:00 to 12:00:20 and 18:00 to 19:00; blind 21 to 22."""
    down = [(3 * HOUR, 3 * HOUR + 2 * MINUTE), (12 * HOUR, 12 * HOUR + 20 * SECOND), (18 * HOUR, 19 * HOUR)]
    account = MetAccount(START, YES)
    for now in range(10 * SECOND, DAY + 1, 10 * SECOND):
        if any(since < now < until for since, until in down):
            continue
        if any(now == until for _, until in down):
            account = account.after_restart()
        met = UNKNOWN if 21 * HOUR <= now < 22 * HOUR else NO if 10 * HOUR <= now < 10 * HOUR + 30 * MINUTE else YES
        account = account.observe(START + now, met)
    unknown = 2 * MINUTE + 20 * SECOND + HOUR + (HOUR + 10 * SECOND)
    assert account.time == MetTime(yes_ms=DAY - unknown - 30 * MINUTE, no_ms=30 * MINUTE, unknown_ms=unknown)
    assert account.time.passed_ms == DAY


STEP = st.tuples(st.integers(0, 2 * HOUR), st.sampled_from(Met), st.booleans())
"""How long until the next observation, what it says, and whether the process restarted before it."""


@given(st.lists(STEP, max_size=60), st.sampled_from(Met))
@settings(max_examples=example_count(10))
def test_all_of_it_adds_up_and_only_what_was_met_at_both_ends_is_good(steps, first):
    account, at_ms, marks = MetAccount(START, first), START, [(START, first, False)]
    for apart_ms, met, restarts in steps:
        at_ms += apart_ms
        before = account.time
        account = (account.after_restart() if restarts else account).observe(at_ms, met)
        marks.append((at_ms, met, restarts))
        grown = [later - earlier for earlier, later in zip(numbers(before), numbers(account.time), strict=True)]
        assert min(grown) >= 0, "a counter never goes back"
    assert account.time.passed_ms == at_ms - START
    measured = [
        (before, later - earlier)
        for (earlier, before, _), (later, met, restarts) in pairwise(marks)
        if later - earlier <= MINUTE and not restarts and UNKNOWN not in {before, met}
    ]
    assert account.time.yes_ms == sum(apart for met, apart in measured if met is YES)
    assert account.time.no_ms == sum(apart for met, apart in measured if met is NO)


def numbers(time: MetTime) -> tuple[int, int, int]:
    return time.yes_ms, time.no_ms, time.unknown_ms


ENTRIES = Expectations(
    (
        Expectation("orders"),
        Expectation("batch-.*", exists=True),
        Expectation("old", exists=False),
        Expectation("elsewhere", cluster="other"),
        Expectation(".*"),
        Expectation("orders", exists=True),
    )
)


@pytest.mark.parametrize(
    ("groups", "met"),
    [
        ({"orders": YES, "batch-1": YES}, (YES, YES, YES, YES)),
        ({"orders": YES, "batch-1": YES, "batch-2": UNKNOWN}, (YES, UNKNOWN, YES, UNKNOWN)),
        ({"orders": YES, "batch-1": NO, "batch-2": UNKNOWN}, (YES, NO, YES, NO)),
        ({"orders": YES}, (YES, NO, YES, YES)),
        ({}, (NO, NO, YES, UNKNOWN)),
        ({"old": NO}, (NO, NO, NO, NO)),
    ],
    ids=str,
)
def test_an_entry_about_several_groups_is_as_the_worst_of_them(groups, met):
    found = EntriesOfCluster(ENTRIES, "prod").outcomes(groups, None)
    assert found == dict(zip(("orders", "batch-.*", "old", ".*"), met, strict=True))


def test_an_entry_without_a_group_is_unknown_where_groups_may_be_missing():
    found = EntriesOfCluster(ENTRIES, "prod").outcomes({}, "This job watches a share of the groups: 1/2.")
    assert set(found.values()) == {UNKNOWN}


def test_a_pattern_is_unknown_while_groups_cannot_be_seen():
    """A share of the groups is watched by another job, which counts them."""
    groups = {"orders": YES, "batch-1": YES}
    entries = EntriesOfCluster(ENTRIES, "prod")
    assert set(entries.outcomes(groups, "Shard 1 of 2.").values()) == {YES, UNKNOWN}
    found = entries.outcomes(groups, Unread("Partition 3 is not read."))
    assert found == {"orders": YES, "batch-.*": UNKNOWN, "old": UNKNOWN, ".*": UNKNOWN}
    assert entries.outcomes({"batch-1": NO}, Unread("Partition 3 is not read."))["batch-.*"] is NO


@pytest.mark.parametrize(
    ("earlier", "met"),
    [
        (Expectation("orders", cluster="dr", exists=False), YES),
        (Expectation("or.*", exists=False), YES),
        (Expectation("orders", max_lag_s=5), NO),
        (Expectation("orders", cluster="main", exists=False), NO),
    ],
)
def test_verify_the_counter_and_the_finding_of_a_missing_group_agree(earlier, met):
    """The first entry that matches counts, also of those that no group matches."""
    file = Expectations((earlier, Expectation("orders", exists=True)))
    assert EntriesOfCluster(file, "dr").outcomes({}, None)["orders"] is met
    verified = verify_cluster(file, "dr", KnownGroups(frozenset()), lambda _: None)
    assert [each.met for each in verified if each.group == "orders"] == [met]
    assert (MissingGroups().update(EntriesOfCluster(file, "dr"), [], START) is None) is (met is YES)
