"""Records of ``__share_group_state`` as events: what has become of the records that share groups read (KIP-932)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.model import ShareBatch, ShareSnapshotStored, ShareStateDeleted, ShareStateEvent, ShareUpdateStored
from monitor.protocol.kafka.records import SHARE_STATE_TYPES, read_record
from monitor.protocol.kafka.records.share_state import (
    UNKNOWN,
    SharePartitionKey,
    ShareSnapshotValue,
    ShareUpdateValue,
    StateBatch,
)
from monitor.protocol.wire.bounds import MOST_OFFSET, require_at_least
from monitor.protocol.wire.errors import DecodeError

SHARE_STATE_TOPIC: Final = "__share_group_state"
"""Kafka's log of what share groups have done with the records that they read."""


def decode_share_state(key: bytes | None, value: bytes | None, timestamp_ms: int) -> ShareStateEvent:
    """The event that a record of the share-state topic tells; a null value is a deletion.

    Only deletions of snapshots are written, and they delete all of the partition's state.

    >>> decode_share_state(bytes.fromhex("0000 0002 6731" + "00" * 16 + "00000003"), None, 7)
    ShareStateDeleted(group='g1', topic_id='AAAAAAAAAAAAAAAAAAAAAA', partition=3, deleted_ms=7)

    Args:
        key: The record's key.
        value: The record's value.
        timestamp_ms: The record's timestamp.

    Raises:
        DecodeError: The record cannot be read, is of a type or version not known here, or of numbers beyond sense.
    """
    record = read_record(key, value, SHARE_STATE_TYPES)
    if not isinstance(record.key, SharePartitionKey):
        raise TypeError(f"no share state has a key like {type(record.key).__name__}")
    group, topic_id, partition = record.key.group_id, record.key.topic_id, record.key.partition
    if partition < 0:
        raise DecodeError("bad_number", len(key or b"") - 4, "key")
    match record.value:
        case ShareSnapshotValue():
            return _snapshot(record.key, record.value, timestamp_ms)
        case ShareUpdateValue():
            return _update(record.key, record.value, timestamp_ms)
    return ShareStateDeleted(group=group, topic_id=topic_id, partition=partition, deleted_ms=timestamp_ms)


def _snapshot(place: SharePartitionKey, value: ShareSnapshotValue, timestamp_ms: int) -> ShareSnapshotStored:
    require_at_least(0, value.state_epoch)
    _require_numbers(value)
    return ShareSnapshotStored(
        group=place.group_id,
        topic_id=place.topic_id,
        partition=place.partition,
        stored_ms=timestamp_ms,
        snapshot_epoch=value.snapshot_epoch,
        state_epoch=value.state_epoch,
        leader_epoch=value.leader_epoch,
        start_offset=_number(value.start_offset),
        complete_count=_number(value.delivery_complete_count),
        batches=_batches(value.state_batches),
    )


def _update(place: SharePartitionKey, value: ShareUpdateValue, timestamp_ms: int) -> ShareUpdateStored:
    _require_numbers(value)
    return ShareUpdateStored(
        group=place.group_id,
        topic_id=place.topic_id,
        partition=place.partition,
        stored_ms=timestamp_ms,
        snapshot_epoch=value.snapshot_epoch,
        leader_epoch=value.leader_epoch,
        start_offset=_number(value.start_offset),
        complete_count=_number(value.delivery_complete_count),
        batches=_batches(value.state_batches),
    )


def _require_numbers(value: ShareSnapshotValue | ShareUpdateValue) -> None:
    """Make sure that every number can be what it stands for; -1 is an epoch, offset or count that is not known."""
    require_at_least(0, value.snapshot_epoch)
    require_at_least(UNKNOWN, value.leader_epoch, value.start_offset, value.delivery_complete_count)
    if value.start_offset > MOST_OFFSET:
        raise DecodeError("bad_number", 0)
    for batch in value.state_batches:
        if not 0 <= batch.first_offset <= batch.last_offset <= MOST_OFFSET:
            raise DecodeError("bad_number", 0)
        require_at_least(0, batch.delivery_state, batch.delivery_count)


def _number(number: int) -> int | None:
    return None if number == UNKNOWN else number


def _batches(batches: Iterable[StateBatch]) -> tuple[ShareBatch, ...]:
    return tuple(ShareBatch(b.first_offset, b.last_offset, b.delivery_state, b.delivery_count) for b in batches)
