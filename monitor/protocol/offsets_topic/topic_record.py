"""A record of any of the known logs as JSON: what Kafka, or Connect, itself reads in it."""

from __future__ import annotations

from typing import Final

import msgspec

from monitor.protocol.kafka.connect_configs import (
    SESSION_KEY,
    ConfigKey,
    ConnectorRecord,
    read_config_key,
    read_config_value,
)
from monitor.protocol.kafka.connect_status import read_status
from monitor.protocol.kafka.records import RECORD_TYPES, SHARE_STATE_TYPES, DecodedRecord, read_record
from monitor.protocol.kafka.records.classic import GroupMetadataValue
from monitor.protocol.offsets_topic.logs import Log
from monitor.protocol.offsets_topic.member_json import members_json
from monitor.protocol.wire.schema import json_fields

Json = dict[str, object]

_LEFT_OUT: Final = frozenset({"task", "logger-cluster", "restart-connector", "tasks-fencing", ""})
"""The kinds of records of Connect's configurations whose values are not read."""


def topic_record_json(log: Log, key: bytes | None, value: bytes | None) -> Json:
    """The record as ``{"type", "id", "key", "version", "value", "unread"}``, of Connect as ``{"key", "value"}``.

    Raises:
        DecodeError: The record cannot be read, or is of a type or version not known here.
    """
    match log:
        case Log.OFFSETS:
            return _typed_json(read_record(key, value, RECORD_TYPES))
        case Log.SHARE_STATE:
            return _typed_json(read_record(key, value, SHARE_STATE_TYPES))
        case Log.CONNECT_CONFIGS:
            return _config_json(read_config_key(key), value)
        case Log.CONNECT_STATUS:
            return _status_json(read_config_key(key), value)


def _typed_json(record: DecodedRecord) -> Json:
    found: Json = {
        "type": record.record_type.name,
        "id": record.record_type.number,
        "key": json_fields(record.key, 0),
    }
    if record.value is None or record.version is None:
        return found | {"value": None}
    found |= {"version": record.version, "value": json_fields(record.value, record.version), "unread": 0}
    members = members_json(record.value) if isinstance(record.value, GroupMetadataValue) else {}
    return found | {"members": members} if members else found


def _config_json(key: ConfigKey, value: bytes | None) -> Json:
    found: Json = {"key": key.text}
    if key.kind == SESSION_KEY or (key.kind in _LEFT_OUT and value is not None):
        return found | {"omitted": True}
    read = read_config_value(key, value)
    if isinstance(read, ConnectorRecord):
        group_id = read.properties.group_id
        return found | {"value": {"properties": {} if group_id is None else {"consumer.override.group.id": group_id}}}
    return found | {"value": msgspec.to_builtins(read)}


def _status_json(key: ConfigKey, value: bytes | None) -> Json:
    return {"key": key.text, "value": msgspec.to_builtins(read_status(key.text, value))}
