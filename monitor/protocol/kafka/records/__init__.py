"""Every type of record in ``__consumer_offsets``: its number, Kafka's name for it, and its messages.

The numbers are those of Kafka's CoordinatorRecordType; the messages those of its module group-coordinator, 4.3.1.
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
from monitor.protocol.kafka.records.streams import (
    StreamsGroupCurrentMemberAssignmentValue,
    StreamsGroupMemberMetadataValue,
    StreamsGroupMetadataValue,
    StreamsGroupTargetAssignmentMemberValue,
    StreamsGroupTopologyValue,
)
from monitor.protocol.wire.schema import Message


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
