"""What records and collectors tell, one value a record: the job's only input."""

from __future__ import annotations

from typing import Final

from monitor.model.commits import CommitPoint, InnerJump, ListedOffset, ObservedOffset, Rewind, Standstill
from monitor.model.connect import TargetState
from monitor.model.event import Event
from monitor.model.kinds import DEFAULT_KIND, GroupKind, Sharing, Source
from monitor.model.members import Member, Reconciliation, SpareTasks
from monitor.model.passes import PassCompleted, PassTopicsCounted, TopicObserved
from monitor.model.rocketmq import RedeliveryObserved, UnreadableQueue
from monitor.model.share import ListedShareOffset, ShareBatch, ShareConfig, SharedTopic
from monitor.model.streams import Topology
from monitor.model.transactions import PendingOffsets
from monitor.model.values import IdPartitions, PartitionId, Value


class OffsetCommitted(Event):
    """A group committed an offset: the next record it will read of that partition.

    ``topic_key`` are the first eight bytes of the topic's id, as a signed number: enough to tell a topic from another
    one of that name. None: the broker did not write it (Kafka before 4.1, and commits of topics without an id).

    ``expires_ms`` is until when the client requested to keep it (clients of before Kafka 2.1); None: the retention of
    the brokers counts.
    """

    group: str
    topic: str
    partition: PartitionId
    offset: int
    committed_ms: int
    leader_epoch: int = -1
    topic_key: int | None = None
    expires_ms: int | None = None


class CommitRun(Event):
    """Commits of one partition that followed one another in the log, combined without losing what is tracked.

    ``first`` is the first commit; ``points`` are, oldest first, those that a history keeps (see
    monitor.model.commit_history), the newest last; ``rewinds`` counts the rewinds from the first commit on, and
    ``rewound`` the records that they went back by; ``first_rewind`` is told if there are several. All commits of a run
    are of the same topic (see OffsetCommitted.topic_key). ``second`` is the second commit, if that may be a jump
    (monitor.tracking.offsets.jumps), and ``jumps`` are those of the others that are. ``fastest`` is the fastest pace
    inside the run that is known to be none, in records per second. ``standstill`` None: the newest commit moved the
    offset, or it is the only one. ``lowest`` is the lowest offset behind the first one and up to the first
    of ``jumps``, if there are rewinds.
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
    second: CommitPoint | None = None
    fastest: int = 0
    standstill: Standstill | None = None
    lowest: int | None = None
    jumps: tuple[InnerJump, ...] = ()


class OffsetsListed(Event):
    """What the broker itself says a group has committed: it knows the fate of transactions, the log's reader does not.

    ``asked_ms`` is when the question was sent, by the collector's clock. ``pending`` are offsets of the group in
    transactions that have been open for a while.
    """

    cluster: str
    group: str
    asked_ms: int
    offsets: tuple[ListedOffset, ...]
    version: int = 1
    pending: tuple[PendingOffsets, ...] = ()


STATES_WITH_TARGETS: Final = frozenset({"Stable", "Reconciling"})
"""The states of a KIP-848 group, in Kafka's words, in which its targets are for what its members subscribe to now."""


class GroupObserved(Event):
    """A whole group as a collector read it at ``observed_ms``, by the collector's clock.

    ``pass_ms`` is when the pass began that read it. ``protocol`` is the group's assignor, None where nothing tells it.
    ``generation`` and ``target_epoch`` are the system's own (None: it counts none, so groupwatch counts changes), and
    ``state`` is in the system's words. ``regexes`` are what a KIP-848 group's members subscribe to, with the topics for
    which they seem to stand. ``partial``: offsets that are not named are as they were. ``topology`` is of a streams
    group. ``invalid`` are committed offsets below 0, which count as none. ``redelivery`` and ``unreadable`` are of a
    group of RocketMQ; None: a broker did not respond.
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
    topology: Topology | None = None
    invalid: tuple[ObservedOffset, ...] = ()
    redelivery: RedeliveryObserved | None = None
    unreadable: tuple[UnreadableQueue, ...] | None = None


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

    ``state`` is in the broker's words. ``since_ms`` is when it was first seen to rebalance, ``sampled_ms`` when this
    was requested, both by the collector's clock. It did not rebalance ``interval_ms`` before ``since_ms`` (None: not
    known). Only once it is over: ``seen_ms`` is the last request at which it still rebalanced, ``gap_ms`` the longest
    time between two requests, ``took_ms`` the longest that a response took, from the one before the first observation
    to this one, and ``broker`` the id of the broker. None and 0 from older collectors.
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


class ShareGroupRead(Event):
    """What the brokers told a collector of a share group at ``read_ms``; nothing: the group is gone.

    ``offsets`` are asked for only where the log of share state cannot be read.
    """

    cluster: str
    group: str
    read_ms: int
    config: ShareConfig
    offsets: tuple[ListedShareOffset, ...] = ()
    version: int = 1


class OffsetDeleted(Event):
    """A committed offset was deleted (by expiry, by an administrator, or because its topic went).

    ``deleted_ms`` is when the broker wrote so; 0: not known. In recordings of before InvalidOffsetCommitted, it is 0
    where a client committed an offset below 0.
    """

    group: str
    topic: str
    partition: PartitionId
    deleted_ms: int = 0


class InvalidOffsetCommitted(Event):
    """A client committed an offset below 0: brokers store it, and return it as no committed offset.

    ``committed_ms`` is when the broker wrote it; 0: not known.
    """

    group: str
    topic: str
    partition: PartitionId
    offset: int
    committed_ms: int = 0


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


class GroupDeleted(Event):
    """The coordinator deleted the group, or what made it a group of this kind (it was converted)."""

    group: str
    deleted_ms: int
    kind: GroupKind = DEFAULT_KIND


class EpochStored(Event):
    """A KIP-848, share or streams group has a new epoch: its members or what they subscribe to changed.

    ``metadata_hash`` stands for the subscribed topics as the broker knows them (0: none, or an older broker). For
    ``validated_epoch`` and ``standby_replicas`` of a streams group see StreamsGroupState.
    """

    group: str
    kind: GroupKind
    epoch: int
    stored_ms: int
    metadata_hash: int = 0
    validated_epoch: int | None = None
    standby_replicas: int | None = None


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
    """What a member is to own (None: deleted). It holds until the next one, whatever the epoch.

    ``spare`` are the standby and warm-up tasks of a streams group's member (None: none).
    """

    group: str
    kind: GroupKind
    member_id: str
    target: tuple[IdPartitions, ...] | None
    spare: SpareTasks | None = None


class CurrentStored(Event):
    """What a member owns now and how far it is; ``target`` of the reconciliation is not set."""

    group: str
    kind: GroupKind
    member_id: str
    current: Reconciliation


class CurrentRemoved(Event):
    """What a member owns was deleted, mostly with the member; ``removed_ms`` 0: it is not known when."""

    group: str
    kind: GroupKind
    member_id: str
    removed_ms: int = 0


class RegexResolved(Event):
    """The topics that the broker found for a regular expression of the group's members (None: deleted)."""

    group: str
    regex: str
    topics: tuple[str, ...] | None
    stored_ms: int


class RecordUnread(Event):
    """The coordinator wrote of the group's members in a version that is not known here; what it wrote is not known.

    ``record`` is the type of the record in Kafka's words, ``record_type`` its number, ``subject`` the member or regular
    expression that its key names ("": it is about the whole group). ``newest`` is the newest version known here.
    """

    group: str
    kind: GroupKind
    record_type: int
    record: str
    version: int
    newest: int
    stored_ms: int
    subject: str = ""


class CommitUnread(Event):
    """The group committed a partition in a version that is not known here, so at which offset is not known."""

    group: str
    topic: str
    partition: PartitionId
    version: int
    newest: int
    stored_ms: int


class GroupPlaced(Event):
    """What follows is from the partition of the offsets topic in which the group is, if it is placed by ``partitions``.

    ``before`` is the number of partitions before these; 0: these are the former ones, or there were no others. It is
    only told of groups whose place depends on it, while it is open by which number the brokers place them.
    """

    group: str
    partitions: int
    before: int = 0


class LogGrown(Event):
    """The brokers place groups by ``partitions`` of the offsets topic, and by ``before`` until now.

    What the log told of a group is void if its place has moved and nothing of it is at the new one yet.
    """

    partitions: int
    before: int


class TopologyStored(Event):
    """The topology of a streams group (None: deleted)."""

    group: str
    topology: Topology | None
    stored_ms: int


class ReadablePartitionsStored(Event):
    """The partitions that members of a share group can read, and those that they cannot read yet; none: deleted."""

    group: str
    stored_ms: int
    initialized: tuple[SharedTopic, ...] = ()
    initializing: tuple[SharedTopic, ...] = ()


class ShareSnapshotStored(Event):
    """All that the broker knows of a partition as a share group reads it; see SharePartition."""

    group: str
    topic_id: str
    partition: int
    stored_ms: int
    snapshot_epoch: int
    state_epoch: int
    leader_epoch: int
    start_offset: int | None = None
    complete_count: int | None = None
    batches: tuple[ShareBatch, ...] = ()


class ShareUpdateStored(Event):
    """What has changed of a partition as a share group reads it. ``start_offset`` None: it is as it was.

    ``batches`` are those that changed, in the order of the record. One may overlap another, and those before.
    """

    group: str
    topic_id: str
    partition: int
    stored_ms: int
    snapshot_epoch: int
    leader_epoch: int
    start_offset: int | None = None
    complete_count: int | None = None
    batches: tuple[ShareBatch, ...] = ()


class ShareStateDeleted(Event):
    """What a share group knew of a partition was deleted: with its offsets, its topic, or the group."""

    group: str
    topic_id: str
    partition: int
    deleted_ms: int


class ConnectorConfigured(Event):
    """A connector was configured, or (``is_configured`` False) deleted. For ``group_id`` see ConnectorConfig."""

    connector: str
    is_configured: bool = True
    group_id: str | None = None
    stored_ms: int = 0


class ConnectorTasksSet(Event):
    """So many tasks of a connector are configured (None: deleted)."""

    connector: str
    tasks: int | None
    stored_ms: int = 0


class ConnectorTargetSet(Event):
    """What a connector is to do (None: deleted)."""

    connector: str
    target_state: TargetState | None
    stored_ms: int = 0


class PieceBegun(Event):
    """What follows in a row of events stands behind the end of a pass, or a listing, from ``position`` on.

    No log has it: whoever puts events together by entity says so where that hides their order.
    """

    position: int


class DecodeFailed(Event):
    """A record could not be read. ``reason`` is a word from a short fixed list; the place lets a person find it."""

    source: str
    reason: str
    log_partition: int
    log_offset: int
    position: int | None = None


UnreadEvent = RecordUnread | CommitUnread
"""That a record is written in a version that is not known here; its key can be read."""

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
    | TopologyStored
)
"""What the records of KIP-848, share and streams groups tell."""

MembershipEvent = MembershipStored | ModernEvent

ShareStateEvent = ShareSnapshotStored | ShareUpdateStored | ShareStateDeleted
"""What the log ``__share_group_state`` tells."""

ConnectConfigEvent = ConnectorConfigured | ConnectorTasksSet | ConnectorTargetSet
"""What a Connect cluster's topic of configurations tells."""

LoggedEvent = (
    OffsetCommitted
    | CommitRun
    | InvalidOffsetCommitted
    | OffsetDeleted
    | MembershipEvent
    | UnreadEvent
    | ReadablePartitionsStored
)
"""What the records of ``__consumer_offsets`` tell of a group."""

GroupEvent = (
    LoggedEvent | GroupPlaced | OffsetsListed | RebalanceSampled | GroupObserved | ShareStateEvent | ShareGroupRead
)

TopicEvent = TopicObserved | PassCompleted

CollectedEvent = TopicEvent | OffsetsListed | RebalanceSampled | GroupObserved | GroupsListed | ShareGroupRead
"""What collectors write.

Each has a ``version``, that of docs/events.md; it is written only where it is not 1. Who reads a version that it does
not know refuses the event, and counts it.
"""

AnyEvent = (
    GroupEvent
    | TopicEvent
    | PassTopicsCounted
    | PieceBegun
    | GroupsListed
    | LogGrown
    | ConnectConfigEvent
    | DecodeFailed
)


class ResolvedRegex(Value):
    """A regular expression of a KIP-848 group's members with the topics that the broker found for it."""

    regex: str
    topics: tuple[str, ...] = ()
