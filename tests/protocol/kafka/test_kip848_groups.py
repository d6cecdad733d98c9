"""The events of KIP-848, share and streams groups say what Kafka reads in their records."""

import pytest

from monitor.model import (
    CurrentRemoved,
    CurrentStored,
    EpochStored,
    GroupDeleted,
    GroupKind,
    IdPartitions,
    MemberRemoved,
    MemberState,
    MemberStored,
    RegexResolved,
    SubscribedTopicsStored,
    TargetEpochStored,
    TargetStored,
)
from monitor.protocol.offsets_topic import decode_record
from tests.support.captures import BROKERS, records

CONSUMER = {0: MemberState.STABLE, 1: MemberState.UNREVOKED_PARTITIONS, 2: MemberState.UNRELEASED_PARTITIONS}
STREAMS = {1: MemberState.STABLE, 2: MemberState.UNREVOKED_PARTITIONS, 3: MemberState.UNRELEASED_PARTITIONS}


def events_of(*types):
    """Each captured record of these types: Kafka's reading of key and value, its time, and our event."""
    found = [
        (
            record.key_data,
            record.value_data,
            record.timestamp_ms,
            decode_record(record.key, record.value, record.timestamp_ms),
        )
        for broker in BROKERS
        for record in records(broker)
        if record.record_type in types
    ]
    assert found
    return found


def ids(entries, name="topicId"):
    return tuple(IdPartitions(entry[name], tuple(entry["partitions"])) for entry in entries)


def test_epochs():
    for key, value, at_ms, event in events_of(3, 11, 17):
        if value is None:
            assert isinstance(event, GroupDeleted)
            assert event.deleted_ms == at_ms
        else:
            assert isinstance(event, EpochStored)
            assert (event.epoch, event.metadata_hash) == (value["epoch"], value.get("metadataHash", 0))
            assert event.stored_ms == at_ms
        assert event.group == key["groupId"]


@pytest.mark.parametrize(
    ("number", "kind"),
    [(3, GroupKind.CONSUMER), (5, GroupKind.CONSUMER), (11, GroupKind.SHARE), (17, GroupKind.STREAMS)],
)
def test_kinds(number, kind):
    assert {event.kind for *_, event in events_of(number)} == {kind}


def test_members():
    for key, value, at_ms, event in events_of(5, 10, 19):
        if value is None:
            assert event == MemberRemoved(
                group=key["groupId"], kind=event.kind, member_id=key["memberId"], removed_ms=at_ms
            )
            continue
        assert isinstance(event, MemberStored)
        member = event.member
        assert (member.member_id, member.client_id, member.host) == (
            key["memberId"],
            value["clientId"],
            value["clientHost"],
        )
        assert (member.instance_id, member.rack) == (value.get("instanceId"), value["rackId"])
        assert member.topics == tuple(value.get("subscribedTopicNames", ()))
        assert member.regex == (value.get("subscribedTopicRegex") or None)
        assert member.server_assignor == value.get("serverAssignor")
        assert member.rebalance_timeout_ms == value.get("rebalanceTimeoutMs", 0)


def test_members_that_speak_the_classic_protocol_inside_a_kip_848_group():
    stored = [(value, event.member) for _, value, _, event in events_of(5) if isinstance(event, MemberStored)]
    upgraded = [(value["classicMemberMetadata"], member) for value, member in stored if value["classicMemberMetadata"]]
    assert len(upgraded) > 10
    for classic, member in upgraded:
        assert [offer.name for offer in member.classic_protocols] == [p["name"] for p in classic["supportedProtocols"]]
        assert member.session_timeout_ms == classic["sessionTimeoutMs"]
        assert member.classic_protocols[0].topics == member.topics
    assert all(member.classic_protocols == () for value, member in stored if not value["classicMemberMetadata"])
    assert any(member.regex for _, member in stored)
    assert any(value["subscribedTopicRegex"] == "" for value, _ in stored)


def test_targets():
    for _, value, _, event in events_of(7, 13):
        assert isinstance(event, TargetStored)
        assert event.target == (None if value is None else ids(value["topicPartitions"]))
    for _, value, _, event in events_of(21):
        assert event.target == (None if value is None else ids(value["activeTasks"], "subtopologyId"))
    for _, value, at_ms, event in events_of(6, 12, 20):
        assert isinstance(event, TargetEpochStored)
        assert (event.epoch, event.stored_ms) == (value and value["assignmentEpoch"], at_ms)


@pytest.mark.parametrize(
    ("number", "states", "owned", "given_back", "name"),
    [
        (8, CONSUMER, "assignedPartitions", "partitionsPendingRevocation", "topicId"),
        (14, CONSUMER, "assignedPartitions", "none", "topicId"),
        (22, STREAMS, "activeTasks", "activeTasksPendingRevocation", "subtopologyId"),
    ],
)
def test_current_assignments(number, states, owned, given_back, name):
    for key, value, at_ms, event in events_of(number):
        assert event.member_id == key["memberId"]
        if value is None:
            assert isinstance(event, CurrentRemoved)
            continue
        assert isinstance(event, CurrentStored)
        now = event.current
        assert (now.epoch, now.previous_epoch) == (value["memberEpoch"], value["previousMemberEpoch"])
        assert (now.state, now.since_ms) == (states[value["state"]], at_ms)
        assert now.assigned == ids(value[owned], name)
        assert now.revoking == ids(value.get(given_back, ()), name)


def test_expressions_and_topics():
    for key, value, at_ms, event in events_of(16):
        topics = None if value is None else tuple(value["topics"])
        assert event == RegexResolved(
            group=key["groupId"], regex=key["regularExpression"], topics=topics, stored_ms=at_ms
        )
    for _, value, _, event in events_of(4):
        assert isinstance(event, SubscribedTopicsStored)
        expected = [(t["topicId"], t["topicName"], t["numPartitions"]) for t in (value or {"topics": ()})["topics"]]
        assert [(topic.topic_id, topic.topic, topic.partitions) for topic in event.topics] == expected


def test_a_state_of_a_later_version_is_unknown():
    key = bytes.fromhex("0008 0001 67 0001 6d")
    event = decode_record(key, bytes.fromhex("0000 00000001 00000001 07 01 01 00"), 5)
    assert event.current.state is MemberState.UNKNOWN


def test_a_broken_subscription_does_not_lose_the_member():
    """Its bytes are a version and nothing more."""
    key = bytes.fromhex("0005 0001 67 0001 6d")
    value = "0000 00 00 02 63 02 68 02 02 74 01 00000007 00 01 00 11 01 00000009 02 06 72616e6765 03 0003 00 00"
    event = decode_record(key, bytes.fromhex(value), 5)
    assert (event.member.member_id, event.member.topics) == ("m", ("t",))
    assert event.member.unreadable == "underflow at byte 2 of the subscription"
    assert [offer.name for offer in event.member.classic_protocols] == ["range"]
