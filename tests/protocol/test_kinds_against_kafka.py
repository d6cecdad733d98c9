"""Broken bytes of share state, Kafka Streams and Connect, read by us and by the originals: what both read is the same.

The originals of Streams and Connect are 90 MB of jars: these tests are left to ``make test-long``.
"""

import base64
from collections import Counter

import pytest

from monitor.model import THE_CONNECTOR
from monitor.protocol.kafka.connect_protocol import read_connect_assignment, read_connect_metadata
from monitor.protocol.kafka.records import SHARE_STATE_TYPES, read_record
from monitor.protocol.kafka.streams_user_data import (
    offset_sums,
    process_id,
    read_assignment_info,
    read_subscription_info,
)
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.schema import json_fields
from tests.oracle.original import Original
from tests.protocol.fuzz_kinds import MEMBER_FORMATS, mutants
from tests.support.java_program import jars_of_streams_and_connect

LENIENT = {"bad_utf8", "underflow", "bad_length", "bad_varint"}
"""Where Kafka's classes read on and we do not, see tests/protocol/test_against_kafka.py."""
NEWER = ("streams subscription", "unknown_value_version")
"""Of a subscription that is newer, Streams knows its two versions; its sender joins again with an older one."""


def text(data):
    return None if data is None else base64.b64encode(data).decode()


def share_state(mutant):
    record = read_record(mutant.key, mutant.value, SHARE_STATE_TYPES)
    read = {"key": json_fields(record.key, 0)}
    return read if record.value is None else {**read, "value": json_fields(record.value, record.version)}


def test_share_state():
    found, too_strict = Counter(), []
    with Original(program="ShareState") as jvm:
        for mutant in mutants(40_000, seed=3):
            if mutant.topic != "__share_group_state":
                continue
            answer = jvm.send({"k": text(mutant.key), "v": text(mutant.value)})
            whole = "error" not in answer and not answer["key_unread"] and not answer.get("value_unread")
            expected = {name: answer[name] for name in ("key", "value") if name in answer} if whole else None
            try:
                read = share_state(mutant)
            except DecodeError as error:
                found["refused"] += 1
                if expected is not None and error.reason not in LENIENT:
                    too_strict.append(mutant)
                continue
            assert read == expected, mutant
            found["read"] += 1
    assert too_strict == []
    assert found["read"] > 400
    assert found["refused"] > 400


# --- inside the members -----------------------------------------------------------------------------------------------

NEVER = 2**63 - 1


def decoded(data):
    return data.decode("utf-8", "replace")


def task(each):
    name = f"{each.subtopology}_{each.partition}"
    return name if each.topology is None else f"{each.topology}__{name}"


def streams_subscription(data):
    found = read_subscription_info(data)
    return {
        "version": found.version,
        "latest_version": found.data.latest_supported_version,
        "process_id": process_id(found.data),
        "user_endpoint": decoded(found.data.user_end_point) or None,
        "task_offset_sums": {task(each.task): each.offset_sum for each in offset_sums(found.version, found.data)},
        "error": found.data.error_code,
        "client_tags": {decoded(tag.key): decoded(tag.value) for tag in found.data.client_tags},
    }


def streams_assignment(data):
    found = read_assignment_info(data)
    return {
        "version": found.version,
        "common_version": -1 if found.common_version is None else found.common_version,
        "active_tasks": [task(each) for each in found.active],
        "standby_tasks": {task(each.task): sorted({f"{t}-{p}" for t, p in each.partitions}) for each in found.standby},
        "error": found.error or 0,
        "next_rebalance_ms": NEVER if found.next_rebalance_ms is None else found.next_rebalance_ms,
    }


def eager(told):
    pairs = [(entry.connector, number) for entry in told.assigned for number in entry.tasks]
    return {
        "error": told.error,
        "leader": told.leader,
        "leader_url": told.leader_url,
        "config_offset": told.config_offset,
        "connectors": [connector for connector, number in pairs if number == THE_CONNECTOR],
        "tasks": [f"{connector}-{number}" for connector, number in pairs if number != THE_CONNECTOR],
    }


def extended(told):
    pairs = [(entry.connector, number) for entry in told.revoked for number in entry.tasks]
    return {
        "version": told.version,
        **eager(told),
        "revoked_connectors": [connector for connector, number in pairs if number == THE_CONNECTOR],
        "revoked_tasks": [f"{connector}-{number}" for connector, number in pairs if number != THE_CONNECTOR],
        "delay": told.delay,
    }


def connect_metadata(data):
    said = read_connect_metadata(data, incremental=True)
    return {"url": said.url, "config_offset": said.config_offset, "allocation": extended(said.allocation)}


def eager_metadata(data):
    said = read_connect_metadata(data, incremental=False)
    return {"url": said.url, "config_offset": said.config_offset}


READ = {
    "streams subscription": streams_subscription,
    "streams assignment": streams_assignment,
    "connect metadata": connect_metadata,
    "connect metadata, eager": eager_metadata,
    "connect assignment": lambda data: extended(read_connect_assignment(data, incremental=True)),
    "connect assignment, eager": lambda data: eager(read_connect_assignment(data, incremental=False)),
}


def sortable(answer):
    """Lists as sets: a connector that is named twice is listed once by us, with all of its tasks."""
    return {
        name: sortable(value) if isinstance(value, dict) else sorted(value) if isinstance(value, list) else value
        for name, value in answer.items()
    }


def has_broken_text(name, data):
    """In an assignment of Streams we pass over broken names of hosts and topics, which decide nothing."""
    return name == "streams assignment" and "\ufffd" in repr(read_assignment_info(data, with_hosts=True))


@pytest.mark.long
def test_the_bytes_of_members():
    found, too_strict, too_lenient = Counter(), [], []
    with Original(program="MemberBytes", jars=jars_of_streams_and_connect()) as jvm:
        for mutant in mutants(60_000, seed=4):
            for name in (each for each in READ if mutant.topic in MEMBER_FORMATS and each.startswith(mutant.topic)):
                answer = jvm.send({"format": name, "bytes": text(mutant.value)})
                try:
                    read = READ[name](mutant.value)
                except DecodeError as error:
                    found[name, "refused"] += 1
                    if "thrown" not in answer and error.reason not in LENIENT and (name, error.reason) != NEWER:
                        too_strict.append((name, mutant, str(error)))
                    continue
                if "thrown" in answer:
                    too_lenient += [] if has_broken_text(name, mutant.value) else [(name, mutant, answer)]
                elif "\ufffd" not in repr(read):  # what is no UTF-8 is replaced otherwise by Java
                    assert sortable(read) == sortable(answer), (name, mutant)
                    found[name, "read"] += 1
    assert too_strict[:3] == []
    assert too_lenient[:3] == []
    assert {name: found[name, "read"] > 300 and found[name, "refused"] > 300 for name in READ} == dict.fromkeys(
        READ, True
    )
