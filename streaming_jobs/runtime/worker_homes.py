"""Tasks with the state of one partition run in one process, its home, whichever Python worker Spark gives them to.

Spark gives a task to any idle worker. One that has not seen a bucket of late reads its state again, judges what the
other one has judged, and sends all of it, though one group has changed. So a worker hands the connection of such a task
to the home of the partition, by a Unix socket, and waits until that has run it. Homes are forked by a worker that is
new, and live as long as the daemon. All other tasks run in the worker itself: they may wait for a broker.

A home runs one task at a time. A worker that waits too long for one runs its task itself, as PySpark does, so tasks
that wait for each other go on.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import struct
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

BUSY_LIMIT_S: Final = 60.0
"""So long a worker waits for a home that runs another task."""
READY: Final = b"+"
EXIT_CODE: Final = struct.Struct(">i")
_CREDENTIALS: Final = struct.Struct("3i")
_BACKLOG: Final = 64

RunTask = Callable[[socket.socket], int]
"""Runs the task that comes by a connection; gives the exit code of PySpark's worker."""
FindPartition = Callable[[socket.socket], int | None]
"""The partition of the next task, if it has state; what comes by the connection stays to be read."""


class Lifeline:
    """A pipe whose writing end the daemon has, and no other process: it ends with the daemon, and so do its homes."""

    def __init__(self) -> None:
        self.end, self._writer = os.pipe()

    def give_up(self) -> None:
        """Leave the writing end to the daemon."""
        if self._writer:
            os.close(self._writer)
            self._writer = 0


@dataclass
class Homes:
    """The homes of one daemon. ``name`` is one that no other daemon on this machine has."""

    name: str
    count: int
    run_task: RunTask
    partition_of: FindPartition
    lifeline: Lifeline = field(default_factory=Lifeline)
    busy_limit_s: float = BUSY_LIMIT_S
    _is_new: bool = True
    """Whether this process has run no task. Once it has, it may have threads, and forks no more."""

    def run(self, connection: socket.socket) -> int:
        """Run the next task of a worker's connection, at its home if it has state."""
        if self._is_new:
            self._is_new = False
            self.lifeline.give_up()
            self._fork_missing(connection)
        partition = self.partition_of(connection)
        if partition is not None:
            with socket.socket(socket.AF_UNIX) as line:
                if self._reach(line, partition % self.count):
                    return _hand_over(line, connection)
        return self.run_task(connection)

    def _reach(self, line: socket.socket, home: int) -> bool:
        """Connect to a home; False: it is busy, or there is none."""
        line.settimeout(self.busy_limit_s)
        try:
            line.connect(self._address(home))
            return _is_own(line) and line.recv(len(READY)) == READY
        except OSError:
            return False

    def _address(self, home: int) -> str:
        """A name in Linux's abstract namespace: it ends with the process that has it, and leaves no file."""
        return f"\0groupwatch-{self.name}-{home}"

    def _fork_missing(self, connection: socket.socket) -> None:
        """Fork the homes that there are not: the address of the others is taken. ``connection`` is not for them."""
        for home in range(self.count):
            with socket.socket(socket.AF_UNIX) as listener:
                try:
                    listener.bind(self._address(home))
                except OSError:
                    continue
                listener.listen(_BACKLOG)
                if os.fork() == 0:
                    connection.close()
                    _live(listener, self.lifeline.end, self.run_task)


def _hand_over(line: socket.socket, connection: socket.socket) -> int:
    """Give a home the connection, and await the exit code.

    If the home dies, so does this process: Spark has to see that its task ended.
    """
    line.settimeout(None)
    with suppress(OSError):
        socket.send_fds(line, [READY], [connection.fileno()])
        answer = line.recv(EXIT_CODE.size, socket.MSG_WAITALL)
        if len(answer) == EXIT_CODE.size:
            return int(EXIT_CODE.unpack(answer)[0])
    os._exit(1)


def _live(listener: socket.socket, lifeline: int, run_task: RunTask) -> None:
    """Run the tasks that workers hand over, one after the other, until the daemon ends."""
    for each in (signal.SIGHUP, signal.SIGCHLD, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)
    try:
        while _await_any(listener.fileno(), lifeline) != lifeline:
            line, _ = listener.accept()
            with line, suppress(OSError):
                if _is_own(line):
                    _take_over(line, lifeline, run_task)
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _await_any(*descriptors: int) -> int:
    """Wait until there is something to read by one of these, or its end."""
    poll = select.poll()
    for each in descriptors:
        poll.register(each, select.POLLIN)
    return poll.poll()[-1][0]


def _take_over(line: socket.socket, lifeline: int, run_task: RunTask) -> None:
    line.sendall(READY)
    _, descriptors, _, _ = socket.recv_fds(line, len(READY), 1)
    for descriptor in descriptors:
        with socket.socket(fileno=descriptor) as connection, _Guard(line, lifeline):
            code = run_task(connection)
        line.sendall(EXIT_CODE.pack(code))


class _Guard:
    """Ends this process if the daemon ends, or the worker of a task does before it: Spark has killed it for that."""

    def __init__(self, line: socket.socket, lifeline: int) -> None:
        self._watched = line.fileno(), lifeline
        self._is_over = False

    def __enter__(self) -> None:
        threading.Thread(target=self._watch, daemon=True).start()

    def __exit__(self, *_: object) -> None:
        self._is_over = True

    def _watch(self) -> None:
        _await_any(*self._watched)
        if not self._is_over:
            os._exit(1)


def _is_own(line: socket.socket) -> bool:
    """Whether the other side runs as this user. Others can see such a name, and connect to it."""
    found = line.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    return int(_CREDENTIALS.unpack(found)[1]) == os.getuid()
