"""What the leader of a classic Kafka Streams group tells its members, as Kafka's own class writes and reads it."""

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import StreamsNotice
from monitor.protocol.kafka.consumer_protocol import read_assignment
from monitor.protocol.kafka.streams_assignment import TaskId, read_assignment_info, streams_notice
from monitor.protocol.offsets_topic import read_record
from monitor.protocol.wire.errors import DecodeError
from tests.support.streams_captures import GROUPS, event_of, records, written

NEVER = 2**63 - 1
WRITTEN = [pytest.param(case, id=f"{case['name']} of version {case['version']}") for case in written()]


def tasks(told):
    return tuple(TaskId(*task) for task in told)


def by_name(told):
    return tuple(TaskId(*map(int, name.split("_"))) for name in told)


@pytest.mark.parametrize("case", WRITTEN)
def test_every_version_is_read_as_kafka_reads_it(case):
    found = read_assignment_info(bytes.fromhex(case["hex"]))
    assert (found.version, found.active) == (case["version"], tasks(case["active"]))
    assert sorted(found.standby, key=lambda task: task.subtopology) == list(tasks(case["standby"]))
    assert found.error == (case["error"] if case["version"] >= 4 else None)
    assert found.next_rebalance_ms == (case["next_rebalance_ms"] if case["version"] >= 7 else None)


def test_all_versions_are_compared():
    assert {(case["name"], case["version"]) for case in written()} == {
        (name, version) for name in ("full", "none") for version in range(1, 12)
    }


@pytest.mark.parametrize("case", WRITTEN)
def test_bytes_that_end_too_early_are_refused_wherever_they_end(case):
    data = bytes.fromhex(case["hex"])
    for end in range(len(data)):
        with pytest.raises(DecodeError) as caught:
            read_assignment_info(data[:end])
        assert caught.value.reason == "underflow"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        pytest.param("00000000", "unknown_value_version", id="no version is 0"),
        pytest.param("0000000c", "unknown_value_version", id="newer than those that are known"),
        pytest.param("00000001 ffffffff", "bad_length", id="a null array"),
        pytest.param("00000001 7fffffff 00000000", "underflow", id="more tasks than bytes"),
        pytest.param("0000000a 0000000b 00000001 00000000 00000000 fffffffe", "bad_length", id="a text of -2 letters"),
        pytest.param(
            "0000000b 0000000b 00000000 00000000 00000000 00000001 0000 00001f90 fffffff0",
            "bad_length",
            id="a host with -16 partitions",
        ),
    ],
)
def test_broken_bytes(data, reason):
    with pytest.raises(DecodeError) as caught:
        read_assignment_info(bytes.fromhex(data))
    assert caught.value.reason == reason
    assert streams_notice(bytes.fromhex(data)) is None


@given(st.integers(0, 12), st.binary(max_size=200))
def test_any_bytes_are_a_value_or_refused(version, data):
    try:
        found = read_assignment_info(version.to_bytes(4) + data)
    except DecodeError:
        return
    assert found.version == version


@pytest.mark.parametrize("group", GROUPS)
def test_what_real_leaders_wrote_is_read_as_kafka_reads_it(group):
    compared = 0
    for line in records(group):
        members = line.get("assignments", {})
        stored = read_record(base64.b64decode(line["k"]), base64.b64decode(line["v"])).value if members else None
        for member in stored.members if stored else ():
            found = read_assignment_info(read_assignment(member.assignment).message.user_data)
            told = members[member.member_id]
            assert found.version == told["version"]
            assert found.active == by_name(told["active_tasks"])
            assert sorted(found.standby, key=lambda t: (t.subtopology, t.partition)) == list(
                by_name(told["standby_tasks"])
            )
            assert (found.error, found.next_rebalance_ms) == (told["error"], told["next_rebalance_ms"])
            compared += 1
    assert compared >= 39


@pytest.mark.parametrize("group", GROUPS)
def test_a_member_says_whether_its_generation_is_the_last_of_its_rebalance(group):
    seen = set()
    for line in records(group):
        told = line.get("assignments", {})
        for member in event_of(line).members if told else ():
            next_ms = told[member.member_id]["next_rebalance_ms"]
            assert member.streams == StreamsNotice(version=11, next_rebalance_ms=None if next_ms == NEVER else next_ms)
            seen.add(min(next_ms, 1) if next_ms != NEVER else None)
    assert seen >= {0, None}


def test_other_groups_have_no_such_notice():
    assert streams_notice(None) is None
    assert streams_notice(b"") is None
