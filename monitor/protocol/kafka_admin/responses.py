"""Brokers' responses to requests about groups, for those versions that groupwatch requests.

The fields are those of Kafka's message definitions (``common/message`` in its jars: ListGroupsResponse,
DescribeGroupsResponse, ConsumerGroupDescribeResponse, ShareGroupDescribeResponse, StreamsGroupDescribeResponse,
DescribeShareGroupOffsetsResponse, OffsetFetchResponse, FindCoordinatorResponse). Fields that groupwatch does not need
are read all the same: only so are the bytes known to be a response to their end.
"""

from __future__ import annotations

from typing import Annotated, ClassVar, Protocol, TypeVar

from monitor.protocol.wire.errors import DecodeError
from monitor.protocol.wire.reader import Reader
from monitor.protocol.wire.schema import (
    Int8,
    Int16,
    Int32,
    Int64,
    LossyText,
    Message,
    UInt16,
    Uuid,
    read_message,
    since,
)

M = TypeVar("M", bound=Message)

NOT_REQUESTED = -(1 << 31)
"""The value of the operations that the user may do with a group: they are not requested."""


class Described(Protocol):
    """A group in an answer, of whichever kind."""

    @property
    def error_code(self) -> int:
        """Why the response has nothing more of it; 0: it has."""

    @property
    def group_id(self) -> str:
        """Which group."""


def read_response(message: type[M], version: int, data: bytes) -> M:
    """The answer in these bytes, which are all of it behind its header.

    Raises:
        DecodeError: they are no such answer.
    """
    reader = Reader(data, "answer")
    answer = read_message(message, version, reader)
    reader.finish()
    return answer


class ListedGroup(Message, kw_only=True):
    """A group that a broker coordinates. Its type ("Classic", "Consumer", "Share", "Streams") is present from 3.8 on.

    Kafka's own brokers write nothing but UTF-8. Of others, a name that is none must not hide all other groups.
    """

    group_id: LossyText
    protocol_type: LossyText
    group_state: Annotated[str, since(4)] = ""
    group_type: Annotated[str, since(5)] = ""


class ListGroupsResponse(Message, kw_only=True):
    """The groups that a broker coordinates, of those that the user may describe."""

    newest: ClassVar[int] = 5
    flexible: ClassVar[int | None] = 3

    throttle_time_ms: Annotated[Int32, since(1)] = 0
    error_code: Int16
    groups: tuple[ListedGroup, ...]


class ClassicMemberDescribed(Message, kw_only=True):
    """A member of a classic group. Its bytes are empty unless the group is Stable."""

    member_id: str
    group_instance_id: Annotated[str | None, since(4)] = None
    client_id: str
    client_host: str
    member_metadata: bytes
    member_assignment: bytes


class ClassicGroupDescribed(Message, kw_only=True):
    """A classic group; ``protocol_data`` is its assignor, and empty unless it is Stable."""

    error_code: Int16
    error_message: Annotated[str | None, since(6)] = None
    group_id: str
    group_state: str
    protocol_type: str
    protocol_data: str
    members: tuple[ClassicMemberDescribed, ...]
    authorized_operations: Annotated[Int32, since(3)] = NOT_REQUESTED


class DescribeGroupsResponse(Message, kw_only=True):
    """Classic groups."""

    newest: ClassVar[int] = 6
    flexible: ClassVar[int | None] = 5

    throttle_time_ms: Annotated[Int32, since(1)] = 0
    groups: tuple[ClassicGroupDescribed, ...]


class NamedTopicPartitions(Message):
    """Some partitions of a topic."""

    topic_id: Uuid
    topic_name: str
    partitions: tuple[Int32, ...]


class AssignmentDescribed(Message):
    """What a member owns, or is to own."""

    topic_partitions: tuple[NamedTopicPartitions, ...] = ()


class ConsumerMemberDescribed(Message, kw_only=True):
    """A member of a KIP-848 group. Brokers from 4.0 on count as its assignment also what it has yet to give back."""

    member_id: str
    instance_id: str | None
    rack_id: str | None
    member_epoch: Int32
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    subscribed_topic_regex: str | None
    assignment: AssignmentDescribed
    target_assignment: AssignmentDescribed
    member_type: Annotated[Int8, since(1)] = -1


class ConsumerGroupDescribed(Message, kw_only=True):
    """A KIP-848 group."""

    error_code: Int16
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: Int32
    assignment_epoch: Int32
    assignor_name: str
    members: tuple[ConsumerMemberDescribed, ...]
    authorized_operations: Int32


class ConsumerGroupDescribeResponse(Message):
    """KIP-848 groups."""

    newest: ClassVar[int] = 1
    flexible: ClassVar[int | None] = 0

    throttle_time_ms: Int32
    groups: tuple[ConsumerGroupDescribed, ...]


class ShareMemberDescribed(Message, kw_only=True):
    """A member of a share group."""

    member_id: str
    rack_id: str | None
    member_epoch: Int32
    client_id: str
    client_host: str
    subscribed_topic_names: tuple[str, ...]
    assignment: AssignmentDescribed


class ShareGroupDescribed(Message, kw_only=True):
    """A share group."""

    error_code: Int16
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: Int32
    assignment_epoch: Int32
    assignor_name: str
    members: tuple[ShareMemberDescribed, ...]
    authorized_operations: Int32


class ShareGroupDescribeResponse(Message):
    """Share groups."""

    newest: ClassVar[int] = 1
    flexible: ClassVar[int | None] = 0

    throttle_time_ms: Int32
    groups: tuple[ShareGroupDescribed, ...]


class SharePartitionOffset(Message, kw_only=True):
    """How far a share group is in a partition; -1: there is no such number yet. Kafka has ``lag`` from 4.2 on."""

    partition_index: Int32
    start_offset: Int64
    leader_epoch: Int32
    lag: Annotated[Int64, since(1)] = -1
    error_code: Int16
    error_message: str | None


class ShareTopicOffsets(Message):
    """How far a share group is in a topic."""

    topic_name: str
    topic_id: Uuid
    partitions: tuple[SharePartitionOffset, ...]


class ShareGroupOffsets(Message):
    """How far a share group is."""

    group_id: str
    topics: tuple[ShareTopicOffsets, ...]
    error_code: Int16
    error_message: str | None


class DescribeShareGroupOffsetsResponse(Message):
    """How far share groups are, in all partitions that they have initialized."""

    newest: ClassVar[int] = 1
    flexible: ClassVar[int | None] = 0

    throttle_time_ms: Int32
    groups: tuple[ShareGroupOffsets, ...]


class KeyValue(Message):
    """A name with its value."""

    key: str
    value: str


class TopicInfo(Message):
    """A topic that a streams group makes for itself."""

    name: str
    partitions: Int32
    replication_factor: Int16
    topic_configs: tuple[KeyValue, ...]


class SubtopologyDescribed(Message):
    """A part of a streams group's topology."""

    subtopology_id: str
    source_topics: tuple[str, ...]
    repartition_sink_topics: tuple[str, ...]
    state_changelog_topics: tuple[TopicInfo, ...]
    repartition_source_topics: tuple[TopicInfo, ...]


class TopologyDescribed(Message):
    """What a streams group runs."""

    epoch: Int32
    subtopologies: tuple[SubtopologyDescribed, ...] | None


class Endpoint(Message):
    """Where other members can query a streams member."""

    host: str
    port: UInt16


class TaskOffset(Message):
    """How far a task is."""

    subtopology_id: str
    partition: Int32
    offset: Int64


class Tasks(Message):
    """Tasks of one part of the topology."""

    subtopology_id: str
    partitions: tuple[Int32, ...]


class TasksDescribed(Message):
    """The tasks that a member has, or is to have."""

    active_tasks: tuple[Tasks, ...]
    standby_tasks: tuple[Tasks, ...]
    warmup_tasks: tuple[Tasks, ...]


class StreamsMemberDescribed(Message, kw_only=True):
    """A member of a streams group."""

    member_id: str
    member_epoch: Int32
    instance_id: str | None
    rack_id: str | None
    client_id: str
    client_host: str
    topology_epoch: Int32
    process_id: str
    user_endpoint: Endpoint | None
    client_tags: tuple[KeyValue, ...]
    task_offsets: tuple[TaskOffset, ...]
    task_end_offsets: tuple[TaskOffset, ...]
    assignment: TasksDescribed
    target_assignment: TasksDescribed
    is_classic: Int8


class StreamsGroupDescribed(Message, kw_only=True):
    """A streams group."""

    error_code: Int16
    error_message: str | None
    group_id: str
    group_state: str
    group_epoch: Int32
    assignment_epoch: Int32
    topology: TopologyDescribed | None
    members: tuple[StreamsMemberDescribed, ...]
    authorized_operations: Int32


class StreamsGroupDescribeResponse(Message):
    """Streams groups."""

    newest: ClassVar[int] = 0
    flexible: ClassVar[int | None] = 0

    throttle_time_ms: Int32
    groups: tuple[StreamsGroupDescribed, ...]


class PartitionFetched(Message, kw_only=True):
    """A committed offset; -1: there is none."""

    partition_index: Int32
    committed_offset: Int64
    committed_leader_epoch: Annotated[Int32, since(5)] = -1
    metadata: str | None
    error_code: Int16


class TopicFetched(Message):
    """The committed offsets of a topic."""

    name: str
    partitions: tuple[PartitionFetched, ...]


class GroupFetched(Message):
    """The committed offsets of a group."""

    group_id: str
    topics: tuple[TopicFetched, ...]
    error_code: Int16


class OffsetFetchResponse(Message):
    """The committed offsets of several groups (from version 8 on, KIP-709). Version 10 knows topics by id only."""

    newest: ClassVar[int] = 9
    flexible: ClassVar[int | None] = 6

    throttle_time_ms: Int32
    groups: tuple[GroupFetched, ...]


class SingleGroupOffsetFetchResponse(Message, kw_only=True):
    """The committed offsets of one group, before version 8."""

    newest: ClassVar[int] = 7
    flexible: ClassVar[int | None] = 6

    throttle_time_ms: Annotated[Int32, since(3)] = 0
    topics: tuple[TopicFetched, ...]
    error_code: Int16


class Coordinator(Message):
    """The coordinator of a group; ``node_id`` -1: it has none now."""

    key: str
    node_id: Int32
    host: str
    port: Int32
    error_code: Int16
    error_message: str | None


class FindCoordinatorResponse(Message):
    """Who coordinates several groups (from version 4 on, KIP-699)."""

    newest: ClassVar[int] = 6
    flexible: ClassVar[int | None] = 3

    throttle_time_ms: Int32
    coordinators: tuple[Coordinator, ...]


def read_coordinators(version: int, data: bytes) -> tuple[Coordinator, ...]:
    """The coordinators in such an answer; none in bytes that are no answer."""
    try:
        return read_response(FindCoordinatorResponse, version, data).coordinators
    except DecodeError:
        return ()
