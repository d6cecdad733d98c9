"""Records of a Connect cluster's topic of configurations as events, without what is secret in them.

The values hold passwords, and one key the secret with which workers sign requests. So nothing but names, numbers of
tasks, target states and the consumer group of a sink is ever read from a value: the fields of the structs below. No
error says more of a value than its reason, and none keeps the exception that it was made from.

Source: ``KafkaConfigBackingStore`` of connect-runtime 4.3, with the JSON converter that it always uses.
"""

from __future__ import annotations

import re
from typing import Final, TypeVar

import msgspec

from monitor.model import ConnectConfigEvent, ConnectorConfigured, ConnectorTargetSet, ConnectorTasksSet, TargetState
from monitor.protocol.wire.bounds import MOST_PARTITIONS
from monitor.protocol.wire.errors import DecodeError, Reason

CONFIGS_SUFFIX: Final = "-configs"
"""How the names of these topics usually end; the default is ``connect-configs``."""

SESSION_KEY: Final = "session-key"
_KINDS: Final = ("connector", "commit", "target-state", "task", "tasks-fencing", "restart-connector", "logger-cluster")
_KEY: Final = re.compile(rf"({'|'.join(_KINDS)})-(.*)", re.DOTALL)
_TASK: Final = re.compile(r"(.*)-(\d+)", re.DOTALL)

_NULL: Final = b"null"

S = TypeVar("S", bound=msgspec.Struct)


class ConfigKey(msgspec.Struct, frozen=True):
    """What the key of a record says: ``kind`` is its prefix, "" for a key that is not known.

    ``connector`` is None where the record is of none; ``task`` is the number of a task's own configuration.
    """

    kind: str
    text: str
    connector: str | None = None
    task: int | None = None


class _Properties(msgspec.Struct, frozen=True):
    group_id: str | None = msgspec.field(name="consumer.override.group.id", default=None)


class ConnectorRecord(msgspec.Struct, frozen=True):
    """A connector's configuration: of its properties, the consumer group that a sink is to use."""

    properties: _Properties


class TasksRecord(msgspec.Struct, frozen=True):
    """How many tasks a connector has."""

    tasks: int


class TargetStateRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a connector is to do; ``state_v2`` counts, where there is one (Kafka 3.5 and later)."""

    state: str | None = None
    state_v2: str | None = msgspec.field(name="state.v2", default=None)


ConfigValue = ConnectorRecord | TasksRecord | TargetStateRecord

_CONNECTORS: Final = msgspec.json.Decoder(ConnectorRecord)
_TASKS: Final = msgspec.json.Decoder(TasksRecord)
_TARGET_STATES: Final = msgspec.json.Decoder(TargetStateRecord)


def decode_connect_config(key: bytes | None, value: bytes | None, timestamp_ms: int = 0) -> ConnectConfigEvent | None:
    """The event that a record tells; None: it tells nothing of connectors (a task's configuration, the session key).

    >>> decode_connect_config(b"commit-s3-sink", b'{"tasks":2}')
    ConnectorTasksSet(connector='s3-sink', tasks=2, stored_ms=0)

    Raises:
        DecodeError: The record cannot be read.
    """
    named = read_config_key(key)
    found = read_config_value(named, value)
    connector = named.connector or ""
    match named.kind:
        case "connector":
            group_id = found.properties.group_id if isinstance(found, ConnectorRecord) else None
            return ConnectorConfigured(
                connector=connector, is_configured=found is not None, group_id=group_id, stored_ms=timestamp_ms
            )
        case "commit":
            tasks = found.tasks if isinstance(found, TasksRecord) else None
            return ConnectorTasksSet(connector=connector, tasks=tasks, stored_ms=timestamp_ms)
        case "target-state":
            target = _target_state(found)
            return ConnectorTargetSet(connector=connector, target_state=target, stored_ms=timestamp_ms)
        case _:
            return None


def read_config_key(key: bytes | None) -> ConfigKey:
    """What a record's key says.

    >>> read_config_key(b"task-jdbc-10")
    ConfigKey(kind='task', text='task-jdbc-10', connector='jdbc', task=10)

    Raises:
        DecodeError: There is no key, or it is no text.
    """
    if key is None:
        raise DecodeError("null_key", 0, "key")
    text = _decode_text(key)
    if text == SESSION_KEY:
        return ConfigKey(kind=SESSION_KEY, text=text)
    found = _KEY.fullmatch(text)
    if found is None:
        return ConfigKey(kind="", text=text)
    kind, rest = found.groups()
    if kind == "logger-cluster":
        return ConfigKey(kind=kind, text=text)
    task = _TASK.fullmatch(rest) if kind == "task" else None
    if task is None or not task[2].isascii() or len(task[2]) > len(str(MOST_PARTITIONS)):
        return ConfigKey(kind=kind, text=text, connector=rest)
    return ConfigKey(kind=kind, text=text, connector=task[1], task=int(task[2]))


def read_config_value(key: ConfigKey, value: bytes | None) -> ConfigValue | None:
    """What is read from a record's value; None: nothing, or the record is a deletion, as is one with a null in JSON.

    Raises:
        DecodeError: The value is not what Connect writes under such a key.
    """
    if value is None or value.strip() == _NULL:
        return None
    match key.kind:
        case "connector":
            return _decode(_CONNECTORS, value)
        case "commit":
            tasks = _decode(_TASKS, value)
            if not 0 <= tasks.tasks <= MOST_PARTITIONS:
                raise DecodeError("bad_number", 0)
            return tasks
        case "target-state":
            found = _decode(_TARGET_STATES, value)
            _target_state(found)
            return found
        case _:
            return None


def _target_state(found: ConfigValue | None) -> TargetState | None:
    if not isinstance(found, TargetStateRecord):
        return None
    state = found.state if found.state_v2 is None else found.state_v2
    known = {each.value: each for each in TargetState}
    if state not in known or (found.state is not None and found.state not in known):
        raise DecodeError("bad_text", 0)
    return known[state]


def _decode(decoder: msgspec.json.Decoder[S], value: bytes) -> S:
    """The struct in the value; the error is raised where no other is being handled, as that one may hold the value."""
    try:
        return decoder.decode(value)
    except UnicodeDecodeError:
        reason: Reason = "bad_utf8"
    except msgspec.ValidationError:
        reason = "bad_event"
    except (msgspec.DecodeError, RecursionError):
        reason = "bad_json"
    raise DecodeError(reason, 0)


def _decode_text(key: bytes) -> str:
    try:
        return key.decode()
    except UnicodeDecodeError as broken:
        position = broken.start
    raise DecodeError("bad_utf8", position, "key")
