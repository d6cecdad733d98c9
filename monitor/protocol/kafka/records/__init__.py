"""Every type of record in ``__consumer_offsets`` and ``__share_group_state``: its number, Kafka's name, its messages.

The numbers are those of CoordinatorRecordType in Kafka's modules group-coordinator and share-coordinator, of which each
has its own; the messages are those of 4.3.1.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

import msgspec

from monitor.protocol.kafka.records.classic import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from monitor.protocol.kafka.records.consumer import (
    ConsumerGroupCurrentMemberAssignmentValue,
    ConsumerGroupMemberMetadataValue,
    ConsumerGroupMetadataValue,
    GroupKey,
    MemberKey,
    PartitionMetadataValue,
    RegularExpressionKey,
    RegularExpressionValue,
    TargetAssignmentMemberValue,
    TargetAssignmentMetadataValue,
)
from monitor.protocol.kafka.records.share import (
    EpochAndHashValue,
    ShareGroupCurrentMemberAssignmentValue,
    ShareGroupMemberMetadataValue,
    ShareGroupStatePartitionMetadataValue,
)
from monitor.protocol.kafka.records.share_state import SharePartitionKey, ShareSnapshotValue, ShareUpdateValue
from monitor.protocol.kafka.records.streams import (
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTopologyValue,
)
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.reader import Reader
from monitor.protocol.wire.schema import Message, read_message, read_versioned


class RecordType(msgspec.Struct, frozen=True):
    """One type of record."""

    number: int
    name: str
    key: type[Message]
    value: type[Message]


RECORD_TYPES: Final[Mapping[int, RecordType]] = MappingProxyType(
    {
        record_type.number: record_type
        for record_type in (
            RecordType(0, "LegacyOffsetCommit", OffsetCommitKey, OffsetCommitValue),  # before Kafka 0.9
            RecordType(1, "OffsetCommit", OffsetCommitKey, OffsetCommitValue),
            RecordType(2, "GroupMetadata", GroupMetadataKey, GroupMetadataValue),
            RecordType(3, "ConsumerGroupMetadata", GroupKey, ConsumerGroupMetadataValue),
            RecordType(4, "ConsumerGroupPartitionMetadata", GroupKey, PartitionMetadataValue),
            RecordType(5, "ConsumerGroupMemberMetadata", MemberKey, ConsumerGroupMemberMetadataValue),
            RecordType(6, "ConsumerGroupTargetAssignmentMetadata", GroupKey, TargetAssignmentMetadataValue),
            RecordType(7, "ConsumerGroupTargetAssignmentMember", MemberKey, TargetAssignmentMemberValue),
            RecordType(8, "ConsumerGroupCurrentMemberAssignment", MemberKey, ConsumerGroupCurrentMemberAssignmentValue),
            RecordType(9, "ShareGroupPartitionMetadata", GroupKey, PartitionMetadataValue),  # Kafka 4.0 only
            RecordType(10, "ShareGroupMemberMetadata", MemberKey, ShareGroupMemberMetadataValue),
            RecordType(11, "ShareGroupMetadata", GroupKey, EpochAndHashValue),
            RecordType(12, "ShareGroupTargetAssignmentMetadata", GroupKey, TargetAssignmentMetadataValue),
            RecordType(13, "ShareGroupTargetAssignmentMember", MemberKey, TargetAssignmentMemberValue),
            RecordType(14, "ShareGroupCurrentMemberAssignment", MemberKey, ShareGroupCurrentMemberAssignmentValue),
            RecordType(15, "ShareGroupStatePartitionMetadata", GroupKey, ShareGroupStatePartitionMetadataValue),
            RecordType(16, "ConsumerGroupRegularExpression", RegularExpressionKey, RegularExpressionValue),
            RecordType(17, "StreamsGroupMetadata", GroupKey, StreamsGroupMetadataValue),
            RecordType(19, "StreamsGroupMemberMetadata", MemberKey, StreamsGroupMemberMetadataValue),
            RecordType(20, "StreamsGroupTargetAssignmentMetadata", GroupKey, TargetAssignmentMetadataValue),
            RecordType(21, "StreamsGroupTargetAssignmentMember", MemberKey, StreamsGroupTargetAssignmentMemberValue),
            RecordType(22, "StreamsGroupCurrentMemberAssignment", MemberKey, StreamsGroupCurrentMemberAssignmentValue),
            RecordType(23, "StreamsGroupTopology", GroupKey, StreamsGroupTopologyValue),
        )
    }
)
"""By number. 18 was never used."""

SHARE_STATE_TYPES: Final[Mapping[int, RecordType]] = MappingProxyType(
    {
        0: RecordType(0, "ShareSnapshot", SharePartitionKey, ShareSnapshotValue),
        1: RecordType(1, "ShareUpdate", SharePartitionKey, ShareUpdateValue),
    }
)
"""The types of ``__share_group_state``, by number."""


class DecodedRecord(msgspec.Struct, frozen=True):
    """A record as its schema has it: the key, and the value with its version (None, None: a deletion)."""

    record_type: RecordType
    key: Message
    version: int | None
    value: Message | None


def read_record(
    key: bytes | None, value: bytes | None, types: Mapping[int, RecordType] = RECORD_TYPES
) -> DecodedRecord:
    """Every field of a record, by the schema of its type.

    Args:
        key: The record's key.
        value: The record's value; None: a deletion.
        types: Those of the log that the record is from.

    Raises:
        DecodeError: The record cannot be read, or is of a type or version not known here.
    """
    if key is None:
        raise DecodeError("null_key", 0, "key")
    reader = Reader(key, "key")
    record_type = types.get(reader.int16())
    if record_type is None:
        raise DecodeError("unknown_key_version", 0, "key")
    read_key = read_message(record_type.key, 0, reader)
    reader.finish()
    if value is None:
        return DecodedRecord(record_type, read_key, None, None)
    return DecodedRecord(record_type, read_key, *read_versioned(record_type.value, value))
