"""The records of the findings topic: what is written is read back, and the form is a contract."""

import json

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import FindingNews, FindingRecord, FindingScope, TopicPartitions
from monitor.protocol.findings_topic import decode_finding, encode_finding
from monitor.protocol.wire.errors import DecodeError

RECORD = FindingRecord(
    id="00ff",
    event=FindingNews.OPENED,
    cluster="c",
    group="g",
    kind="orphaned",
    reason="grew",
    since_ms=1,
    opened_ms=2,
    at_ms=3,
    sentence="S.",
    partition_count=2,
    partitions=(TopicPartitions("t", (4, 5)),),
    member_count=0,
    members=(),
)


def test_the_form():
    assert json.loads(encode_finding(RECORD)) == {
        "version": 1,
        "id": "00ff",
        "event": "opened",
        "cluster": "c",
        "group": "g",
        "kind": "orphaned",
        "reason": "grew",
        "since_ms": 1,
        "opened_ms": 2,
        "at_ms": 3,
        "sentence": "S.",
        "partition_count": 2,
        "partitions": [{"topic": "t", "partitions": [4, 5]}],
        "member_count": 0,
        "members": [],
        "cause": None,
        "task_count": 0,
        "tasks": [],
        "scope": "group",
        "group_count": 0,
        "follows": None,
        "shard": 1,
        "pattern": "",
    }


FIRST_VERSION = json.loads(encode_finding(RECORD)).keys() - {"scope", "group_count", "follows", "shard", "pattern"}
"""The fields of a record before there were findings of clusters."""


def test_a_record_from_before_there_were_findings_of_clusters_is_of_a_group():
    before = {name: value for name, value in json.loads(encode_finding(RECORD)).items() if name in FIRST_VERSION}
    assert decode_finding(json.dumps(before).encode()) == RECORD


def test_who_knows_only_groups_can_read_a_finding_of_a_cluster():
    """Every field is there, with a value of the same type; the group is the empty text."""
    of_cluster = msgspec.structs.replace(RECORD, group="", scope=FindingScope.CLUSTER, group_count=12, shard=2)
    known, read = json.loads(encode_finding(RECORD)), json.loads(encode_finding(of_cluster))
    assert read.keys() >= FIRST_VERSION
    assert {name: type(read[name]) for name in FIRST_VERSION} == {name: type(known[name]) for name in FIRST_VERSION}
    assert (read["group"], read["scope"], read["group_count"], read["shard"]) == ("", "cluster", 12, 2)


@given(st.text(max_size=5), st.sampled_from(FindingNews), st.integers(0, 2**63 - 1))
def test_a_record_is_read_as_it_was_written(name: str, event: FindingNews, at_ms: int):
    record = FindingRecord(
        id=name,
        event=event,
        cluster=name,
        group=name,
        kind="lag",
        reason=name,
        since_ms=at_ms,
        opened_ms=at_ms,
        at_ms=at_ms,
        sentence=name,
        partition_count=0,
        partitions=(),
        member_count=1,
        members=(name,),
    )
    assert decode_finding(encode_finding(record)) == record


def test_fields_of_a_newer_version_are_passed_over():
    newer = json.loads(encode_finding(RECORD)) | {"severity": "page"}
    assert decode_finding(json.dumps(newer).encode()) == RECORD


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "bad_json"),
        (b"{", "bad_json"),
        (b"[]", "bad_event"),
        (b'{"id":"1"}', "bad_event"),
        (b'{"id":"\xff"}', "bad_utf8"),
    ],
)
def test_what_is_no_finding(data: bytes, reason: str):
    with pytest.raises(DecodeError) as raised:
        decode_finding(data)
    assert raised.value.reason == reason
