"""What becomes of the records that share groups read (KIP-932): records of ``__share_group_state``, types 0 and 1.

The numbers are those of CoordinatorRecordType in Kafka's module share-coordinator; the messages those of 4.3.1.
"""

from __future__ import annotations

from typing import Annotated

from monitor.protocol.kafka.records.consumer import Flexible
from monitor.protocol.wire.schema import Int8, Int16, Int32, Int64, Message, Uuid, tagged

UNKNOWN: int = -1
"""Kafka's number for an offset or a count that it does not know (yet)."""


class SharePartitionKey(Message):
    """A partition as one share group reads it; both types of records have such a key."""

    group_id: str
    topic_id: Uuid
    partition: Int32


class StateBatch(Message):
    """Records from the first to the last offset that have the same state and were delivered equally often."""

    first_offset: Int64
    last_offset: Int64
    delivery_state: Int8
    delivery_count: Int16


class ShareSnapshotValue(Flexible):
    """All that is known of the partition. The start offset is -1 until the group has answered for a record."""

    snapshot_epoch: Int32
    state_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    create_timestamp: Int64
    write_timestamp: Int64
    state_batches: tuple[StateBatch, ...]
    delivery_complete_count: Annotated[Int32, tagged(0)] = UNKNOWN


class ShareUpdateValue(Flexible):
    """What has changed since the snapshot and the updates before. A start offset of -1 leaves it as it was."""

    snapshot_epoch: Int32
    leader_epoch: Int32
    start_offset: Int64
    state_batches: tuple[StateBatch, ...]
    delivery_complete_count: Annotated[Int32, tagged(0)] = UNKNOWN
