"""KIP-848 consumer groups: records of the types 3 to 8 and 16."""

from __future__ import annotations

from typing import Annotated, ClassVar

from monitor.protocol.wire.schema import Int8, Int32, Int64, Message, Uuid, tagged


class GroupKey(Message):
    """The id of a group, in keys that have nothing else."""

    group_id: str


class MemberKey(Message):
    """A member of a group."""

    group_id: str
    member_id: str


class RegularExpressionKey(Message):
    """A regular expression that members of a group subscribe to."""

    group_id: str
    regular_expression: str


class Flexible(Message):
    """Base of all values of these types: flexible from their first version on."""

    flexible: ClassVar[int | None] = 0


class ConsumerGroupMetadataValue(Flexible):
    """The group's epoch; the hash stands for the topics that it subscribes to (0: none, or a broker before 4.1)."""

    epoch: Int32
    metadata_hash: Annotated[Int64, tagged(0)] = 0


class PartitionRacks(Message):
    """The racks of one partition's replicas."""

    partition: Int32
    racks: tuple[str, ...]


class TopicMetadata(Message):
    """A topic that the group subscribes to."""

    topic_id: Uuid
    topic_name: str
    num_partitions: Int32
    partition_metadata: tuple[PartitionRacks, ...]


class PartitionMetadataValue(Flexible):
    """The topics that a group subscribes to (written by Kafka 3.9; later only tombstones of it)."""

    topics: tuple[TopicMetadata, ...]


class OfferedProtocol(Message):
    """An assignor that a classic member offers, with its ConsumerProtocol subscription."""

    name: str
    metadata: bytes


class ClassicMemberMetadata(Message):
    """What a member says that speaks the classic protocol inside a KIP-848 group."""

    session_timeout_ms: Int32 = 0
    supported_protocols: tuple[OfferedProtocol, ...] = ()


class ConsumerGroupMemberMetadataValue(Flexible):
    """Who a member is and what it subscribes to. No regular expression is null or an empty text.

    Kafka writes null for a member that does not speak the classic protocol; the field's default is an empty struct.
    """

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    subscribed_topic_regex: str | None
    rebalance_timeout_ms: Int32
    server_assignor: str | None
    classic_member_metadata: Annotated[ClassicMemberMetadata | None, tagged(0)] = ClassicMemberMetadata()


class TargetAssignmentMetadataValue(Flexible):
    """The group epoch for which targets were chosen, and when that was finished (0: a broker before 4.3)."""

    assignment_epoch: Int32
    assignment_timestamp: Annotated[Int64, tagged(0)] = 0


class TopicPartitionIds(Message):
    """Some partitions of a topic."""

    topic_id: Uuid
    partitions: tuple[Int32, ...]


class TargetAssignmentMemberValue(Flexible):
    """What a member is to own."""

    topic_partitions: tuple[TopicPartitionIds, ...]


class OwnedPartitions(Message):
    """Some partitions of a topic; the epochs in which they were assigned have the order of the partitions."""

    topic_id: Uuid
    partitions: tuple[Int32, ...]
    assignment_epochs: Annotated[tuple[Int32, ...] | None, tagged(0)] = ()


class ConsumerGroupCurrentMemberAssignmentValue(Flexible):
    """What a member owns, and what it has been told to give back and may still own."""

    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: tuple[OwnedPartitions, ...]
    partitions_pending_revocation: tuple[OwnedPartitions, ...]


class RegularExpressionValue(Flexible):
    """The topics that the broker found for a regular expression, by which metadata image and when."""

    topics: tuple[str, ...]
    version: Int64
    timestamp: Int64
