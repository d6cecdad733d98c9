"""The members of a group: what each subscribes to, what it owns, and what the broker has told it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from monitor.model.connect import ConnectWorker
from monitor.model.values import IdPartitions, TopicPartitions, Value


class MemberState(StrEnum):
    """How far a member of a KIP-848 group is with what it was told (MemberState of Kafka's group coordinator)."""

    STABLE = "stable"
    UNREVOKED_PARTITIONS = "unrevoked_partitions"
    """It has to give partitions back first; until then it keeps its old epoch."""
    UNRELEASED_PARTITIONS = "unreleased_partitions"
    """It waits for partitions that other members still have to give back."""
    UNKNOWN = "unknown"


STATIC_LEAVE_EPOCH: Final = -2
"""The epoch of a static member that closed and may come back before its session ends (KIP-848;
``LEAVE_GROUP_STATIC_MEMBER_EPOCH`` of Kafka). No other epoch is lower."""


BATCH_MS: Final = 300_000
"""How long a consumer may take between two polls, where nothing else is known (Kafka's ``max.poll.interval.ms``)."""

LONGEST_BATCH_MS: Final = 3_600_000
"""A member with a longer limit between two polls than this has switched that limit off, so the limit shows
nothing (Kafka Streams did so by default, with the largest number there is)."""


class SpareTasks(Value):
    """Tasks of a streams group's member that read no input: standby tasks copy a state, warm-up tasks begin to."""

    standby: tuple[IdPartitions, ...] = ()
    warmup: tuple[IdPartitions, ...] = ()


class Reconciliation(Value):
    """Where a member of a KIP-848, share or streams group stands between what it has and what it is to have.

    ``assigned`` it owns; ``revoking`` it has been told to give back and may still own. ``target`` None: the broker has
    not chosen one. ``epoch``: see STATIC_LEAVE_EPOCH. ``since_ms``: when the broker wrote this.

    Those are the active tasks of a streams group's member. Of its standby and warm-up tasks ``spare`` are those that it
    has, ``spare_revoking`` those that it has to give back and ``spare_target`` those that it is to have. None: none.
    """

    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = MemberState.STABLE
    assigned: tuple[IdPartitions, ...] = ()
    revoking: tuple[IdPartitions, ...] = ()
    target: tuple[IdPartitions, ...] | None = None
    since_ms: int = 0
    spare: SpareTasks | None = None
    spare_revoking: SpareTasks | None = None
    spare_target: SpareTasks | None = None


FAUST: Final = "faust"
"""The assignor of a group of Faust (``faust.assignor.PartitionAssignor``), by the name that the log has."""

STREAM: Final = "stream"
"""The assignor of a classic group of Kafka Streams (``StreamsPartitionAssignor``), by the name that the log has."""


class StreamsTask(msgspec.Struct, frozen=True, array_like=True, order=True, gc=False):
    """A task of a classic group: a subtopology's share of the partitions of this number; few have a ``topology``."""

    subtopology: int
    partition: int
    topology: str | None = None


RUNS_AS_ACTIVE: Final = -2
UNKNOWN_SUM: Final = -3
"""Instead of a sum of offsets: the member ran the task as its active one; or it is not known
(``Task.LATEST_OFFSET`` and ``SubscriptionInfo.UNKNOWN_OFFSET_SUM`` of Kafka Streams)."""


class TaskOffset(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How far a member's state of a task is: the sum of the offsets of its changelogs, as the member joined."""

    task: StreamsTask
    offset_sum: int


class StreamsClient(Value):
    """What a member of Kafka Streams says of itself.

    Members of one application instance have one ``process_id``. ``endpoint`` is where the instance can be queried.

    In a classic group it is the user data of the subscription (``SubscriptionInfo``): ``version`` is that of its
    format, ``error`` why the member joins again (``AssignorError``; 0: no error), ``offset_sums`` is how far the states
    are that it has. In a streams group of the broker (KIP-1071) ``topology_epoch`` is that of the topology that it
    runs.
    """

    process_id: str
    version: int | None = None
    error: int = 0
    offset_sums: tuple[TaskOffset, ...] = ()
    endpoint: str | None = None
    topology_epoch: int | None = None


class StreamsNotice(Value):
    """What the leader of a classic group of Kafka Streams tells a member beside its partitions (``AssignmentInfo``).

    ``version`` is that of its format. ``error`` says why nothing was assigned, if it is not 0 (``AssignorError``).
    ``next_rebalance_ms`` is when a rebalance follows that nobody needs to cause (ms since the epoch): 0, at once, as
    this one only takes partitions from those who have them; a time, when it is seen whether standby tasks have caught
    up; None, at no time, or the version is before 7 and does not tell.

    The ``active`` tasks belong to the member's assigned partitions one by one, in their order.
    """

    version: int
    error: int = 0
    next_rebalance_ms: int | None = None
    active: tuple[StreamsTask, ...] = ()
    standby: tuple[StreamsTask, ...] = ()


class ClassicProtocol(Value):
    """An assignor that a classic member inside a KIP-848 group offers, with what it subscribed to for it."""

    name: str
    topics: tuple[str, ...] = ()


class MemberRemark(StrEnum):
    """What deviates in a member's bytes from Kafka's protocol, although they can be read."""

    ABRIDGED_SUBSCRIPTION = "abridged_subscription"
    """The subscription says version 1 and ends before OwnedPartitions."""
    VERSIONED_USER_DATA = "versioned_user_data"
    """The user data of ``sticky`` begins with a version, as only kafka-python writes and reads it."""
    UNKNOWN_USER_DATA = "unknown_user_data"
    """The user data of ``sticky`` has a form that groupwatch does not know."""
    REPEATED_TOPIC = "repeated_topic"
    """The assignment names a topic more than once; its partitions are added up."""


class WireForm(Value):
    """How a member's bytes are written, beside what they say: client libraries differ in that.

    ``subscription_version`` and ``assignment_version`` are those that the bytes name (None: there are no bytes).
    ``assignment_data`` is the length of the user data in the assignment, in bytes (None: null). The leader wrote the
    assignment, the member itself the subscription. ``repeats_topic``: the assignment names a topic more than once.
    """

    subscription_version: int | None = None
    assignment_version: int | None = None
    assignment_data: int | None = None
    repeats_topic: bool = False


class TopicExpression(Value, array_like=True):
    """Which records of a topic a client of RocketMQ subscribes to: tags, sorted, or ``SQL92:`` and a condition."""

    topic: str
    expression: str


class Member(Value):
    """A group member: what it asked for (its subscription) and what it was given (its assignment).

    ``generation``, ``owned`` and ``user_data`` are the fields of the subscription it joined with (-1, empty and None
    where its client does not send them). ``unreadable`` says why its bytes could not be decoded, if they could not;
    ``assignment_read``: what it owns is known all the same. ``is_abridged``: its subscription ends before the last
    fields of the version that it names, as those of kafka-go and @platformatic/kafka before 2.12 do.

    Members of KIP-848, share and streams groups have ``reconciliation`` instead of ``assigned``: their partitions are
    written by topic id. ``regex`` is a subscription that the broker resolves, ``server_assignor`` the assignor the
    member asks for (None: the group's), ``classic_protocols`` what it offers if it speaks the classic protocol.

    Where every member assigns for itself (RocketMQ), ``assignor`` is the one that it says it uses. ``answers`` False:
    it was asked what it holds and did not answer, so ``assigned`` is not known. ``connections`` is how many of the
    system's connections bear its id; more than one are several clients that were given the same name.

    ``streams`` is of a member of a classic group of Kafka Streams, ``streams_client`` also of one in a streams group of
    the broker, ``connect`` of a worker of Kafka Connect; None also where it could not be read. ``wire`` is of a member
    of a classic group of consumers.

    ``joined_as`` is of a static member that came back and took over what the assignor had given to its predecessor: the
    id of that one. ``generation``, ``owned`` and ``user_data`` are then what that one joined with. ``returned_ms`` is
    when it came back.

    ``copies`` are of a member of a group of Faust: the assigned partitions of which it only keeps a copy (None: not
    known).

    ``expressions`` are of a client of RocketMQ: those topics, sorted, of which it does not subscribe to all records
    (None: not known).
    """

    member_id: str
    topics: tuple[str, ...] = ()
    instance_id: str | None = None
    rack: str | None = None
    generation: int = -1
    owned: tuple[TopicPartitions, ...] = ()
    user_data: bytes | None = None
    assigned: tuple[TopicPartitions, ...] = ()
    client_id: str = ""
    host: str = ""
    session_timeout_ms: int = 0
    rebalance_timeout_ms: int = 0
    unreadable: str | None = None
    regex: str | None = None
    server_assignor: str | None = None
    classic_protocols: tuple[ClassicProtocol, ...] = ()
    reconciliation: Reconciliation | None = None
    assignor: str | None = None
    answers: bool = True
    connections: int = 1
    assignment_read: bool = False
    is_abridged: bool = False
    streams: StreamsNotice | None = None
    wire: WireForm | None = None
    streams_client: StreamsClient | None = None
    connect: ConnectWorker | None = None
    joined_as: str | None = None
    returned_ms: int = 0
    copies: tuple[TopicPartitions, ...] | None = None
    expressions: tuple[TopicExpression, ...] | None = None


def batch_limit_ms(member: Member | None) -> int | None:
    """How long a member may take with what it has polled; None: not known."""
    limit_ms = 0 if member is None else member.rebalance_timeout_ms
    return limit_ms if 0 < limit_ms <= LONGEST_BATCH_MS else None
