"""A group metadata record as an event: one completed generation of a classic group."""

from __future__ import annotations

from monitor.model import Member, MembershipStored
from monitor.protocol.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    by_topic,
    read_assignment,
    read_subscription,
)
from monitor.protocol.errors import DecodeError
from monitor.protocol.records.classic import ClassicMember, GroupMetadataValue

CONSUMER: str = "consumer"
"""The only protocol type whose members have ConsumerProtocol in their bytes."""


def membership(group: str, stored: GroupMetadataValue, timestamp_ms: int) -> MembershipStored:
    """The generation in this record, members in their order.

    Of groups of another protocol type (Connect, Schema Registry) the members come without topics and assignment. A
    member whose own bytes are broken stays in the group, with ``unreadable`` set and without what the broken part
    would have said.

    Args:
        group: The group's id, from the key.
        stored: The record's value.
        timestamp_ms: The record's timestamp; becomes ``stored_ms``.
    """
    return MembershipStored(
        group=group,
        generation=stored.generation,
        protocol_type=stored.protocol_type,
        protocol=stored.protocol,
        leader=stored.leader,
        stored_ms=timestamp_ms,
        members=tuple([classic_member(member, stored.protocol_type) for member in stored.members]),
        state_ms=None if stored.current_state_timestamp < 0 else stored.current_state_timestamp,
    )


def classic_member(stored: ClassicMember, protocol_type: str) -> Member:
    """The member in the words of the model, its bytes read if the group's protocol type says how."""
    wanted, given, problems = ConsumerProtocolSubscription(), ConsumerProtocolAssignment(), []
    if protocol_type == CONSUMER:
        try:
            wanted = read_subscription(stored.subscription).message if stored.subscription else wanted
        except DecodeError as error:
            problems.append(str(error))
        try:
            given = read_assignment(stored.assignment).message if stored.assignment else given
        except DecodeError as error:
            problems.append(str(error))
    return Member(
        member_id=stored.member_id,
        topics=wanted.topics,
        instance_id=stored.group_instance_id,
        rack=wanted.rack_id,
        generation=wanted.generation_id,
        owned=by_topic(wanted.owned_partitions),
        user_data=wanted.user_data,
        assigned=by_topic(given.assigned_partitions),
        client_id=stored.client_id,
        host=stored.client_host,
        session_timeout_ms=stored.session_timeout,
        # Before version 1 there was one timeout for both (GroupMetadataManager.readGroupMessageValue).
        rebalance_timeout_ms=stored.session_timeout if stored.rebalance_timeout < 0 else stored.rebalance_timeout,
        unreadable="; ".join(problems) or None,
    )
