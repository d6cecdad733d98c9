"""Tasks with the state of one partition run in one process, its home, whichever Python worker Spark gives them to.

Spark gives a task to any idle worker. One that has not seen a bucket of late reads its state again, judges what the
other one has judged, and sends all of it, though one group has changed. So a worker passes the connection of such a
task on, and waits until the home has run it. All other tasks run in the worker itself: they may wait for a broker.

A keeper, which the daemon forks before all workers and which runs no task, takes what workers pass on and gives it to
the homes. It forks a home when it is first needed, and again once it has ended. Sockets between them have no names, so
no other process can reach them. Where any of it fails, a worker runs its task itself, as PySpark does.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import select
import signal
import socket
import struct
import traceback
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, NoReturn, Self

BUSY_LIMIT_S: Final = 20.0
"""So long a worker waits for a home that runs another task."""
TRIES: Final = 3
"""A home that ends leaves what it was to run next."""
READY: Final = b"+"
_HOME: Final = struct.Struct(">q")
_EXIT_CODE: Final = struct.Struct(">i")
_PR_SET_PDEATHSIG: Final = 1
"""Of prctl(2): the signal that a process gets once its parent has ended."""

RunTask = Callable[[socket.socket], int]
"""Runs the task that comes by a connection; gives the exit code of PySpark's worker."""
FindHome = Callable[[socket.socket], int | None]
"""The home of the next task, if it has state; what comes by the connection stays to be read."""


@dataclass(frozen=True)
class Homes:
    """A worker's side: ``requests`` leads to the keeper."""

    requests: socket.socket
    run_task: RunTask
    home_of: FindHome
    busy_limit_s: float = BUSY_LIMIT_S

    @classmethod
    def with_keeper(cls, run_task: RunTask, home_of: FindHome, busy_limit_s: float = BUSY_LIMIT_S) -> Self:
        """Those of a new keeper, which ends with this process. Before it has any thread."""
        requests, of_keeper = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if _fork():
            requests.close()
            _run_forever(Keeper(of_keeper, run_task).serve)
        of_keeper.close()
        return cls(requests, run_task, home_of, busy_limit_s)

    def run(self, connection: socket.socket) -> int:
        """Run the next task of a worker's connection, at its home if it has state."""
        home = self.home_of(connection)
        line = None if home is None else self._reach(home, connection)
        if line is None:
            return self.run_task(connection)
        with line:
            return _await_end(line)

    def _reach(self, home: int, connection: socket.socket) -> socket.socket | None:
        """The line to a home that has taken the connection over; None: it is busy, or there is none."""
        with suppress(OSError):  # the time limit, too
            for _ in range(TRIES):
                line, of_home = socket.socketpair()
                with of_home:
                    socket.send_fds(self.requests, [_HOME.pack(home)], [connection.fileno(), of_home.fileno()])
                line.settimeout(self.busy_limit_s)
                if _is_taken(line):
                    line.settimeout(None)
                    return line
                line.close()
        return None


def _is_taken(line: socket.socket) -> bool:
    """Whether a home takes the task of this line over; else it has ended meanwhile, and the next one may."""
    with suppress(ConnectionResetError, BrokenPipeError):
        if line.recv(len(READY)) == READY:
            line.sendall(READY)
            return True
    return False


def _await_end(line: socket.socket) -> int:
    """The exit code of a task. If its home dies, so does this process: Spark has to see that its task ended."""
    with suppress(OSError):
        answer = line.recv(_EXIT_CODE.size, socket.MSG_WAITALL)
        if len(answer) == _EXIT_CODE.size:
            return int(_EXIT_CODE.unpack(answer)[0])
    os._exit(1)


@dataclass
class Keeper:
    """Gives what workers pass on to the homes."""

    requests: socket.socket
    run_task: RunTask
    _homes: dict[int, socket.socket] = field(default_factory=dict)

    def serve(self) -> None:
        """Do so until there are no workers, and no daemon."""
        signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # homes that end leave nothing
        while True:
            data, descriptors, _, _ = socket.recv_fds(self.requests, _HOME.size, 2)
            if not data:
                return
            try:
                self._pass_on(int(_HOME.unpack(data)[0]), descriptors)
            finally:
                for each in descriptors:
                    os.close(each)

    def _pass_on(self, home: int, descriptors: Sequence[int]) -> None:
        """To a home, which is forked if there is none. If that fails, the worker sees its line end."""
        for _ in range(2):
            with suppress(OSError):
                if home not in self._homes:
                    self._homes[home] = self._forked_home(descriptors)
                socket.send_fds(self._homes[home], [READY], descriptors)
                return
            if home in self._homes:
                self._homes.pop(home).close()

    def _forked_home(self, others: Sequence[int]) -> socket.socket:
        """The line to a new home. ``others`` are descriptors that are not for it."""
        line, of_home = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        if _fork():
            for each in (line, self.requests, *self._homes.values()):
                each.close()
            for descriptor in others:
                os.close(descriptor)
            _run_forever(lambda: _live(of_home, self.run_task))
        of_home.close()
        return line


def _fork() -> bool:
    """Fork; whether this is the new process, which ends with its parent."""
    parent = os.getpid()
    if os.fork():
        return False
    for each in (signal.SIGHUP, signal.SIGCHLD, signal.SIGTERM, signal.SIGIO):  # which it has from the daemon
        signal.signal(each, signal.SIG_DFL)
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)
    with Path(os.devnull).open() as nothing:
        os.dup2(nothing.fileno(), 0)  # by the daemon's own, Spark's JVM gives orders
    return True


def _run_forever(serve: Callable[[], None]) -> NoReturn:
    """What a new process does. It has nothing to clean up that is its own."""
    try:
        serve()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(1)


def _live(requests: socket.socket, run_task: RunTask) -> None:
    """Run the tasks that workers pass on, one after the other, until one fails: PySpark ends a worker for that."""
    code = 0
    while code == 0:
        _, descriptors, _, _ = socket.recv_fds(requests, len(READY), 2)
        if not descriptors:
            return
        connection, line = (socket.socket(fileno=each) for each in descriptors)
        with connection, line, suppress(OSError):
            line.sendall(READY)
            if line.recv(len(READY)) == READY:  # else the worker waits no longer
                code = _run_watched(connection, line, run_task)
                line.sendall(_EXIT_CODE.pack(code))


def _run_watched(connection: socket.socket, line: socket.socket, run_task: RunTask) -> int:
    """Run a task. If its worker dies before it, the kernel ends this process: Spark kills a worker whose task hangs."""
    fcntl.fcntl(line, fcntl.F_SETOWN, os.getpid())
    flags = fcntl.fcntl(line, fcntl.F_GETFL)
    fcntl.fcntl(line, fcntl.F_SETFL, flags | os.O_ASYNC)
    if _has_ended(line):
        os._exit(1)
    code = run_task(connection)
    fcntl.fcntl(line, fcntl.F_SETFL, flags)
    return code


def _has_ended(line: socket.socket) -> bool:
    poll = select.poll()
    poll.register(line, select.POLLIN)
    return bool(poll.poll(0))
