"""What a task is, by the first bytes that Spark's JVM sends of it to a Python worker."""

from __future__ import annotations

import re
import socket
import struct
import time
from typing import Final, NamedTuple

from pyspark.util import PythonEvalType

STATEFUL: Final = frozenset(
    {
        PythonEvalType.SQL_TRANSFORM_WITH_STATE_PANDAS_UDF,
        PythonEvalType.SQL_TRANSFORM_WITH_STATE_PANDAS_INIT_STATE_UDF,
    }
)
"""The kinds of tasks that have state."""
MOST_BYTES: Final = 65_536
LIMIT_S: Final = 0.5
RETRY_DELAY_S: Final = 0.001
_QUERY: Final = re.compile(rb'"sql\.streaming\.queryId":\s?"([^"]{1,100})"')
"""Spark's local property of the tasks of a query."""
_INT: Final = struct.Struct(">i")


class TaskHead(NamedTuple):
    """The partition of a task, its kind (pyspark.util.PythonEvalType; None: it is further behind), and its query."""

    partition: int
    kind: int | None
    query: str = ""

    @property
    def has_state(self) -> bool:
        """Whether the task has state."""
        return self.kind in STATEFUL


class CutOffError(Exception):
    """The bytes end before all of it."""


def peek_head(connection: socket.socket) -> TaskHead | None:
    """The head of the next task, whose bytes stay to be read; None: Spark has closed the connection, or it is unknown.

    The JVM sends it at once. Another version of Spark may send something else, so it is not awaited for long.
    """
    deadline: float | None = None
    while True:
        data = connection.recv(MOST_BYTES, socket.MSG_PEEK)
        if not data:
            return None
        try:
            return read_head(data)
        except CutOffError:
            deadline = deadline or time.monotonic() + LIMIT_S
            if len(data) == MOST_BYTES or time.monotonic() > deadline:
                return None
            time.sleep(RETRY_DELAY_S)


def read_head(data: bytes) -> TaskHead:
    """The head of a task, as pyspark.worker.main of Spark 4.2 reads it.

    That is the number of the partition, the version of Python, the context of the task as JSON, the folder and the
    names of files, and the kind. Broadcasts before the kind are not read.

    Raises:
        CutOffError: the bytes end before all of it.
    """
    partition, at = _int(data, 0)
    context_at = _after_text(data, at)
    folder_at = _after_text(data, context_at)
    files, at = _int(data, _after_text(data, folder_at))
    for _ in range(files):
        at = _after_text(data, at)
    has_broadcasts = bool(_int(data, at + 1)[0]) or data[at : at + 1] != b"\0"
    kind = None if has_broadcasts else _int(data, at + 1 + _INT.size)[0]
    found = _QUERY.search(data, context_at, folder_at)
    return TaskHead(partition, kind, found[1].decode() if found else "")


def _int(data: bytes, at: int) -> tuple[int, int]:
    """A number, and where it ends."""
    if len(data) < at + _INT.size:
        raise CutOffError
    return _INT.unpack_from(data, at)[0], at + _INT.size


def _after_text(data: bytes, at: int) -> int:
    """Where a text ends that has its length before it; one of a length below 0 has no characters."""
    size, begin = _int(data, at)
    return begin + max(0, size)
