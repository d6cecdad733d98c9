"""Every captured record reads as Kafka's own classes read it; broken bytes give one error, with its place."""

import base64
import pickle
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import (
    GroupDeleted,
    InvalidOffsetCommitted,
    Member,
    MembershipStored,
    OffsetCommitted,
    OffsetDeleted,
    TopicPartitions,
)
from monitor.protocol.offsets_topic import Foreign, decode_record, decoder
from monitor.protocol.wire.errors import REASONS, DecodeError
from tests.support.captures import BROKERS, records

ALL = [record for broker in BROKERS for record in records(broker)]
COMMIT_KEY = bytes.fromhex("0001 0002 6731 0002 7430 00000007")
GROUP_KEY = bytes.fromhex("0002 0002 6731")


def decode(record):
    return decode_record(record.key, record.value, record.timestamp_ms)


def of_type(broker, record_type):
    found = [record for record in records(broker) if record.record_type == record_type]
    assert found
    return found


# --- captured records -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("broker", BROKERS)
def test_offset_commits_read_as_kafka_reads_them(broker):
    for record in of_type(broker, 1):
        place, data = record.key_data, record.value_data
        if data is None:
            expected = OffsetDeleted(
                group=place["group"],
                topic=place["topic"],
                partition=place["partition"],
                deleted_ms=record.timestamp_ms,
            )
        else:
            expected = OffsetCommitted(
                group=place["group"],
                topic=place["topic"],
                partition=place["partition"],
                offset=data["offset"],
                committed_ms=data["commitTimestamp"],
                leader_epoch=data.get("leaderEpoch", -1),
                topic_key=first_half(data["topicId"]) if "topicId" in data else None,
                expires_ms=data["expireTimestamp"] if data.get("expireTimestamp", -1) > 0 else None,
            )
        assert decode(record) == expected


def first_half(topic_id):
    """Of an id as Kafka shows it, as the signed number that those eight bytes are in Java."""
    (high, _) = struct.unpack(">qq", base64.urlsafe_b64decode(topic_id + "=="))
    return high


@pytest.mark.parametrize("broker", BROKERS)
def test_group_metadata_reads_as_kafka_reads_it(broker):
    for record in of_type(broker, 2):
        data = record.value_data
        if data is None:
            assert decode(record) == GroupDeleted(group=record.group, deleted_ms=record.timestamp_ms)
            continue
        stored = decode(record)
        assert isinstance(stored, MembershipStored)
        assert (stored.group, stored.stored_ms) == (record.group, record.timestamp_ms)
        assert (stored.protocol_type, stored.protocol) == (data["protocolType"], data["protocol"])
        assert (stored.generation, stored.leader) == (data["generation"], data["leader"])
        assert stored.state_ms == data["currentStateTimestamp"]
        read_by_kafka = record.kafka.get("consumer_protocol") or {}
        for member, expected in zip(stored.members, data["members"], strict=True):
            assert_member(member, expected)
            assert_consumer_protocol(member, read_by_kafka.get(expected["memberId"]) or {})


def assert_member(member, expected):
    assert member.member_id == expected["memberId"]
    assert member.instance_id == expected["groupInstanceId"]
    assert (member.client_id, member.host) == (expected["clientId"], expected["clientHost"])
    assert member.rebalance_timeout_ms == expected["rebalanceTimeout"]
    assert member.session_timeout_ms == expected["sessionTimeout"]


def assert_consumer_protocol(member, expected):
    """``expected``: both parts as Kafka reads them; None without bytes, {"error": ...} where Kafka refuses them."""
    subscription, assignment = expected.get("subscription") or {}, expected.get("assignment") or {}
    assert (member.unreadable is not None) == ("error" in subscription or "error" in assignment)
    asked, given = subscription.get("data", {}), assignment.get("data", {})
    assert member.topics == tuple(asked.get("topics", ()))
    assert member.owned == topics_of(asked.get("ownedPartitions", ()))
    assert member.generation == asked.get("generationId", -1)
    assert member.rack == asked.get("rackId")
    user_data = asked.get("userData")
    assert member.user_data == (None if user_data is None else base64.b64decode(user_data))
    assert member.assigned == topics_of(given.get("assignedPartitions", ()))


def topics_of(read_by_kafka):
    return tuple(TopicPartitions(entry["topic"], tuple(entry["partitions"])) for entry in read_by_kafka)


def test_the_captures_hold_the_versions_and_oddities_that_matter():
    """Guards the tests above against an empty comparison."""
    versions = {(r.record_type, r.kafka["value"]["version"]) for r in ALL if r.value_data is not None}
    assert {(1, 1), (1, 3), (1, 4), (2, 3)} <= versions
    stored = [decode(record) for record in ALL if record.record_type == 2 and record.value is not None]
    members = [member for event in stored for member in event.members]
    assert {member.unreadable for member in members if member.unreadable} == {
        "underflow at byte 2 of the subscription",  # a version and nothing more
        "underflow at byte 28 of the subscription",  # version 99, its owned partitions are text
        "underflow at byte 29 of the subscription",  # the same in a capture with a longer topic name
    }
    assert any(member.unreadable and member.assigned for member in members)
    assert any(member.owned for member in members)
    assert {event.protocol_type for event in stored} >= {"", "consumer", "connect", "sr"}


# --- versions known from the published schema only --------------------------------------------------------------------

SCHEMA_COMMITS = [
    pytest.param("0000 0000000000000005 0001 78 0000000000000009", -1, id="v0"),
    pytest.param("0001 0000000000000005 0000 0000000000000009 000000000000000a", -1, id="v1: with an expire time"),
    pytest.param("0002 0000000000000005 0000 0000000000000009", -1, id="v2"),
    pytest.param("0003 0000000000000005 00000004 0000 0000000000000009", 4, id="v3"),
    pytest.param("0004 0000000000000005 00000004 01 0000000000000009 00", 4, id="v4 without a topic id"),
    pytest.param("0004 0000000000000005 00000004 02 78 0000000000000009 01 07 01 ff", 4, id="v4 with an unknown tag"),
    pytest.param(
        "0004 0000000000000005 00000004 01 0000000000000009 02 00 10 " + "ab" * 16 + " 03 00", 4, id="v4 with two tags"
    ),
    pytest.param(
        "0004 0000000000000005 00000004 8101" + "78" * 128 + "0000000000000009 00", 4, id="v4 with long metadata"
    ),
]


@pytest.mark.parametrize("key", [COMMIT_KEY, b"\x00\x00" + COMMIT_KEY[2:]], ids=["type 1", "type 0"])
@pytest.mark.parametrize(("value", "leader_epoch"), SCHEMA_COMMITS)
def test_every_version_of_a_commit(key, value, leader_epoch):
    assert decode_record(key, bytes.fromhex(value), 0) == OffsetCommitted(
        group="g1",
        topic="t0",
        partition=7,
        offset=5,
        committed_ms=9,
        leader_epoch=leader_epoch,
        topic_key=-0x5454545454545455 if "ab" * 16 in value else None,  # 0xabab... as a signed number
        expires_ms=10 if value.startswith("0001") else None,
    )


# protocol type "x", generation 3, protocol "p", leader null; one member: "m", client "c", host "h", session 6 s
SCHEMA_GROUPS = [
    pytest.param(
        "0000 0001 78 00000003 0001 70 ffff 00000001 0001 6d 0001 63 0001 68 00001770 00000000 00000000",
        Member(member_id="m", client_id="c", host="h", session_timeout_ms=6000, rebalance_timeout_ms=6000),
        id="v0: one timeout for both",
    ),
    pytest.param(
        "0001 0001 78 00000003 0001 70 ffff 00000001 0001 6d 0001 63 0001 68 00000007 00001770 00000000 00000000",
        Member(member_id="m", client_id="c", host="h", session_timeout_ms=6000, rebalance_timeout_ms=7),
        id="v1: a rebalance timeout",
    ),
    pytest.param(
        "0002 0001 78 00000003 0001 70 ffff 0000000000000001"
        "00000001 0001 6d 0001 63 0001 68 00000007 00001770 00000000 00000000",
        Member(member_id="m", client_id="c", host="h", session_timeout_ms=6000, rebalance_timeout_ms=7),
        id="v2: the time of the state",
    ),
    pytest.param(
        "0003 0001 78 00000003 0001 70 ffff 0000000000000001"
        "00000001 0001 6d 0001 69 0001 63 0001 68 00000007 00001770 00000000 00000000",
        Member(
            member_id="m", instance_id="i", client_id="c", host="h", session_timeout_ms=6000, rebalance_timeout_ms=7
        ),
        id="v3: an instance id",
    ),
    pytest.param(
        "0004 02 78 00000003 02 70 00 0000000000000001"
        "02 02 6d 02 69 02 63 02 68 00000007 00001770 01 01 01 05 02 abcd 00",
        Member(
            member_id="m", instance_id="i", client_id="c", host="h", session_timeout_ms=6000, rebalance_timeout_ms=7
        ),
        id="v4: flexible, with an unknown tag in the member",
    ),
]


@pytest.mark.parametrize(("value", "member"), SCHEMA_GROUPS)
def test_every_version_of_group_metadata(value, member):
    assert decode_record(GROUP_KEY, bytes.fromhex(value), 8) == MembershipStored(
        group="g1",
        generation=3,
        protocol_type="x",
        protocol="p",
        leader=None,
        stored_ms=8,
        members=(member,),
        state_ms=None if value.startswith(("0000", "0001")) else 1,
    )


def test_the_topics_of_a_share_group_of_kafka_4_0_tell_nothing_of_it():
    key = bytes.fromhex("0009 0002 6731")
    assert decode_record(key, bytes.fromhex("0000 01 00"), 0) == Foreign(record_type=9, group="g1")
    assert decode_record(key, None, 0) == Foreign(record_type=9, group="g1")


# --- broken bytes -----------------------------------------------------------------------------------------------------

V3 = "0003 0000000000000005 00000004"
V4 = "0004 0000000000000005 00000004"
BROKEN_KEYS = [
    pytest.param(None, "null_key", 0, id="no key"),
    pytest.param("", "underflow", 0, id="empty"),
    pytest.param("00", "underflow", 0, id="half a type"),
    pytest.param("0018 0002 6731", "unknown_key_version", 0, id="type 24"),
    pytest.param("ffff 0002 6731", "unknown_key_version", 0, id="type -1"),
    pytest.param("0001 0002 67", "underflow", 2, id="the group is cut"),
    pytest.param("0001 ffff 0002 7430 00000007", "bad_length", 2, id="null group"),
    pytest.param("0001 fffb 0002 7430 00000007", "bad_length", 2, id="negative length of the group"),
    pytest.param("0001 0002 6731 ffff 00000007", "bad_length", 6, id="null topic"),
    pytest.param("0001 fffa 0002", "bad_length", 2, id="a negative length that counts from the end"),
    pytest.param("0001 0002 6731 ffff 000007", "bad_length", 6, id="a negative length that makes the sum right"),
    pytest.param("0001 0002 6731 0002 7430 000000", "underflow", 10, id="the partition is cut"),
    pytest.param("0001 0002 6731 0002 7430 00000007 00", "trailing_bytes", 14, id="more behind the partition"),
    pytest.param("0001 0002 67ff 0002 7430 00000007", "bad_utf8", 5, id="no UTF-8 in the group"),
    pytest.param("0002 0002 6731 00", "trailing_bytes", 6, id="more behind the group"),
    pytest.param("0003 0002 67", "underflow", 2, id="the group of a foreign record is cut"),
]
BROKEN_COMMITS = [
    pytest.param("", "underflow", 0, id="empty"),
    pytest.param("0005" + "00" * 30, "unknown_value_version", 0, id="version 5"),
    pytest.param("ffff" + "00" * 30, "unknown_value_version", 0, id="version -1"),
    pytest.param("0003 00000000000000", "underflow", 2, id="the offset is cut"),
    pytest.param(V3 + "ffff 0000000000000009", "bad_length", 14, id="null metadata"),
    pytest.param(V3 + "0009 0000000000000009", "underflow", 14, id="longer metadata than bytes"),
    pytest.param(V3 + "0000 00000000000009", "underflow", 16, id="the time is cut"),
    pytest.param(V3 + "0000 0000000000000009 00", "trailing_bytes", 24, id="more behind v3"),
    pytest.param(V4 + "00 0000000000000009 00", "bad_length", 14, id="null compact metadata"),
    pytest.param(V4 + "01 0000000000000009", "underflow", 23, id="no count of tags"),
    pytest.param(V4 + "01 0000000000000009 01 00 10 abab", "underflow", 25, id="the topic id is cut"),
    pytest.param(V4 + "01 0000000000000009 00 00", "trailing_bytes", 24, id="more behind v4"),
    pytest.param(V4 + "ffffffffff7f" + "00" * 20, "bad_varint", 14, id="a varint of more than five bytes"),
    pytest.param(V4 + "ffffffff7f" + "00" * 20, "bad_varint", 14, id="a varint of more than 32 bits"),
]
BROKEN_GROUPS = [
    pytest.param("0005", "unknown_value_version", 0, id="version 5"),
    pytest.param("0003 ffff", "bad_length", 2, id="null protocol type"),
    pytest.param("0003 0000 00000001 ffff ffff 0000000000000001 ffffffff", "bad_length", 20, id="null members"),
    pytest.param("0003 0000 00000001 ffff ffff 0000000000000001 7fffffff", "underflow", 20, id="2^31 - 1 members"),
    pytest.param("0003 0000 00000001 ffff ffff 0000000000000001 00000000 00", "trailing_bytes", 24, id="more behind"),
]


def assert_broken(key, value, reason, position):
    with pytest.raises(DecodeError) as caught:
        decode_record(key, value, 0)
    assert (caught.value.reason, caught.value.position) == (reason, position)


@pytest.mark.parametrize(("key", "reason", "position"), BROKEN_KEYS)
def test_a_broken_key_is_named_with_its_place(key, reason, position):
    assert_broken(None if key is None else bytes.fromhex(key), None, reason, position)


@pytest.mark.parametrize(("value", "reason", "position"), BROKEN_COMMITS)
def test_a_broken_commit_is_named_with_its_place(value, reason, position):
    assert_broken(COMMIT_KEY, bytes.fromhex(value), reason, position)


@pytest.mark.parametrize(("value", "reason", "position"), BROKEN_GROUPS)
def test_broken_group_metadata_is_named_with_its_place(value, reason, position):
    assert_broken(GROUP_KEY, bytes.fromhex(value), reason, position)


NOON = 1_700_000_000_000
AHEAD = NOON + 300_001


def refused(key, value, written_ms=NOON):
    """Why a record is refused; None if it is not."""
    try:
        decode_record(bytes.fromhex(key), None if value is None else bytes.fromhex(value), written_ms)
    except DecodeError as error:
        return error.reason
    return None


BEYOND_SENSE = [
    pytest.param("1000000000000001 00000004", NOON, "bad_number", id="an offset beyond all logs"),
    pytest.param("1000000000000000 00000004", NOON, None, id="the largest offset"),
    pytest.param("0000000000000005 fffffffe", NOON, "bad_number", id="leader epoch -2"),
    pytest.param("0000000000000005 ffffffff", NOON, None, id="no leader epoch"),
    pytest.param("0000000000000005 00000004", -5, "bad_number", id="committed before 1970"),
    pytest.param("0000000000000005 00000004", AHEAD, "from_the_future", id="committed after it was written"),
    pytest.param("0000000000000005 00000004", AHEAD - 1, None, id="committed by a clock that is five minutes ahead"),
]


@pytest.mark.parametrize(("numbers", "committed_ms", "reason"), BEYOND_SENSE)
def test_numbers_beyond_sense_make_no_commit_in_any_version(numbers, committed_ms, reason):
    time = committed_ms.to_bytes(8, signed=True).hex()
    offset, epoch = numbers.split()
    key = COMMIT_KEY.hex()
    assert refused(key, f"0003 {offset} {epoch} 0000 {time}") == reason
    assert refused(key, f"0004 {offset} {epoch} 01 {time} 00") == reason
    assert refused(key, f"0004 {offset} {epoch} 8101 {'61' * 128} {time} 00") == reason, "read by its schema"
    if epoch == "00000004":
        assert refused(key, f"0001 {offset} 0000 {time} 8000000000000000") == reason, "the expire time is passed over"


@pytest.mark.parametrize("offset", [-1, -2, -1001, -(2**63)])
def test_a_commit_of_a_negative_offset_says_that_there_is_none(offset):
    """A broker stores it, and a client that fetches it starts by its reset policy."""
    written, time = offset.to_bytes(8, signed=True).hex(), NOON.to_bytes(8).hex()
    none = InvalidOffsetCommitted(group="g1", topic="t0", partition=7, offset=offset, committed_ms=NOON)
    for value in (
        f"0001 {written} 0000 {time} 8000000000000000",
        f"0003 {written} ffffffff 0000 {time}",
        f"0004 {written} ffffffff 01 {time} 00",
    ):
        assert decode_record(COMMIT_KEY, bytes.fromhex(value), NOON) == none


def test_a_commit_that_is_dated_ahead_counts_where_the_record_has_no_time():
    time = AHEAD.to_bytes(8).hex()
    assert refused(COMMIT_KEY.hex(), f"0003 0000000000000005 00000004 0000 {time}", -1) is None
    assert refused(COMMIT_KEY.hex(), "0003 0000000000000005 00000004 0000 7fffffffffffffff", -1) == "from_the_future"


def test_there_is_no_partition_below_0():
    key = "0001 0002 6731 0002 7430 ffffffff"
    assert refused(key, None) == "bad_number"
    assert decoder.commit_place(bytes.fromhex(key)) is None


@pytest.mark.parametrize(
    ("generation", "state_ms", "reason"),
    [
        (0, NOON, None),
        (-1, NOON, "bad_number"),
        (2**31 - 1, NOON, None),
        (1, -1, None),
        (1, -2, "bad_number"),
        (1, AHEAD, "from_the_future"),
        (1, 2**63 - 1, "from_the_future"),
    ],
)
def test_a_generation_of_numbers_beyond_sense_is_none(generation, state_ms, reason):
    numbers = generation.to_bytes(4, signed=True).hex(), state_ms.to_bytes(8, signed=True).hex()
    assert refused(GROUP_KEY.hex(), f"0003 0001 78 {numbers[0]} ffff ffff {numbers[1]} 00000000") == reason


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("0003 0002 6731", "0000 ffffffff 00", "bad_number"),
        ("0003 0002 6731", "0000 7fffffff 00", None),
        ("0006 0002 6731", "0000 ffffffff 00", "bad_number"),
        ("0004 0002 6731", f"0000 02 {'ab' * 16} 02 74 7fffffff 01 00 00", "bad_number"),
        ("0004 0002 6731", f"0000 02 {'ab' * 16} 02 74 00000007 01 00 00", None),
        ("0008 0002 6731 0001 6d", "0000 fffffffe ffffffff 00 01 01 00", None),
        ("0008 0002 6731 0001 6d", "0000 fffffffd ffffffff 00 01 01 00", "bad_number"),
    ],
    ids=["epoch -1", "epoch", "target -1", "2^31 - 1 partitions", "7 partitions", "has left", "member epoch -3"],
)
def test_epochs_and_counts_of_modern_groups_have_limits(key, value, reason):
    assert refused(key, value) == reason


def test_the_error_survives_the_way_between_processes():
    error = DecodeError("underflow", 12, "key")
    copy = pickle.loads(pickle.dumps(error))
    assert (copy.reason, copy.position, str(copy)) == ("underflow", 12, "underflow at byte 12 of the key")


# --- any bytes --------------------------------------------------------------------------------------------------------


@st.composite
def mutated(draw, original):
    """Captured bytes with some bytes overwritten, cut off, put in or added."""
    data = bytearray(original)
    for _ in range(draw(st.integers(0, 3))):
        start = draw(st.integers(0, len(data)))
        stop = draw(st.integers(start, min(len(data), start + 4)))
        data[start:stop] = draw(st.one_of(st.binary(max_size=4), st.sampled_from([b"\xff\xff", b"\x7f\xff\xff\xff"])))
    return bytes(data[: draw(st.integers(0, len(data)))]) if draw(st.booleans()) else bytes(data)


@st.composite
def mutated_records(draw):
    record = draw(st.sampled_from(ALL))
    return draw(mutated(record.key)), draw(st.one_of(st.none(), mutated(record.value or b"")))


def outcome(read, *data):
    """What was read, or the error; any other exception fails the test."""
    try:
        return read(*data)
    except DecodeError as error:
        return error.reason, error.position, error.where


@given(st.one_of(mutated_records(), st.tuples(st.none() | st.binary(), st.none() | st.binary())))
def test_only_a_decode_error_ever_comes_out(record):
    match outcome(decode_record, *record, 0):
        case (reason, position, where):
            assert reason in REASONS
            assert 0 <= position <= len({"key": record[0], "value": record[1]}[where] or b"")


COMMITS = [record for record in ALL if record.record_type == 1 and record.value is not None]


@given(st.sampled_from(COMMITS).flatmap(lambda record: mutated(record.key)))
def test_the_short_way_of_a_key_agrees_with_the_reading_field_by_schema(key):
    assert outcome(decoder._commit_key, key) == outcome(decoder._commit_key_by_schema, key)


@given(st.sampled_from(COMMITS).flatmap(lambda record: mutated(record.value)))
def test_the_short_way_of_a_commit_agrees_with_the_reading_field_by_schema(value):
    assert outcome(decoder._commit_value, value) == outcome(decoder._commit_value_by_schema, value)
