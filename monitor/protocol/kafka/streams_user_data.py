"""What members and leader of a classic Kafka Streams group write as user data: the subscription and the assignment.

The group's assignor is ``stream``. A member's subscription says of which process it is and whose tasks' state it has;
its assignment has the tasks that it is to run, beside the partitions that they read. The source is kafka-streams 4.3,
whose ``SubscriptionInfo`` and ``AssignmentInfo`` read and write the versions 1 to 11. Lengths are fixed, and texts of
the assignment are as Java's ``writeUTF`` writes them. Bytes that follow are left, as Kafka leaves them.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from monitor.model import RUNS_AS_ACTIVE, UNKNOWN_SUM, StreamsClient, StreamsNotice, StreamsTask, TaskOffset
from monitor.protocol.kafka.records.streams_client import SubscriptionInfoData, TaskOffsetSum
from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.reader import Reader
from monitor.protocol.wire.schema import read_message

NEWEST_VERSION: Final = 11

_COMMON_VERSION, _ERROR, _DICTIONARY, _STANDBY_HOSTS, _NEXT_REBALANCE, _NAMED_TOPOLOGY = 3, 4, 5, 6, 7, 10
"""The versions of an assignment from which on these are written. A subscription always has its writer's newest."""

_HOSTS: Final = 2

_OFFSET_SUMS: Final = 7
"""The version of a subscription from which on it says how far the state of its tasks is."""

NEVER_MS: Final = 2**63 - 1
"""The next rebalance, where none is planned."""

_NUMBERED_PARTITION_BYTES: Final = 8


class SubscriptionInfo(msgspec.Struct, frozen=True):
    """What a member joins with."""

    version: int
    data: SubscriptionInfoData


class StandbyTask(msgspec.Struct, frozen=True):
    """A standby task, with the partitions that its active task reads."""

    task: StreamsTask
    partitions: tuple[tuple[str, int], ...] = ()


class HostPartitions(msgspec.Struct, frozen=True):
    """Partitions whose state an instance can be queried for."""

    host: str
    port: int
    partitions: tuple[tuple[str, int], ...] = ()


class AssignmentInfo(msgspec.Struct, frozen=True):
    """What a member is told; None where its version does not carry it.

    ``active`` tasks belong to the assigned partitions one by one, in the order of the assignment's bytes. Which
    instance answers for which partitions (``hosts``) is for interactive queries only.
    """

    version: int
    active: tuple[StreamsTask, ...]
    standby: tuple[StandbyTask, ...]
    common_version: int | None = None
    error: int | None = None
    next_rebalance_ms: int | None = None
    hosts: tuple[HostPartitions, ...] = ()
    standby_hosts: tuple[HostPartitions, ...] = ()


def read_subscription_info(data: bytes) -> SubscriptionInfo:
    """The message in these bytes.

    Raises:
        DecodeError: The bytes end too early, are of a version that is not known, or of one that their writer does not
            support itself.
    """
    reader = Reader(data, "user data")
    version = _read_version(reader)
    found = read_message(SubscriptionInfoData, version, reader)
    if version >= _COMMON_VERSION and found.latest_supported_version < version:
        raise DecodeError("bad_number", 4, "user data")
    return SubscriptionInfo(version=version, data=found)


def read_assignment_info(data: bytes, *, with_hosts: bool = False) -> AssignmentInfo:
    """The message in these bytes; without the hosts, if they are not asked for.

    Raises:
        DecodeError: The bytes end too early, are of a version that is not known, or number a topic that they lack.
    """
    reader = Reader(data, "user data")
    version = _read_version(reader)
    common_version = reader.int32() if version >= _COMMON_VERSION else None
    active = reader.array(lambda: _read_task(reader, version))
    standby = reader.array(lambda: _read_standby(reader, version))
    hosts = _read_hosts(reader, version) if with_hosts else _pass_over_hosts(reader, version)
    return AssignmentInfo(
        version=version,
        active=active,
        standby=standby,
        common_version=common_version,
        error=reader.int32() if version >= _ERROR else None,
        next_rebalance_ms=reader.int64() if version >= _NEXT_REBALANCE else None,
        hosts=hosts[0],
        standby_hosts=hosts[1],
    )


def streams_notice(data: bytes | None) -> StreamsNotice | None:
    """What the leader tells a member, in the words of the model; None: there is nothing that can be read."""
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
        active=found.active,
        standby=tuple([each.task for each in found.standby]),
    )


def streams_client(data: bytes | None) -> StreamsClient | None:
    """What a member says of itself, in the words of the model; None: there is nothing that can be read."""
    if not data:
        return None
    try:
        found = read_subscription_info(data)
    except DecodeError:
        return None
    return StreamsClient(
        process_id=process_id(found.data),
        version=found.version,
        error=found.data.error_code,
        offset_sums=tuple(offset_sums(found.version, found.data)),
        endpoint=found.data.user_end_point.decode("utf-8", "replace") or None,
    )


def process_id(found: SubscriptionInfoData) -> str:
    """The process as Streams shows it: as a Java UUID.

    >>> process_id(SubscriptionInfoData(process_id="AAAAAAAAAAAAAAAAAAAAAQ"))
    '00000000-0000-0000-0000-000000000001'
    """
    digits = urlsafe_b64decode(f"{found.process_id}==").hex()
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def offset_sums(version: int, found: SubscriptionInfoData) -> Iterator[TaskOffset]:
    """How far the state of each task is, as ``SubscriptionInfo.taskOffsetSums`` has it.

    Before version 7 that is not told: a task that the member ran has -2, one that it had as a standby -3.
    """
    if version < _OFFSET_SUMS:
        for task in found.prev_tasks:
            yield TaskOffset(StreamsTask(task.topic_group_id, task.partition), RUNS_AS_ACTIVE)
        for task in found.standby_tasks:
            yield TaskOffset(StreamsTask(task.topic_group_id, task.partition), UNKNOWN_SUM)
    for entry in found.task_offset_sums:
        yield from _entry_sums(version, entry)


def _entry_sums(version: int, entry: TaskOffsetSum) -> Iterator[TaskOffset]:
    if version >= _NAMED_TOPOLOGY:
        task = StreamsTask(entry.topic_group_id, entry.partition, entry.named_topology or None)
        yield TaskOffset(task, entry.offset_sum)
    for one in entry.partition_to_offset_sum:
        yield TaskOffset(StreamsTask(entry.topic_group_id, one.partition), one.offset_sum)


def _read_version(reader: Reader) -> int:
    version = reader.int32()
    if not 1 <= version <= NEWEST_VERSION:
        raise DecodeError("unknown_value_version", 0, "user data")
    return version


def _read_task(reader: Reader, version: int) -> StreamsTask:
    subtopology, partition = reader.int32(), reader.int32()
    topology = reader.utf16_string() if version >= _NAMED_TOPOLOGY else None
    return StreamsTask(subtopology, partition, topology or None)


def _read_standby(reader: Reader, version: int) -> StandbyTask:
    task = _read_task(reader, version)
    return StandbyTask(task, reader.array(lambda: _read_partition(reader)))


def _read_partition(reader: Reader) -> tuple[str, int]:
    return reader.lossy_string(), reader.int32()


Hosts = tuple[HostPartitions, ...]


def _read_hosts(reader: Reader, version: int) -> tuple[Hosts, Hosts]:
    """The hosts of active tasks, and those of standby tasks."""
    if version < _HOSTS:
        return (), ()
    topics: Mapping[int, str] | None = None
    if version >= _DICTIONARY:
        topics = dict(reader.array(lambda: (reader.int32(), reader.lossy_string())))
    hosts = reader.array(lambda: _read_host(reader, topics))
    return hosts, reader.array(lambda: _read_host(reader, topics)) if version >= _STANDBY_HOSTS else ()


def _read_host(reader: Reader, topics: Mapping[int, str] | None) -> HostPartitions:
    """An instance with its partitions, whose topics are numbered from version 5 on."""
    host, port = reader.lossy_string(), reader.int32()
    if topics is None:
        return HostPartitions(host, port, reader.array(lambda: _read_partition(reader)))
    start = reader.position
    numbered = reader.array(lambda: (reader.int32(), reader.int32()))
    if any(number not in topics for number, _ in numbered):
        raise DecodeError("bad_number", start, "user data")
    return HostPartitions(host, port, tuple([(topics[number], partition) for number, partition in numbered]))


def _pass_over_hosts(reader: Reader, version: int) -> tuple[Hosts, Hosts]:
    """Only through them is reached what is behind them; a large application has many, in every member's bytes."""
    if version >= _DICTIONARY:
        reader.array(lambda: (reader.int32(), reader.lossy_string()))
    for _ in range(2 if version >= _STANDBY_HOSTS else 1 if version >= _HOSTS else 0):
        reader.array(lambda: _pass_over_host(reader, version))
    return (), ()


def _pass_over_host(reader: Reader, version: int) -> None:
    reader.lossy_string()
    reader.int32()  # the port
    if version >= _DICTIONARY:
        reader.skip_array(_NUMBERED_PARTITION_BYTES)
    else:
        reader.array(lambda: _read_partition(reader))
