"""A job on a machine whose clock a test can set. Its Spark may be played (tests.support.without_spark)."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from tests.support.job_process import JobProcess, eventually

EVALUATED = "groupwatch_last_evaluation_timestamp_seconds"
HOUR_S = 3600

WITH_A_CLOCK_FROM_A_FILE = (
    "import pathlib, time, streaming_jobs.runtime.clock as clock;"
    "ahead = pathlib.Path({ahead!r});"
    "wall_ns = lambda: time.time_ns() + int(ahead.read_text()) * 10**9;"
    "clock.now_ms = clock.SteadyClock(wall_ns);"
    "import monitor.web.app as app;"
    "app._system_ms = lambda: wall_ns() // 10**6;"
    "{first}"
    "import monitor.cli as cli;"
    "cli.main()"
)
PLAYED = "from tests.support.without_spark import play_spark; play_spark();"


class JobWithClock(JobProcess):
    """A job whose machine's clock is ahead of the real one by as many seconds as a file says."""

    first = PLAYED

    def __init__(self, folder: Path, bootstrap: str, **sections: dict[str, Any]) -> None:
        super().__init__(folder, {"test": {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5}}, **sections)
        self._ahead = folder / "ahead"
        self.set_ahead(0)
        program = WITH_A_CLOCK_FROM_A_FILE.format(ahead=str(self._ahead), first=self.first)
        self.command = [sys.executable, "-c", program, "run", "--config", str(self.config)]

    def set_ahead(self, seconds: int) -> None:
        """Set the machine's clock."""
        written = self._ahead.with_suffix(".new")
        written.write_text(str(seconds))
        written.replace(self._ahead)

    def await_evaluation(self, ahead_s: int) -> None:
        """Return when it has judged by a clock that is so far ahead, and some more times."""
        for _ in range(3):
            since_s = time.time() + ahead_s
            eventually(
                lambda since_s=since_s: since_s <= self.evaluated_s() < since_s + HOUR_S / 2,
                f"an evaluation when the clock was {ahead_s} s ahead",
            )

    def evaluated_s(self) -> float:
        """When the groups were evaluated, by the machine's clock."""
        return self.metrics().value(EVALUATED) or 0


class SparkJobWithClock(JobWithClock):
    """Such a job with the real Spark: what its source makes of a log is no part of a play."""

    first = ""
