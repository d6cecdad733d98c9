"""Jobs whose micro-batches stop ending, for tests that cannot wait for the limits of real ones."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

from tests.support.job_process import JobProcess, processes_of

LIMIT_S: Final = 4
HOPELESS_S: Final = 10 * LIMIT_S

WITH_SHORT_LIMITS: Final = (
    "import streaming_jobs.runtime.stall as stall\n"
    f"limits = dict(LEAST_MS={LIMIT_S * 1000}, LIMIT_IN_TRIGGERS=1, LIMIT_IN_LONGEST_BATCHES=1)\n"
    "assert limits.keys() <= vars(stall).keys()\n"
    "vars(stall).update(limits)\n"
)
RUN: Final = "from monitor.cli import main\nmain()\n"

STOPS_ITS_EXECUTOR: Final = (
    "import pathlib, threading, time, streaming_jobs.jobs.job as job;"
    "order = pathlib.Path({order!r});"
    "started = job.Job.start;"
    "\ndef stop_executor(own):\n"
    "    while not order.exists(): time.sleep(0.1)\n"
    "    own._spark.sparkContext._jsc.sc().schedulerBackend().stop()\n"
    "def start(own):\n"
    "    started(own)\n"
    "    threading.Thread(target=stop_executor, args=(own,), daemon=True).start()\n"
    "job.Job.start = start\n"
)
"""As a stranger could before Spark's ports wanted a secret."""


ORDER: Final = "stop-the-executor"
"""The file by which a job is told to stop its executor, in its folder."""


def command_of(job: JobProcess, more: str = "") -> list[str]:
    """How to start a job that can be told to stop its executor; ``more`` runs before it."""
    program = STOPS_ITS_EXECUTOR.format(order=str(job.folder / ORDER)) + more + RUN
    return [sys.executable, "-c", program, "run", "--config", str(job.config)]


def stop_executor(job: JobProcess) -> None:
    """Have Spark's executor take no task any more; wait for the end of the job."""
    order = job.folder / ORDER
    order.touch()
    try:
        job.wait()
    finally:
        order.unlink()


class StallingJob(JobProcess):
    """A job that notices a stall after LIMIT_S and ends after HOPELESS_S."""

    def __init__(self, folder: Path, bootstrap: str, **sections: dict[str, Any]) -> None:
        super().__init__(folder, {"test": {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5}}, **sections)
        self.command = command_of(self, WITH_SHORT_LIMITS)

    @property
    def jvm(self) -> int:
        """The process of the JVM."""
        return jvm_of(self)

    @property
    def python_workers(self) -> list[int]:
        """The daemon of the Python workers, and the workers."""
        return [pid for pid in processes_of(self.session) if pid != self.pid and name_of(pid).startswith("python")]


def jvm_of(job: JobProcess) -> int:
    """The process of a job's JVM."""
    (found,) = [pid for pid in processes_of(job.session) if name_of(pid) == "java"]
    return found


def name_of(pid: int) -> str:
    """The name of a program; empty if it has ended."""
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8").strip()
    except OSError:
        return ""
