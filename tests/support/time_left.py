"""What a run leaves out when its time is over, so that it ends with a report of what took so long.

CI is ended after a fixed time, whatever its neighbours do. Tests that have not begun by ``GROUPWATCH_TESTS_UNTIL`` (in
seconds since the epoch) are skipped. .ci/report_times.py names their files, and .ci/run fails.
"""

from __future__ import annotations

import os
import time
from typing import Final

import pytest

UNTIL: Final = "GROUPWATCH_TESTS_UNTIL"
REASON: Final = "left out: no time is left; make test-jobs and make test-systems run it"
"""What .ci/report_times.py looks for."""


class WhileThereIsTime:
    """Begins no test after an instant, in seconds since the epoch."""

    def __init__(self, until_s: float) -> None:
        self._until_s = until_s

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self) -> None:
        """Before any fixture is made: a broker and a job would be all of its time."""
        if time.time() > self._until_s:
            pytest.skip(REASON)


def time_left() -> WhileThereIsTime | None:
    """As the environment says; None: as long as it takes."""
    until = os.environ.get(UNTIL)
    return None if until is None else WhileThereIsTime(float(until))
