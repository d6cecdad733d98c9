"""Share groups (KIP-932): records of the types 10 to 15."""

from __future__ import annotations

from monitor.protocol.kafka.records.consumer import Flexible, TopicPartitionIds
from monitor.protocol.wire.schema import Int8, Int32, Int64, Message, Uuid


class ShareGroupMemberMetadataValue(Flexible):
    """Who a member is and what it subscribes to."""

    rack_id: str | None
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]


class EpochAndHashValue(Flexible):
    """The group's epoch, and the hash that stands for the topics that it subscribes to."""

    epoch: Int32
    metadata_hash: Int64


class ShareGroupCurrentMemberAssignmentValue(Flexible):
    """What a member may read, together with others."""

    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    assigned_partitions: tuple[TopicPartitionIds, ...]


class SharedTopic(Message):
    """Some partitions of a topic whose share state is, or is about to be, kept."""

    topic_id: Uuid
    topic_name: str
    partitions: tuple[Int32, ...]


class DeletedTopic(Message):
    """A topic whose share state is about to be deleted."""

    topic_id: Uuid
    topic_name: str


class ShareGroupStatePartitionMetadataValue(Flexible):
    """For which partitions the share coordinator keeps state."""

    initializing_topics: tuple[SharedTopic, ...]
    initialized_topics: tuple[SharedTopic, ...]
    deleting_topics: tuple[DeletedTopic, ...]
