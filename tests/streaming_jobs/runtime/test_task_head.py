"""What a task is, by bytes written by hand as Spark 4.2's JVM writes them; test_worker_homes has the JVM's own."""

from __future__ import annotations

import socket
import struct
import threading
import time

import pytest

from streaming_jobs.runtime.task_head import MOST_BYTES, CutOffError, TaskHead, peek_head, read_head

STATE = 211
"""PythonEvalType.SQL_TRANSFORM_WITH_STATE_PANDAS_UDF."""
MAP_ARROW = 207
"""PythonEvalType.SQL_MAP_ARROW_ITER_UDF."""


def text(characters: str) -> bytes:
    return struct.pack(">i", len(characters.encode())) + characters.encode()


def task(partition: int = 5, kind: int = STATE, context: str = "{}", files: tuple[str, ...] = ()) -> bytes:
    """Partition, version of Python, context, folder, files, no broadcasts, kind; and what comes then."""
    named = struct.pack(">i", len(files)) + b"".join(map(text, files))
    begin = struct.pack(">i", partition) + text("3.11") + text(context) + text("/work") + named
    return begin + struct.pack(">?ii", False, 0, kind) + b"more"


@pytest.mark.parametrize(
    ("data", "head"),
    [
        (task(), TaskHead(5, STATE)),
        (task(0, MAP_ARROW, '{"é": 1}', ("a.zip", "b.egg")), TaskHead(0, MAP_ARROW)),
        (task(context='{"localProperties":{"sql.streaming.queryId":"7f-1"}}'), TaskHead(5, STATE, "7f-1")),
        (task().replace(struct.pack(">?ii", False, 0, STATE), struct.pack(">?ii", False, 2, STATE)), TaskHead(5, None)),
        (task().replace(struct.pack(">?ii", False, 0, STATE), struct.pack(">?ii", True, 0, STATE)), TaskHead(5, None)),
    ],
    ids=["with state", "files", "a query", "broadcasts", "a server of broadcasts"],
)
def test_what_a_task_is(data: bytes, head: TaskHead):
    assert read_head(data) == head
    assert head.has_state == (head.kind == STATE)


def test_a_head_that_is_cut_off_is_never_another_one():
    whole = task(files=("a.zip",))
    for size in range(len(whole) - len(b"more")):
        with pytest.raises(CutOffError):
            read_head(whole[:size])


def test_what_is_looked_at_stays_to_be_read():
    spark, worker = socket.socketpair()
    with spark, worker:
        spark.sendall(task())
        assert peek_head(worker) == TaskHead(5, STATE)
        assert worker.recv(1_000) == task()


def test_a_head_that_comes_in_pieces_is_awaited():
    spark, worker = socket.socketpair()
    whole = task(context="x" * 40_000)
    with spark, worker:
        spark.sendall(whole[:100])
        rest = threading.Timer(0.05, spark.sendall, [whole[100:]])
        rest.start()
        assert peek_head(worker) == TaskHead(5, STATE)
        rest.join()


@pytest.mark.parametrize("sent", [b"\0\0\0\5", b"GET / HTTP/1.1", task(context="x" * MOST_BYTES), b""])
def test_what_is_no_head_is_not_awaited_for_long(sent: bytes):
    spark, worker = socket.socketpair()
    with spark, worker:
        writer = threading.Thread(target=spark.sendall, args=[sent])
        writer.start()
        if not sent:
            writer.join()
            spark.close()
        began = time.monotonic()
        assert peek_head(worker) is None
        assert time.monotonic() - began < 30
        left = len(sent)
        while left:
            left -= len(worker.recv(MOST_BYTES))
        writer.join()
