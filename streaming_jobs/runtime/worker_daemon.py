"""The process that Spark's Python workers are forked from: what they need is imported once, and its memory shared.

Spark's own daemon forks workers that each import pandas, pyarrow and groupwatch for themselves: 0.7 s of CPU and 60 MB
a worker.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import struct
import sys
from hmac import compare_digest
from importlib import import_module
from types import SimpleNamespace
from typing import Final
from zlib import crc32

from streaming_jobs.runtime.archives import leave_out_archives
from streaming_jobs.runtime.task_head import peek_head
from streaming_jobs.runtime.worker_homes import Homes

NEEDED: Final = ("pandas", "pyspark.worker", "streaming_jobs.buckets.processor", "streaming_jobs.ingest.decoding")
"""The modules of a worker."""
WORKER: Final = "pyspark.worker"
"""The program of a worker that runs tasks. Spark has others, to which the same daemon leads."""
HOMES_PER_CORE: Final = 2
"""A task waits while its home runs that of another query: more homes than tasks at a time make that rare."""
_LENGTH: Final = struct.Struct(">i")


def collect_young_garbage_only() -> None:
    """Let workers look for garbage after a task where there can be some: among what is new.

    PySpark's daemon has every object of a worker looked at after each task, and a worker keeps the states of its
    buckets from one micro-batch to the next. Python itself still looks at all of them whenever many are new.
    """
    daemon = import_module("pyspark.daemon")
    daemon.gc = SimpleNamespace(collect=lambda: gc.collect(1))  # type: ignore[attr-defined] # its name for the module
    gc.collect()
    gc.freeze()  # what was imported stays, and stays shared with the workers


def run_tasks_at_home() -> None:
    """Have tasks with state run at the home of their partition. Only Linux has what that takes."""
    daemon = import_module("pyspark.daemon")
    run_here = daemon.worker

    def run_task(connection: socket.socket) -> int:
        code = int(run_here(connection, True))
        daemon.gc.collect()
        return code

    os.setpgid(0, 0)  # as the daemon does, before it has processes
    homes = Homes.with_keeper(run_task, home_of)

    def worker(connection: socket.socket, authenticated: bool) -> int:
        for each in (signal.SIGHUP, signal.SIGTERM):  # which this process has from the daemon
            signal.signal(each, signal.SIG_DFL)
        return homes.run(connection) if authenticated or is_authenticated(connection) else 1

    daemon.worker = worker  # type: ignore[attr-defined] # its function of this name


def home_of(connection: socket.socket) -> int | None:
    """The home of the next task, if it has state. Queries share homes, and begin at different ones."""
    head = peek_head(connection)
    if head is None or not head.has_state:
        return None
    return (head.partition + crc32(head.query.encode())) % (HOMES_PER_CORE * len(os.sched_getaffinity(0)))


def is_authenticated(connection: socket.socket) -> bool:
    """Whether Spark sends the secret of this daemon; it gets the answer that pyspark.daemon.worker gives."""
    size = _LENGTH.unpack(connection.recv(_LENGTH.size, socket.MSG_WAITALL))[0]
    sent = connection.recv(size, socket.MSG_WAITALL)
    is_right = compare_digest(sent, os.environ["PYTHON_WORKER_FACTORY_SECRET"].encode())
    answer = b"ok" if is_right else b"err"
    connection.sendall(_LENGTH.pack(len(answer)) + answer)
    return is_right


def main() -> None:
    """Prepare, then fork workers as Spark asks for them."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # no threads before a fork, and none are needed after it
    leave_out_archives()
    for name in NEEDED:
        import_module(name)
    collect_young_garbage_only()
    if sys.platform == "linux" and sys.argv[1:] == [WORKER]:
        run_tasks_at_home()
    import_module("pyspark.daemon").manager()


if __name__ == "__main__":
    main()
