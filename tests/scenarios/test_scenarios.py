"""Real consumers in whose groups things happen, all at the same time: each finding that must come, and no other.

``python -m tests.scenarios.run`` plays what tests.scenarios.table says, and tells more; ``make churn`` is the long
version of the churn.
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.scenarios.judging import differences, latencies, timeline
from tests.scenarios.run import story_of
from tests.scenarios.scenario import Scenario
from tests.scenarios.table import SCENARIOS
from tests.support.beside import Beside

pytestmark = [pytest.mark.broker, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def scenarios_run(beside: Beside) -> dict[str, Any]:
    """The report of all scenarios, over; the broker is gone as well."""
    return beside.report("scenarios_run")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_what_is_told_of_a_group_is_what_its_story_demands_and_nothing_else(
    scenarios_run: dict[str, Any], scenario: Scenario
):
    stories = map(story_of, scenarios_run["stories"])
    [story] = [story for story in stories if story.scenario == scenario.name]
    wrong = differences(scenario, story)
    assert not wrong, "\n".join(
        [f"{scenario.name}: {scenario.why}", *wrong, "", timeline(story), "", *latencies(scenario, story)]
    )


@pytest.mark.spark
@pytest.mark.long  # that of healthy members by the watching of tests.kind_churn is in the suite
def test_healthy_groups_that_churn_alarm_nobody():
    with Beside() as programs:
        programs.begin("churn", "tests.scenarios.churn", "--seed", "1", "--minutes", "2")
        churn = programs.report("churn")
    assert churn["too_old"] == [], churn
    assert min(churn["done"].get(action, 0) for action in ("join", "leave", "restart")) > 10, churn["done"]


def test_nobody_failed_meanwhile_and_of_no_other_group_anything_was_told(scenarios_run: dict[str, Any]):
    assert scenarios_run["failures"] == []
    assert scenarios_run["evaluation_errors"] == 0
    assert scenarios_run["strangers"] == []
