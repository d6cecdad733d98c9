"""Answers about groups, as kafka-python writes them or as golden bytes; broken ones are errors and nothing else."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kafka.protocol.admin import DescribeGroupsResponse, ListGroupsResponse
from kafka.protocol.consumer import OffsetFetchResponse

from monitor.model import GroupKind, MemberState, ResolvedRegex
from monitor.protocol import admin_answers
from monitor.protocol.admin_answers import (
    NOT_ASKED,
    AssignmentDescribed,
    ConsumerGroupDescribeAnswer,
    ConsumerGroupDescribed,
    ConsumerMemberDescribed,
    DescribeGroupsAnswer,
    ListGroupsAnswer,
    NamedTopicPartitions,
    OffsetFetchAnswer,
    OneGroupsOffsetFetchAnswer,
    PartitionFetched,
    TopicFetched,
    read_answer,
)
from monitor.protocol.described_groups import observed_group
from monitor.protocol.errors import DecodeError

ANSWERS = [
    ListGroupsAnswer,
    DescribeGroupsAnswer,
    ConsumerGroupDescribeAnswer,
    admin_answers.ShareGroupDescribeAnswer,
    admin_answers.StreamsGroupDescribeAnswer,
    OffsetFetchAnswer,
    OneGroupsOffsetFetchAnswer,
    admin_answers.FindCoordinatorAnswer,
]


@pytest.mark.parametrize("version", range(6))
def test_the_list_of_groups(version):
    group = ListGroupsResponse.ListedGroup
    theirs = ListGroupsResponse(
        version=version,
        throttle_time_ms=0,
        error_code=14,
        groups=[group(group_id="g", protocol_type="consumer", group_state="Stable", group_type="classic")],
    )
    told = read_answer(ListGroupsAnswer, version, theirs.encode())
    assert (told.error_code, told.groups[0].group_id, told.groups[0].protocol_type) == (14, "g", "consumer")
    assert told.groups[0].group_type == ("classic" if version >= 5 else "")


@pytest.mark.parametrize("version", range(7))
def test_classic_groups(version):
    group, member = DescribeGroupsResponse.DescribedGroup, DescribeGroupsResponse.DescribedGroup.DescribedGroupMember
    theirs = DescribeGroupsResponse(
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
    (told,) = read_answer(DescribeGroupsAnswer, version, theirs.encode()).groups
    event = observed_group(told, (), cluster="c", pass_ms=1, observed_ms=2)
    (known,) = event.members
    assert (event.kind, event.protocol, event.generation) == (GroupKind.CLASSIC, "range", None)
    assert (known.member_id, known.client_id, known.host, known.topics) == ("m", "c", "/h", ("t",))
    assert [(entry.topic, entry.partitions) for entry in known.assigned] == [("t", (5,))]
    assert known.instance_id == ("i" if version >= 4 else None)


@pytest.mark.parametrize("version", [8, 9])
def test_the_offsets_of_several_groups(version):
    group = OffsetFetchResponse.OffsetFetchResponseGroup
    topic = group.OffsetFetchResponseTopics
    partition = topic.OffsetFetchResponsePartitions
    known = partition(partition_index=3, committed_offset=1 << 40, committed_leader_epoch=2, metadata="x", error_code=0)
    none = partition(partition_index=4, committed_offset=-1, committed_leader_epoch=-1, metadata="", error_code=0)
    theirs = OffsetFetchResponse(
        version=version,
        throttle_time_ms=0,
        groups=[group(group_id="g", topics=[topic(name="t", partitions=[known, none])], error_code=16)],
    )
    (told,) = read_answer(OffsetFetchAnswer, version, theirs.encode()).groups
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
    (group,) = read_answer(ConsumerGroupDescribeAnswer, 1, told).groups
    event = observed_group(group, (), cluster="c", pass_ms=1, observed_ms=2)
    (member,) = event.members
    assert (event.state, event.generation, event.target_epoch, event.protocol) == ("Reconciling", 7, 7, "uniform")
    assert event.regexes == (ResolvedRegex(regex="t.*", topics=("t",)),)
    standing = member.reconciliation
    assert (standing.epoch, standing.state) == (6, MemberState.UNREVOKED_PARTITIONS)
    assert [entry.partitions for entry in standing.assigned] == [(0,)]
    assert [entry.partitions for entry in standing.revoking] == [(1,)]
    assert [entry.partitions for entry in standing.target] == [(0,)]


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
        authorized_operations=NOT_ASKED,
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
    group = admin_answers.ClassicGroupDescribed(
        error_code=0, group_id="g", group_state="Empty", protocol_type="", protocol_data="", members=()
    )
    event = observed_group(group, [TopicFetched("t", partitions)], cluster="c", pass_ms=1, observed_ms=2)
    assert [(offset.partition, offset.offset, offset.committed_ms) for offset in event.offsets] == [(1, 5, None)]


@pytest.mark.parametrize("answer", ANSWERS)
@settings(max_examples=300)
@given(data=st.binary(max_size=120), version=st.integers(0, 9))
def test_bytes_that_are_no_answer_are_an_error_of_their_own(answer, data, version):
    with suppress(DecodeError):
        read_answer(answer, min(version, answer.newest), data)
