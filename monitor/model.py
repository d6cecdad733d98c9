"""The vocabulary of groupwatch: frozen values that every other module takes and gives.

Nothing here has behaviour beyond a lookup. Times are integers in milliseconds since the epoch (``*_ms``), offsets and
lags are counted in records. ``None`` means "not known" or "there is none"; no sentinel number ever stands for it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, cast, dataclass_transform

import msgspec

STATE_VERSION: Final = 2
"""Version of the stored states below. A state written by a newer version is refused, never guessed at."""


MOST: Final = (1 << 63) - 1
"""The largest number that is stored or shown: sums end here. Only forged offsets add up to so much."""

EMPTY_GZIP: Final = bytes.fromhex("1f8b08000000000000ff03000000000000000000")
"""No text at all, in gzip."""


# msgspec hands "frozen" down to subclasses; a type checker has to be told.
@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of all values: immutable, compared by content, written without the fields that have their default."""


PartitionId = int | str
"""A partition within its topic: a number in Kafka, text where a broker is part of it.

RocketMQ's queues are ``<broker>-<queue>`` (the broker's name may hold dashes itself), MetaQ's ``<broker id>-<number>``.
All partitions of a cluster are of one of the two, so that they have an order.
"""


def number(partition: PartitionId) -> int:
    """A partition of Kafka, as the number that it is."""
    return cast("int", partition)


def numbers(partitions: tuple[PartitionId, ...]) -> tuple[int, ...]:
    """Partitions of Kafka, as the numbers that they are."""
    return cast("tuple[int, ...]", partitions)


# A large group needs a million of the next two. They can't be part of a cycle, so Python's collector need not see them.
class TopicPartition(msgspec.Struct, frozen=True, order=True, gc=False):
    """One partition of one topic."""

    topic: str
    partition: PartitionId


class TopicPartitions(msgspec.Struct, frozen=True, order=True, gc=False):
    """Some partitions of one topic, in the order in which they were given."""

    topic: str
    partitions: tuple[PartitionId, ...]


# --- what an assignor takes and gives ---------------------------------------------------------------------------------


class IdPartitions(msgspec.Struct, frozen=True, order=True, gc=False):
    """Some partitions of a topic that is known by its id only; in a streams group, tasks of a subtopology.

    ``id`` is the topic's Uuid in Kafka's text form (22 characters of base64), or the subtopology's name.
    """

    id: str
    partitions: tuple[int, ...]


class MemberState(StrEnum):
    """How far a member of a KIP-848 group is with what it was told (MemberState of Kafka's group coordinator)."""

    STABLE = "stable"
    UNREVOKED_PARTITIONS = "unrevoked_partitions"
    """It has to give partitions back first; until then it keeps its old epoch."""
    UNRELEASED_PARTITIONS = "unreleased_partitions"
    """It waits for partitions that other members still have to give back."""
    UNKNOWN = "unknown"


class Reconciliation(Value):
    """Where a member of a KIP-848, share or streams group stands between what it has and what it is to have.

    ``assigned`` it owns; ``revoking`` it has been told to give back and may still own. ``target`` None: the broker has
    not chosen one. ``epoch`` -2: a static member that left and may come back. ``since_ms``: when the broker wrote this.
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

    ``streams`` is of a member of a classic group of Kafka Streams; None also where it could not be read.
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


class TopicShape(Value):
    """What an assignor knows of a topic: how many partitions, and the racks of each partition's replicas.

    ``racks`` is empty when no rack is known, else one tuple for each partition (None: a broker without a rack).
    ``topic_id`` is the topic's Uuid in Kafka's text form (22 characters of base64); only the broker's assignors use it.
    """

    topic: str
    partitions: int
    racks: tuple[tuple[str | None, ...], ...] = ()
    topic_id: str | None = None


class MemberAssignment(Value):
    """What one member gets, topic by topic."""

    member_id: str
    topics: tuple[TopicPartitions, ...] = ()


class Quirk(StrEnum):
    """Something odd that an original assignor really does, and that its rebuilt twin therefore does too."""

    NOT_SUBSCRIBED = "not_subscribed"
    """A member is given a partition of a topic it did not ask for."""
    ASSIGNED_TWICE = "assigned_twice"
    """Two members are given the same partition."""
    UNASSIGNED = "unassigned"
    """A partition that somebody asked for is given to nobody."""
    DOES_NOT_EXIST = "does_not_exist"
    """A member is given a partition that the topic does not have."""


class Assignment(Value):
    """The answer of an assignor: one entry for every member, also for one that gets nothing.

    ``quirks`` names what is odd about it, sorted; empty for an answer as one would expect it.
    """

    members: tuple[MemberAssignment, ...] = ()
    quirks: tuple[Quirk, ...] = ()


# --- events: what happened, in the order of the log it was read from --------------------------------------------------


class Event(Value, tag_field="event", tag=str.lower):
    """Base of everything that can happen to a group, a topic or a source."""


class OffsetCommitted(Event):
    """A group committed an offset: the next record it will read of that partition.

    ``topic_key`` are the first eight bytes of the topic's id, as a signed number: enough to tell a topic from another
    one of that name. None: the broker did not write it (Kafka before 4.1, and commits of topics without an id).
    """

    group: str
    topic: str
    partition: PartitionId
    offset: int
    committed_ms: int
    leader_epoch: int = -1
    topic_key: int | None = None


class CommitPoint(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A commit in a history: when, and of which offset."""

    committed_ms: int
    offset: int


class Rewind(Value, array_like=True):
    """A commit of an offset lower than the one committed before it: records will be delivered again."""

    at_ms: int
    before: int
    after: int


class CommitRun(Event):
    """Commits of one partition that followed one another in the log, combined without losing what is tracked.

    ``first`` is the first commit; ``points`` are, oldest first, those that a history keeps (see
    monitor.commit_history), the newest last; ``rewinds`` counts the rewinds from the first commit on, and
    ``rewound`` the records that they went back by; ``first_rewind`` is told if there are several. All commits of a run
    are of the same topic (see OffsetCommitted.topic_key).
    """

    group: str
    topic: str
    partition: PartitionId
    first: CommitPoint
    points: tuple[CommitPoint, ...]
    leader_epoch: int = -1
    commits: int = 1
    rewinds: int = 0
    last_rewind: Rewind | None = None
    rewound: int = 0
    topic_key: int | None = None
    first_rewind: Rewind | None = None


class OffsetsListed(Event):
    """What the broker itself says a group has committed: it knows the fate of transactions, the log's reader does not.

    ``asked_ms`` is when the question was sent, by the collector's clock.
    """

    cluster: str
    group: str
    asked_ms: int
    offsets: tuple[ListedOffset, ...]
    version: int = 1


class ListedOffset(Value):
    """One committed offset in the broker's answer."""

    topic: str
    partition: PartitionId
    offset: int


class ObservedOffset(Value, array_like=True):
    """A committed offset as a collector read it; ``committed_ms`` is when it was committed, where the system tells."""

    topic: str
    partition: PartitionId
    offset: int
    committed_ms: int | None = None


class Source(StrEnum):
    """Where what is known of a group comes from. Of two that tell of one group, the first one here counts."""

    LOG = "log"
    """The cluster's own log of groups, ``__consumer_offsets``: everything that happened, in order."""
    ADMIN = "admin"
    """The brokers' answers to a collector's requests."""
    SYSTEM = "system"
    """A collector's reading of a system that has no such log: RocketMQ, ZooKeeper."""
    CHECKPOINT = "checkpoint"
    """The files of a Spark query's checkpoint."""


class Sharing(StrEnum):
    """How the members of a group share the partitions of a topic."""

    EXCLUSIVE = "exclusive"
    """Every partition has one owner."""
    BROADCAST = "broadcast"
    """Every member reads every partition and keeps its offsets for itself (RocketMQ's broadcasting)."""
    BY_RECORD = "by_record"
    """The broker hands out records, not partitions (RocketMQ's POP, and clients of its proxy)."""


class GroupObserved(Event):
    """A whole group as a collector read it at ``observed_ms``, by the collector's clock.

    ``pass_ms`` is when the pass began that read it. ``protocol`` is the group's assignor, None where nothing tells it.
    ``generation`` and ``target_epoch`` are the system's own (None: it counts none, and groupwatch counts the changes
    that it sees), ``state`` is the group's state in the system's words. ``regexes`` are the expressions that a KIP-848
    group's members subscribe to, with the topics that they seem to stand for. ``partial``: not everybody who keeps
    offsets of the group has told them, so those that are not named are as they were.
    """

    cluster: str
    group: str
    kind: GroupKind
    source: Source
    pass_ms: int
    observed_ms: int
    members: tuple[Member, ...] = ()
    offsets: tuple[ObservedOffset, ...] = ()
    protocol_type: str = "consumer"
    protocol: str | None = None
    generation: int | None = None
    target_epoch: int | None = None
    state: str | None = None
    sharing: Sharing = Sharing.EXCLUSIVE
    version: int = 1
    regexes: tuple[ResolvedRegex, ...] = ()
    partial: bool = False


class GroupsListed(Event):
    """A collector has read all groups that its source has; those that were last seen before and are not named are gone.

    A group that has not changed need not have been written in the pass.
    """

    cluster: str
    source: Source
    pass_ms: int
    completed_ms: int
    groups: tuple[str, ...] = ()
    version: int = 1


class RebalanceSampled(Event):
    """What a broker said of a classic group's state: that it rebalances, or (``state`` None) that it no longer does.

    ``state`` is in the broker's words. ``since_ms`` is when it was first seen to rebalance, ``sampled_ms`` when it was
    asked for this answer, both by the collector's clock. ``interval_ms``: so long before ``since_ms`` it was seen not
    to rebalance; None: it was not looked at before.

    Only once it is over: ``seen_ms`` is when the broker was last asked and it still rebalanced, ``gap_ms`` the longest
    time from one question in between to the next, ``took_ms`` the longest that an answer took, from the one before the
    first sight to this one, and ``broker`` the id of the broker. None and 0 from a collector that did not tell them.
    """

    cluster: str
    group: str
    state: str | None
    since_ms: int
    sampled_ms: int
    interval_ms: int | None = None
    seen_ms: int | None = None
    gap_ms: int | None = None
    took_ms: int = 0
    broker: int | None = None
    version: int = 1


class OffsetDeleted(Event):
    """A committed offset was deleted (by expiry, by an administrator, or because its topic went)."""

    group: str
    topic: str
    partition: PartitionId


class MembershipStored(Event):
    """The coordinator wrote a completed generation of a classic group (no members: the group became Empty).

    ``state_ms`` is when the group entered the state in which this was written: with members, when all had joined.
    """

    group: str
    generation: int
    protocol_type: str
    protocol: str | None
    leader: str | None
    stored_ms: int
    members: tuple[Member, ...] = ()
    state_ms: int | None = None


class GroupKind(StrEnum):
    """What kind of group it is. A group has one kind at a time; one of Kafka's may be converted."""

    CLASSIC = "kafka-classic"
    CONSUMER = "kafka-consumer"
    SHARE = "kafka-share"
    STREAMS = "kafka-streams"
    ZOOKEEPER = "kafka-zk"
    """The consumers of Kafka 0.8 to 0.10 that keep their groups in ZooKeeper."""
    ROCKETMQ = "rocketmq"
    METAQ = "metaq"
    SPARK = "spark"
    """Not a group to its cluster: a query of Spark Structured Streaming, which keeps its offsets in its checkpoint."""


class GroupDeleted(Event):
    """The coordinator deleted the group, or what made it a group of this kind (it was converted)."""

    group: str
    deleted_ms: int
    kind: GroupKind = GroupKind.CLASSIC


class EpochStored(Event):
    """A KIP-848, share or streams group has a new epoch: its members or what they subscribe to changed.

    ``metadata_hash`` stands for the subscribed topics as the broker knows them (0: none, or an older broker).
    """

    group: str
    kind: GroupKind
    epoch: int
    stored_ms: int
    metadata_hash: int = 0


class SubscribedTopic(Value):
    """A topic as a broker of Kafka 3.9 writes it for a group that subscribes to it."""

    topic_id: str
    topic: str
    partitions: int


class SubscribedTopicsStored(Event):
    """The topics that a KIP-848 group subscribes to (Kafka 3.9; later brokers write a hash instead). Empty: deleted."""

    group: str
    stored_ms: int
    topics: tuple[SubscribedTopic, ...] = ()


class MemberStored(Event):
    """A member joined a KIP-848, share or streams group, or changed what it says of itself."""

    group: str
    kind: GroupKind
    member: Member
    stored_ms: int


class MemberRemoved(Event):
    """A member left the group, was fenced, or its session ended: the log does not tell which."""

    group: str
    kind: GroupKind
    member_id: str
    removed_ms: int


class TargetEpochStored(Event):
    """The broker has chosen targets for the group epoch ``epoch`` (None: deleted)."""

    group: str
    kind: GroupKind
    epoch: int | None
    stored_ms: int


class TargetStored(Event):
    """What a member is to own (None: deleted). It holds until the next one, whatever the epoch."""

    group: str
    kind: GroupKind
    member_id: str
    target: tuple[IdPartitions, ...] | None


class CurrentStored(Event):
    """What a member owns now and how far it is; ``target`` of the reconciliation is not set."""

    group: str
    kind: GroupKind
    member_id: str
    current: Reconciliation


class CurrentRemoved(Event):
    """What a member owns was deleted."""

    group: str
    kind: GroupKind
    member_id: str


class RegexResolved(Event):
    """The topics that the broker found for a regular expression of the group's members (None: deleted)."""

    group: str
    regex: str
    topics: tuple[str, ...] | None
    stored_ms: int


class PartitionObserved(Value):
    """One partition as a collector saw it; None where the broker did not answer for it.

    ``stable`` is the last stable offset where that is below the end: a transaction that began there is open, and who
    reads only committed records gets nothing from there on. None: nothing is held back, or it is not known.
    """

    partition: PartitionId
    earliest: int | None = None
    end: int | None = None
    racks: tuple[str | None, ...] = ()
    stable: int | None = None


class TopicObserved(Event):
    """A topic as a collector saw it. ``pass_ms`` is when the pass began that saw it."""

    cluster: str
    topic: str
    pass_ms: int
    observed_ms: int
    partitions: tuple[PartitionObserved, ...]
    topic_id: str | None = None
    version: int = 1


class PassCompleted(Event):
    """A collector has written every topic of the cluster. Topics not seen since ``pass_ms`` no longer exist.

    ``source_id`` is what tells what was read from another one at the same address: the id of a Kafka cluster, the birth
    of a tree in ZooKeeper; None: it has none.
    """

    cluster: str
    pass_ms: int
    completed_ms: int
    topics: int
    version: int = 1
    source_id: str | None = None


class DecodeFailed(Event):
    """A record could not be read. ``reason`` is a word from a short fixed list; the place lets a person find it."""

    source: str
    reason: str
    log_partition: int
    log_offset: int
    position: int | None = None


OffsetEvent = OffsetCommitted | CommitRun | OffsetDeleted | OffsetsListed
ModernEvent = (
    GroupDeleted
    | EpochStored
    | SubscribedTopicsStored
    | MemberStored
    | MemberRemoved
    | TargetEpochStored
    | TargetStored
    | CurrentStored
    | CurrentRemoved
    | RegexResolved
)
"""What the records of KIP-848, share and streams groups tell."""

MembershipEvent = MembershipStored | ModernEvent
GroupEvent = OffsetEvent | MembershipEvent | RebalanceSampled | GroupObserved
TopicEvent = TopicObserved | PassCompleted
CollectedEvent = TopicEvent | OffsetsListed | RebalanceSampled | GroupObserved | GroupsListed
"""What collectors write.

Each has a ``version``, that of docs/events.md; it is written only where it is not 1. Who reads a version that it does
not know refuses the event, and counts it.
"""

AnyEvent = GroupEvent | TopicEvent | GroupsListed | DecodeFailed


# --- states: what is known now, folded from the events ----------------------------------------------------------------


class Phase(StrEnum):
    """Where a group stands, as far as the log can tell.

    A rebalance of a classic group that is under way is not in the log; ASSIGNING and RECONCILING are states of the
    other kinds only (KIP-848): the broker has yet to choose targets, the members have yet to reach them.
    """

    UNSEEN = "unseen"
    OFFSETS_ONLY = "offsets_only"
    EMPTY = "empty"
    ASSIGNING = "assigning"
    RECONCILING = "reconciling"
    STABLE = "stable"
    GONE = "gone"


class CommittedOffset(Value, array_like=True):
    """The newest committed offset of one partition and when it was committed (the broker's clock).

    ``history`` are commits before it and itself, packed and bounded (monitor.commit_history). ``rewinds`` is
    counted since the partition was first committed. ``listed`` is the broker's own newest answer (None: it knows no
    committed offset) and ``listed_ms`` when it was asked (0: never); ``offset`` is the one that counts of the two, see
    monitor.tracking.listed_offsets.
    """

    topic: str
    partition: PartitionId
    offset: int
    committed_ms: int
    leader_epoch: int = -1
    history: bytes = b""
    rewinds: int = 0
    last_rewind: Rewind | None = None
    listed: int | None = None
    listed_ms: int = 0


class RebalanceCause(StrEnum):
    """Why a group rebalanced, as far as the log can tell."""

    JOIN = "join"
    LEAVE = "leave"
    """A member is gone. Of most members the log does not tell whether they left or timed out."""
    TIMEOUT = "timeout"
    """A member is gone that cannot have left by itself: a static one, or one that did not give back in time."""
    SUBSCRIPTION = "subscription"
    TOPICS = "topics"
    """Subscribed topics came, went or have another number of partitions."""
    STATIC_RESTART = "static_restart"
    ASSIGNOR = "assignor"
    HANDOVER = "handover"
    """The second half of a cooperative rebalance: partitions that were given back get their new owners."""
    UPGRADE = "upgrade"
    """From the classic protocol to that of KIP-848."""
    DOWNGRADE = "downgrade"
    UNKNOWN = "unknown"


FOLLOW_OF_THEMSELVES: Final = frozenset({RebalanceCause.HANDOVER, RebalanceCause.STATIC_RESTART})
"""Causes of rebalances that are no sign of unrest: the second half of one that may be, and what nobody had to stop for.
Who counts how often a group rebalances leaves out those that have no other cause."""


class Held(Value):
    """Partitions that a member had last; ``who`` is who it is over generations (monitor.tracking.moves).

    The topics are in the words of the log: names, and ids in a KIP-848 group. There ``stopped_ms`` is until when it may
    have read them: it was told then to give them back, or removed from the group (None: not known).
    """

    who: str
    topics: tuple[TopicPartitions, ...]
    stopped_ms: int | None = None


class HeldCount(Value, array_like=True):
    """How many partitions a member had."""

    who: str
    partitions: int


class Taken(Value, array_like=True):
    """Partitions of a KIP-848 group's topic that got a new owner, which has not committed them yet.

    ``gained_ms`` is since when the new one has them, ``stopped_ms`` until when the one before may have read them (None:
    not known). For ``topic_key`` see OffsetCommitted.
    """

    gained_ms: int
    stopped_ms: int | None
    topic_key: int
    partitions: tuple[int, ...]


SAMPLE_HOLDS_MS: Final = 30_000
"""From this age on, what was said of a group's state no longer counts. A rebalance that goes on is told again at least
every 10 s (monitor.collectors.group_states), so three were missed by then: the collector or its broker is away."""


class Sampled(Value, array_like=True):
    """That a classic group rebalances, as a collector saw it: first, last, and by how much it may have begun before.

    ``interval_ms`` None: not known. ``over``: it was seen since that it no longer does.
    """

    first_ms: int
    last_ms: int
    interval_ms: int | None = None
    over: bool = False


class CommittedTopic(Value, array_like=True):
    """Which topic of this name the group's newest commits are of (see OffsetCommitted.topic_key).

    ``since_ms`` is when it was first known to have been made anew: commits before then were of another one (None: of no
    other that is known of).
    """

    topic: str
    key: int
    since_ms: int | None = None


class Sight(Value, array_like=True):
    """What a collector saw of a classic group from its first answer that it rebalances to the first that it does not.

    It may be of several rebalances, one after the other. All times are by the collector's clock; the answer to a
    question holds for some instant of the ``took_ms`` after it. ``since_ms`` was the first question, ``seen_ms`` the
    last one with that answer, ``over_ms`` the next, ``interval_ms`` passed between the one before the first and that
    (None: there was none), ``gap_ms`` is the longest time between two of them (None: not known). ``broker`` answered.
    ``told``: the rebalances of the history know what it tells (monitor.tracking.sights).
    """

    since_ms: int
    seen_ms: int
    over_ms: int
    interval_ms: int | None = None
    gap_ms: int | None = None
    took_ms: int = 0
    broker: int | None = None
    told: bool = False


class Rebalance(Value):
    """A rebalance as the log shows it: up to which generation or epoch, when, and why.

    ``started_ms`` of a classic group is when it had begun for certain by what a collector saw, if one saw it, and else
    when its members had all joined (the waiting for them is not in the log); of the other kinds when the group's epoch
    was raised. ``ended_ms`` None: under way. ``moved`` partitions have another owner than before, ``avoidable`` of them
    would have stayed in the stickiest balanced assignment (monitor.tracking.moves). ``held`` is who had how much when
    it began, while it is under way. ``is_first``: the group had no members before it.

    ``pause_ms`` is summed over the ``paused_partitions``: how long they had no owner, or how much longer than usual
    they were not committed around its end. ``burst_records`` are those that their first commits after it cover
    (monitor.tracking.resumption).

    ``uncertainty_ms``: by how much a classic rebalance may have begun before ``started_ms``; None: not known, it may
    have been any time. The other kinds' beginning is exact.
    """

    generation: int
    started_ms: int
    ended_ms: int | None = None
    causes: tuple[RebalanceCause, ...] = ()
    joined: int = 0
    left: int = 0
    moved: int = 0
    avoidable: int = 0
    held: tuple[HeldCount, ...] = ()
    is_first: bool = False
    paused_partitions: int = 0
    pause_ms: int = 0
    burst_records: int = 0
    uncertainty_ms: int | None = None


class MembershipChange(Value):
    """Something that happened to a KIP-848 group's members for which the group's epoch has not been raised yet."""

    cause: RebalanceCause
    instance_id: str | None = None


class ResolvedRegex(Value):
    """A regular expression of a KIP-848 group's members with the topics that the broker found for it."""

    regex: str
    topics: tuple[str, ...] = ()


class GroupState(Value):
    """Everything known of one group. ``offsets`` is sorted by topic and partition.

    ``generation_ms`` is when the newest generation was stored, ``phase_ms`` when the phase began; ``rebalances`` counts
    the generations seen since the group was first seen, those that only emptied the group included. Of a KIP-848,
    share or streams group ``generation`` is the epoch, and members are sorted by id.

    ``unconfirmed`` are commits in the log that the broker does not know: their transaction is open or was aborted.

    ``target_epoch`` is the epoch for which the broker has chosen targets. ``incomplete_members`` are those of whom the
    log has told an assignment but not yet who they are (compaction changes the order). ``history`` are the newest
    rebalances, oldest first, bounded; ``under_way`` is one that has not ended, ``pending`` what may lead to the next.

    Counted since the group was first seen, as ``rebalances`` are: ``moved_partitions``, ``avoidable_moves`` and
    ``rebalance_ms`` of all ended rebalances, ``pause_ms`` (summed over partitions) and ``burst_records`` of them, and
    ``redelivered_records``, by which commits went back. ``released`` are partitions that were given back and that
    nobody has yet. ``sampled`` is what a collector saw of a rebalance that the log does not tell of yet; ``sights`` are
    what it saw from beginning to end, the newest ones. ``committed_topics`` tells a topic from one made anew, by name.
    ``taken`` are partitions whose new owner has yet to commit them.

    ``earlier_ms`` are when those rebalances ended that are no longer in the history and follow one another to it
    (monitor.tracking.rebalances), oldest first, bounded. Empty for a group that seldom rebalances.

    ``source`` is where all this comes from. Of a group that a collector reads as a whole, ``observed_ms`` is when it
    last read it, ``generation`` counts the changes of members and what they own (unless its system counts some), and
    ``sharing`` is how its members share partitions.
    """

    cluster: str
    group: str
    phase: Phase = Phase.UNSEEN
    phase_ms: int = 0
    protocol_type: str = ""
    protocol: str | None = None
    leader: str | None = None
    generation: int = 0
    generation_ms: int = 0
    members: tuple[Member, ...] = ()
    offsets: tuple[CommittedOffset, ...] = ()
    rebalances: int = 0
    version: int = STATE_VERSION
    kind: GroupKind = GroupKind.CLASSIC
    unconfirmed: tuple[CommittedOffset, ...] = ()
    target_epoch: int | None = None
    metadata_hash: int = 0
    subscribed_topics: tuple[SubscribedTopic, ...] = ()
    regexes: tuple[ResolvedRegex, ...] = ()
    incomplete_members: tuple[Member, ...] = ()
    history: tuple[Rebalance, ...] = ()
    under_way: Rebalance | None = None
    pending: tuple[MembershipChange, ...] = ()
    moved_partitions: int = 0
    avoidable_moves: int = 0
    rebalance_ms: int = 0
    redelivered_records: int = 0
    released: tuple[Held, ...] = ()
    pause_ms: int = 0
    burst_records: int = 0
    sampled: Sampled | None = None
    earlier_ms: tuple[int, ...] = ()
    sights: tuple[Sight, ...] = ()
    committed_topics: tuple[CommittedTopic, ...] = ()
    taken: tuple[Taken, ...] = ()
    source: Source = Source.LOG
    observed_ms: int = 0
    sharing: Sharing = Sharing.EXCLUSIVE


class EndOffsetAt(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a partition ended at an instant."""

    at_ms: int
    offset: int


class Release(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a transaction held records back for long, and when it was seen to have ended."""

    at_ms: int
    offset: int


class PartitionState(Value, gc=False):
    """One partition of a topic.

    ``first_seen_ms`` is when a collector first saw it; ``ends`` is oldest first, bounded. ``former_ms`` is when the
    partition of this name was last seen that a deleted topic of this name had (0: none is known of). ``earliest_ms`` is
    when a collector first saw the log begin at ``earliest`` (0: not known), ``earliest_end`` where it ended then.

    ``stable`` is the last stable offset where a transaction is open (None: nothing is held back, or it is not known),
    ``stable_ms`` when a collector first saw it there, ``released`` the end of the newest transaction that was long.

    ``woken`` is where the log stood still for long the last time, and when a collector first saw it go on.

    ``older`` are a few points of the end from before ``ends``, the further apart the older they are.
    """

    partition: PartitionId
    first_seen_ms: int
    earliest: int | None = None
    end: int | None = None
    racks: tuple[str | None, ...] = ()
    ends: tuple[EndOffsetAt, ...] = ()
    former_ms: int = 0
    earliest_ms: int = 0
    stable: int | None = None
    stable_ms: int = 0
    released: Release | None = None
    earliest_end: int | None = None
    woken: EndOffsetAt | None = None
    older: tuple[EndOffsetAt, ...] = ()


class TopicState(Value):
    """A topic with its partitions in order. ``pass_ms`` is the start of the newest collector pass that saw it.

    ``observed_ms`` is when it was last seen; anything older that still arrives is out of date. ``has_markers``: a
    collector saw a transaction end in it, however short (what ends one is a marker, which takes an offset). ``missed``:
    the newest completed pass did not see it; it has gone if the next one does not either.
    """

    cluster: str
    topic: str
    pass_ms: int
    topic_id: str | None = None
    partitions: tuple[PartitionState, ...] = ()
    observed_ms: int = 0
    version: int = STATE_VERSION
    has_markers: bool = False
    missed: bool = False


class ErrorCount(Value):
    """How often a reason occurred, and the place of the newest record that gave it."""

    reason: str
    count: int
    log_partition: int
    log_offset: int


class SourceState(Value):
    """What a source log gave that could not be read, by reason."""

    cluster: str
    source: str
    errors: tuple[ErrorCount, ...] = ()
    version: int = STATE_VERSION


# --- what detection takes and gives -----------------------------------------------------------------------------------


class Catalog(Value):
    """All topics of a cluster that exist now, as of a completed collector pass; ``names`` are theirs by topic id.

    ``watched_ms`` is when collectors began to look, as far as these topics show it: what was first seen then may be of
    any age. What was first seen later came later.
    """

    cluster: str
    pass_ms: int
    topics: dict[str, TopicState] = {}
    names: dict[str, str] = {}
    watched_ms: int = 0


class FindingKind(StrEnum):
    """What can be wrong with a group. Which is worse is monitor.findings' to say, not this order."""

    ORPHANED = "orphaned"
    UNATTENDED = "unattended"
    """A group without members, for which records wait."""
    DEAD_MEMBER = "dead_member"
    """A member is listed and owns partitions, and does nothing with them."""
    DOUBLE_OWNED = "double_owned"
    DRIFT = "drift"
    IMBALANCE = "imbalance"
    IDLE_MEMBERS = "idle_members"
    LAG = "lag"
    RETENTION = "retention"
    ABANDONED = "abandoned"
    """Records wait in topics that a living group once read and no longer subscribes."""
    REBALANCE = "rebalance"
    UNREADABLE_MEMBERS = "unreadable_members"
    """Members sent bytes that cannot be decoded, so what is wrong with the group may not be seen."""


class OrphanReason(StrEnum):
    """Why nobody owns a partition that somebody should read."""

    NO_MEMBERS = "no_members"
    GREW = "grew"
    UNSUBSCRIBED = "unsubscribed"
    ASSIGNOR_GAP = "assignor_gap"
    PENDING = "pending"
    REBALANCING = "rebalancing"
    """KIP-848: members or topics have changed, and the broker has yet to choose who is to have it."""
    MIXED_STRATEGY = "mixed_strategy"
    """RocketMQ: each member takes its share by another strategy, and this is in nobody's."""
    MIXED_SUBSCRIPTION = "mixed_subscription"
    """RocketMQ: it is in the share of a member that does not subscribe to the topic."""
    LEADER_UNSUBSCRIBED = "leader_unsubscribed"
    """The leader does not subscribe to the topic, and its assignor assigns only what the leader subscribes to."""
    NO_TASK = "no_task"
    """Kafka Streams: it belongs to no task that was given to a thread."""


class DriftKind(StrEnum):
    """Which expectation the owner differs from; or, quieter, that a tie of the assignor may explain the difference."""

    REPLAYED = "replayed"
    CURRENT = "current"
    TIE = "tie"
    TARGET = "target"
    """KIP-848: the broker has chosen another owner than its assignor gives."""
    PENDING = "pending"
    """KIP-848: a member still has what another is to have, for longer than a handover takes."""


class Handover(Value):
    """Partitions of a KIP-848 group that ``owner`` still has and ``heir`` is to have (None: nobody).

    ``is_told``: the broker has told the owner to give them back, else it has not heard from it since it chose.
    ``grace_ms`` is the owner's rebalance timeout (None: not known).
    """

    owner: str
    heir: str | None
    is_told: bool
    since_ms: int
    grace_ms: int | None
    partitions: tuple[TopicPartition, ...]


class LagStatus(StrEnum):
    """How the lag develops, by the rules of LinkedIn's Burrow (monitor.detection.burrow).

    STOP, STALL and REWIND are said of a partition only, and ERR of a group that has such a partition.
    """

    OK = "ok"
    WARN = "warn"
    """Commits advance, and the lag never fell."""
    ERR = "err"
    STOP = "stop"
    """No commits any more."""
    STALL = "stall"
    """Commits, always of the same offset."""
    REWIND = "rewind"
    """A commit of a lower offset than before, and none has got there again."""


class Pace(msgspec.Struct, frozen=True, gc=False):
    """How fast a partition is read and written, in records per second, over the same last minutes."""

    consumed_per_s: float
    produced_per_s: float


class TopicLag(Value):
    """What waits for a group in one topic: in records, and the age of the oldest. None: not known.

    ``partitions`` are those of the topic in the verdict.
    """

    topic: str
    lag: int | None = None
    lag_ms: int | None = None
    partitions: int = 0


class DriftCause(StrEnum):
    """The most likely cause of a drift (monitor.detection.causes)."""

    METADATA_STALE = "metadata_stale"
    """Topics came, went or changed, and the members still have the older metadata."""
    MIXED_ASSIGNORS = "mixed_assignors"
    """The members seem to have different assignors under one name, or offer different ones."""
    MIXED_SUBSCRIPTIONS = "mixed_subscriptions"
    FOREIGN_CLIENT = "foreign_client"
    """The member that assigns uses a library whose assignor differs from Kafka's."""
    RACKS_CHANGED = "racks_changed"
    TIE = "tie"
    UNKNOWN = "unknown"


class Finding(Value):
    """One thing that is wrong: where, since when, and the sentence a person reads. ``cause`` is that of a drift."""

    kind: FindingKind
    reason: str
    since_ms: int
    sentence: str
    partitions: tuple[TopicPartition, ...] = ()
    members: tuple[str, ...] = ()
    cause: DriftCause | None = None


class PartitionVerdict(Value, gc=False):
    """One partition of a group. Owners and expected owners are member ids; offsets and lag are in records.

    ``expected`` is the owner that the assignor would choose now, ``replayed`` the one it should have chosen for the
    inputs of the current generation; None: nobody, or not computable (see ``GroupVerdict.expectation``), or the same
    as ``expected`` if the broker chooses.
    ``committed`` None: no committed offset. ``lag`` None: not known. ``lag_ms``: age of the oldest waiting record.
    ``status`` is Burrow's, None where the lag is not known; ``pace`` is measured only where records wait. ``stable`` is
    the last stable offset, told only where records wait and a transaction holds some of the partition's records back.
    """

    topic: str
    partition: PartitionId
    owners: tuple[str, ...] = ()
    expected: str | None = None
    replayed: str | None = None
    committed: int | None = None
    earliest: int | None = None
    end: int | None = None
    lag: int | None = None
    lag_ms: int | None = None
    orphan: OrphanReason | None = None
    status: LagStatus | None = None
    pace: Pace | None = None
    stable: int | None = None


class MemberVerdict(Value):
    """One member with the number of partitions it owns and would own if the group rebalanced now.

    ``epoch`` and ``state`` are those of a member of a KIP-848, share or streams group. ``lag``: the records that are
    known to wait in its partitions, together; what is not known is not counted. ``answers``, ``connections`` and
    ``unreadable`` are those of the Member. ``idle`` None: that is not judged, as more than partitions counts there.
    """

    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    host: str = ""
    topics: tuple[str, ...] = ()
    partitions: int = 0
    expected_partitions: int | None = None
    idle: bool | None = False
    epoch: int | None = None
    state: MemberState | None = None
    lag: int = 0
    answers: bool = True
    connections: int = 1
    unreadable: str | None = None


class GroupVerdict(Value):
    """All that is known and judged of one group at ``evaluated_ms``. Findings are ordered worst first.

    ``expectation`` is "exact" (assignor known, both expectations computed), "target" (KIP-848: ``expected`` is what the
    broker has chosen), "invariants" (assignor not known to us) or "none" (no members, or a member whose bytes cannot
    be read). ``imbalance_ratio`` is the largest member's partitions over the smallest largest that any assignment could
    reach; None without members or partitions, and where partitions are not what is to be even (Kafka Streams).

    ``status`` is Burrow's, None if no lag is known; ``topics`` are sorted by name. ``pace`` is the sum over the
    partitions in which records wait, as far as it is known: ``paced_lag`` records wait where it is, nine tenths of
    ``lag`` at least, or both are None; ``catch_up_ms`` is how long they take to be read, None if that is never at that
    pace. ``lost`` are the records that retention removed before the group committed them (at most: offsets without a
    record count), ``kept_waiting`` the largest share of a trimmed partition's log that waits for the group, from 0 to
    1; both None if no lag is known.

    ``rebalancing_since_ms``: a rebalance is known to be under way since then. The counts are those of the GroupState.

    ``stable_lag`` are the records of ``lag`` that no open transaction holds back; None if ``lag`` is.

    ``source`` is where it is known from, ``sharing`` how its members share partitions. Of a MetaQ group offsets and all
    that is counted from them are bytes (monitor.detection.units). ``settles_ms`` is when the verdict may become another
    by time alone, as its members may be about to share their partitions out anew; None: nothing is awaited.

    ``lag_at_least_ms`` is the age, at least, of the oldest record that waits: ``lag_ms``, but also of partitions in
    which the oldest record is from before what is remembered of their ends. None: no age is known.
    """

    cluster: str
    group: str
    kind: str
    state: Phase
    evaluated_ms: int
    assignor: str | None = None
    expectation: str = "none"
    generation: int = 0
    generation_ms: int = 0
    members: tuple[MemberVerdict, ...] = ()
    partitions: tuple[PartitionVerdict, ...] = ()
    findings: tuple[Finding, ...] = ()
    lag: int | None = None
    lag_ms: int | None = None
    imbalance_ratio: float | None = None
    rebalances: int = 0
    status: LagStatus | None = None
    topics: tuple[TopicLag, ...] = ()
    pace: Pace | None = None
    catch_up_ms: int | None = None
    lost: int | None = None
    kept_waiting: float | None = None
    handovers: tuple[Handover, ...] = ()
    rebalancing_since_ms: int | None = None
    rebalance_ms: int = 0
    moved_partitions: int = 0
    avoidable_moves: int = 0
    redelivered_records: int = 0
    pause_ms: int = 0
    burst_records: int = 0
    stable_lag: int | None = None
    paced_lag: int | None = None
    source: Source = Source.LOG
    sharing: Sharing = Sharing.EXCLUSIVE
    settles_ms: int | None = None
    lag_at_least_ms: int | None = None


# --- what is published ------------------------------------------------------------------------------------------------


class FamilyBlock(Value):
    """Rendered samples of one metric family, without its HELP and TYPE lines; every line ends with a newline.

    ``group``: that group's alone, kept apart since it has so many; "": of any groups.
    """

    family: str
    samples: str
    group: str = ""


class Deflated(Value):
    """A text in raw deflate, cut so that pieces can follow one another (monitor.metrics.deflate).

    ``crc`` is the CRC-32 of the text, ``size`` its length in bytes, ``lines`` how many lines it has.
    """

    data: bytes
    crc: int
    size: int
    lines: int = 0


class PackedBlock(Value):
    """A FamilyBlock with its samples compressed, as it travels and waits.

    ``bucket`` is that of the groups, None where it is not about groups of one bucket.
    """

    family: str
    samples: Deflated
    group: str = ""
    bucket: int | None = None


class GroupSummary(Value):
    """One line of the overview: enough to list a group without judging it again.

    ``members`` is None for a group that is known by its commits only. ``evaluated_ms`` is the same for all groups of a
    cluster, so it is 0 until they are listed. ``unjudged`` is why the group could not be judged in the newest
    micro-batch; all else is then of the last verdict, as far as there was one. None: it was judged.
    """

    cluster: str
    group: str
    kind: str
    state: Phase
    assignor: str | None
    members: int | None
    lag: int | None
    findings: tuple[Finding, ...]
    evaluated_ms: int = 0
    unjudged: str | None = None


class FindingNews(StrEnum):
    """What has happened to a finding."""

    OPENED = "opened"
    CHANGED = "changed"
    CLOSED = "closed"


class FindingRecord(Value, omit_defaults=False):
    """One record of the findings topic: a finding as it was when it opened, changed or closed. docs/findings.md.

    ``id`` is the same whenever this can be said of this group, also after a restart of the job. ``since_ms`` is when
    it began to be true, ``opened_ms`` when it was first reported, ``at_ms`` when this happened. The lists are cut after
    their first thousands; the counts are not.
    """

    id: str
    event: FindingNews
    cluster: str
    group: str
    kind: str
    reason: str
    since_ms: int
    opened_ms: int
    at_ms: int
    sentence: str
    partition_count: int
    partitions: tuple[TopicPartitions, ...]
    member_count: int
    members: tuple[str, ...]
    version: int = 1
    cause: str | None = None


class FindingOutdated(Value):
    """That a finding was closed so long ago that its records need not be kept."""

    id: str


class Shard(Value):
    """Which share of the groups a job watches: that of number ``number`` (from 1) of ``of`` jobs. 1 of 1 is all.

    The first shard also does what only one of the jobs may do.
    """

    number: int = 1
    of: int = 1

    @property
    def is_first(self) -> bool:
        """Whether it does what only one of the jobs may do."""
        return self.number == 1

    @property
    def is_all(self) -> bool:
        """Whether there is no other."""
        return self.of == 1

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"


ALL_GROUPS: Final = Shard()
"""The shard of a job that shares the groups with no other."""


class WarmUpProgress(Value):
    """How far the backlog that was seen at start has been read, in offsets: a compacted log has fewer records.

    ``left_ms`` is an estimate of the time until nothing of it remains.
    """

    total: int
    remaining: int
    left_ms: int | None = None


class CollectorHealth(Value):
    """How the passes of one collector go; the counts are those since its process started.

    ``collector`` is what it reads, in one word, ``name`` what that is called in the configuration. ``last_success_ms``
    is when its newest complete pass was written, ``pass_ms`` how long its newest pass took. A pass is ``incomplete``
    if something did not answer, and failed if nothing of it was written. ``problem`` says why the newest one was not
    complete, ``warning`` what a complete one had to say, both in sentences.
    """

    cluster: str
    collector: str
    name: str
    complete: int = 0
    incomplete: int = 0
    failed: int = 0
    last_success_ms: int | None = None
    pass_ms: int | None = None
    problem: str | None = None
    warning: str | None = None


class ClusterSnapshot(Value):
    """The newest evaluation of one cluster; ``groups`` are sorted by name.

    ``ready`` is False until the backlog seen at start has been read. ``warm_up`` is there from the
    first batch on until then. ``clock_behind_ms`` is to be added to its times to have those of the machine's clock,
    which has been set lately unless it is 0. ``tells_findings``: they are told in a topic, unless there is a
    ``findings_problem``; ``problem`` is about reading, and ``stalled`` says that it is that micro-batches no longer
    end. ``collectors`` are those that run in this process.
    """

    cluster: str
    ready: bool = False
    evaluated_ms: int | None = None
    batch_duration_ms: int | None = None
    input_lag: int | None = None
    warm_up: WarmUpProgress | None = None
    evaluation_errors: int = 0
    decode_errors: tuple[SourceState, ...] = ()
    groups: tuple[GroupSummary, ...] = ()
    blocks: tuple[PackedBlock, ...] = ()
    catalog_ms: int | None = None
    clock_behind_ms: int = 0
    problem: str | None = None
    stalled: bool = False
    tells_findings: bool = False
    findings_problem: str | None = None
    collectors: tuple[CollectorHealth, ...] = ()

    def age_ms(self, now_ms: int) -> int | None:
        """How long ago its groups were judged, by the machine's clock; None: not yet."""
        return None if self.evaluated_ms is None else max(0, now_ms - self.evaluated_ms - self.clock_behind_ms)


class Snapshot(Value):
    """Everything the HTTP app serves: prepared, immutable, replaced as a whole.

    ``metrics_gzip`` is the exposition text, compressed. ``shard`` says of which groups it knows.
    ``openmetrics_gzip`` is the same in OpenMetrics; None: it was not prepared.
    """

    clusters: tuple[ClusterSnapshot, ...] = ()
    metrics_gzip: bytes = EMPTY_GZIP
    shard: Shard = ALL_GROUPS
    openmetrics_gzip: bytes | None = None

    @property
    def ready(self) -> bool:
        """Whether every cluster has been read up to the end that was seen at start, and none has stalled since."""
        return bool(self.clusters) and all(cluster.ready and not cluster.stalled for cluster in self.clusters)
