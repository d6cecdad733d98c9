"""Records of the offsets topic in a version that is not known here: what their keys still tell."""

from __future__ import annotations

from monitor.model import CommitUnread, RecordUnread, UnreadEvent
from monitor.protocol.kafka.kip848_groups import KINDS, RECORD_KINDS
from monitor.protocol.kafka.records import RECORD_TYPES, RecordType
from monitor.protocol.kafka.records.classic import GroupMetadataKey, OffsetCommitKey
from monitor.protocol.kafka.records.consumer import GroupKey, MemberKey, RegularExpressionKey
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.reader import Reader
from monitor.protocol.wire.schema import Message, read_message


def unread_event(key: bytes | None, value: bytes | None, timestamp_ms: int) -> UnreadEvent | None:
    """What a record tells whose value is of a newer version than is known here; None: it is none, or tells of no group.

    A version below 0 is none that a newer broker writes.

    >>> event = unread_event(bytes.fromhex("0002 0002 6731"), bytes.fromhex("0005 07"), 9)
    >>> event.group, event.record, event.version, event.newest
    ('g1', 'GroupMetadata', 5, 4)

    Args:
        key: The record's key.
        value: The record's value.
        timestamp_ms: The record's timestamp.
    """
    record_type = RECORD_TYPES.get(int.from_bytes(key[:2], "big")) if key is not None else None
    if key is None or value is None or record_type is None or len(value) < 2:
        return None
    version = int.from_bytes(value[:2], "big", signed=True)
    if version <= record_type.value.newest:
        return None
    reader = Reader(key[2:], "key")
    try:
        read_key = read_message(record_type.key, 0, reader)
        reader.finish()
    except DecodeError:
        return None
    return _event(record_type, read_key, version, timestamp_ms)


def _event(record_type: RecordType, key: Message, version: int, timestamp_ms: int) -> UnreadEvent | None:
    number, newest = record_type.number, record_type.value.newest
    match key:
        case OffsetCommitKey():
            return CommitUnread(
                group=key.group,
                topic=key.topic,
                partition=key.partition,
                version=version,
                newest=newest,
                stored_ms=timestamp_ms,
            )
        case GroupMetadataKey():
            group, kind, subject = key.group, RECORD_KINDS[number], ""
        case GroupKey() | MemberKey() | RegularExpressionKey() if number in KINDS:
            group, kind, subject = key.group_id, KINDS[number], _subject(key)
        case _:
            return None
    return RecordUnread(
        group=group,
        kind=kind,
        record_type=number,
        record=record_type.name,
        version=version,
        newest=newest,
        stored_ms=timestamp_ms,
        subject=subject,
    )


def _subject(key: Message) -> str:
    match key:
        case MemberKey():
            return key.member_id
        case RegularExpressionKey():
            return key.regular_expression
        case _:
            return ""
