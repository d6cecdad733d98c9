"""A short recording as the benchmarks make it is one that groupwatch reads: the tables change, and no job writes it."""

from __future__ import annotations

import subprocess
import sys

import pytest

from monitor.history.tables import DAY_MS
from tests.benchmarks.recorded_day import CLUSTER, MINUTE_MS, Fleet, write_recording

BEGIN_MS = 20_000 * DAY_MS
FLEET = Fleet(BEGIN_MS, groups=6, topics=5, partitions=20, minutes=67)


@pytest.mark.parametrize(("minute", "generation"), [(30, 1), (66, 2)])
def test_explain_answers_from_it(tmp_path, minute, generation):
    """From the events alone, and from the states of the hour with what followed."""
    write_recording(tmp_path, FLEET)
    at = str(BEGIN_MS + minute * MINUTE_MS)
    command = ["explain", CLUSTER, FLEET.group_names[3], "--at", at, "--history", str(tmp_path)]
    done = subprocess.run([sys.executable, "-m", "monitor.cli", *command], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"; generation {generation} was stored " in done.stdout
    assert "10 members own 20 partitions." in done.stdout
    assert "The group has no findings." in done.stdout
