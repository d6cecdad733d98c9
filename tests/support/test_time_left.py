"""A run whose time is over begins no further test, makes nothing for it, and says what it has left out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

CONFTEST = """
from tests.support.time_left import time_left

def pytest_configure(config):
    if (plugin := time_left()) is not None:
        config.pluginmanager.register(plugin)
"""
TEST = """
import pathlib
import pytest

@pytest.fixture(scope="module")
def broker():
    pathlib.Path("made").touch()

def test_it(broker):
    pass
"""


def run(folder: Path, until: str | None) -> str:
    for name, text in (("conftest.py", CONFTEST), ("test_it.py", TEST), ("pytest.ini", "[pytest]\n")):
        (folder / name).write_text(text)
    kept = {name: value for name, value in os.environ.items() if name != "GROUPWATCH_TESTS_UNTIL"}
    variables = kept | ({} if until is None else {"GROUPWATCH_TESTS_UNTIL": until})
    command = [sys.executable, "-m", "pytest", "-rs", "-p", "no:cacheprovider", "--junitxml=jobs.xml"]
    root = str(Path(__file__).parents[2])
    return subprocess.run(
        command, cwd=folder, env=variables | {"PYTHONPATH": root}, capture_output=True, text=True, check=True
    ).stdout


def test_after_the_instant_nothing_begins(tmp_path: Path):
    told = run(tmp_path, "1.5")
    assert "1 skipped" in told
    assert "left out: no time is left" in told
    assert "left out: no time is left" in (tmp_path / "jobs.xml").read_text()
    assert not (tmp_path / "made").exists()


def test_before_it_and_without_one_everything_runs(tmp_path: Path):
    for until in ("99999999999", None):
        assert "1 passed" in run(tmp_path, until)
