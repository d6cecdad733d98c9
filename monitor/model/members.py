"""The members of a group: what each subscribes to, what it owns, and what the broker has told it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

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


class Reconciliation(Value):
    """Where a member of a KIP-848, share or streams group stands between what it has and what it is to have.

    ``assigned`` it owns; ``revoking`` it has been told to give back and may still own. ``target`` None: the broker has
    not chosen one. ``epoch``: see STATIC_LEAVE_EPOCH. ``since_ms``: when the broker wrote this.
    """

    epoch: int = 0
    previous_epoch: int = 0
    state: MemberState = MemberState.STABLE
    assigned: tuple[IdPartitions, ...] = ()
    revoking: tuple[IdPartitions, ...] = ()
    target: tuple[IdPartitions, ...] | None = None
    since_ms: int = 0


STREAM: Final = "stream"
"""The assignor of a classic group of Kafka Streams (``StreamsPartitionAssignor``), by the name that the log has."""


class StreamsNotice(Value):
    """What the leader of a classic group of Kafka Streams tells a member beside its partitions (``AssignmentInfo``).

    ``version`` is that of its format. ``error`` says why nothing was assigned, if it is not 0 (``AssignorError``).
    ``next_rebalance_ms`` is when a rebalance follows that nobody needs to cause (ms since the epoch): 0, at once, as
    this one only takes partitions from those who have them; a time, when it is seen whether standby tasks have caught
    up; None, at no time, or the version is before 7 and does not tell.
    """

    version: int
    error: int = 0
    next_rebalance_ms: int | None = None


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

    ``streams`` is of a member of a classic group of Kafka Streams; None also where it could not be read. ``wire`` is of
    a member of a classic group of consumers.

    ``joined_as`` is of a static member that came back and took over what the assignor had given to its predecessor: the
    id of that one. ``generation``, ``owned`` and ``user_data`` are then what that one joined with.
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
    joined_as: str | None = None
