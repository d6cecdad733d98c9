"""What a member of a classic Kafka Streams group says of itself: the user data of its subscription.

The message is ``SubscriptionInfoData`` of kafka-streams 4.3. Its version is an int32 in front of it, and it is never
flexible.
"""

from __future__ import annotations

from typing import Annotated, ClassVar

from monitor.protocol.wire.schema import Int8, Int32, Int64, Message, Uuid, since, until


class PreviousTask(Message):
    """A task that the member had; up to version 6."""

    topic_group_id: Int32
    partition: Int32


class PartitionOffsetSum(Message):
    """How far a task of a subtopology is; versions 7 to 9."""

    partition: Int32
    offset_sum: Int64


class TaskOffsetSum(Message):
    """How far a task is: the sum of the offsets of its state. Versions 7 to 9 list a subtopology's tasks at once."""

    topic_group_id: Int32
    partition: Annotated[Int32, since(10)] = -1
    offset_sum: Annotated[Int64, since(10)] = -1
    named_topology: Annotated[str | None, since(10)] = None
    partition_to_offset_sum: Annotated[tuple[PartitionOffsetSum, ...], until(9, since=7)] = ()


class ClientTag(Message):
    """A tag of the application instance, for the distribution of standby tasks."""

    key: bytes
    value: bytes


class SubscriptionInfoData(Message, kw_only=True):
    """A member's process, and the tasks whose state it has."""

    newest: ClassVar[int] = 11

    latest_supported_version: Annotated[Int32, since(3)] = -1
    process_id: Uuid
    prev_tasks: Annotated[tuple[PreviousTask, ...], until(6)] = ()
    standby_tasks: Annotated[tuple[PreviousTask, ...], until(6)] = ()
    user_end_point: Annotated[bytes, since(2)] = b""
    task_offset_sums: Annotated[tuple[TaskOffsetSum, ...], since(7)] = ()
    unique_field: Annotated[Int8, since(8)] = 0
    error_code: Annotated[Int32, since(9)] = 0
    client_tags: Annotated[tuple[ClientTag, ...], since(11)] = ()
