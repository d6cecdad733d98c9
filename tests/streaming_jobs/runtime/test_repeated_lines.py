"""What Spark logs again and again is written once, and then its number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from streaming_jobs.runtime.repeated_lines import RepeatedLines

TRY: Final = """\
2026-11-29 23:29:{second:02},648 ERROR   PreInitRunner: failed to close state server socket
java.lang.NullPointerException: Cannot invoke "close()" because "stateServerSocket" is null
\tat org.apache.spark.Runner.stop(Runner.scala:340)
\tat org.apache.spark.Query.run(Query.scala:236)
2026-11-29 23:29:{second:02},781 ERROR   MicroBatchExecution: Query groupwatch-a [runId = {run}] terminated with error
org.apache.spark.SparkException: Python worker failed to connect back.
\tat org.apache.spark.Factory.create(Factory.scala:285)
\tat org.apache.spark.Query.run(Query.scala:236)
Caused by: java.net.SocketTimeoutException: Timed out while waiting for the Python worker to connect back
\tat org.apache.spark.Query.run(Query.scala:236)
\tat org.apache.spark.Worker.wait(Worker.scala:17)
\t... 23 more
Traceback (most recent call last):
  File "util.py", line 816, in connect
FileNotFoundError: [Errno 2] No such file or directory: '/tmp/.{run}.sock'
"""
"""One try of a start whose workers get no time, as Spark 4.2.0 logged it, shortened."""


def tries(count: int) -> Iterable[bytes]:
    """The lines of some tries, each with times and ids of its own."""
    for number in range(count):
        run = f"06eb8d15-d3f9-4bdf-927b-{number:012x}"
        yield from TRY.format(second=number, run=run).encode().splitlines(keepends=True)


def written(lines: Iterable[bytes], apart_s: float = 0.0) -> list[str]:
    """What is written of them, as lines."""
    repeated = RepeatedLines()
    found = (repeated.take(line, number * apart_s) for number, line in enumerate(lines))
    return b"".join(each for each in found if each is not None).decode().splitlines()


def test_the_first_time_all_is_there_but_for_lines_of_a_trace_that_are_above():
    shared = "\tat org.apache.spark.Query.run(Query.scala:236)"
    lines = [line.decode().rstrip("\n") for line in tries(1)]
    assert [number for number, line in enumerate(lines) if line == shared] == [3, 7, 9]
    gap = "\t... lines as above: 1"
    assert written(tries(1)) == [*lines[:7], gap, lines[8], gap, *lines[10:]]


def test_a_start_that_is_tried_a_thousand_times_is_not_a_thousand_times_as_long():
    once = written(tries(1))
    again = written(tries(1_000))[len(once) :]
    sentences = 5
    assert len(again) == sentences * len([2, 4, 8, 16, 32, 64, 128, 256, 512])
    assert again[:2] == [
        "2026-11-29 23:29:01,648 ERROR   PreInitRunner: failed to close state server socket (2 times by now)",
        'java.lang.NullPointerException: Cannot invoke "close()" because "stateServerSocket" is null (2 times by now)',
    ]
    assert again[-1].endswith(".sock' (512 times by now)")


def test_another_error_is_written_whole_with_a_line_for_the_frames_that_are_above():
    other = [
        b"2026-11-29 23:30:00,000 ERROR   Executor: Exception in task 0.0\n",
        b"java.io.IOException: No space left on device\n",
        b"\tat org.apache.spark.Disk.write(Disk.scala:1)\n",
        b"\tat org.apache.spark.Factory.create(Factory.scala:285)\n",
        b"\tat org.apache.spark.Query.run(Query.scala:236)\n",
        b"Caused by: java.io.IOException: quota\n",
    ]
    found = written([*tries(3), *other])[-5:]
    assert found == [
        *(line.decode().rstrip("\n") for line in other[:3]),
        "\t... lines as above: 2",
        "Caused by: java.io.IOException: quota",
    ]


def test_what_comes_back_after_a_quiet_time_is_news():
    line = b"2026-11-29 23:30:00,000 ERROR   Executor: Exception in task 0.0\n"
    assert written([line] * 3, apart_s=601) == [line.decode().rstrip("\n")] * 3
