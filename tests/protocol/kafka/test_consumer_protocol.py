"""Subscriptions and assignments by version; the bytes come from members and may be anything."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.model import TopicPartitions
from monitor.protocol.kafka.consumer_protocol import (
    ConsumerProtocolSubscription,
    NamedPartitions,
    accept_subscription,
    by_topic,
    read_assignment,
    read_subscription,
)
from monitor.protocol.offsets_topic import decode_record
from monitor.protocol.wire.errors import DecodeError

TOPICS = "00000001 0002 7430"  # ["t0"]
PARTITIONS = "00000001 0002 7430 00000002 00000003 00000001"  # t0: 3, 1
T0 = (TopicPartitions("t0", (3, 1)),)
OWNED = (NamedPartitions(topic="t0", partitions=(3, 1)),)


def subscription(**fields):
    return ConsumerProtocolSubscription(topics=("t0",), **fields)


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        pytest.param(f"0000 {TOPICS} ffffffff", subscription(), id="v0 without user data"),
        pytest.param(f"0000 {TOPICS} 00000000", subscription(user_data=b""), id="v0, empty user data"),
        pytest.param(f"0000 {TOPICS} ffffffff 77", subscription(), id="bytes behind are ignored"),
        pytest.param(
            f"0001 {TOPICS} 00000001 09 {PARTITIONS}",
            subscription(user_data=b"\x09", owned_partitions=OWNED),
            id="v1",
        ),
        pytest.param(
            f"0002 {TOPICS} ffffffff {PARTITIONS} 00000004",
            subscription(owned_partitions=OWNED, generation_id=4),
            id="v2",
        ),
        pytest.param(
            f"0003 {TOPICS} ffffffff {PARTITIONS} 00000004 0001 72",
            subscription(owned_partitions=OWNED, generation_id=4, rack_id="r"),
            id="v3",
        ),
        pytest.param(
            f"0063 {TOPICS} ffffffff {PARTITIONS} 00000004 ffff 6e6577",
            subscription(owned_partitions=OWNED, generation_id=4),
            id="v99",
        ),
    ],
)
def test_subscription(data, expected):
    assert read_subscription(bytes.fromhex(data)).message == expected


@pytest.mark.parametrize("version", ["0000", "0001", "0002", "0003", "0063"])
def test_every_version_of_an_assignment_is_alike_and_keeps_its_order(version):
    found = read_assignment(bytes.fromhex(f"{version} {PARTITIONS} ffffffff"))
    assert by_topic(found.message.assigned_partitions) == T0
    assert found.version == int(version, 16)


def test_what_is_left_over_is_counted():
    assert read_assignment(bytes.fromhex(f"0063 {PARTITIONS} ffffffff 6e6577")).unread == 3


@pytest.mark.parametrize("decode", [read_subscription, read_assignment])
@pytest.mark.parametrize(
    ("data", "reason", "position"),
    [
        pytest.param("00", "underflow", 0, id="half a version"),
        pytest.param("0001", "underflow", 2, id="a version only"),
        pytest.param("ffff 00000000", "unknown_value_version", 0, id="a negative version"),
        pytest.param("0000 ffffffff", "bad_length", 2, id="a null array"),
        pytest.param("0000 7fffffff 0000", "underflow", 2, id="a larger array than bytes"),
        pytest.param("0000 00000001 0001 ff 00000000 ffffffff", "bad_utf8", 8, id="no UTF-8"),
    ],
)
def test_broken_bytes(decode, data, reason, position):
    with pytest.raises(DecodeError) as caught:
        decode(bytes.fromhex(data))
    assert (caught.value.reason, caught.value.position) == (reason, position)


ABRIDGED = [
    pytest.param(f"0001 {TOPICS} ffffffff", subscription(), id="kafka-go: v1 without owned partitions"),
    pytest.param(f"0001 {TOPICS} 00000002 7a31", subscription(user_data=b"z1"), id="the same with its rack"),
    pytest.param(f"0002 {TOPICS} ffffffff", subscription(), id="v2 that ends as v0"),
    pytest.param(f"0003 {TOPICS} ffffffff {PARTITIONS}", subscription(owned_partitions=OWNED), id="v3 that ends as v1"),
    pytest.param(
        f"0003 {TOPICS} ffffffff {PARTITIONS} 00000004",
        subscription(owned_partitions=OWNED, generation_id=4),
        id="v3 without a rack",
    ),
]


@pytest.mark.parametrize(("data", "expected"), ABRIDGED)
def test_a_subscription_that_ends_where_an_older_version_ends_is_accepted_as_that(data, expected):
    """Sarama and franz-go do so; Kafka's Java client does not, and what Kafka reads stays what it is."""
    found = accept_subscription(bytes.fromhex(data))
    assert (found.message, found.is_abridged, found.version) == (expected, True, int(data[:4], 16))
    with pytest.raises(DecodeError):
        read_subscription(bytes.fromhex(data))


@pytest.mark.parametrize("data", [f"0000 {TOPICS} ffffffff", f"0001 {TOPICS} ffffffff {PARTITIONS}", "0000 00000000"])
def test_what_kafka_reads_is_not_read_otherwise(data):
    whole = bytes.fromhex(data + " ffffffff" * (data == "0000 00000000"))
    assert accept_subscription(whole) == read_subscription(whole)
    assert not accept_subscription(whole).is_abridged


@pytest.mark.parametrize(
    ("data", "position"),
    [
        pytest.param("0001", 2, id="a version only"),
        pytest.param(f"0001 {TOPICS} ffffffff 000000", 14, id="three bytes of the owned partitions"),
        pytest.param(f"0063 {TOPICS} ffffffff 6e6577", 14, id="a later version with something else there"),
        pytest.param("ffff 00000000 ffffffff", 0, id="a negative version"),
        pytest.param("00", 0, id="half a version"),
    ],
)
def test_a_subscription_that_ends_elsewhere_is_refused_as_before(data, position):
    with pytest.raises(DecodeError) as caught:
        accept_subscription(bytes.fromhex(data))
    assert caught.value.position == position


def test_a_member_that_abridges_is_read_and_marked():
    asked = bytes.fromhex(f"0001 {TOPICS} ffffffff")
    (member,) = stored(group_of_one(asked, GOOD)).members
    assert (member.topics, member.assigned, member.unreadable, member.is_abridged) == (("t0",), T0, None, True)


def test_a_topic_that_is_named_twice_has_the_partitions_of_both_places():
    """librdkafka's range does so with racks."""
    given_to_it = "0000 00000003 0001 61 00000002 00000000 00000001 0001 62 00000001 00000000 0001 61 00000001 00000002"
    (member,) = stored(group_of_one(b"", bytes.fromhex(f"{given_to_it} 00000000"))).members
    assert member.assigned == (TopicPartitions("a", (0, 1, 2)), TopicPartitions("b", (0,)))


def group_of_one(asked, given_to_it, protocol_type=b"consumer"):
    """Group metadata v0 with one member "m" that has these bytes."""
    return (
        bytes.fromhex("0000")
        + len(protocol_type).to_bytes(2)
        + protocol_type
        + bytes.fromhex("00000001 ffff ffff 00000001 0001 6d 0000 0000 00001770")
        + len(asked).to_bytes(4)
        + asked
        + len(given_to_it).to_bytes(4)
        + given_to_it
    )


def stored(value):
    return decode_record(bytes.fromhex("0002 0001 67"), value, 0)


GOOD = bytes.fromhex(f"0000 {PARTITIONS} ffffffff")


def test_a_broken_subscription_costs_neither_the_group_nor_the_assignment():
    (member,) = stored(group_of_one(b"\x00\x01", GOOD)).members
    assert (member.topics, member.assigned) == ((), T0)
    assert (member.unreadable, member.assignment_read) == ("underflow at byte 2 of the subscription", True)


def test_of_a_broken_assignment_the_subscription_is_known():
    (member,) = stored(group_of_one(bytes.fromhex(f"0000 {TOPICS} ffffffff"), b"\x00")).members
    assert (member.topics, member.assigned) == (("t0",), ())
    assert (member.unreadable, member.assignment_read) == ("underflow at byte 0 of the assignment", False)


def test_a_member_without_bytes_wants_and_has_nothing():
    (member,) = stored(group_of_one(b"", b"")).members
    assert (member.topics, member.assigned, member.generation, member.unreadable) == ((), (), -1, None)


def test_both_parts_may_be_broken():
    (member,) = stored(group_of_one(b"\x00\x01", b"\x00")).members
    assert member.unreadable == "underflow at byte 2 of the subscription; underflow at byte 0 of the assignment"
    assert not member.assignment_read


@given(st.binary(), st.binary())
def test_no_bytes_of_a_member_can_lose_its_group(asked, assigned):
    members = stored(group_of_one(asked, assigned)).members
    assert [member.member_id for member in members] == ["m"]


@given(st.binary(), st.binary())
def test_the_bytes_of_other_protocol_types_are_not_looked_at(asked, assigned):
    (member,) = stored(group_of_one(asked, assigned, b"connect")).members
    assert (member.topics, member.assigned, member.user_data, member.unreadable) == ((), (), None, None)
