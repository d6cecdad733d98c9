"""Connect's configurations: names, tasks, target states and groups are read, and nothing else of a value survives."""

import gc
import json
import pickle
import traceback

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import ConnectorConfigured, ConnectorTargetSet, ConnectorTasksSet, TargetState
from monitor.protocol.kafka.connect_configs import (
    ConfigKey,
    decode_connect_config,
    read_config_key,
    read_config_value,
)
from monitor.protocol.offsets_topic.decoded_line import decode_line
from monitor.protocol.wire.errors import REASONS, DecodeError
from tests.support.kind_captures import key_of, records, value_of

CAPTURED = [record for record in records() if record["topic"].endswith("-configs")]


def test_captured_configurations_read_as_connect_reads_them():
    found = {"connector": 0, "commit": 0, "target-state": 0}
    for record in CAPTURED:
        event, told = decode_connect_config(key_of(record), value_of(record)), record["decoded"]
        kind = next((kind for kind in found if told["key"].startswith(f"{kind}-")), None)
        if kind is None:
            assert event is None
            continue
        assert event == expected_event(kind, told["key"].removeprefix(f"{kind}-"), told.get("value"))
        found[kind] += 1
    assert all(count >= 5 for count in found.values()), found


def expected_event(kind, connector, value):
    if kind == "commit":
        return ConnectorTasksSet(connector, value and value["tasks"])
    if kind == "target-state":
        return ConnectorTargetSet(connector, value and TargetState(value.get("state.v2") or value["state"]))
    group_id = value and value["properties"].get("consumer.override.group.id")
    return ConnectorConfigured(connector, is_configured=value is not None, group_id=group_id)


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("connector-my-sink", ConfigKey("connector", "connector-my-sink", "my-sink")),
        ("connector-", ConfigKey("connector", "connector-", "")),
        ("commit-a-b", ConfigKey("commit", "commit-a-b", "a-b")),
        ("task-a-b-12", ConfigKey("task", "task-a-b-12", "a-b", 12)),
        ("task-a", ConfigKey("task", "task-a", "a")),
        ("task-a-99999999999", ConfigKey("task", "task-a-99999999999", "a-99999999999")),
        ("target-state-a", ConfigKey("target-state", "target-state-a", "a")),
        ("tasks-fencing-a", ConfigKey("tasks-fencing", "tasks-fencing-a", "a")),
        ("restart-connector-a", ConfigKey("restart-connector", "restart-connector-a", "a")),
        ("logger-cluster-org.apache", ConfigKey("logger-cluster", "logger-cluster-org.apache")),
        ("session-key", ConfigKey("session-key", "session-key")),
        ("connector-a\nb", ConfigKey("connector", "connector-a\nb", "a\nb")),
        ("anything", ConfigKey("", "anything")),
    ],
)
def test_keys(key, expected):
    assert read_config_key(key.encode()) == expected


@pytest.mark.parametrize(
    ("value", "state"),
    [
        ('{"state": "STARTED"}', TargetState.STARTED),
        ('{"state": "PAUSED", "state.v2": "STOPPED"}', TargetState.STOPPED),
        ("null", None),
    ],
)
def test_the_newer_target_state_counts(value, state):
    assert decode_connect_config(b"target-state-c", value.encode()) == ConnectorTargetSet("c", state)


# --- secrets ----------------------------------------------------------------------------------------------------------

SECRET = "hunter2-S3CR3T"
PROPERTIES = {
    "connector.class": "JdbcSink",
    "connection.password": SECRET,
    "ssl.keystore.password": SECRET,
    "consumer.override.sasl.jaas.config": f"PlainLoginModule password={SECRET};",
    SECRET: "a property of that name",
}
RECORDS = [
    pytest.param("connector-c", {"properties": PROPERTIES}, id="a connector"),
    pytest.param(
        "connector-c", {"properties": {**PROPERTIES, "consumer.override.group.id": "own"}}, id="a sink with a group"
    ),
    pytest.param("connector-c", {"properties": {"consumer.override.group.id": [SECRET]}}, id="a group that is no text"),
    pytest.param("connector-c", {"properties": [SECRET]}, id="properties that are a list"),
    pytest.param("connector-c", {"properties": SECRET}, id="properties that are a text"),
    pytest.param("connector-c", [SECRET], id="a list"),
    pytest.param("connector-c", SECRET, id="a text"),
    pytest.param("connector-c", {"password": SECRET}, id="no properties"),
    pytest.param("task-c-0", {"properties": PROPERTIES}, id="a task"),
    pytest.param("session-key", {"key": SECRET, "algorithm": "HmacSHA256"}, id="the session key"),
    pytest.param("commit-c", {"tasks": 2, "note": SECRET}, id="tasks, and more"),
    pytest.param("commit-c", {"tasks": SECRET}, id="tasks that are a text"),
    pytest.param("target-state-c", {"state": "PAUSED", "note": SECRET}, id="a target state, and more"),
    pytest.param("target-state-c", {"state": SECRET}, id="a target state that is none"),
    pytest.param("target-state-c", {"state": "PAUSED", "state.v2": SECRET}, id="a newer target state that is none"),
    pytest.param("tasks-fencing-c", {"tasks": 2, "note": SECRET}, id="a count for fencing"),
    pytest.param("logger-cluster-x", {"level": SECRET}, id="a level of a logger"),
    pytest.param("elsewhere", {"password": SECRET}, id="a key that is not known"),
]


def outcome(key, value):
    try:
        return decode_connect_config(key, value), read_config_value(read_config_key(key), value)
    except DecodeError as error:
        return error


def shown(found):
    """Everything that can be had from a result or an error: texts, JSON, pickles, causes and what these hold."""
    yield repr(found)
    yield str(found)
    if not isinstance(found, DecodeError):
        yield msgspec.json.encode(found).decode()
        return
    yield from traceback.format_exception(found, chain=True)
    yield repr(pickle.dumps(found))
    assert found.__cause__ is None
    assert found.__context__ is None, "an error that was being handled may hold the value"
    for held in gc.get_referents(found):
        yield repr(held) if not isinstance(held, type) and "traceback" not in type(held).__name__ else ""


def mutations(value):
    text = json.dumps(value).encode()
    yield text
    yield from (text[:end] for end in range(0, len(text), 5))
    yield text.replace(b'"', b"\xff")
    yield text.replace(SECRET.encode(), SECRET.encode() + b"\xff\xfe")
    yield text + SECRET.encode()


@pytest.mark.parametrize(("key", "value"), RECORDS)
def test_no_secret_is_reachable_from_what_is_read_or_from_an_error(key, value):
    for data in mutations(value):
        for part in shown(outcome(key.encode(), data)):
            assert SECRET not in part


@pytest.mark.parametrize(("key", "value"), RECORDS)
def test_the_command_shows_no_secret(key, value):
    encoded = msgspec.json.encode  # bytes become base64, as the lines have them
    for data in mutations(value):
        line = encoded({"topic": "x-configs", "p": 0, "o": 0, "ts": 0, "key": key.encode(), "value": data})
        assert SECRET.encode() not in decode_line(line)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("connector-c", '{"properties": []}', "bad_event"),
        ("connector-c", "{}", "bad_event"),
        ("connector-c", "{", "bad_json"),
        ("connector-c", '{"properties":' + '{"a":' * 10_000, "bad_json"),
        ("commit-c", '{"tasks": 1.5}', "bad_event"),
        ("commit-c", '{"tasks": -1}', "bad_number"),
        ("commit-c", '{"tasks": 1048577}', "bad_number"),
        ("target-state-c", '{"state": "RUNNING"}', "bad_text"),
        ("target-state-c", "{}", "bad_text"),
    ],
)
def test_what_connect_would_not_write_is_refused_with_a_reason(key, value, reason):
    found = outcome(key.encode(), value.encode())
    assert isinstance(found, DecodeError)
    assert found.reason == reason


@pytest.mark.parametrize(("key", "reason"), [(None, "null_key"), (b"connector-\xff", "bad_utf8")])
def test_keys_that_are_none(key, reason):
    with pytest.raises(DecodeError) as caught:
        decode_connect_config(key, None)
    assert (caught.value.reason, caught.value.where) == (reason, "key")
    assert caught.value.__context__ is None


@given(st.sampled_from(["connector-c", "commit-c", "target-state-c", "x"]), st.binary(max_size=60))
def test_any_value_is_read_or_refused(key, value):
    found = outcome(key.encode(), value)
    assert not isinstance(found, DecodeError) or found.reason in REASONS
