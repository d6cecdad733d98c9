"""What is counted from micro-batch to micro-batch and from run to run: it adds up, and no counter goes back."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.expectations.accounts import ClusterAccounts, StoredAccounts
from monitor.expectations.entries import EntriesOfCluster
from monitor.expectations.expectation import Expectation, Expectations
from monitor.expectations.met_time import MetTime
from monitor.model import GroupSummary, Phase
from monitor.model.expectations import GroupExpectations, Met
from tests.support.examples import example_count

YES, NO, UNKNOWN = Met.YES, Met.NO, Met.UNKNOWN
START = 1_795_305_600_000
EXPECTED = EntriesOfCluster(Expectations((Expectation("orders"), Expectation("batch-.*"))), "prod")


def found(group: str, met: Met | None, phase: Phase = Phase.STABLE) -> GroupSummary:
    expectations = None if met is None else GroupExpectations(met)
    return GroupSummary("prod", group, "classic", phase, "range", 2, 0, (), expectations=expectations)


class Job:
    """Runs that are killed and started again, and what Prometheus sees of them."""

    def __init__(self) -> None:
        self.stored: StoredAccounts | None = None
        self.accounts = ClusterAccounts("prod")

    def batch(self, second: int, *groups: GroupSummary, known: bool = True, missing: str | None = None) -> None:
        now_ms = START + 1_000 * second
        if self.accounts.observe(EXPECTED, groups if known else None, missing, now_ms):
            self.stored = self.accounts.to_store(now_ms)
            self.accounts.show()

    def silence(self, second: int) -> None:
        now_ms = START + 1_000 * second
        if self.accounts.observe_silence(now_ms):
            self.stored = self.accounts.to_store(now_ms)
            self.accounts.show()

    def restart(self) -> None:
        self.accounts = ClusterAccounts("prod", self.stored)

    def shown(self, second: int, entry: str = "orders") -> MetTime | None:
        return self.accounts.shown_time(START + 1_000 * second).get(entry)


def test_what_is_shown_was_stored():
    job = Job()
    for second in range(0, 50, 5):
        job.batch(second, found("orders", YES))
    assert job.shown(45) == MetTime(yes_ms=45_000)
    job.batch(50, found("orders", YES))
    assert job.shown(50) == MetTime(yes_ms=45_000), "the next is stored at 60"


def test_a_run_that_is_killed_loses_what_it_had_not_stored_to_unknown_time():
    job = Job()
    for second in (0, 15, 20):
        job.batch(second, found("orders", YES))
    job.restart()
    assert job.shown(40) == MetTime(yes_ms=15_000)
    job.batch(120, found("orders", YES))
    assert job.shown(120) == MetTime(yes_ms=15_000, unknown_ms=105_000)


def test_a_run_first_shows_what_the_one_before_has_shown_until_it_was_scraped_for_a_minute():
    """Otherwise, the first sample would have the time of the outage already, and no rule would see it come."""
    job = Job()
    for second in (0, 15):
        job.batch(second, found("orders", YES))
    job.restart()
    job.batch(1_000, found("orders", YES))
    job.batch(1_020, found("orders", YES))
    assert job.shown(1_030) == MetTime(yes_ms=15_000)
    job.restart()  # before the minute is over
    job.batch(2_000, found("orders", YES))
    assert (job.shown(2_000), job.shown(2_059)) == (MetTime(yes_ms=15_000),) * 2
    job.batch(2_059, found("orders", YES))
    assert job.shown(2_059) == MetTime(yes_ms=15_000)
    job.batch(2_060, found("orders", YES))
    assert job.shown(2_060) == MetTime(yes_ms=15_000 + 20_000 + 60_000, unknown_ms=985_000 + 980_000)


def test_the_time_of_an_outage_is_shown_although_no_micro_batch_ends():
    job = Job()
    job.batch(0, found("orders", YES))
    job.restart()
    assert job.shown(500) == MetTime()
    for second in range(500, 600):
        job.silence(second)
        assert job.shown(second) == MetTime(unknown_ms=0 if second < 560 else 500_000 if second == 560 else 561_000)


def test_a_short_restart_is_unknown():
    job = Job()
    for second in (0, 15):
        job.batch(second, found("orders", YES))
    job.restart()
    job.batch(35, found("orders", YES))
    assert job.shown(40) == MetTime(yes_ms=15_000)
    job.batch(95, found("orders", YES))
    job.batch(115, found("orders", YES))
    assert job.shown(115) == MetTime(yes_ms=95_000, unknown_ms=20_000)


def test_a_cluster_that_is_not_evaluated_is_unknown():
    job = Job()
    job.batch(0, found("orders", YES))
    job.batch(20, known=False)
    job.batch(40, found("orders", YES))
    job.batch(60, found("orders", YES))
    assert job.shown(60) == MetTime(yes_ms=20_000, unknown_ms=40_000)


def test_nothing_that_is_observed_is_unknown_in_the_scrape():
    job = Job()
    job.batch(0, found("orders", NO))
    job.silence(60)
    assert job.shown(60) == MetTime()
    job.silence(61)
    assert job.shown(61) == MetTime(unknown_ms=61_000)


def test_a_micro_batch_that_began_before_silence_was_noticed_counts_no_time_twice():
    job = Job()
    job.batch(0, found("orders", YES))
    job.silence(70)
    job.batch(30, found("orders", YES))
    job.batch(90, found("orders", YES))
    assert job.shown(90) == MetTime(yes_ms=20_000, unknown_ms=70_000)


def test_micro_batches_with_a_long_trigger_leave_no_unknown_time_between_them():
    """The trigger is 120 s."""
    accounts = ClusterAccounts("prod", valid_ms=270_000)
    for second in (0, 120):
        accounts.observe(EXPECTED, [found("orders", YES)], None, START + 1_000 * second)
        accounts.show()
    shown = []
    for second in (390, 391):
        accounts.observe_silence(START + 1_000 * second)
        accounts.show()
        shown.append(accounts.shown_time(START + 1_000 * second)["orders"])
    assert shown == [MetTime(yes_ms=120_000), MetTime(yes_ms=120_000, unknown_ms=271_000)]


@pytest.mark.parametrize(
    ("groups", "missing", "met"),
    [
        ([found("orders", None)], None, UNKNOWN),
        ([found("orders", YES), found("batch-1", NO)], None, YES),
        ([found("orders", NO, Phase.GONE)], None, UNKNOWN),
        ([], None, UNKNOWN),
        ([found("batch-1", YES)], "A share.", None),
    ],
    ids=["never evaluated", "met", "gone", "not there", "of another shard"],
)
def test_how_an_entry_is_by_its_groups(groups, missing, met):
    job = Job()
    for second in (0, 20):
        job.batch(second, *groups, missing=missing)
    assert job.shown(20) == (None if met is None else MetTime().plus(met, 20_000))


STEP = st.tuples(
    st.integers(0, 200),
    st.sampled_from([YES, NO, UNKNOWN, None]),
    st.sampled_from(["batch", "scrape", "silence", "kill"]),
)


@given(st.lists(STEP, max_size=40))
@settings(max_examples=example_count(10))
def test_no_counter_goes_back_and_a_stored_one_is_the_time_that_passed(steps):
    job, second, last = Job(), 0, MetTime()
    job.batch(0, found("orders", YES))
    for apart, met, what in steps:
        second += apart
        if what == "kill":
            job.restart()
        elif what == "silence":
            job.silence(second)
        elif what == "batch":
            job.batch(second, found("orders", met or YES), known=met is not None)
        shown = job.shown(second)
        assert shown is not None
        assert shown.yes_ms >= last.yes_ms
        assert shown.no_ms >= last.no_ms
        assert shown.unknown_ms >= last.unknown_ms
        assert shown.passed_ms <= 1_000 * second
        last = shown
    job.shown(second)
    job.batch(second + 100, found("orders", YES))
    assert job.shown(second + 100).passed_ms == 1_000 * (second + 100), "after a gap, all is stored"
