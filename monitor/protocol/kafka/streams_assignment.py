"""What the leader of a classic group of Kafka Streams tells each member: tasks, hosts, an error, and what comes next.

It is the user data of the member's assignment, where the group's assignor is ``stream``. The source is kafka-streams
4.3, whose ``AssignmentInfo`` reads and writes the versions 1 to 11: fixed lengths, texts as Java's ``writeUTF`` writes
them. What stands at the end can only be reached through all that is before it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from monitor.model import StreamsNotice
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.reader import Reader

NEWEST_VERSION: Final = 11

_COMMON_VERSION, _ERROR, _DICTIONARY, _STANDBY_HOSTS, _NEXT_REBALANCE, _NAMED_TOPOLOGY = 3, 4, 5, 6, 7, 10
"""The versions from which on these are written."""

_HOSTS: Final = 2

NEVER_MS: Final = 2**63 - 1
"""The next rebalance, where none is planned."""

_NUMBERED_PARTITION_BYTES: Final = 8


class TaskId(msgspec.Struct, frozen=True):
    """A task: a subtopology's share of the partitions of this number. ``topology`` is named by few applications."""

    subtopology: int
    partition: int
    topology: str | None = None


class AssignmentInfo(msgspec.Struct, frozen=True):
    """What a member is told; None where its version does not carry it.

    ``active`` tasks belong to the assigned partitions one by one, in the order of the assignment's bytes.
    """

    version: int
    active: tuple[TaskId, ...]
    standby: tuple[TaskId, ...]
    error: int | None = None
    next_rebalance_ms: int | None = None


def read_assignment_info(data: bytes) -> AssignmentInfo:
    """The message in these bytes; what follows it is left, as Kafka leaves it.

    Raises:
        DecodeError: The bytes end too early, or are of a version that is not known.
    """
    reader = Reader(data, "user data")
    version = reader.int32()
    if not 1 <= version <= NEWEST_VERSION:
        raise DecodeError("unknown_value_version", 0, "user data")
    if version >= _COMMON_VERSION:
        reader.int32()
    active = reader.array(lambda: _task(reader, version))
    standby = reader.array(lambda: _standby(reader, version))
    _pass_over_hosts(reader, version)
    return AssignmentInfo(
        version=version,
        active=active,
        standby=standby,
        error=reader.int32() if version >= _ERROR else None,
        next_rebalance_ms=reader.int64() if version >= _NEXT_REBALANCE else None,
    )


def streams_notice(data: bytes | None) -> StreamsNotice | None:
    """What of it tells how far the rebalance is, in the words of the model; None: there is nothing that can be read."""
    if not data:
        return None
    try:
        found = read_assignment_info(data)
    except DecodeError:
        return None
    is_planned = found.next_rebalance_ms is not None and found.next_rebalance_ms != NEVER_MS
    return StreamsNotice(
        version=found.version,
        error=found.error or 0,
        next_rebalance_ms=found.next_rebalance_ms if is_planned else None,
    )


def _task(reader: Reader, version: int) -> TaskId:
    subtopology, partition = reader.int32(), reader.int32()
    topology = reader.utf16_string() if version >= _NAMED_TOPOLOGY else None
    return TaskId(subtopology, partition, topology or None)


def _standby(reader: Reader, version: int) -> TaskId:
    """A standby task stands before the partitions that it reads."""
    task = _task(reader, version)
    reader.array(lambda: _named_partition(reader))
    return task


def _named_partition(reader: Reader) -> None:
    reader.lossy_string()
    reader.int32()


def _pass_over_hosts(reader: Reader, version: int) -> None:
    """Which instance answers for which partitions: for interactive queries, and not for us."""
    if version < _HOSTS:
        return
    if version >= _DICTIONARY:
        reader.array(lambda: _topic_by_number(reader))
    for _ in range(2 if version >= _STANDBY_HOSTS else 1):
        reader.array(lambda: _host(reader, version))


def _topic_by_number(reader: Reader) -> None:
    reader.int32()
    reader.lossy_string()


def _host(reader: Reader, version: int) -> None:
    reader.lossy_string()
    reader.int32()  # the port
    if version >= _DICTIONARY:
        reader.skip_array(_NUMBERED_PARTITION_BYTES)  # a large application has many, in every member's bytes
    else:
        reader.array(lambda: _named_partition(reader))
