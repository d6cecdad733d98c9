"""Streams groups (KIP-1071): records of the types 17 and 19 to 23."""

from __future__ import annotations

from typing import Annotated

from monitor.protocol.kafka.records.consumer import Flexible
from monitor.protocol.wire.schema import Int8, Int16, Int32, Int64, Message, UInt16, tagged


class NamedValue(Message):
    """A key and its value: a setting, or a tag of a client."""

    key: str
    value: str


class StreamsGroupMetadataValue(Flexible):
    """The group's epoch, the hash of its topics, and for which topology and settings it was assigned."""

    epoch: Int32
    metadata_hash: Int64
    validated_topology_epoch: Annotated[Int32, tagged(0)] = -1
    last_assignment_configs: Annotated[tuple[NamedValue, ...] | None, tagged(1)] = ()


class Endpoint(Message):
    """Where a member's application answers queries."""

    host: str
    port: UInt16


class StreamsGroupMemberMetadataValue(Flexible):
    """Who a member is."""

    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_ms: Int32
    topology_epoch: Int32
    process_id: str
    user_endpoint: Endpoint | None
    client_tags: tuple[NamedValue, ...]


class TaskIds(Message):
    """Some tasks of a subtopology, numbered like the partitions that they read."""

    subtopology_id: str
    partitions: tuple[Int32, ...]


class StreamsGroupTargetAssignmentMemberValue(Flexible):
    """The tasks that a member is to have."""

    active_tasks: tuple[TaskIds, ...]
    standby_tasks: tuple[TaskIds, ...]
    warmup_tasks: tuple[TaskIds, ...]


class OwnedTasks(Message):
    """Some tasks of a subtopology; the epochs in which they were assigned have the order of the tasks."""

    subtopology_id: str
    partitions: tuple[Int32, ...]
    assignment_epochs: Annotated[tuple[Int32, ...] | None, tagged(0)] = ()


class StreamsGroupCurrentMemberAssignmentValue(Flexible):
    """The tasks that a member has, and those that it has been told to give back."""

    member_epoch: Int32
    previous_member_epoch: Int32
    state: Int8
    active_tasks: tuple[OwnedTasks, ...]
    standby_tasks: tuple[OwnedTasks, ...]
    warmup_tasks: tuple[OwnedTasks, ...]
    active_tasks_pending_revocation: tuple[OwnedTasks, ...]
    standby_tasks_pending_revocation: tuple[OwnedTasks, ...]
    warmup_tasks_pending_revocation: tuple[OwnedTasks, ...]


class InternalTopic(Message):
    """A topic that the application needs."""

    name: str
    partitions: Int32
    replication_factor: Int16
    topic_configs: tuple[NamedValue, ...]


class CopartitionGroup(Message):
    """Topics that must have equally many partitions, by their places in the lists of their subtopology."""

    source_topics: tuple[Int16, ...]
    source_topic_regex: tuple[Int16, ...]
    repartition_source_topics: tuple[Int16, ...]


class Subtopology(Message):
    """A part of the topology whose tasks can be assigned one by one."""

    subtopology_id: str
    source_topics: tuple[str, ...]
    source_topic_regex: tuple[str, ...]
    state_changelog_topics: tuple[InternalTopic, ...]
    repartition_sink_topics: tuple[str, ...]
    repartition_source_topics: tuple[InternalTopic, ...]
    copartition_groups: tuple[CopartitionGroup, ...]


class StreamsGroupTopologyValue(Flexible):
    """The application's topology."""

    epoch: Int32
    subtopologies: tuple[Subtopology, ...]
