"""What members and leader of a classic Kafka Streams group write, as Kafka's own classes write and read it."""

import base64

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import StreamsClient, StreamsNotice, StreamsTask, TaskOffset
from monitor.protocol.kafka.consumer_protocol import read_assignment
from monitor.protocol.kafka.streams_user_data import (
    offset_sums,
    process_id,
    read_assignment_info,
    read_subscription_info,
    streams_client,
    streams_notice,
)
from monitor.protocol.offsets_topic import decode_record, read_record
from monitor.protocol.wire.errors import DecodeError
from tests.support import kind_captures
from tests.support.streams_captures import GROUPS, event_of, records, written

NEVER = 2**63 - 1
WRITTEN = [pytest.param(case, id=f"{case['name']} of version {case['version']}") for case in written()]


def tasks(told):
    return tuple(StreamsTask(*task) for task in told)


def by_name(told):
    return tuple(StreamsTask(*map(int, name.split("_"))) for name in told)


@pytest.mark.parametrize("case", WRITTEN)
def test_every_version_is_read_as_kafka_reads_it(case):
    found = read_assignment_info(bytes.fromhex(case["hex"]))
    assert (found.version, found.active) == (case["version"], tasks(case["active"]))
    assert sorted(each.task for each in found.standby) == list(tasks(case["standby"]))
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
            assert sorted(each.task for each in found.standby) == list(by_name(told["standby_tasks"]))
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
            assert member.streams == StreamsNotice(
                version=11,
                next_rebalance_ms=None if next_ms == NEVER else next_ms,
                active=by_name(told[member.member_id]["active_tasks"]),
                standby=member.streams.standby,
            )
            assert set(member.streams.standby) == set(by_name(told[member.member_id]["standby_tasks"]))
            seen.add(min(next_ms, 1) if next_ms != NEVER else None)
    assert seen >= {0, None}


def test_other_groups_have_no_such_notice():
    assert streams_notice(None) is None
    assert streams_notice(b"") is None


# --- hosts ------------------------------------------------------------------------------------------------------------

HOSTS = {"10.0.0.1": [("orders", 0), ("r\u00e9funds", 1)], "app-2.example": []}
"""Those of ``AssignmentInfos.java``."""


@pytest.mark.parametrize("case", WRITTEN)
def test_hosts_are_read_where_they_are_asked_for(case):
    data = bytes.fromhex(case["hex"])
    found = read_assignment_info(data, with_hosts=True)
    has_hosts, has_standby_hosts = case["version"] >= 2, case["version"] >= 6
    expected = HOSTS if case["name"] == "full" and has_hosts else {}
    assert {each.host: sorted(each.partitions) for each in found.hosts} == expected
    standby = {"app-2.example": [("orders", 2)]} if case["name"] == "full" and has_standby_hosts else {}
    assert {each.host: list(each.partitions) for each in found.standby_hosts} == standby
    assert {each.host: each.port for each in found.hosts} == {host: PORTS[host] for host in expected}
    assert msgspec.structs.replace(found, hosts=(), standby_hosts=()) == read_assignment_info(data)


PORTS = {"10.0.0.1": 8080, "app-2.example": 8081}


def test_a_host_with_a_topic_that_the_assignment_does_not_number():
    dictionary, host = "00000000", "0001 68 00001f90 00000001 00000007 00000000"
    data = f"00000005 00000005 00000000 00000000 {dictionary} 00000001 {host} 00000000"
    assert read_assignment_info(bytes.fromhex(data)).version == 5
    with pytest.raises(DecodeError) as caught:
        read_assignment_info(bytes.fromhex(data), with_hosts=True)
    assert caught.value.reason == "bad_number"


# --- subscriptions ----------------------------------------------------------------------------------------------------

SUBSCRIPTIONS = [
    pytest.param(case, id=f"{case['name']} of version {case['version']}") for case in written("subscription-info")
]


@pytest.mark.parametrize("case", SUBSCRIPTIONS)
def test_every_version_of_a_subscription_is_read_as_kafka_reads_it(case):
    found = read_subscription_info(bytes.fromhex(case["hex"]))
    assert (found.version, found.data.latest_supported_version) == (case["version"], case["latest"])
    sums = sorted(offset_sums(found.version, found.data), key=lambda each: each.task)
    assert sums == [TaskOffset(StreamsTask(*task), offset_sum) for *task, offset_sum in case["sums"]]
    assert process_id(found.data) == case["process"]
    assert found.data.error_code == case["error"]
    assert {tag.key.decode(): tag.value.decode() for tag in found.data.client_tags} == case["tags"]
    assert streams_client(bytes.fromhex(case["hex"])) == StreamsClient(
        process_id=case["process"],
        version=case["version"],
        error=case["error"],
        offset_sums=tuple(offset_sums(found.version, found.data)),
        endpoint=case["endpoint"],
    )


def test_all_versions_of_a_subscription_are_compared():
    assert {(case["name"], case["version"]) for case in written("subscription-info")} == {
        (name, version) for name in ("full", "none") for version in range(1, 12)
    }


@pytest.mark.parametrize("case", SUBSCRIPTIONS)
def test_a_subscription_that_ends_too_early_is_refused_wherever_it_ends(case):
    data = bytes.fromhex(case["hex"])
    for end in range(len(data)):
        with pytest.raises(DecodeError) as caught:
            read_subscription_info(data[:end])
        assert caught.value.reason == "underflow"
        assert streams_client(data[:end]) is None


@pytest.mark.parametrize("version", ["00000000", "ffffffff", "0000000c"])
def test_subscriptions_of_versions_that_are_not_known(version):
    """Of a newer one Streams itself knows no more than that; its sender joins again with an older one."""
    with pytest.raises(DecodeError) as caught:
        read_subscription_info(bytes.fromhex(version) + bytes(40))
    assert caught.value.reason == "unknown_value_version"


def test_no_client_writes_a_version_that_it_does_not_support():
    with pytest.raises(DecodeError) as caught:
        read_subscription_info(bytes.fromhex("0000000b 0000000a") + bytes(40))
    assert caught.value.reason == "bad_number"


def test_a_member_has_what_its_subscription_says():
    """As Streams' own class reads it in the captures (tests/fixtures/group_kinds)."""
    compared = 0
    for record in kind_captures.records():
        for member_id, told in record.get("decoded", {}).get("members", {}).items():
            if "subscription" not in told:
                continue
            event = decode_record(kind_captures.key_of(record), kind_captures.value_of(record), record["ts"])
            (member,) = [each for each in event.members if each.member_id == member_id]
            said = told["subscription"]
            sums = {
                f"{each.task.subtopology}_{each.task.partition}": each.offset_sum
                for each in member.streams_client.offset_sums
            }
            assert (member.streams_client.process_id, sums) == (said["process_id"], said["task_offset_sums"])
            assert (member.streams_client.version, member.streams_client.error) == (said["version"], said["error"])
            compared += 1
    assert compared == 82
