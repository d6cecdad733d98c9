"""A job that records two clusters for hours, with page views, has no more of anything at the end."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.endurance.census import Role
from tests.endurance.run import endure, minutes_wanted
from tests.support.progress import say


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.long
@pytest.mark.timeout(60 * minutes_wanted() + 900)
def test_all_that_can_be_counted_of_a_job_stays_as_it_was_when_it_was_warm(tmp_path_factory: pytest.TempPathFactory):
    folder: Path = tmp_path_factory.mktemp("e")  # short: the paths of sockets have a limit
    report = endure(folder, minutes_wanted(), say)
    assert {each["role"] for row in report["rows"] for each in row["processes"]} == {*Role}
    assert report["is_over"]
    assert report["failed_visits"] == {}
    assert report["grown"] == [], "\n".join(report["table"])
