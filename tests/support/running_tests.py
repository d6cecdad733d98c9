"""A line, each half a minute, of the tests that are under way: with workers, dots say only how many have ended."""

from __future__ import annotations

import threading
import time
from typing import Final

import pytest

PAUSE_S: Final = 30.0
MOST_CHARACTERS: Final = 100
"""Of a name; some parameters are long."""


class RunningTests:
    """A plugin for where tests are given to workers: which of them have begun, and not ended.

    Elsewhere pytest would take the lines for what a test prints.
    """

    def __init__(self, config: pytest.Config, pause_s: float = PAUSE_S) -> None:
        self._config = config
        self._pause_s = pause_s
        self._since: dict[str, float] = {}
        self._over = threading.Event()

    def pytest_sessionstart(self) -> None:
        """Begin to tell."""
        threading.Thread(target=self._tell, name="running-tests", daemon=True).start()

    def pytest_sessionfinish(self) -> None:
        """No more lines."""
        self._over.set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """A test begins, here or in a worker."""
        self._since[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """It has ended."""
        self._since.pop(nodeid, None)

    def _tell(self) -> None:
        while not self._over.wait(self._pause_s):
            reporter = self._config.pluginmanager.get_plugin("terminalreporter")
            if reporter is not None and self._since:
                reporter.write_line(f"\nrunning: {running_line(dict(self._since), time.monotonic())}")


def running_line(since: dict[str, float], now: float) -> str:
    """The tests, the longest first, each with its seconds.

    >>> running_line({"tests/a.py::test_x": 10.0, "tests/b.py::test_y[1]": 2.5}, 12.0)
    'tests/b.py::test_y[1] (10 s), tests/a.py::test_x (2 s)'
    """
    longest_first = sorted(since.items(), key=lambda each: each[1])
    return ", ".join(f"{name[:MOST_CHARACTERS]} ({now - began:.0f} s)" for name, began in longest_first)
