"""What Spark logs again and again is written once, and then its number."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import pytest

from streaming_jobs.runtime.repeated_lines import MOST_LINES, RepeatedLines

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
        yield from TRY.format(second=number % 60, run=run).encode().splitlines(keepends=True)


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
    cause = "Caused by: java.net.SocketTimeoutException: Timed out while waiting for the Python worker to connect back"
    query = (
        "MicroBatchExecution: Query groupwatch-a [runId = 06eb8d15-d3f9-4bdf-927b-000000000001] terminated with error"
    )
    second = [
        "2026-11-29 23:29:01,648 ERROR   PreInitRunner: failed to close state server socket (2 times by now)",
        'java.lang.NullPointerException: Cannot invoke "close()" because "stateServerSocket" is null (2 times by now)',
        "\t... lines as above: 2",
        f"2026-11-29 23:29:01,781 ERROR   {query} (alike: 2 by now)",
        "org.apache.spark.SparkException: Python worker failed to connect back. (2 times by now)",
        "\t... lines as above: 2",
        cause,
        "\t... lines as above: 3",
    ]
    assert again[: len(second)] == second
    assert len(again) == (len(second) + 1) * len([2, 4, 8, 16, 32, 64, 128, 256, 512])
    assert again[-1].endswith(".sock' (alike: 512 by now)")


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


def test_another_error_of_the_same_cause_names_it():
    """Also its error, which was there three times by then, and what is left out at its end."""
    error, cause = "java.io.IOException: no answer", "Caused by: javax.net.ssl.SSLException: handshake failed"
    shared = [error, "\tat a.b(C.java:1)", cause, "\tat x.y(Z.java:9)", "\t... 2 more"]
    lines = ["2026-11-29 23:30:00,000 ERROR   A: source failed", *shared] * 3
    lines += ["2026-11-29 23:31:00,000 ERROR   B: sink failed", *shared, "2026-11-29 23:31:01,000 INFO    C: next"]
    assert written(f"{line}\n".encode() for line in lines)[-6:] == [
        "2026-11-29 23:31:00,000 ERROR   B: sink failed",
        f"{error} (4 times by now)",
        "\t... lines as above: 1",
        cause,
        "\t... lines as above: 2",
        "2026-11-29 23:31:01,000 INFO    C: next",
    ]


def test_another_error_with_the_same_traceback_has_a_line_for_it():
    traceback = [b"Traceback (most recent call last):\n", b'  File "a.py", line 1, in b\n']
    found = written([*traceback, b"ValueError: one\n", *traceback, b"ValueError: two\n"])
    assert found[3:] == ["\t... lines as above: 2", "ValueError: two"]


def test_an_error_that_stays_is_written_whole_once_an_hour():
    lines = ["2026-11-29 23:30:00,000 ERROR   A: failed", "java.io.IOException: disk full", "\tat a.b(C.java:1)"]
    repeated = RepeatedLines()
    found = dict.fromkeys(range(0, 140, 9), "")
    for minute in found:
        parts = (repeated.take(f"{line}\n".encode(), minute * 60.0) for line in lines)
        found[minute] = b"".join(part for part in parts if part is not None).decode()
    assert [minute for minute, text in found.items() if "disk full" in text] == [0, 9, 27, 63, 126, 135]
    assert [minute for minute, text in found.items() if "C.java" in text] == [0, 63, 126]
    assert found[126].splitlines() == [*(f"{line} (15 times by now)" for line in lines[:2]), lines[2]]


@pytest.mark.parametrize(
    "sentence",
    [
        "Executor: Exit status: {}",
        "FileWriter: HTTP status 50{} for PUT /ckpt",
        "NetworkClient: Connection to node {} (kafka/10.0.0.1:9092) could not be established.",
        "NetworkClient: Connection to node -1 (kafka/10.0.0.1:2909{}) could not be established.",
        "NetworkClient: Connection to node -1 (node/10.0.0.1:3209{}) could not be established.",
        "MicroBatchExecution: Query groupwatch-prod1000{} terminated with error",
        "Source: ORA-0094{}",
        "Login: user@cafe{}.example is unknown",
    ],
)
def test_lines_that_say_something_else_are_all_written(sentence: str):
    lines = [f"2026-11-29 23:30:0{number},000 WARN    {sentence.format(number)}" for number in range(1, 6)]
    assert written(f"{line}\n".encode() for line in lines) == lines


@pytest.mark.parametrize(
    "sentence",
    [
        "Fetcher: Offset 12345{} is out of range for partition orders-1",
        "Selector: Connection with /127.0.0.1:4567{} disconnected",
        "Query: org.apache.spark.Query@1a2b3c{} failed",
        "TaskSetManager: Lost task 0.0 in stage {}.0 (TID 3{})",
        "Trigger: The trigger interval is 1000 milliseconds, but spent {} milliseconds",
        "Watch: nothing since 2026-11-29 23:29:0{},000",
    ],
)
def test_lines_that_say_the_same_are_written_once_and_the_number_says_that_they_are_alike(sentence: str):
    lines = [f"2026-11-29 23:30:0{number},000 WARN    {sentence.replace('{}', str(number))}" for number in range(1, 6)]
    found = written(f"{line}\n".encode() for line in lines)
    assert found == [lines[0], f"{lines[1]} (alike: 2 by now)", f"{lines[3]} (alike: 4 by now)"]


def test_what_was_not_there_for_the_longest_time_is_forgotten_and_long_lines_take_no_memory():
    repeated = RepeatedLines()
    repeated.take(b"first\n", 0.0)
    for number in range(MOST_LINES):
        repeated.take(b"line%d%b\n" % (number, b" " * 2_000), 0.0)
        if number in {0, 2_000, 4_000}:
            repeated.take(b"often\n", 0.0)
    assert len(repeated._lines) == MOST_LINES
    assert sum(map(len, repeated._lines)) == 16 * MOST_LINES
    assert repeated.take(b"first\n", 0.0) == b"first\n"
    assert repeated.take(b"often\n", 0.0) == b"often (4 times by now)\n"
