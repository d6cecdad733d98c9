"""A group metadata record as an event: one completed generation of a classic group."""

from __future__ import annotations

from typing import Final

from monitor.model import CONNECT, FAUST, STREAM, Member, MembershipStored, WireForm
from monitor.protocol.kafka.connect_protocol import connect_worker
from monitor.protocol.kafka.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    Embedded,
    accept_subscription,
    by_topic,
    read_assignment,
)
from monitor.protocol.kafka.faust_user_data import standby_copies
from monitor.protocol.kafka.records.classic import ClassicMember, GroupMetadataValue
from monitor.protocol.kafka.streams_user_data import streams_client, streams_notice
from monitor.protocol.wire.bounds import require_at_least, require_time
from monitor.protocol.wire.errors import DecodeError

OFFSETS_TOPIC: Final = "__consumer_offsets"
"""Kafka's log of groups and their offsets."""

_NO_TIME: Final = -1

CONSUMER: str = "consumer"
"""The only protocol type whose members have ConsumerProtocol in their bytes."""


def membership(group: str, stored: GroupMetadataValue, timestamp_ms: int) -> MembershipStored:
    """The generation in this record, members in their order.

    Of groups of another protocol type (Connect, Schema Registry) the members come without topics and assignment; those
    of Connect have what their workers run instead. A member whose own bytes are broken stays in the group, with
    ``unreadable`` set and without what the broken part would have said.

    Args:
        group: The group's id, from the key.
        stored: The record's value.
        timestamp_ms: The record's timestamp; becomes ``stored_ms``.

    Raises:
        DecodeError: The generation, or when it began, is beyond sense.
    """
    require_at_least(0, stored.generation)
    state_ms = None if stored.current_state_timestamp == _NO_TIME else stored.current_state_timestamp
    require_time(state_ms or 0, timestamp_ms)
    return MembershipStored(
        group=group,
        generation=stored.generation,
        protocol_type=stored.protocol_type,
        protocol=stored.protocol,
        leader=stored.leader,
        stored_ms=timestamp_ms,
        members=tuple([classic_member(member, stored.protocol_type, stored.protocol) for member in stored.members]),
        state_ms=state_ms,
    )


def classic_member(stored: ClassicMember, protocol_type: str, protocol: str | None) -> Member:
    """The member in the words of the model, its bytes read if the group's protocol type says how.

    ``protocol`` is the group's assignor: what those of Kafka Streams and Faust write beside topics and partitions is
    read, too.
    """
    wanted, given, problems = _EMPTY_SUBSCRIPTION, _EMPTY_ASSIGNMENT, []
    assignment_read = False
    if protocol_type == CONSUMER:
        try:
            wanted = accept_subscription(stored.subscription) if stored.subscription else wanted
        except DecodeError as error:
            problems.append(str(error))
        try:
            given = read_assignment(stored.assignment) if stored.assignment else given
            assignment_read = True
        except DecodeError as error:
            problems.append(str(error))
    asked, assigned = wanted.message, given.message
    partitions = by_topic(assigned.assigned_partitions)
    return Member(
        member_id=stored.member_id,
        topics=asked.topics,
        instance_id=stored.group_instance_id,
        rack=asked.rack_id,
        generation=asked.generation_id,
        owned=by_topic(asked.owned_partitions),
        user_data=asked.user_data,
        assigned=partitions,
        client_id=stored.client_id,
        host=stored.client_host,
        session_timeout_ms=stored.session_timeout,
        # Before version 1 there was one timeout for both (GroupMetadataManager.readGroupMessageValue).
        rebalance_timeout_ms=stored.session_timeout if stored.rebalance_timeout < 0 else stored.rebalance_timeout,
        unreadable="; ".join(problems) or None,
        assignment_read=assignment_read and bool(problems),
        is_abridged=wanted.is_abridged,
        streams=streams_notice(assigned.user_data) if protocol == STREAM else None,
        wire=_wire_form(wanted, given) if protocol_type == CONSUMER else None,
        streams_client=streams_client(asked.user_data) if protocol == STREAM else None,
        connect=connect_worker(stored.subscription, stored.assignment, protocol) if protocol_type == CONNECT else None,
        copies=standby_copies(assigned.user_data, partitions) if protocol == FAUST else None,
    )


_NOTHING: Final = -1
"""The version of what has no bytes, or none that can be read."""

_EMPTY_SUBSCRIPTION: Final = Embedded(_NOTHING, ConsumerProtocolSubscription(), 0)
_EMPTY_ASSIGNMENT: Final = Embedded(_NOTHING, ConsumerProtocolAssignment(), 0)


def _wire_form(
    wanted: Embedded[ConsumerProtocolSubscription], given: Embedded[ConsumerProtocolAssignment]
) -> WireForm | None:
    if wanted.version == given.version == _NOTHING:
        return None
    topics = [entry.topic for entry in given.message.assigned_partitions]
    data = given.message.user_data
    return WireForm(
        subscription_version=None if wanted.version == _NOTHING else wanted.version,
        assignment_version=None if given.version == _NOTHING else given.version,
        assignment_data=None if data is None else len(data),
        repeats_topic=len(topics) > 1 and len(set(topics)) < len(topics),
    )


_MODULUS: Final = 1 << 32
_SIGN: Final = 1 << 31


def group_partition(group: str, partitions: int) -> int:
    """The partition of a group's records: Java's hash of its name, without the sign, modulo the partitions.

    The sign is taken off by ``Utils.abs``, for which the smallest integer becomes 0 (``GroupMetadataManager``,
    ``GroupCoordinatorService.partitionFor``); a default partitioner would do something else.

    >>> group_partition("orders", 50), group_partition("polygenelubricants", 50)
    (31, 0)
    """
    hashed = 0
    units = group.encode("utf-16-be", "surrogatepass")
    for index in range(0, len(units), 2):
        hashed = (31 * hashed + (units[index] << 8) + units[index + 1]) % _MODULUS
    signed = hashed - _MODULUS if hashed >= _SIGN else hashed
    return 0 if signed == -_SIGN else abs(signed) % partitions
