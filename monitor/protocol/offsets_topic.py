"""One record of ``__consumer_offsets`` to one event.

The record types are those of Kafka's group coordinator (schemas OffsetCommitKey, OffsetCommitValue, GroupMetadataKey
and CoordinatorRecordType). Offset commits are nearly all of the log, so the common versions have a short way through;
bytes that do not fit it are read again field by field, and that reading defines the format and names the errors.
"""

from __future__ import annotations

from struct import Struct
from struct import error as StructError  # noqa: N812 -- "error" alone would say nothing at its use
from typing import Final

from monitor.model import GroupDeleted, GroupEvent, OffsetCommitted, OffsetDeleted, Value
from monitor.protocol.errors import DecodeError
from monitor.protocol.group_metadata import decode_group_metadata
from monitor.protocol.reader import Reader

_COMMIT_TYPES: Final = (b"\x00\x01", b"\x00\x00")  # 0 is the type of commits before Kafka 0.9
_GROUP_METADATA: Final = 2
_FOREIGN_TYPES: Final = range(3, 24)
_NEWEST_COMMIT: Final = 4
_FLEXIBLE_COMMIT: Final = 4

_INT16: Final = Struct(">h").unpack_from
_INT32: Final = Struct(">i").unpack_from
_INT64: Final = Struct(">q").unpack_from
_VERSION_3: Final = Struct(">hqih").unpack_from  # version, offset, leader epoch, length of the metadata
_TOPIC_ID_FOLLOWS: Final = b"\x01\x00\x10"  # one tagged field, number 0, of 16 bytes


class Foreign(Value, frozen=True):
    """A record of another kind of group (KIP-848 consumer, share, streams), which is not decoded."""

    record_type: int
    group: str


def decode_record(key: bytes | None, value: bytes | None, timestamp_ms: int) -> GroupEvent | Foreign:
    """The event that a record of the offsets topic tells; a null value is a deletion.

    Read: offset commits (types 0 and 1, values v0 to v4) and classic group metadata (type 2, values v0 to v4). The
    metadata text and the expire time of a commit are passed over. Of the types 3 to 23 only the group is read.

    >>> decode_record(bytes.fromhex("0001 0002 6731 0002 7430 00000007"), None, 0)
    OffsetDeleted(group='g1', topic='t0', partition=7)

    Args:
        key: The record's key.
        value: The record's value.
        timestamp_ms: The record's timestamp, which dates memberships and deletions of groups.

    Raises:
        DecodeError: The record cannot be read, or is of a type or version not known here.
    """
    if key is None:
        raise DecodeError("null_key", 0, "key")
    if key[:2] not in _COMMIT_TYPES:
        return _other_record(key, value, timestamp_ms)
    group, topic, partition = _commit_key(key)
    if value is None:
        return OffsetDeleted(group=group, topic=topic, partition=partition)
    offset, leader_epoch, committed_ms = _commit_value(value)
    return OffsetCommitted(
        group=group,
        topic=topic,
        partition=partition,
        offset=offset,
        committed_ms=committed_ms,
        leader_epoch=leader_epoch,
    )


def _other_record(key: bytes, value: bytes | None, timestamp_ms: int) -> GroupEvent | Foreign:
    reader = Reader(key, "key")
    record_type = reader.int16()
    if record_type in _FOREIGN_TYPES:
        return Foreign(record_type=record_type, group=reader.string())
    if record_type != _GROUP_METADATA:
        raise DecodeError("unknown_key_version", 0, "key")
    group = reader.string()
    reader.finish()
    if value is None:
        return GroupDeleted(group=group, deleted_ms=timestamp_ms)
    return decode_group_metadata(group, value, timestamp_ms)


def _commit_key(key: bytes) -> tuple[str, str, int]:
    """Group, topic and partition: the short way, or else field by field to name what is broken."""
    try:
        group_end = 4 + _INT16(key, 2)[0]
        topic = group_end + 2
        topic_end = topic + _INT16(key, group_end)[0]
        if group_end >= 4 and topic <= topic_end == len(key) - 4:
            return key[4:group_end].decode(), key[topic:topic_end].decode(), _INT32(key, topic_end)[0]
    except (StructError, UnicodeDecodeError):
        pass
    return _commit_key_by_field(key)


def _commit_key_by_field(key: bytes) -> tuple[str, str, int]:
    reader = Reader(key, "key")
    reader.int16()
    found = reader.string(), reader.string(), reader.int32()
    reader.finish()
    return found


def _commit_value(value: bytes) -> tuple[int, int, int]:
    """Offset, leader epoch and commit time: the short way for versions 3 and 4 as brokers write them."""
    try:
        version, offset, leader_epoch, length = _VERSION_3(value)
        if version == 3 and length >= 0:
            if len(value) == 24 + length:
                return offset, leader_epoch, _INT64(value, 16 + length)[0]
        elif version == 4 and 0 < value[14] < 0x80:  # a compact length of one byte
            end = 22 + value[14]  # of the last field
            whole = end + 1 if value[end] == 0 else end + 19 if value[end : end + 3] == _TOPIC_ID_FOLLOWS else -1
            if len(value) == whole:
                return offset, leader_epoch, _INT64(value, end - 8)[0]
    except (StructError, IndexError):
        pass
    return _commit_value_by_field(value)


def _commit_value_by_field(value: bytes) -> tuple[int, int, int]:
    reader = Reader(value)
    version = reader.int16()
    if not 0 <= version <= _NEWEST_COMMIT:
        raise reader.unknown_version()
    reader.flexible = version >= _FLEXIBLE_COMMIT
    offset = reader.int64()
    leader_epoch = reader.int32() if version >= 3 else -1
    reader.skip_string()
    committed_ms = reader.int64()
    if version == 1:
        reader.int64()  # when the commit expires: the client's own retention time
    reader.end_of_struct()
    reader.finish()
    return offset, leader_epoch, committed_ms
