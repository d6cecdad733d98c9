"""The demo's workload: real producers and consumers in a child process, with something going wrong on a schedule."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import IO, Final

import msgspec

from monitor.demo.workload.performer import Happening
from monitor.demo.workload.script import WorkloadSettings
from monitor.java_runtime.errors import WorkloadFailed
from monitor.lifecycle import Lifecycle

READY_LIMIT_S: Final = 60
STOP_LIMIT_S: Final = 15


class DemoWorkload(Lifecycle):
    """The groups payments, orders, shipping and reports on a cluster, for the time of a ``with`` block.

    They are healthy until ``begin()``. Then ``orders`` grows and its new partitions wait for an owner, ``reports``
    stops committing for a while, ``shipping`` loses a member now and again; ``payments`` stays healthy. When each
    happens is in ``WorkloadSettings``; what happened is in ``timeline``. Its process dies with this one.
    """

    def __init__(self, bootstrap_servers: str, log_file: Path, settings: WorkloadSettings | None = None) -> None:
        """Prepare the workload; nothing starts yet. What its clients log goes to the end of ``log_file``."""
        self.log_file = log_file
        self._command = [
            *(sys.executable, "-m", "monitor.demo.workload.performer", bootstrap_servers),
            msgspec.json.encode(settings or WorkloadSettings()).decode(),
        ]
        self._process: subprocess.Popen[bytes] | None = None
        self._reader: threading.Thread | None = None
        self._news = threading.Condition()
        self._timeline: tuple[Happening, ...] = ()

    @property
    def timeline(self) -> tuple[Happening, ...]:
        """What the workload did and saw until now, in order."""
        return self._timeline

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process is not None and self._process.poll() is None

    def start(self, limit_s: float = READY_LIMIT_S) -> None:
        """Start and wait until every group has its partitions.

        Raises:
            WorkloadFailed: It ended, or was not ready in time.
        """
        if self._process is not None:
            return
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, start_new_session=True
            )
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()
        try:
            self.wait_for("ready", limit_s=limit_s)
        except BaseException:
            self._process.kill()  # it may be waiting for a broker that is not there
            self.stop()
            raise

    def begin(self) -> None:
        """Start the script: from now on things go wrong. Calling it again changes nothing."""
        if self._process is None or self._process.stdin is None:
            raise WorkloadFailed("the workload is not running", self.log_file)
        self._process.stdin.write(b"begin\n")
        self._process.stdin.flush()

    def wait_for(self, what: str, group: str | None = None, *, after: int = 0, limit_s: float = 60) -> Happening:
        """The first happening of that kind (and group), waited for if need be.

        Args:
            what: ``Happening.what``.
            group: Its group; None: any.
            after: How many entries of the timeline to skip.
            limit_s: How long to wait.

        Raises:
            WorkloadFailed: The workload ended, or the time is over.
        """
        deadline = time.monotonic() + limit_s
        with self._news:
            while True:
                for happening in self._timeline[after:]:
                    if happening.what == what and group in (None, happening.group):
                        return happening
                if not self.running:
                    raise WorkloadFailed("the workload has ended", self.log_file)
                if time.monotonic() > deadline:
                    raise WorkloadFailed(f"no {what!r} from the workload within {limit_s:g} s", self.log_file)
                self._news.wait(0.5)

    def stop(self) -> None:
        """Let all members leave their groups and end the process, after 15 s by force. Harmless if not running."""
        if self._process is None or self._process.stdin is None:
            return
        with contextlib.suppress(BrokenPipeError):  # it has ended already, before it read a line
            self._process.stdin.close()
        try:
            self._process.wait(STOP_LIMIT_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        if self._reader is not None:
            self._reader.join()
        self._process = None

    def _read(self, output: IO[bytes] | None) -> None:
        if output is None:
            return
        with output:
            for line in output:
                with self._news:
                    self._timeline += (msgspec.json.decode(line, type=Happening),)
                    self._news.notify_all()
