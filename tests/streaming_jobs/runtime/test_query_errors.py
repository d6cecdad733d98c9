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
