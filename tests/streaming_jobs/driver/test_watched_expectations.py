"""The file of expectations in a running job: a change is read, and a mistake keeps what was read before."""

import pytest

from monitor.config import ConfigError
from streaming_jobs.driver.watched_expectations import WatchedExpectations

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


@pytest.mark.parametrize("broken", ["[[expect]]\n", "no toml", None], ids=["a mistake", "no TOML", "removed"])
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
