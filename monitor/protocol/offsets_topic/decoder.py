"""One record of ``__consumer_offsets`` to one event; as a command, to what Kafka itself reads in it.

The formats are in monitor.protocol.kafka.records. Offset commits are nearly all of the log, so their common versions
have a short way through; bytes that do not fit it are read again by their schema, which defines the format and names
the errors.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from struct import Struct
from struct import error as StructError  # noqa: N812 -- "error" alone would say nothing at its use
from typing import Final

from monitor.model import GroupDeleted, GroupEvent, InvalidOffsetCommitted, OffsetCommitted, OffsetDeleted, Value
from monitor.protocol.kafka.group_metadata import membership
from monitor.protocol.kafka.kip848_groups import KINDS, modern_event
from monitor.protocol.kafka.records import RECORD_TYPES, read_record
from monitor.protocol.kafka.records.classic import (
    GroupMetadataKey,
    GroupMetadataValue,
    OffsetCommitKey,
    OffsetCommitValue,
)
from monitor.protocol.kafka.records.consumer import GroupKey
from monitor.protocol.wire.bounds import MOST_MS, MOST_OFFSET, require_at_least, require_time
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.reader import Reader
from monitor.protocol.wire.schema import read_message, read_versioned

_COMMIT_TYPES: Final = (b"\x00\x01", b"\x00\x00")  # 0 is the type of commits before Kafka 0.9

_INT16: Final = Struct(">h").unpack_from
_INT32: Final = Struct(">i").unpack_from
_INT64: Final = Struct(">q").unpack_from
_VERSION_3: Final = Struct(">hqih").unpack_from  # version, offset, leader epoch, length of the metadata
_TOPIC_ID_FOLLOWS: Final = b"\x01\x00\x10"  # one tagged field, number 0, of 16 bytes


class Foreign(Value, frozen=True):
    """A record that tells nothing of a group: the topics of a share group, as Kafka 4.0 writes them."""

    record_type: int
    group: str


def decode_record(key: bytes | None, value: bytes | None, timestamp_ms: int) -> GroupEvent | Foreign:
    """The event that a record of the offsets topic tells; a null value is a deletion.

    The metadata text of a commit is passed over. A commit of numbers beyond sense
    (monitor.protocol.wire.bounds) is none: what was committed before it stands.

    >>> decode_record(bytes.fromhex("0001 0002 6731 0002 7430 00000007"), None, 0)
    OffsetDeleted(group='g1', topic='t0', partition=7, deleted_ms=0)

    Args:
        key: The record's key.
        value: The record's value.
        timestamp_ms: The record's timestamp, which dates memberships and deletions; below 1 it is not known.

    A commit of an offset below 0 says that there is none: brokers store what a client commits, and clients take such an
    offset for no committed offset (``ConsumerCoordinator.fetchCommittedOffsets`` of Kafka's Java client).

    Raises:
        DecodeError: The record cannot be read, is of a type or version not known here, or of numbers beyond sense.
    """
    if key is None:
        raise DecodeError("null_key", 0, "key")
    if key[:2] not in _COMMIT_TYPES:
        return _other_record(key, value, timestamp_ms)
    group, topic, partition = _commit_key(key)
    if value is None:
        return OffsetDeleted(group=group, topic=topic, partition=partition, deleted_ms=_written_ms(timestamp_ms))
    offset, leader_epoch, committed_ms, topic_key, expires_ms = _commit_value(value)
    if offset < 0:
        return InvalidOffsetCommitted(group, topic, partition, offset, _written_ms(timestamp_ms))
    require_commit(offset, leader_epoch, committed_ms, timestamp_ms)
    return OffsetCommitted(
        group=group,
        topic=topic,
        partition=partition,
        offset=offset,
        committed_ms=committed_ms,
        leader_epoch=leader_epoch,
        topic_key=topic_key or None,
        expires_ms=expires_ms,
    )


def require_commit(offset: int, leader_epoch: int, committed_ms: int, timestamp_ms: int) -> None:
    """Make sure that these can be a commit's; -1 is the leader epoch where none is known.

    Raises:
        DecodeError: "bad_number", "from_the_future".
    """
    if not 0 <= offset <= MOST_OFFSET:
        raise DecodeError("bad_number", 2)
    require_at_least(-1, leader_epoch)
    require_time(committed_ms, timestamp_ms)


class CommitPlace(Value, frozen=True):
    """What the key of an offset commit names."""

    group: str
    topic: str
    partition: int


def commit_place(key: bytes) -> CommitPlace | None:
    """What this key names; None if it is no key of an offset commit, or a broken one, or of a partition below 0.

    >>> commit_place(bytes.fromhex("0001 0002 6731 0002 7430 00000007"))
    CommitPlace(group='g1', topic='t0', partition=7)
    """
    if key[:2] not in _COMMIT_TYPES:
        return None
    try:
        return CommitPlace(*_commit_key(key))
    except DecodeError:
        return None


def key_group(key: bytes) -> str | None:
    """The group that a key names: that is the first field of every type. None if no group can be read there.

    What follows the group may be broken all the same.

    >>> key_group(bytes.fromhex("0001 0002 6731 0002 7430 00000007"))
    'g1'
    """
    if int.from_bytes(key[:2], "big") not in RECORD_TYPES or len(key) < 4:
        return None
    end = 4 + _INT16(key, 2)[0]
    if not 4 <= end <= len(key):
        return None
    try:
        return key[4:end].decode()
    except UnicodeDecodeError:
        return None


def _other_record(key: bytes, value: bytes | None, timestamp_ms: int) -> GroupEvent | Foreign:
    record = read_record(key, value)
    number = record.record_type.number
    if isinstance(record.key, GroupMetadataKey):
        if isinstance(record.value, GroupMetadataValue):
            return membership(record.key.group, record.value, timestamp_ms)
        return GroupDeleted(group=record.key.group, deleted_ms=timestamp_ms)
    if number in KINDS:
        return modern_event(number, record.key, record.value, timestamp_ms)
    if not isinstance(record.key, GroupKey):
        raise TypeError(f"nothing reads records of the type {record.record_type.name}")
    return Foreign(record_type=number, group=record.key.group_id)


def _commit_key(key: bytes) -> tuple[str, str, int]:
    """Group, topic and partition: the short way, or else by schema to name what is broken."""
    try:
        group_end = 4 + _INT16(key, 2)[0]
        topic = group_end + 2
        topic_end = topic + _INT16(key, group_end)[0]
        if group_end >= 4 and topic <= topic_end == len(key) - 4 and (partition := _INT32(key, topic_end)[0]) >= 0:
            return key[4:group_end].decode(), key[topic:topic_end].decode(), partition
    except (StructError, UnicodeDecodeError):
        pass
    return _commit_key_by_schema(key)


def _commit_key_by_schema(key: bytes) -> tuple[str, str, int]:
    reader = Reader(key, "key")
    reader.int16()
    found = read_message(OffsetCommitKey, 0, reader)
    reader.finish()
    if found.partition < 0:
        raise DecodeError("bad_number", len(key) - 4, "key")
    return found.group, found.topic, found.partition


def _written_ms(timestamp_ms: int) -> int:
    """When a record was written; 0: not known, or beyond sense."""
    return timestamp_ms if 0 < timestamp_ms <= MOST_MS else 0


def _commit_value(value: bytes) -> tuple[int, int, int, int, int | None]:
    """Offset, leader epoch, commit time, topic key (0: none) and expiry: the short way for versions 3 and 4."""
    try:
        version, offset, leader_epoch, length = _VERSION_3(value)
        if version == 3 and length >= 0:
            if len(value) == 24 + length:
                return offset, leader_epoch, _INT64(value, 16 + length)[0], 0, None
        elif version == 4 and 0 < value[14] < 0x80:  # a compact length of one byte
            end = 22 + value[14]  # of the last field
            whole = end + 1 if value[end] == 0 else end + 19 if value[end : end + 3] == _TOPIC_ID_FOLLOWS else -1
            if len(value) == whole:
                topic_key = _INT64(value, end + 3)[0] if value[end] else 0
                return offset, leader_epoch, _INT64(value, end - 8)[0], topic_key, None
    except (StructError, IndexError):
        pass
    return _commit_value_by_schema(value)


def _commit_value_by_schema(value: bytes) -> tuple[int, int, int, int, int | None]:
    _, found = read_versioned(OffsetCommitValue, value)
    expires_ms = found.expire_timestamp if found.expire_timestamp > 0 else None
    return found.offset, found.leader_epoch, found.commit_timestamp, topic_key_of(found.topic_id), expires_ms


def topic_key_of(topic_id: str) -> int:
    """The first eight bytes of a topic's id as a signed number; 0 for the id that Kafka gives where there is none.

    What is no id at all gives 0, too.

    >>> topic_key_of("AAAAAAAAAAAAAAAAAAAAAA"), topic_key_of("AAAAAAAAAAEAAAAAAAAAAA")
    (0, 1)
    """
    try:
        return int.from_bytes(urlsafe_b64decode(f"{topic_id}==")[:8], signed=True)
    except ValueError:
        return 0
