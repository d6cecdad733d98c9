"""A daemon that forks a worker for each connection, as PySpark's does; here tasks are a byte each.

``python -m tests.streaming_jobs.runtime.forked_workers BUSY_LIMIT_S`` writes its port. A task is the number of its home
and what it does; it answers with the process that runs it, and WAITs end with a further byte.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import struct
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from subprocess import PIPE, Popen
from typing import Final, NamedTuple

from streaming_jobs.runtime.worker_homes import Homes

TELL, WAIT, DIE, FAIL, HANG = b"t", b"w", b"d", b"f", b"h"
TASK: Final = struct.Struct(">ic")
ANSWER: Final = struct.Struct(">i")
FAILED: Final = -1
LIMIT_S: Final = 30.0


def run_task(connection: socket.socket) -> int:
    """Run a task; the exit code is 0."""
    task = connection.recv(TASK.size, socket.MSG_WAITALL)
    if not task:
        return 1
    _, act = TASK.unpack(task)
    if act == DIE:
        os._exit(3)
    connection.sendall(ANSWER.pack(os.getpid()))
    if act == HANG:
        re.match("(a+)+b", "a" * 60)  # takes years, in C
    if act == WAIT and not connection.recv(1):
        return 1
    return 1 if act == FAIL else 0


def home_of(connection: socket.socket) -> int | None:
    """The home of the next task; those below 0 have no state."""
    head = connection.recv(TASK.size, socket.MSG_PEEK | socket.MSG_WAITALL)
    home = int(TASK.unpack(head)[0]) if len(head) == TASK.size else FAILED
    return home if home >= 0 else None


def serve(homes: Homes, listener: socket.socket) -> None:
    """Fork a worker for each connection, which runs its tasks until one ends in another way than with 0."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        connection, _ = listener.accept()
        if os.fork() == 0:
            listener.close()
            connection.sendall(ANSWER.pack(os.getpid()))
            while homes.run(connection) == 0:
                pass
            os._exit(0)
        connection.close()


class Worker:
    """A connection to a worker, as Spark has it. ``pid`` is the process that was forked for it."""

    def __init__(self, daemon: Daemon) -> None:
        self.connection = socket.create_connection(("127.0.0.1", daemon.port), LIMIT_S)
        self.pid = self.answer()

    def begin(self, home: int, act: bytes = TELL) -> None:
        """Give it a task."""
        self.connection.sendall(TASK.pack(home, act))

    def answer(self) -> int:
        """The process that runs the task; FAILED: the connection has ended."""
        answer = self.connection.recv(ANSWER.size, socket.MSG_WAITALL)
        return int(ANSWER.unpack(answer)[0]) if answer else FAILED

    def run(self, home: int, act: bytes = TELL) -> int:
        """Both."""
        self.begin(home, act)
        return self.answer()


class Daemon(NamedTuple):
    """Such a daemon, and the port that it listens at."""

    pid: int
    port: int


@contextmanager
def forked_workers(busy_limit_s: float = LIMIT_S) -> Iterator[Daemon]:
    """Such a daemon; all of its processes end with the block."""
    command = [sys.executable, "-m", __name__, str(busy_limit_s)]
    with Popen(command, stdout=PIPE, text=True, start_new_session=True) as process:
        assert process.stdout is not None
        try:
            yield Daemon(process.pid, int(process.stdout.readline()))
        finally:
            os.killpg(process.pid, signal.SIGKILL)


def main() -> None:
    """Serve on a free port."""
    homes = Homes.with_keeper(run_task, home_of, float(sys.argv[1]))
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(listener.getsockname()[1], flush=True)  # noqa: T201 -- for the test
        serve(homes, listener)


if __name__ == "__main__":
    main()
