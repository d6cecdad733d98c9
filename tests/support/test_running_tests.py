"""Whoever waits for a run of the tests is told what it is at."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = """
from tests.support.running_tests import RunningTests

def pytest_configure(config):
    if config.getoption("numprocesses"):
        config.pluginmanager.register(RunningTests(config, pause_s=0.05))
"""
WAITS = """
import os
from pathlib import Path
from tests.support.job_process import eventually

def test_waits():
    eventually(lambda: "running: " in Path(os.environ["OUTPUT"]).read_text(), "a line")
"""


def test_a_test_that_takes_long_is_named_while_it_runs(tmp_path: Path):
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(WAITS)
    output = tmp_path / "output"
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-n", "1", "--rootdir", tmp_path, tmp_path]
    with output.open("wb") as file:
        environment = {**os.environ, "OUTPUT": str(output)}
        ended = subprocess.run(command, stdout=file, check=False, cwd=Path(__file__).parents[2], env=environment)
    assert ended.returncode == 0, output.read_text()
    assert "running: test_it.py::test_waits (0 s)" in output.read_text()
