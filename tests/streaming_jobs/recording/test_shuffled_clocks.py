"""A clock that is set forward and back neither mixes up a recording nor deletes it."""

from __future__ import annotations

import pytest

from tests.streaming_jobs.recording.shuffled_clocks import AHEAD, BEGIN, MINUTE
from tests.support.delta_spark import DeltaSpark, Done

# Fourteen minutes of a recording, folded three times. test_recording.py deletes days, test_states.py makes states.
pytestmark = [pytest.mark.spark, pytest.mark.long, pytest.mark.timeout(600)]


@pytest.fixture(scope="module")
def done(delta_spark: DeltaSpark, tmp_path_factory: pytest.TempPathFactory) -> Done:
    folder = tmp_path_factory.mktemp("recording")
    return delta_spark.run("tests.streaming_jobs.recording.shuffled_clocks", str(folder))


def test_portions_are_numbered_in_their_order_and_near_their_events(done: Done):
    """Eight of them: the one that was tried again is there once."""
    assert done.value["rows"]["events"] == len(AHEAD) + 1  # the forged record has a row of its own
    assert BEGIN + 14 * MINUTE <= done.value["newest"] <= BEGIN + 15 * MINUTE


def test_a_clock_that_is_a_year_ahead_deletes_nothing_and_evaluates_nothing_of_the_future(done: Done):
    assert done.value["complete"] == done.value["newest"]
    assert done.value["rows"]["evaluated"] == 1  # the first ten minutes; the next are not over by the events
    assert done.value["rows"]["states"] > 0
    assert "the clock shows 2027-11-22" in done.log


def test_states_wait_for_the_end_of_a_backlog(done: Done):
    assert not done.value["states in a backlog"]


def test_days_that_are_old_by_the_events_are_deleted_and_logged(done: Done):
    assert done.value["days"] == ["2026-11-24"]
    assert "deleted 1 days of the table events, from 2026-11-22 to 2026-11-22; the recording keeps 1 days." in done.log
