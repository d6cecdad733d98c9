"""Processes under the guard: they die with this one, however that ends, and are stopped and killed as a whole."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from monitor.demo.servers import guard

STOP_LIMIT_S: Final = 15

Process = subprocess.Popen[bytes]


def start_guarded(
    command: Sequence[str], log_file: Path, folder: Path | None = None, environment: Mapping[str, str] | None = None
) -> Process:
    """Start under a guard, which holds the other end of a pipe to this process; what it writes goes to the log's end.

    It gets a session of its own, so that a Ctrl-C reaches only this process, which then stops it in good order.

    Args:
        command: what to run.
        log_file: where its output and error output go.
        folder: in which it runs; None: that of this process.
        environment: variables that it has besides those of this process.
    """
    with log_file.open("ab") as log:
        return subprocess.Popen(
            [sys.executable, "-I", "-S", guard.__file__, *command],
            stdin=subprocess.PIPE,
            stdout=log,
            stderr=log,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            start_new_session=True,
        )


def stops(process: Process) -> bool:
    """Ask it to stop; whether it has done so within 15 s."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
    try:
        process.wait(STOP_LIMIT_S)
    except subprocess.TimeoutExpired:
        return False
    return True


def end(process: Process) -> bool:
    """End it at once, as kill -9 does, and wait until it is gone; whether the guard had left something to kill."""
    if process.stdin is not None:
        process.stdin.close()  # the guard then kills what it guards and reaps it
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(STOP_LIMIT_S)
    try:
        os.killpg(process.pid, signal.SIGKILL)  # what the guard left, if it was killed itself
    except ProcessLookupError:
        return False
    finally:
        process.wait()
    return True
