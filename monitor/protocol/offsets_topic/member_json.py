"""What is inside the bytes of a classic group's members, as JSON: of Kafka Streams and of Connect.

Keys and shapes are those of the captures in tests/fixtures/group_kinds, whose values the originals' own readers gave.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from monitor.model import CONNECT, STREAM, THE_CONNECTOR, ConnectorTasks, StreamsTask
from monitor.protocol.kafka.connect_protocol import (
    ConnectAssignmentData,
    ConnectMetadata,
    is_incremental,
    read_connect_assignment,
    read_connect_metadata,
)
from monitor.protocol.kafka.consumer_protocol import NamedPartitions, read_assignment, read_subscription
from monitor.protocol.kafka.records.classic import GroupMetadataValue
from monitor.protocol.kafka.streams_user_data import (
    HostPartitions,
    SubscriptionInfo,
    offset_sums,
    process_id,
    read_assignment_info,
    read_subscription_info,
)
from monitor.protocol.wire.errors import DecodeError

Json = dict[str, object]


def members_json(value: GroupMetadataValue) -> Json:
    """By member id; empty for a group of neither."""
    if value.protocol_type == CONNECT:
        incremental = is_incremental(value.protocol)
        return {
            member.member_id: {
                "metadata": _part(member.subscription, lambda data: _metadata(data, incremental)),
                "assignment": _part(member.assignment, lambda data: _assignment(data, incremental)),
            }
            for member in value.members
        }
    if value.protocol_type == "consumer" and value.protocol == STREAM:
        return {
            member.member_id: {
                "subscription": _part(member.subscription, _streams_subscription),
                "assignment": _part(member.assignment, _streams_assignment),
            }
            for member in value.members
        }
    return {}


def _part(data: bytes, read: Callable[[bytes], Json]) -> Json | None:
    if not data:
        return None
    try:
        return read(data)
    except DecodeError as error:
        return {"error": error.reason, "message": str(error)}


# --- Connect


def _metadata(data: bytes, incremental: bool) -> Json:
    said: ConnectMetadata = read_connect_metadata(data, incremental=incremental)
    found: Json = {"version": said.version, "url": said.url, "config_offset": said.config_offset}
    if said.allocation is not None:
        found["allocation"] = _connect_assignment(said.allocation, incremental)
    return found


def _assignment(data: bytes, incremental: bool) -> Json:
    return _connect_assignment(read_connect_assignment(data, incremental=incremental), incremental)


def _connect_assignment(told: ConnectAssignmentData, incremental: bool) -> Json:
    found: Json = {
        "version": told.version,
        "error": told.error,
        "leader": told.leader,
        "leader_url": told.leader_url,
        "config_offset": told.config_offset,
        "assigned": _work(told.assigned),
    }
    return found | {"revoked": _work(told.revoked), "delay": told.delay} if incremental else found


def _work(work: Iterable[ConnectorTasks]) -> Json:
    pairs = [(entry.connector, task) for entry in work for task in entry.tasks]
    return {
        "connectors": [connector for connector, task in pairs if task == THE_CONNECTOR],
        "tasks": [f"{connector}-{task}" for connector, task in pairs if task != THE_CONNECTOR],
    }


# --- Streams


def _streams_subscription(data: bytes) -> Json:
    asked = read_subscription(data).message
    found: Json = {
        "topics": list(asked.topics),
        "owned": _partitions(asked.owned_partitions),
        "generation": asked.generation_id if asked.generation_id >= 0 else None,
    }
    return found | (_subscription_info(read_subscription_info(asked.user_data)) if asked.user_data else {})


def _subscription_info(info: SubscriptionInfo) -> Json:
    data = info.data
    return {
        "version": info.version,
        "latest_version": data.latest_supported_version,
        "process_id": process_id(data),
        "user_endpoint": data.user_end_point.decode("utf-8", "replace") or None,
        "task_offset_sums": {_task(each.task): each.offset_sum for each in offset_sums(info.version, data)},
        "error": data.error_code,
        "client_tags": {
            tag.key.decode("utf-8", "replace"): tag.value.decode("utf-8", "replace") for tag in data.client_tags
        },
        "unique_field": data.unique_field,
    }


def _streams_assignment(data: bytes) -> Json:
    given = read_assignment(data).message
    found: Json = {"partitions": _partitions(given.assigned_partitions)}
    if not given.user_data:
        return found
    info = read_assignment_info(given.user_data, with_hosts=True)
    return found | {
        "version": info.version,
        "common_version": info.common_version,
        "active_tasks": [_task(task) for task in info.active],
        "standby_tasks": {_task(each.task): [f"{t}-{p}" for t, p in each.partitions] for each in info.standby},
        "hosts": _hosts(info.hosts),
        "standby_hosts": _hosts(info.standby_hosts),
        "error": info.error,
        "next_rebalance_ms": info.next_rebalance_ms,
    }


def _partitions(entries: Iterable[NamedPartitions]) -> list[str]:
    return [f"{entry.topic}-{partition}" for entry in entries for partition in entry.partitions]


def _task(task: StreamsTask) -> str:
    """As ``TaskId.toString`` shows it."""
    name = f"{task.subtopology}_{task.partition}"
    return name if task.topology is None else f"{task.topology}__{name}"


def _hosts(hosts: Iterable[HostPartitions]) -> Json:
    return {f"{each.host}:{each.port}": [f"{topic}-{number}" for topic, number in each.partitions] for each in hosts}
