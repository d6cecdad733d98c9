"""The file of expectations in a running job: a change is read, and a mistake keeps what was read before."""

import pytest

from monitor.config import ConfigError
from monitor.expectations.expectation import Expectation, Expectations, MemberRange
from monitor.expectations.met_time import MetTime
from monitor.model import ALL_GROUPS, Shard
from monitor.model.expectations import Met
from streaming_jobs.buckets.batch_context import BatchContext, Unread
from streaming_jobs.driver.met_ledger import MetLedger
from streaming_jobs.driver.watched_expectations import WatchedExpectations, _known_content
from tests.expectations.test_accounts import START, found
from tests.streaming_jobs.driver.test_met_ledger import InMemory

GOOD = '[[expect]]\ngroups = "orders"\nmembers = 3\n'
OTHER = '[[expect]]\ngroups = "orders"\nmembers = 4\n'


def test_a_file_is_read_once_and_again_when_it_changes(tmp_path, caplog):
    caplog.set_level("INFO")
    file = tmp_path / "expectations.toml"
    file.write_text(GOOD)
    watched = WatchedExpectations(file)
    first = watched.newest()
    assert watched.newest() is first
    assert str(first.expectations.entries[0].members) == "3"
    file.write_text(OTHER)
    second = watched.newest()
    assert str(second.expectations.entries[0].members) == "4"
    assert second.key != first.key
    assert [record.getMessage() for record in caplog.records] == [f"{file} was read again: it has 1 expectation"]


HUGE = 2**64
"""More than messages to executors can have."""


@pytest.mark.parametrize(
    "broken",
    ["[[expect]]\n", "no toml", None, GOOD.replace("3", str(HUGE))],
    ids=["a mistake", "no TOML", "removed", "a huge number"],
)
def test_the_last_good_one_stays_and_a_sentence_says_so_until_the_file_is_good_again(tmp_path, caplog, broken):
    file = tmp_path / "expectations.toml"
    file.write_text(GOOD)
    watched = WatchedExpectations(file)
    first = watched.newest()
    if broken is None:
        file.unlink()
    else:
        file.write_text(broken)
    kept = watched.newest()
    assert (kept.key, kept.expectations) == (first.key, first.expectations)
    assert kept.health.problem.startswith(
        f"{file} cannot be used, so the job goes by the expectations that it read before. "
    )
    assert watched.newest() is kept
    assert [record.getMessage() for record in caplog.records] == [kept.health.problem], "once"
    fresh = tmp_path / "fresh"
    fresh.write_text(GOOD)
    fresh.replace(file)  # as Kubernetes and careful editors do
    assert watched.newest().health.problem is None


def test_a_job_does_not_start_with_a_mistake(tmp_path):
    file = tmp_path / "expectations.toml"
    file.write_text('[[expect]]\ngroups = "("\n')
    with pytest.raises(ConfigError, match="groups"):
        WatchedExpectations(file)


def test_a_value_that_executors_cannot_get_is_a_mistake():
    with pytest.raises(ConfigError, match="a value that cannot be used"):
        _known_content(Expectations((Expectation("orders", members=MemberRange(HUGE, HUGE)),)))


class Catalogs:
    """Takes what executors could fetch."""

    def put(self, *_: object) -> None:
        """Keep nothing."""


@pytest.mark.parametrize(
    ("groups", "shard", "unread", "seconds"),
    [
        ((found("orders", Met.YES),), ALL_GROUPS, {}, MetTime(yes_ms=20_000)),
        ((), ALL_GROUPS, {}, MetTime(unknown_ms=20_000)),
        (None, ALL_GROUPS, {}, MetTime(unknown_ms=20_000)),
        ((), Shard(1, 2), {}, None),
        ((found("orders", Met.NO),), Shard(1, 2), {}, MetTime(no_ms=20_000)),
        ((found("orders", Met.NO),), ALL_GROUPS, {3: Unread("No leader.", 0)}, MetTime(no_ms=20_000)),
    ],
    ids=["met", "not there", "not evaluated", "of another shard", "of this shard", "a broker is away"],
)
def test_the_time_between_micro_batches_is_counted(tmp_path, groups, shard, unread, seconds):
    file = tmp_path / "expectations.toml"
    file.write_text(GOOD)
    own = WatchedExpectations(file).for_cluster("prod", Catalogs())
    own.met = MetLedger("prod", InMemory())
    for second in (0, 20):
        batch = BatchContext("run", second, START + 1_000 * second, -1, None, 50, unread)
        own.count(groups, batch, shard)
    assert own.met.shown_time(START + 20_000).get("orders") == seconds
