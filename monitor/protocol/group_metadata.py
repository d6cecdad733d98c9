"""The value of a group metadata record: one completed generation of a classic group.

The layout is that of Kafka's schema GroupMetadataValue, versions 0 to 4.
"""

from __future__ import annotations

from typing import Final

from monitor.model import Member, MembershipStored, TopicPartitions
from monitor.protocol.consumer_protocol import Subscription, decode_assignment, decode_subscription
from monitor.protocol.errors import DecodeError
from monitor.protocol.reader import Reader

_NEWEST: Final = 4
_FLEXIBLE: Final = 4


def decode_group_metadata(group: str, value: bytes, timestamp_ms: int) -> MembershipStored:
    """The generation in these bytes, members in their order.

    Only a group of protocol type "consumer" has ConsumerProtocol in its members' bytes; of other groups (Connect,
    Schema Registry) the members come without topics and assignment. A member whose own bytes are broken stays in the
    group, with ``unreadable`` set and without what the broken part would have said.

    Args:
        group: The group's id, from the key.
        value: The record's value.
        timestamp_ms: The record's timestamp; becomes ``stored_ms``.

    Raises:
        DecodeError: The record itself is broken or of a version newer than 4.
    """
    reader = Reader(value)
    version = reader.int16()
    if not 0 <= version <= _NEWEST:
        raise reader.unknown_version()
    reader.flexible = version >= _FLEXIBLE
    protocol_type, generation = reader.string(), reader.int32()
    protocol, leader = reader.nullable_string(), reader.nullable_string()
    if version >= 2:
        reader.int64()  # when the group entered its state: a rewrite repeats it, the record's own time says more
    members = reader.array(lambda: _member(reader, version, protocol_type))
    reader.end_of_struct()
    reader.finish()
    return MembershipStored(
        group=group,
        generation=generation,
        protocol_type=protocol_type,
        protocol=protocol,
        leader=leader,
        stored_ms=timestamp_ms,
        members=members,
    )


def _member(reader: Reader, version: int, protocol_type: str) -> Member:
    member_id = reader.string()
    instance_id = reader.nullable_string() if version >= 3 else None
    client_id, host = reader.string(), reader.string()
    rebalance_timeout_ms = reader.int32() if version >= 1 else None
    session_timeout_ms = reader.int32()
    subscription, assignment = reader.byte_string(), reader.byte_string()
    reader.end_of_struct()
    wanted, assigned, unreadable = _consumer_bytes(subscription, assignment, protocol_type)
    return Member(
        member_id=member_id,
        topics=wanted.topics,
        instance_id=instance_id,
        rack=wanted.rack,
        generation=wanted.generation,
        owned=wanted.owned,
        user_data=wanted.user_data,
        assigned=assigned,
        client_id=client_id,
        host=host,
        session_timeout_ms=session_timeout_ms,
        # Before version 1 there was one timeout for both (GroupMetadataManager.readGroupMessageValue).
        rebalance_timeout_ms=session_timeout_ms if rebalance_timeout_ms is None else rebalance_timeout_ms,
        unreadable=unreadable,
    )


def _consumer_bytes(
    subscription: bytes, assignment: bytes, protocol_type: str
) -> tuple[Subscription, tuple[TopicPartitions, ...], str | None]:
    """What the member's own bytes say, and why a part of them says nothing."""
    wanted, assigned, problems = Subscription(), (), []
    if protocol_type != "consumer":
        return wanted, assigned, None
    try:
        wanted = decode_subscription(subscription)
    except DecodeError as error:
        problems.append(str(error))
    try:
        return wanted, decode_assignment(assignment), "; ".join(problems) or None
    except DecodeError as error:
        problems.append(str(error))
    return wanted, assigned, "; ".join(problems)
