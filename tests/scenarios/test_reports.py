"""Reports on the scenarios, from the recording of their job: all that the script did, when it did it, and no more."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from monitor.history.report.facts import Departure, IncidentReport
from tests.scenarios.reporting import WANTED, errors, faults
from tests.scenarios.run import story_of
from tests.scenarios.scenario import Scenario
from tests.scenarios.table import SCENARIOS
from tests.support.beside import Beside

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    pytest.mark.long,  # a recording takes a core; tests/history/test_report.py has reports on captured logs
    pytest.mark.timeout(900),
]


@pytest.fixture(scope="module")
def recorded_run() -> dict[str, Any]:
    """The report of all scenarios beside a job that records, over; the broker is gone as well."""
    with Beside() as programs:
        programs.begin("recorded", "tests.scenarios.run")
        return programs.report("recorded")


def test_every_scenario_has_what_its_report_must_have():
    assert list(WANTED) == [each.name for each in SCENARIOS]


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_a_report_names_what_the_script_did_within_seconds_and_nothing_else(
    recorded_run: dict[str, Any], scenario: Scenario
):
    [story] = [story for story in map(story_of, recorded_run["stories"]) if story.scenario == scenario.name]
    report = msgspec.convert(recorded_run["reports"][scenario.name], IncidentReport)
    wrong = faults(scenario, story, report)
    exact = [error.line() for error in errors(scenario, story, report)]
    told = [f"{line.at_ms - story.began_ms:>7} {line.sentence}" for line in report.timeline]
    assert not wrong, "\n".join([f"{scenario.name}: {scenario.why}", *wrong, "", *exact, "", *report.summary, *told])


def test_a_rewind_is_told_with_its_records(recorded_run: dict[str, Any]):
    """200 records in each of two partitions, from the beginning."""
    report = msgspec.convert(recorded_run["reports"]["rewind"], IncidentReport)
    assert {(each.before, each.after) for each in report.rewinds} == {(200, 0)}
    assert report.redelivered == 400


def test_a_burst_is_a_lag_that_is_made_up_for(recorded_run: dict[str, Any]):
    lag = msgspec.convert(recorded_run["reports"]["burst"], IncidentReport).lag
    assert lag.rose
    assert lag.caught_up_ms is not None


@pytest.mark.parametrize("name", ["rolling-range", "rolling-sticky", "rolling-cooperative", "rolling-kip848"])
def test_a_rolling_restart_is_called_one_and_has_a_line_for_each_member(recorded_run: dict[str, Any], name: str):
    """Five members, each of which is back before the next one leaves."""
    report = msgspec.convert(recorded_run["reports"][name], IncidentReport)
    assert report.summary[0].startswith("Rolling restart of all 5 members, one at a time, from ")
    lines = [line.sentence for line in report.timeline if " rejoined " in line.sentence]
    assert [line.partition(" ")[0] for line in lines] == [f"{name}.{member}" for member in "abcde"]


@pytest.mark.parametrize("name", ["killed-range", "killed-alone", "killed-long-session"])
def test_a_killed_member_of_a_classic_group_has_most_likely_timed_out(recorded_run: dict[str, Any], name: str):
    """The log of a KIP-848 group does not have its session timeout."""
    [left] = msgspec.convert(recorded_run["reports"][name], IncidentReport).left
    assert left.departure is Departure.LIKELY_TIMED_OUT


@pytest.mark.parametrize("name", ["hang-range", "hang-kip848"])
def test_a_member_that_goes_on_committed_again_without_a_rebalance(recorded_run: dict[str, Any], name: str):
    report = msgspec.convert(recorded_run["reports"][name], IncidentReport)
    assert f"{name}.b at /127.0.0.1 committed again at " in report.summary[2]
    assert ", without a rebalance. The group has 2 members, as before." in report.summary[2]
