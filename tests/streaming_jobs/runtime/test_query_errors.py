"""What a failed query means, from the text that crosses from the executors: causes in stack traces in stack traces."""

from __future__ import annotations

import traceback

import msgspec
import pytest

from monitor.model import STATE_VERSION, GroupState
from monitor.tracking.serialization import StateCorruptError, StateVersionError
from streaming_jobs.buckets.bucket import Bucket, Entry
from streaming_jobs.runtime.query_errors import fatal_sentence

REBUILD = "start once with --rebuild, which moves the folder aside and reads the log again from the beginning."


def as_spark_has_it(error: Exception) -> Exception:
    """An error of a Python worker as the driver gets it: in the text of another one."""
    told = "".join(traceback.format_exception(error))
    return Exception(f"Job aborted due to stage failure: org.apache.spark.api.python.PythonException: {told}\n\tat a.B")


@pytest.mark.parametrize("version", [STATE_VERSION - 1, STATE_VERSION + 1], ids=["an older one", "a newer one"])
def test_a_state_of_another_version_ends_the_job_and_the_sentence_names_the_way_out(version):
    state = msgspec.msgpack.encode((version, GroupState(cluster="c", group="g")))
    with pytest.raises(StateVersionError) as raised:
        Bucket("c").load([Entry("group", "g", state)], batch=1)
    assert fatal_sentence(as_spark_has_it(raised.value), "/data/prod") == (
        "the checkpoint /data/prod is of another version of groupwatch"
        " (monitor.tracking.serialization.StateVersionError:"
        f" the state was written in version {version}; this groupwatch reads version {STATE_VERSION})."
        f" Go back to that version, or {REBUILD}"
    )


def test_a_state_that_is_none_is_damage():
    with pytest.raises(StateCorruptError) as raised:
        Bucket("c").load([Entry("group", "g", b"\xc1")], batch=1)
    sentence = fatal_sentence(as_spark_has_it(raised.value), "/data/prod")
    assert sentence is not None
    assert sentence.startswith("the checkpoint /data/prod is damaged (")
    assert sentence.endswith(f"). To go on, {REBUILD}")


@pytest.mark.parametrize("text", ["No space left on device", "Connection to node 1 could not be established"])
def test_what_may_heal_is_tried_again(text):
    assert fatal_sentence(as_spark_has_it(OSError(text)), "/data/prod") is None


DESCRIPTORS = (
    "groupwatch has no file descriptors left: the limit of open files (ulimit -n, LimitNOFILE) is reached"
    " ({}). No restart of the query can heal that."
)
THREADS = (
    "groupwatch can start no more threads: the limit of processes and threads (ulimit -u, TasksMax, pids.max) or of"
    " memory is reached ({}). No restart of the query can heal that."
)
NATIVE_THREAD = "unable to create native thread: possibly out of memory or process/resource limits reached"


@pytest.mark.parametrize(
    ("cause", "sentence"),
    [
        ("java.net.SocketException: Too many open files", DESCRIPTORS),
        ("java.io.IOException: Too many open files", DESCRIPTORS),
        ('java.io.IOException: Cannot run program "python3": error=24, Too many open files', DESCRIPTORS),
        ("java.io.FileNotFoundException: /data/prod/state/1.delta (Too many open files)", DESCRIPTORS),
        (f"java.lang.OutOfMemoryError: {NATIVE_THREAD}", THREADS),
    ],
)
def test_a_limit_of_the_process_that_is_reached_ends_the_job_and_is_named(cause: str, sentence: str):
    failed = Exception(
        "org.apache.spark.sql.streaming.StreamingQueryException: Job aborted\n\tat a.B(C.scala:1)\n"
        f"Caused by: {cause}\n\tat org.apache.spark.sql.execution.streaming.state.OperatorStateMetadata.read(D.scala:2)"
    )
    assert fatal_sentence(failed, "/data/prod") == sentence.format(cause)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (OSError(24, "Too many open files"), DESCRIPTORS.format("OSError: [Errno 24] Too many open files")),
        (RuntimeError("can't start new thread"), THREADS.format("RuntimeError: can't start new thread")),
    ],
)
def test_the_limits_of_python_are_the_same(error: Exception, sentence: str):
    with pytest.raises(type(error)) as raised:
        raise error
    assert fatal_sentence(as_spark_has_it(raised.value), "/data/prod") == sentence
