"""The command ``python -m monitor.protocol.offsets_topic`` with records of named topics: tests/fixtures/group_kinds.

Kafka's own classes, and Connect's, read the same records (``decoded``).
"""

from __future__ import annotations

import io
import json
from base64 import b64encode
from collections import Counter
from types import SimpleNamespace

import pytest

from monitor.protocol.offsets_topic.__main__ import main
from monitor.protocol.offsets_topic.decoded_line import decode_line
from monitor.protocol.offsets_topic.logs import LogNames
from tests.support.kind_captures import records


def without_secrets(topic, decoded):
    """Of what Connect's own converter reads, what may be shown."""
    value = decoded.get("value")
    if topic.endswith("-status") and value is not None:
        return {**decoded, "value": {name: part for name, part in value.items() if name != "trace"}}
    if topic.endswith("-configs") and decoded["key"].startswith(("session-key", "task-")):
        return {"key": decoded["key"], "omitted": True}
    if topic.endswith("-configs") and value is not None and "properties" in value:
        group_id = {name: text for name, text in value["properties"].items() if name == "consumer.override.group.id"}
        return {**decoded, "value": {"properties": group_id}}
    return decoded


def answer_to(line, **names):
    return json.loads(decode_line(json.dumps(line).encode(), LogNames(**names)))


def test_all_captured_records_read_as_kafka_reads_them():
    compared = Counter()
    for record in records():
        place = {name: record[name] for name in ("topic", "p", "o")}
        if "control" in record:
            assert answer_to(record) == place | {"control": record["control"]}
        else:
            assert answer_to(record) == place | {"decoded": without_secrets(record["topic"], record["decoded"])}
        compared[record["topic"].rpartition("-")[2]] += 1
    assert compared == {"__consumer_offsets": 1070, "__share_group_state": 427, "configs": 120, "status": 1086}


@pytest.fixture
def ask(capsysbinary, monkeypatch):
    """The command with arguments and lines; its answers."""

    def ask(arguments, lines):
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(b"\n".join(lines))))
        assert main(arguments) == 0
        return [json.loads(line) for line in capsysbinary.readouterr().out.splitlines()]

    return ask


def test_the_command_answers_every_line_in_order(ask):
    lines = [json.dumps(record).encode() for record in records()[:20]]
    lines[7] = b"no json"
    answers = ask([], lines)
    assert answers[7] == {"p": None, "o": None, "error": "bad_line", "at": 0}
    assert [answer["o"] for answer in answers[8:]] == [record["o"] for record in records()[8:20]]


@pytest.mark.parametrize(
    ("option", "key", "value", "decoded"),
    [
        ("--connect-configs", "commit-orders", {"tasks": 3}, {"key": "commit-orders", "value": {"tasks": 3}}),
        (
            "--connect-status",
            "status-connector-orders",
            {"state": "RUNNING", "trace": "secret", "worker_id": "w:8083", "generation": 7, "version": None},
            {
                "key": "status-connector-orders",
                "value": {"state": "RUNNING", "worker_id": "w:8083", "generation": 7, "version": None},
            },
        ),
    ],
)
def test_topics_of_connect_can_be_named(option, key, value, decoded, ask):
    line = line_of("cluster", key.encode(), json.dumps(value).encode())
    (answer,) = ask([option, "cluster"], [json.dumps(line).encode()])
    assert answer == {"topic": "cluster", "p": 0, "o": 7, "decoded": decoded}


def line_of(topic, key, value=None):
    key, value = (None if data is None else b64encode(data).decode() for data in (key, value))
    return {"topic": topic, "p": 0, "o": 7, "ts": 1, "key": key, "value": value}


@pytest.mark.parametrize(
    ("line", "reason", "at"),
    [
        pytest.param(line_of("orders", b"k", b"v"), "unknown_topic", 0, id="a topic of something else"),
        pytest.param(line_of("__share_group_state", None, b""), "null_key", 0, id="no key"),
        pytest.param(line_of("__share_group_state", b"\0\0\2g"), "underflow", 2, id="a key that is cut"),
        pytest.param(line_of("__share_group_state", b"\0\2\2g"), "unknown_key_version", 0, id="type 2"),
        pytest.param(line_of("__consumer_offsets", b"\0\x1f\2g"), "unknown_key_version", 0, id="type 31"),
        pytest.param(line_of("c-configs", b"commit-orders", b'{"tasks": "many"}'), "bad_event", 0, id="no number"),
        pytest.param(line_of("c-configs", b"\xff"), "bad_utf8", 0, id="no text"),
        pytest.param(line_of("c-status", b"status-task-orders-0", b"[]"), "bad_event", 0, id="no status"),
        pytest.param({**line_of("c-status", b""), "key": "%"}, "bad_base64", 0, id="no base64"),
    ],
)
def test_what_cannot_be_read_is_answered_with_the_reason(line, reason, at):
    assert answer_to(line) == {"topic": line["topic"], "p": 0, "o": 7, "error": reason, "at": at}


def test_no_secret_comes_out():
    """Passwords are among the properties of connectors and tasks; the session key is one."""
    properties = {"connector.class": "C", "db.password": "hunter2", "consumer.override.group.id": "g"}
    values = [{"properties": properties}, {"key": "hunter2"}, "hunter2", {"properties": {"tasks.max": ["hunter2"]}}]
    keys = [
        "connector-c",
        "task-c-0",
        "session-key",
        "commit-c",
        "target-state-c",
        "restart-connector-c",
        "odd",
        "hunt",
    ]
    for key in keys:
        for value in values:
            whole = json.dumps(value).encode()
            for length in range(len(whole) + 1):
                line = line_of("c-configs", key.encode(), whole[:length])
                assert b"hunter" not in decode_line(json.dumps(line).encode())
