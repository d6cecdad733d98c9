"""What workers of Kafka Connect say and are told, as Connect's own classes read it."""

import contextlib
import struct

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.kinds.connect import Work, worker_work
from monitor.model import THE_CONNECTOR, ConnectAssignment, ConnectorTasks, ConnectWorker
from monitor.protocol.kafka.connect_protocol import (
    EMPTY_ALLOCATION,
    ConnectAssignmentData,
    connect_worker,
    read_connect_assignment,
    read_connect_metadata,
)
from monitor.protocol.offsets_topic import decode_record
from monitor.protocol.wire.errors import DecodeError
from tests.support.kind_captures import key_of, records, value_of


def text(value):
    return struct.pack(">h", len(value.encode())) + value.encode()


def tasks(connector, *numbers):
    return text(connector) + struct.pack(f">i{len(numbers)}i", len(numbers), *numbers)


def many(*items):
    return struct.pack(">i", len(items)) + b"".join(items)


NULL = struct.pack(">i", -1)
HEAD = struct.pack(">hh", 1, 0) + text("leader-1") + text("http://w1:8083/") + struct.pack(">q", 42)
"""An assignment up to its config offset."""
FIELDS = [many(tasks("jdbc", -1, 0)), many(tasks("s3", 2)), struct.pack(">i", 300_000)]


def work(told):
    """Connectors and tasks as the captures list them."""
    return {Work(name, THE_CONNECTOR) for name in told["connectors"]} | {
        Work(connector, int(number)) for connector, _, number in (task.rpartition("-") for task in told["tasks"])
    }


def pairs(entries):
    return {Work(entry.connector, number) for entry in entries for number in entry.tasks}


def test_captured_workers_are_read_as_connect_reads_them():
    """Of each protocol: what a worker has, what it gets and gives up, and until when the leader waits."""
    compared = dict.fromkeys(("default", "compatible", "sessioned"), 0)
    for record in records():
        told = record.get("decoded", {}).get("members", {})
        members = {each.member_id: each for each in event_of(record).members} if told else {}
        for member_id, expected in told.items():
            if "metadata" not in expected:
                continue
            worker, said, given_ = members[member_id].connect, expected["metadata"], expected["assignment"]
            assert (worker.version, worker.url) == (said["version"], said["url"])
            assert worker.config_offset == said["config_offset"]
            assert (worker.allocation is None) == ("allocation" not in said)
            if worker.allocation is not None:
                assert pairs(worker.allocation) == work(said["allocation"]["assigned"])
            assert (worker.assignment.leader, worker.assignment.leader_url) == (given_["leader"], given_["leader_url"])
            assert (worker.assignment.error, worker.assignment.config_offset) == (0, given_["config_offset"])
            assert pairs(worker.assignment.assigned) == work(given_["assigned"])
            if "revoked" in given_:
                assert pairs(worker.assignment.revoked) == work(given_["revoked"])
                assert worker.assignment.delay_ms == given_["delay"]
            compared[record["decoded"]["value"]["protocol"]] += 1
    assert compared == {"default": 12, "compatible": 28, "sessioned": 143}


def event_of(record):
    return decode_record(key_of(record), value_of(record), record["ts"])


GIVEN, TAKEN = (ConnectorTasks("jdbc", (-1, 0)),), (ConnectorTasks("s3", (2,)),)
WHOLE = ConnectAssignmentData(1, 0, "leader-1", "http://w1:8083/", 42, GIVEN, TAKEN, 300_000)


@pytest.mark.parametrize(
    ("present", "missing"),
    [(0, {"assigned": (), "revoked": (), "delay": 0}), (1, {"revoked": (), "delay": 0}), (2, {"delay": 0}), (3, {})],
)
def test_fields_that_are_missing_at_the_end_have_their_defaults(present, missing):
    found = read_connect_assignment(HEAD + b"".join(FIELDS[:present]), incremental=True)
    assert found == msgspec.structs.replace(WHOLE, **missing)


@pytest.mark.parametrize("end", [len(HEAD) - 1, len(HEAD) + 3, len(HEAD + FIELDS[0]) + 2, -1])
def test_a_field_that_is_there_in_part_is_refused(end):
    with pytest.raises(DecodeError) as caught:
        read_connect_assignment((HEAD + b"".join(FIELDS))[:end], incremental=True)
    assert caught.value.reason == "underflow"


def test_null_arrays_mean_none():
    found = read_connect_assignment(HEAD + NULL + NULL, incremental=True)
    assert (found.assigned, found.revoked, found.delay) == ((), (), 0)


def test_an_eager_assignment_needs_its_array_and_has_nothing_behind_it():
    whole = read_connect_assignment(HEAD + b"".join(FIELDS), incremental=False)
    assert whole.assigned == (ConnectorTasks("jdbc", (-1, 0)),)
    assert (whole.revoked, whole.delay) == ((), 0)
    for data in (HEAD, HEAD + NULL):
        with pytest.raises(DecodeError):
            read_connect_assignment(data, incremental=False)


def test_a_connector_that_is_named_twice_has_all_of_its_tasks():
    found = read_connect_assignment(HEAD + many(tasks("jdbc", 1), tasks("s3", 0), tasks("jdbc", -1)), incremental=True)
    assert found.assigned == (ConnectorTasks("jdbc", (1, -1)), ConnectorTasks("s3", (0,)))


METADATA = struct.pack(">h", 2) + text("http://w2:8083/") + struct.pack(">q", 41)


@pytest.mark.parametrize("allocation", [b"", NULL], ids=["missing", "null"])
def test_a_worker_that_has_nothing_yet(allocation):
    found = read_connect_metadata(METADATA + allocation, incremental=True)
    assert (found.version, found.url, found.config_offset, found.allocation) == (
        2,
        "http://w2:8083/",
        41,
        EMPTY_ALLOCATION,
    )


def test_an_allocation_is_an_assignment_with_its_own_version():
    allocated = HEAD + FIELDS[0]
    found = read_connect_metadata(METADATA + struct.pack(">i", len(allocated)) + allocated, incremental=True)
    assert found.allocation.version == 1
    assert found.allocation.assigned == (ConnectorTasks("jdbc", (-1, 0)),)


def test_newer_versions_are_read_as_the_newest_and_negative_ones_are_none():
    newer = struct.pack(">h", 9) + HEAD[2:] + b"".join(FIELDS) + b"and more"
    assert read_connect_assignment(newer, incremental=True).version == 9
    with pytest.raises(DecodeError) as caught:
        read_connect_assignment(struct.pack(">h", -1) + HEAD[2:], incremental=True)
    assert caught.value.reason == "unknown_value_version"


def test_a_worker_without_assignment_or_with_broken_bytes():
    assert connect_worker(METADATA, b"", "sessioned") == ConnectWorker(
        version=2, url="http://w2:8083/", config_offset=41, allocation=()
    )
    assert connect_worker(b"", b"", "sessioned") is None
    assert connect_worker(METADATA[:-1], b"", "sessioned") is None
    assert connect_worker(METADATA, HEAD[:-1], "sessioned") is None


def test_what_a_worker_runs_is_a_difference_unless_the_protocol_is_eager():
    allocated = HEAD + many(tasks("jdbc", -1, 0), tasks("s3", 2, 3))
    metadata = METADATA + struct.pack(">i", len(allocated)) + allocated
    told = HEAD + many(tasks("http", 0)) + many(tasks("s3", 2))
    incremental = connect_worker(metadata, told, "sessioned")
    assert worker_work(incremental) == {Work("jdbc", -1), Work("jdbc", 0), Work("s3", 3), Work("http", 0)}
    assert worker_work(connect_worker(metadata, told, "default")) == {Work("http", 0)}
    assert worker_work(connect_worker(metadata, b"", "sessioned")) == pairs(incremental.allocation)


def test_a_delay_below_zero_is_none():
    told = connect_worker(METADATA, HEAD + NULL + NULL + struct.pack(">i", -5), "sessioned").assignment
    assert told == ConnectAssignment(leader="leader-1", leader_url="http://w1:8083/", config_offset=42)


@given(st.binary(max_size=120), st.booleans())
def test_any_bytes_are_a_value_or_refused(data, incremental):
    for read in (read_connect_metadata, read_connect_assignment):
        with contextlib.suppress(DecodeError):
            assert read(data, incremental=incremental).version >= 0
