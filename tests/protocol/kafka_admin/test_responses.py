"""Answers about groups, as kafka-python writes them or as golden bytes; broken ones are errors and nothing else."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.protocol import admin as kafka_admin
from kafka.protocol import consumer as kafka_consumer

from monitor.model import (
    GroupKind,
    IdPartitions,
    MemberState,
    ObservedOffset,
    ResolvedRegex,
    SpareTasks,
    StreamsClient,
    StreamsNotice,
    Subtopology,
    Topology,
)
from monitor.protocol.events_topic import decode_event, encode_event
from monitor.protocol.kafka_admin import responses as admin_responses
from monitor.protocol.kafka_admin.described_groups import observed_group
from monitor.protocol.kafka_admin.responses import (
    NOT_REQUESTED,
    AssignmentDescribed,
    ConsumerGroupDescribed,
    ConsumerGroupDescribeResponse,
    ConsumerMemberDescribed,
    DescribeGroupsResponse,
    ListGroupsResponse,
    NamedTopicPartitions,
    OffsetFetchResponse,
    PartitionFetched,
    SingleGroupOffsetFetchResponse,
    TopicFetched,
    read_response,
)
from monitor.protocol.wire.errors import DecodeError
from tests.support.examples import example_count

ANSWERS = [
    ListGroupsResponse,
    DescribeGroupsResponse,
    ConsumerGroupDescribeResponse,
    admin_responses.ShareGroupDescribeResponse,
    admin_responses.StreamsGroupDescribeResponse,
    OffsetFetchResponse,
    SingleGroupOffsetFetchResponse,
    admin_responses.FindCoordinatorResponse,
]


@pytest.mark.parametrize("version", range(6))
def test_the_list_of_groups(version):
    group = kafka_admin.ListGroupsResponse.ListedGroup
    theirs = kafka_admin.ListGroupsResponse(
        version=version,
        throttle_time_ms=0,
        error_code=14,
        groups=[group(group_id="g", protocol_type="consumer", group_state="Stable", group_type="classic")],
    )
    told = read_response(ListGroupsResponse, version, theirs.encode())
    assert (told.error_code, told.groups[0].group_id, told.groups[0].protocol_type) == (14, "g", "consumer")
    assert told.groups[0].group_type == ("classic" if version >= 5 else "")


def test_a_name_that_is_no_utf_8_hides_no_other_group():
    told = bytes.fromhex("0000 00000002 0001 ff 0000 0001 67 0000")
    assert [group.group_id for group in read_response(ListGroupsResponse, 0, told).groups] == ["\ufffd", "g"]


@pytest.mark.parametrize("version", range(7))
def test_classic_groups(version):
    group, member = (
        kafka_admin.DescribeGroupsResponse.DescribedGroup,
        kafka_admin.DescribeGroupsResponse.DescribedGroup.DescribedGroupMember,
    )
    theirs = kafka_admin.DescribeGroupsResponse(
        version=version,
        throttle_time_ms=0,
        groups=[
            group(
                error_code=0,
                error_message=None,
                group_id="g",
                group_state="Stable",
                protocol_type="consumer",
                protocol_data="range",
                members=[
                    member(
                        member_id="m",
                        group_instance_id="i",
                        client_id="c",
                        client_host="/h",
                        member_metadata=bytes.fromhex("0000 00000001 0001 74 ffffffff"),
                        member_assignment=bytes.fromhex("0000 00000001 0001 74 00000001 00000005 ffffffff"),
                    )
                ],
                authorized_operations=set(),
            )
        ],
    )
    (told,) = read_response(DescribeGroupsResponse, version, theirs.encode()).groups
    event = observed_group(told, (), cluster="c", pass_ms=1, observed_ms=2)
    (known,) = event.members
    assert (event.kind, event.protocol, event.generation) == (GroupKind.CLASSIC, "range", None)
    assert (known.member_id, known.client_id, known.host, known.topics) == ("m", "c", "/h", ("t",))
    assert [(entry.topic, entry.partitions) for entry in known.assigned] == [("t", (5,))]
    assert known.instance_id == ("i" if version >= 4 else None)


@pytest.mark.parametrize("version", [8, 9])
def test_the_offsets_of_several_groups(version):
    group = kafka_consumer.OffsetFetchResponse.OffsetFetchResponseGroup
    topic = group.OffsetFetchResponseTopics
    partition = topic.OffsetFetchResponsePartitions
    known = partition(partition_index=3, committed_offset=1 << 40, committed_leader_epoch=2, metadata="x", error_code=0)
    none = partition(partition_index=4, committed_offset=-1, committed_leader_epoch=-1, metadata="", error_code=0)
    theirs = kafka_consumer.OffsetFetchResponse(
        version=version,
        throttle_time_ms=0,
        groups=[group(group_id="g", topics=[topic(name="t", partitions=[known, none])], error_code=16)],
    )
    (told,) = read_response(OffsetFetchResponse, version, theirs.encode()).groups
    assert told.error_code == 16
    first = told.topics[0].partitions[0]
    assert (first.partition_index, first.committed_offset, first.metadata) == (3, 1 << 40, "x")


def test_a_kip_848_group_from_its_bytes():
    """Written by hand from the schema: one member that subscribes to an expression and gives a partition back."""
    topic = "00000000000000010000000000000000"
    told = bytes.fromhex(
        "00000000 02"  # throttle time, one group
        "0000 00 0267 0c5265636f6e63696c696e67 00000007 00000007 08756e69666f726d"  # g, Reconciling, 7, 7, uniform
        "02 026d 00 00 00000006 0263 0368 2f"  # one member: m, no instance, no rack, epoch 6, client c, host "h/"
        "01 0474 2e2a"  # no topics, the expression t.*
        f"02 {topic} 0274 03 00000000 00000001 00 00"  # it has t-0 and t-1
        f"02 {topic} 0274 02 00000000 00 00"  # and is to have t-0
        "01 00"  # the KIP-848 protocol, no tagged fields
        "80000000 00"  # operations not asked for
        "00".replace(" ", "")
    )
    (group,) = read_response(ConsumerGroupDescribeResponse, 1, told).groups
    event = observed_group(group, (), cluster="c", pass_ms=1, observed_ms=2)
    (member,) = event.members
    assert (event.state, event.generation, event.target_epoch, event.protocol) == ("Reconciling", 7, 7, "uniform")
    assert event.regexes == (ResolvedRegex(regex="t.*", topics=("t",)),)
    assert decode_event(encode_event(event)) == event, "it is written to the events topic and read from it"
    standing = member.reconciliation
    assert (standing.epoch, standing.state) == (6, MemberState.UNREVOKED_PARTITIONS)
    assert [entry.partitions for entry in standing.assigned] == [(0,)]
    assert [entry.partitions for entry in standing.revoking] == [(1,)]
    assert [entry.partitions for entry in standing.target] == [(0,)]


KAFKAS_OWN = {
    "share": "0000000502000000026707537461626c6500000004000000040773696d706c6502026d0272000000040263032f68030275027402"
    "000000000000000100000000000000020274030000000300000001000000800000000000",
    "streams": "000000000200000002670c5265636f6e63696c696e670000000700000007010000000102023002027402027302046c6f6700"
    "000002000102026b0276000002046c6f6700000002000102026b02760000000002026d000000060269000263032f68000000"
    "010270010265fde80002026b0276000202300000000100000000000000090001020230030000000100000000000101000202"
    "300200000000000202300300000001000000000001000000800000000000",
    "share offsets 0": "00000005030267020274000000000000000100000000000000020400000001000000000000000700"
    "0000030000000000000000ffffffffffffffff000000000000000000000002000000000000000000000000001d036e6f00000000"
    "0000027801001e036e6f0000",
    "share offsets 1": "00000005030267020274000000000000000100000000000000020400000001000000000000000700"
    "000003000000000000000c0000000000000000ffffffffffffffff00000000ffffffffffffffff00000000000000020000000000"
    "00000000000000ffffffffffffffff001d036e6f000000000000027801001e036e6f0000",
    "coordinator": "0000000003026700000002026800002384000001000278ffffffff01ffffffff000f000000",
}
"""Answers that Kafka 4.3.1's own classes wrote (MessageUtil.toByteBufferAccessor of their data)."""


def test_a_share_group():
    """Its members own the same partitions together, and their targets are not told."""
    answer = read_response(admin_responses.ShareGroupDescribeResponse, 1, bytes.fromhex(KAFKAS_OWN["share"]))
    event = observed_group(answer.groups[0], (), cluster="c", pass_ms=1, observed_ms=2)
    (member,) = event.members
    assert (event.kind, event.state, event.generation, event.target_epoch) == (GroupKind.SHARE, "Stable", 4, 4)
    assert (member.member_id, member.rack, member.client_id, member.host) == ("m", "r", "c", "/h")
    assert member.topics == ("t", "u")
    assert member.reconciliation.assigned == (IdPartitions("AAAAAAAAAAEAAAAAAAAAAg", (1, 3)),)
    assert member.reconciliation.target is None


def test_a_streams_group():
    """Its active tasks count as partitions. One of two has to be given back; two standby tasks are to come."""
    answer = read_response(admin_responses.StreamsGroupDescribeResponse, 0, bytes.fromhex(KAFKAS_OWN["streams"]))
    event = observed_group(answer.groups[0], (), cluster="c", pass_ms=1, observed_ms=2)
    (member,) = event.members
    assert (event.kind, event.state, event.generation) == (GroupKind.STREAMS, "Reconciling", 7)
    assert (member.member_id, member.instance_id, member.rack) == ("m", "i", None)
    standing = member.reconciliation
    assert (standing.epoch, standing.state) == (6, MemberState.UNREVOKED_PARTITIONS)
    assert (standing.assigned, standing.revoking) == ((IdPartitions("0", (0,)),), (IdPartitions("0", (1,)),))
    assert standing.target == (IdPartitions("0", (0,)),)
    assert (standing.spare, standing.spare_target) == (None, SpareTasks(standby=(IdPartitions("0", (0, 1)),)))
    assert member.streams_client == StreamsClient(process_id="p", endpoint="e:65000", topology_epoch=1)
    part = Subtopology("0", ("t",), repartition_sources=("log",), repartition_sinks=("s",), changelogs=("log",))
    assert event.topology == Topology(1, (part,))


@pytest.mark.parametrize(("version", "lag"), [(0, -1), (1, 12)])
def test_the_offsets_of_share_groups(version, lag):
    """Of one partition, one that nobody has read, and one that the user may not see; and a group that is not told."""
    data = bytes.fromhex(KAFKAS_OWN[f"share offsets {version}"])
    first, second = read_response(admin_responses.DescribeShareGroupOffsetsResponse, version, data).groups
    assert (first.group_id, first.error_code, second.group_id, second.error_code) == ("g", 0, "x", 30)
    (topic,) = first.topics
    assert (topic.topic_name, topic.topic_id) == ("t", "AAAAAAAAAAEAAAAAAAAAAg")
    found = [(each.partition_index, each.start_offset, each.lag, each.error_code) for each in topic.partitions]
    assert found == [(1, 7, lag, 0), (0, -1, -1, 0), (2, 0, -1, 29)]


def test_coordinators():
    answer = read_response(admin_responses.FindCoordinatorResponse, 4, bytes.fromhex(KAFKAS_OWN["coordinator"]))
    told = [(each.key, each.node_id, each.error_code) for each in answer.coordinators]
    assert told == [("g", 2, 0), ("x", -1, 15)]


def test_an_expression_means_the_topics_that_somebody_is_given():
    def member(name, regex, topic):
        has = AssignmentDescribed((NamedTopicPartitions(f"{topic:a<22}", topic, (0,)),))
        return ConsumerMemberDescribed(
            member_id=name,
            instance_id=None,
            rack_id=None,
            member_epoch=1,
            client_id="",
            client_host="",
            subscribed_topic_names=(),
            subscribed_topic_regex=regex,
            assignment=has,
            target_assignment=has,
        )

    group = ConsumerGroupDescribed(
        error_code=0,
        error_message=None,
        group_id="g",
        group_state="Stable",
        group_epoch=1,
        assignment_epoch=1,
        assignor_name="uniform",
        members=(member("1", "orders.*", "orders-eu"), member("2", ".*-eu", "bills-eu"), member("3", "(", "orders-us")),
        authorized_operations=NOT_REQUESTED,
    )
    found = observed_group(group, (), cluster="c", pass_ms=1, observed_ms=2).regexes
    assert {entry.regex: entry.topics for entry in found} == {
        "orders.*": ("orders-eu", "orders-us"),
        ".*-eu": ("bills-eu", "orders-eu"),
        "(": (),
    }


def test_a_partition_without_a_committed_offset_is_none():
    partitions = tuple(
        PartitionFetched(partition_index=each, committed_offset=offset, metadata="", error_code=0)
        for each, offset in [(1, 5), (0, -1)]
    )
    group = admin_responses.ClassicGroupDescribed(
        error_code=0, group_id="g", group_state="Empty", protocol_type="", protocol_data="", members=()
    )
    event = observed_group(group, [TopicFetched("t", partitions)], cluster="c", pass_ms=1, observed_ms=2)
    assert [(offset.partition, offset.offset, offset.committed_ms) for offset in event.offsets] == [(1, 5, None)]
    assert event.invalid == (ObservedOffset("t", 0, -1),), "a client committed it: else the broker would leave it out"


@pytest.mark.parametrize(
    ("protocol", "told"), [("stream", StreamsNotice(version=7, next_rebalance_ms=0)), ("range", None)]
)
def test_what_the_leader_of_kafka_streams_tells_is_read_of_described_members_too(protocol, told):
    """The user data of the assignment is that of version 7 without tasks and hosts, half done."""
    nothing = "00000007 0000000b 00000000 00000000 00000000 00000000 00000000 00000000 0000000000000000"
    info = bytes.fromhex(nothing)
    member = admin_responses.ClassicMemberDescribed(
        member_id="m",
        client_id="app-StreamThread-1-consumer",
        client_host="/h",
        member_metadata=bytes.fromhex("0001 00000001 0001 74 ffffffff"),
        member_assignment=bytes.fromhex("0001 00000000") + len(info).to_bytes(4) + info,
    )
    group = admin_responses.ClassicGroupDescribed(
        error_code=0,
        group_id="app",
        group_state="Stable",
        protocol_type="consumer",
        protocol_data=protocol,
        members=(member,),
    )
    (seen,) = observed_group(group, (), cluster="c", pass_ms=1, observed_ms=2).members
    assert (seen.topics, seen.is_abridged, seen.unreadable, seen.streams) == (("t",), True, None, told)


@pytest.mark.parametrize("answer", ANSWERS)
@settings(max_examples=example_count(3))
@given(data=st.binary(max_size=120), version=st.integers(0, 9))
def test_bytes_that_are_no_answer_are_an_error_of_their_own(answer, data, version):
    with suppress(DecodeError):
        read_response(answer, min(version, answer.newest), data)
