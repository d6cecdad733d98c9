"""Writes down which test runs which place, also from processes that a test starts.

This file is copied beside the traced code as ``breaks_seen``. It is a plugin of pytest, too: how each test ended, and
after how many seconds.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

FOLDER = os.environ.get("BREAKS_FOLDER", "")
"""Read once: tests change the environment."""

_seen: set[tuple[int, str]] = set()


def seen(place: int) -> None:
    """A place runs: in the test that is under way, or while something is imported before all tests."""
    here = place, os.environ.get("PYTEST_CURRENT_TEST", "")
    if here not in _seen:
        _seen.add(here)
        test, _, phase = here[1].rpartition(" ")
        _append("seen.jsonl", {"place": place, "test": test, "phase": phase.strip("()")})


def pytest_runtest_logreport(report: Any) -> None:
    """A hook of pytest: a phase of a test has ended."""
    ended = {"test": report.nodeid, "outcome": report.outcome, "seconds": round(report.duration, 3)}
    _append("ended.jsonl", ended | ({"text": str(report.longrepr)[-3000:]} if report.failed else {}))


def pytest_collectreport(report: Any) -> None:
    """A hook of pytest: a file cannot be imported."""
    if report.failed:
        ended = {"test": report.nodeid, "outcome": "failed", "seconds": 0, "text": str(report.longrepr)[-3000:]}
        _append("ended.jsonl", ended)


def _append(name: str, entry: dict[str, Any]) -> None:
    if FOLDER:
        with (Path(FOLDER) / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
