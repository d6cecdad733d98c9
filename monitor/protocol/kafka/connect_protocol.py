"""What a worker of Kafka Connect says as it joins, and what its leader tells it: the bytes of its group's members.

The group's protocol says how: ``default`` is eager (version 0, ``ConnectProtocol``); ``compatible`` (1) and
``sessioned`` (2) are incremental (``IncrementalCooperativeConnectProtocol`` of connect-runtime 4.3). There, an
assignment is a difference to what the worker has, and fields that are missing at the end have their defaults. No
version is flexible. Versions that are newer are read as the newest, and bytes that follow are left, as Kafka does it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from monitor.model import ConnectAssignment, ConnectorTasks, ConnectWorker
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.reader import Reader

EAGER: Final = "default"
"""The protocol whose assignments are whole; any other is incremental."""


class ConnectAssignmentData(msgspec.Struct, frozen=True):
    """An assignment; of the eager protocol without ``revoked`` and ``delay``."""

    version: int
    error: int = 0
    leader: str | None = None
    leader_url: str | None = None
    config_offset: int = -1
    assigned: tuple[ConnectorTasks, ...] = ()
    revoked: tuple[ConnectorTasks, ...] = ()
    delay: int = 0


EMPTY_ALLOCATION: Final = ConnectAssignmentData(version=1)
"""What a worker has that has been given nothing yet (``ExtendedAssignment.empty``)."""


class ConnectMetadata(msgspec.Struct, frozen=True):
    """What a worker joins with; ``allocation`` is all that it runs (None: the eager protocol does not tell)."""

    version: int
    url: str
    config_offset: int
    allocation: ConnectAssignmentData | None = None


def is_incremental(protocol: str | None) -> bool:
    """Whether the group's protocol is one of those in which an assignment is a difference."""
    return protocol != EAGER


def read_connect_metadata(data: bytes, *, incremental: bool) -> ConnectMetadata:
    """What the worker joined with.

    Raises:
        DecodeError: The bytes end too early, or are none of Connect.
    """
    reader = Reader(data, "subscription")
    version = _read_version(reader)
    url, config_offset = reader.string(), reader.int64()
    if not incremental:
        return ConnectMetadata(version=version, url=url, config_offset=config_offset)
    allocated = reader.nullable_bytes() if reader.remaining else None
    allocation = EMPTY_ALLOCATION if allocated is None else _read_assignment(Reader(allocated, "subscription"), True)
    return ConnectMetadata(version=version, url=url, config_offset=config_offset, allocation=allocation)


def read_connect_assignment(data: bytes, *, incremental: bool) -> ConnectAssignmentData:
    """What the worker was told.

    Raises:
        DecodeError: The bytes end too early, or are none of Connect.
    """
    return _read_assignment(Reader(data, "assignment"), incremental)


def connect_worker(subscription: bytes, assignment: bytes, protocol: str | None) -> ConnectWorker | None:
    """A worker in the words of the model; None: one of the two cannot be read, or it has not joined yet."""
    if not subscription:
        return None
    incremental = is_incremental(protocol)
    try:
        said = read_connect_metadata(subscription, incremental=incremental)
        told = read_connect_assignment(assignment, incremental=incremental) if assignment else None
    except DecodeError:
        return None
    return ConnectWorker(
        version=said.version,
        url=said.url,
        config_offset=said.config_offset,
        allocation=None if said.allocation is None else said.allocation.assigned,
        assignment=None if told is None else _assignment(told),
    )


def _assignment(told: ConnectAssignmentData) -> ConnectAssignment:
    return ConnectAssignment(
        leader=told.leader or "",
        leader_url=told.leader_url or "",
        config_offset=told.config_offset,
        error=told.error,
        assigned=told.assigned,
        revoked=told.revoked,
        delay_ms=max(0, told.delay),
    )


def _read_version(reader: Reader) -> int:
    version = reader.int16()
    if version < 0:
        raise reader.unknown_version()
    return version


def _read_assignment(reader: Reader, incremental: bool) -> ConnectAssignmentData:
    version, error = _read_version(reader), reader.int16()
    leader, leader_url, config_offset = reader.string(), reader.string(), reader.int64()
    if not incremental:
        assigned = reader.array(lambda: _read_tasks(reader))
        return ConnectAssignmentData(version, error, leader, leader_url, config_offset, _by_connector(assigned))
    return ConnectAssignmentData(
        version=version,
        error=error,
        leader=leader,
        leader_url=leader_url,
        config_offset=config_offset,
        assigned=_read_optional_array(reader),
        revoked=_read_optional_array(reader),
        delay=reader.int32() if reader.remaining else 0,
    )


def _read_optional_array(reader: Reader) -> tuple[ConnectorTasks, ...]:
    """Null, and missing as the bytes end before it, mean none."""
    return _by_connector((reader.nullable_array(lambda: _read_tasks(reader)) or ()) if reader.remaining else ())


def _read_tasks(reader: Reader) -> ConnectorTasks:
    return ConnectorTasks(reader.string(), reader.int32_array())


def _by_connector(entries: Iterable[ConnectorTasks]) -> tuple[ConnectorTasks, ...]:
    """In the order of the bytes; a connector that is named twice has all of it."""
    found: dict[str, tuple[int, ...]] = {}
    for entry in entries:
        found[entry.connector] = found.get(entry.connector, ()) + entry.tasks
    return tuple([ConnectorTasks(connector, tasks) for connector, tasks in found.items()])
