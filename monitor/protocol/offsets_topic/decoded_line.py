"""One line of a file of records, as JSON, to one line with what Kafka reads in that record.

The lines are those of a capture: ``p`` and ``o`` (partition and offset), ``ts``, ``k`` and ``v`` (key and value in
base64), and ``control`` on the control records of transactions, which no consumer is ever given. A line with a
``topic``, which decides how it is read, has ``key`` and ``value`` instead of ``k`` and ``v``.
"""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Iterable
from typing import Final

import msgspec

from monitor.model import TopicPartitions
from monitor.protocol.kafka.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
    Embedded,
    NamedPartitions,
    read_assignment,
    read_subscription,
)
from monitor.protocol.kafka.records import DecodedRecord, read_record
from monitor.protocol.kafka.records.classic import GroupMetadataValue
from monitor.protocol.kafka.records.consumer import ConsumerGroupMemberMetadataValue
from monitor.protocol.kafka.sticky_user_data import prior_assignment
from monitor.protocol.offsets_topic.logs import LogNames
from monitor.protocol.offsets_topic.topic_record import topic_record_json
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.schema import Message, json_fields

Json = dict[str, object]


class _Line(msgspec.Struct):
    """A record of ``__consumer_offsets``."""

    p: int
    o: int
    k: str | None
    v: str | None
    control: str | None = None


class _TopicLine(msgspec.Struct):
    """A record of a topic that is named."""

    topic: str
    p: int
    o: int
    key: str | None = None
    value: str | None = None
    control: str | None = None


class _Kind(msgspec.Struct):
    topic: str | None = None


_KINDS: Final = msgspec.json.Decoder(_Kind)
_LINES: Final = msgspec.json.Decoder(_Line)
_TOPIC_LINES: Final = msgspec.json.Decoder(_TopicLine)


def decode_line(line: bytes, names: LogNames = LogNames()) -> bytes:  # noqa: B008 -- it is frozen
    r"""The answer to a line, with a newline at its end.

    A record that cannot be read gives ``{"p", "o", "error": reason, "at": byte position}``, the position being that in
    the key if the key is broken, else in the value; a line that is no record gives null for the place.

    >>> decode_line(b'{"p": 4, "o": 17, "ts": 0, "k": "AAMAAmcx", "v": null}')
    b'{"p":4,"o":17,"key":{"type":"ConsumerGroupMetadata","version":3,"data":{"groupId":"g1"}},"value":null}\n'
    >>> decode_line(b'{"p": 4, "o": 18, "ts": 0, "k": "AAMAAmc=", "v": null}')
    b'{"p":4,"o":18,"error":"underflow","at":2}\n'
    >>> decode_line(b'{"topic": "__share_group_state", "p": 0, "o": 9, "ts": 0, "key": "AAA=", "value": null}')
    b'{"topic":"__share_group_state","p":0,"o":9,"error":"underflow","at":2}\n'
    """
    return msgspec.json.encode(_result(line, names)) + b"\n"


def _result(line: bytes, names: LogNames) -> Json:
    try:
        record = _LINES.decode(line) if _KINDS.decode(line).topic is None else _TOPIC_LINES.decode(line)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return {"p": None, "o": None, "error": "bad_line", "at": 0}
    place: Json = {"topic": record.topic} if isinstance(record, _TopicLine) else {}
    place |= {"p": record.p, "o": record.o}
    if record.control is not None:
        return place | {"control": record.control}
    try:
        return place | (_topic_json(record, names) if isinstance(record, _TopicLine) else _line_json(record))
    except DecodeError as error:
        return place | {"error": error.reason, "at": error.position}
    except Base64Error:
        return place | {"error": "bad_base64", "at": 0}


def _line_json(record: _Line) -> Json:
    return _record_json(read_record(_bytes(record.k), _bytes(record.v)))


def _topic_json(record: _TopicLine, names: LogNames) -> Json:
    log = names.log_of(record.topic)
    if log is None:
        return {"error": "unknown_topic", "at": 0}
    return {"decoded": topic_record_json(log, _bytes(record.key), _bytes(record.value))}


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else b64decode(text.encode(), validate=True)


def _record_json(record: DecodedRecord) -> Json:
    number, name = record.record_type.number, record.record_type.name
    answer: Json = {"key": {"type": name, "version": number, "data": json_fields(record.key, 0)}, "value": None}
    if record.value is not None and record.version is not None:
        answer["value"] = {"version": record.version, "data": json_fields(record.value, record.version)}
        embedded = _consumer_protocol(record.value)
        if embedded:
            answer["consumer_protocol"] = embedded
    return answer


def _consumer_protocol(value: Message) -> Json:
    """What the members' own bytes say: by member id, or by assignor for a member that offers several."""
    match value:
        case GroupMetadataValue(protocol_type="consumer"):
            return {
                member.member_id: _subscription(value.protocol, member.subscription)
                | {"assignment": _assignment(member.assignment)}
                for member in value.members
            }
        case ConsumerGroupMemberMetadataValue():
            offered = value.classic_member_metadata.supported_protocols if value.classic_member_metadata else ()
            return {protocol.name: _subscription(protocol.name, protocol.metadata) for protocol in offered}
        case _:
            return {}


def _subscription(assignor: str | None, data: bytes) -> Json:
    if not data:
        return {"subscription": None, "user_data": None}
    try:
        found = read_subscription(data)
    except DecodeError as error:
        return {"subscription": _error_json(error), "user_data": None}
    memory = prior_assignment(assignor, found.message)
    generation = found.message.generation_id
    return {
        "subscription": _embedded_json(found) | {"generation": generation if generation >= 0 else None},
        "user_data": memory and {"partitions": _names(memory.owned), "generation": memory.generation},
    }


def _assignment(data: bytes) -> Json | None:
    if not data:
        return None
    try:
        found = read_assignment(data)
    except DecodeError as error:
        return _error_json(error)
    return _embedded_json(found) | {"partitions": _names(found.message.assigned_partitions)}


def _embedded_json(found: Embedded[ConsumerProtocolSubscription] | Embedded[ConsumerProtocolAssignment]) -> Json:
    version = min(found.version, found.message.newest)
    return {"version": found.version, "data": json_fields(found.message, version), "unread": found.unread}


def _error_json(error: DecodeError) -> Json:
    """The exception with which Kafka's own reader refuses such bytes, as far as it can be told; else our reason."""
    short = error.shortfall
    if short is None:
        return {"error": error.reason, "message": str(error)}
    match short.unit:
        case "number":
            return {"error": "BufferUnderflowException", "message": None}
        case "elements":
            asked = f"Tried to allocate a collection of size {short.wanted}, but there are only {short.left} bytes"
            return {"error": "RuntimeException", "message": f"{asked} remaining."}
        case "bytes":
            asked = f"Error reading byte array of {short.wanted} byte(s): only {short.left} byte(s)"
            return {"error": "RuntimeException", "message": f"{asked} available"}


def _names(partitions: Iterable[NamedPartitions | TopicPartitions]) -> list[str]:
    """The partitions by name, sorted: an assignor's memory has no order."""
    return sorted(f"{entry.topic}-{partition}" for entry in partitions for partition in entry.partitions)
