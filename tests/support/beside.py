"""Programs that take minutes and need nobody: they run beside the tests, one at a time, and are awaited by theirs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, Self

import msgspec

ROOT: Final = Path(__file__).parents[2]

Ended = subprocess.CompletedProcess[str]


class Beside:
    """Runs modules of Python, each as a process of its own. What is left at the end of a ``with`` block is ended."""

    def __init__(self) -> None:
        self._environment = dict(os.environ)  # of now: a test may change it for its own time
        self._one_at_a_time = ThreadPoolExecutor(1)
        self._starting = threading.Lock()
        self._over = False
        self._process: subprocess.Popen[str] | None = None
        self._runs: dict[str, Future[Ended]] = {}
        self._later: dict[str, Sequence[str]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with self._starting:
            self._over = True
            if self._process is not None and self._process.poll() is None:
                self._process.send_signal(signal.SIGINT)  # what it has started, it ends
        self._one_at_a_time.shutdown(cancel_futures=True)

    def begin(self, name: str, module: str, *arguments: str) -> None:
        """Run a module once those that were begun earlier have ended."""
        self._runs[name] = self._one_at_a_time.submit(self._run, [sys.executable, "-m", module, *arguments])

    def keep(self, name: str, *command: str) -> None:
        """Run a module with its arguments only once somebody asks for its report."""
        self._later[name] = command

    def report(self, name: str) -> dict[str, Any]:
        """The JSON object in the last line of its output, once it has ended."""
        if name in self._later:
            self.begin(name, *self._later.pop(name))
        ended = self._runs[name].result()
        try:
            return msgspec.json.decode(ended.stdout.rstrip().rpartition("\n")[2], type=dict[str, Any])
        except msgspec.DecodeError:
            said = f"{ended.stdout[-1000:]}\n{ended.stderr[-3000:]}"
            raise AssertionError(f"{ended.args} ended with {ended.returncode} and no report:\n{said}") from None

    def _run(self, command: Sequence[str]) -> Ended:
        with self._starting:
            if self._over:
                raise CancelledError
            self._process = process = self._started(command)
        said = process.communicate()
        return Ended(command, process.returncode, *said)

    def _started(self, command: Sequence[str]) -> subprocess.Popen[str]:
        """In a session of its own, so that Ctrl-C reaches it from here only."""
        return subprocess.Popen(
            command,
            cwd=ROOT,
            env=self._environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
