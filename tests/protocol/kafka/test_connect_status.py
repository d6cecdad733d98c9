"""Connect's status records: the state of a task and who wrote it, without the stack trace."""

import pytest

from monitor.protocol.kafka.connect_status import TaskStatus, TopicStatus, read_status
from monitor.protocol.wire.errors import DecodeError
from tests.support.kind_captures import records, value_of


def test_captured_statuses_are_read_without_their_traces():
    compared, traces = 0, 0
    for record in records():
        if not record["topic"].endswith("-status"):
            continue
        told, found = record["decoded"]["value"], read_status(record["decoded"]["key"], value_of(record))
        if told is None:
            assert found is None
        elif "topic" in told:
            assert isinstance(found, TopicStatus)
            assert (found.topic.name, found.topic.connector) == (told["topic"]["name"], told["topic"]["connector"])
        else:
            traces += told.pop("trace") is not None
            assert found == TaskStatus(**told)
        compared += 1
    assert (compared, traces > 0) == (1086, True)


@pytest.mark.parametrize(
    ("key", "value"),
    [("status-task-c-0", b'{"state": 5, "trace": "s3cret"}'), ("status-topic-t:connector-c", b"s3cret")],
)
def test_an_error_holds_nothing_of_the_value(key, value):
    with pytest.raises(DecodeError) as caught:
        read_status(key, value)
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None


def test_other_keys_say_nothing():
    assert read_status("anything", b"{}") is None
