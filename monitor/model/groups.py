"""The state of one group: what is known now, folded from its events."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from monitor.model.commits import CommitPoint, Rewind, Standstill
from monitor.model.connect import ConnectGroupState
from monitor.model.departures import Departures
from monitor.model.events import ResolvedRegex, SubscribedTopic
from monitor.model.expiry import DeletedOffset, ExplicitExpiry
from monitor.model.jumps import Jump
from monitor.model.kinds import DEFAULT_KIND, GroupKind, Phase, Sharing, Source
from monitor.model.members import Member
from monitor.model.rocketmq import RocketMQGroupState
from monitor.model.share import ShareGroupState
from monitor.model.static_ids import StaticIdRun
from monitor.model.streams import AssignorInput, StreamsGroupState
from monitor.model.transactions import PendingOffsets
from monitor.model.values import STATE_VERSION, PartitionId, TopicPartitions, Value


class CommittedOffset(Value, array_like=True):
    """The newest committed offset of one partition and when it was committed (the broker's clock).

    ``history`` are commits before it and itself, packed and bounded (monitor.model.commit_history). ``rewinds`` is
    counted since the partition was first committed. ``listed`` is the broker's own newest answer (None: it knows no
    committed offset) and ``listed_ms`` when it was asked (0: never); ``offset`` is the one that counts of the two, see
    monitor.tracking.offsets.precedence. ``commits`` is how many commits have been read from the log. ``jump`` is the
    largest jump of the newest hour that had one (monitor.tracking.offsets.jumps).

    ``listed_since_ms`` is the ``listed_ms`` of the first in a row of answers that are equal to the newest.
    ``attempts`` are the commits in the log of another offset that are newer than the listed one, as far as that is
    known; ``attempts_since_ms`` is the time of the first of them, and ``third_attempt_ms`` of the third (0: there is
    none).

    ``standstill`` None: the newest commit in the log moved the offset (monitor.detection.lag.standstill).
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
    commits: int = 0
    jump: Jump | None = None
    listed_since_ms: int = 0
    attempts: int = 0
    attempts_since_ms: int = 0
    third_attempt_ms: int = 0
    standstill: Standstill | None = None


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


CONSEQUENTIAL_CAUSES: Final = frozenset({RebalanceCause.HANDOVER, RebalanceCause.STATIC_RESTART})
"""Causes of rebalances that are no sign of unrest: the second half of one that may be, and what nobody had to stop for.
Who counts how often a group rebalances leaves out those that have no other cause."""


class ReleasedPartitions(Value):
    """Partitions that a member had last; ``who`` is who it is over generations (monitor.tracking.rebalances.moves).

    The topics are in the words of the log: names, and ids in a KIP-848 group. There ``stopped_ms`` is until when it may
    have read them: it was told then to give them back, or removed from the group (None: not known).
    """

    who: str
    topics: tuple[TopicPartitions, ...]
    stopped_ms: int | None = None


class OwnershipCount(Value, array_like=True):
    """How many partitions a member had."""

    who: str
    partitions: int


class PendingHandover(Value, array_like=True):
    """Partitions of a KIP-848 group's topic that got a new owner, which has not committed them yet.

    ``gained_ms`` is since when the new one has them, ``stopped_ms`` until when the one before may have read them (None:
    not known). For ``topic_key`` see OffsetCommitted.
    """

    gained_ms: int
    stopped_ms: int | None
    topic_key: int
    partitions: tuple[int, ...]


SAMPLE_LIFETIME_MS: Final = 30_000
"""From this age on, what was said of a group's state no longer counts. A rebalance that goes on is told again at least
every 10 s (monitor.collectors.kafka.rebalance_sampler), so three were missed by then: the collector or its broker is
away."""


class RebalanceInProgress(Value, array_like=True):
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


class RebalanceObservation(Value, array_like=True):
    """What a collector saw of a classic group from its first answer that it rebalances to the first that it does not.

    It may be of several rebalances, one after the other. All times are by the collector's clock; the answer to a
    question holds for some instant of the ``took_ms`` after it. ``since_ms`` was the first question, ``seen_ms`` the
    last one with that answer, ``over_ms`` the next, ``interval_ms`` passed between the one before the first and that
    (None: there was none), ``gap_ms`` is the longest time between two of them (None: not known). ``broker`` answered.
    ``is_recorded``: the rebalances of the history know what it tells (monitor.tracking.rebalances.duration).
    """

    since_ms: int
    seen_ms: int
    over_ms: int
    interval_ms: int | None = None
    gap_ms: int | None = None
    took_ms: int = 0
    broker: int | None = None
    is_recorded: bool = False


class SubscriptionChange(Value, array_like=True):
    """Members of one subscription that came into a group, or left it, in one rebalance.

    ``topics`` are the first topics of the subscription, sorted (monitor.model.subscriptions). Empty: members of many
    subscriptions came and left.
    """

    topics: tuple[str, ...]
    joined: int
    left: int


class SubscriptionChanges(Value, array_like=True):
    """Whose coming and going made a group rebalance, by subscription.

    ``others_pause_ms`` is the part of the pause in topics to which none of them subscribes.
    """

    changes: tuple[SubscriptionChange, ...] = ()
    others_pause_ms: int = 0


class Rebalance(Value):
    """A rebalance as the log shows it: up to which generation or epoch, when, and why.

    ``started_ms`` of a classic group is when it had begun for certain by what a collector saw, if one saw it, and else
    when its members had all joined (the waiting for them is not in the log); of the other kinds when the group's epoch
    was raised. ``ended_ms`` None: under way. ``moved`` partitions have another owner than before, ``avoidable`` of them
    would have stayed in the stickiest balanced assignment (monitor.tracking.rebalances.moves). ``held`` is who had how
    much when it began, while it is under way. ``is_first``: the group had no members before it.

    ``pause_ms`` is summed over the ``paused_partitions``: how long they had no owner, or how much longer than usual
    they were not committed around its end. ``burst_records`` are those that their first commits after it cover
    (monitor.tracking.rebalances.impact).

    ``uncertainty_ms``: by how much a classic rebalance may have begun before ``started_ms``; None: not known, it may
    have been any time. The other kinds' beginning is exact.

    ``subscriptions`` is of a classic group whose members subscribe to different topics, or did so of late; else None.
    """

    generation: int
    started_ms: int
    ended_ms: int | None = None
    causes: tuple[RebalanceCause, ...] = ()
    joined: int = 0
    left: int = 0
    moved: int = 0
    avoidable: int = 0
    held: tuple[OwnershipCount, ...] = ()
    is_first: bool = False
    paused_partitions: int = 0
    pause_ms: int = 0
    burst_records: int = 0
    uncertainty_ms: int | None = None
    subscriptions: SubscriptionChanges | None = None


class MembershipChange(Value):
    """Something that happened to a KIP-848 group's members for which the group's epoch has not been raised yet."""

    cause: RebalanceCause
    instance_id: str | None = None


class InvalidCommit(Value, array_like=True):
    """The newest commit of a partition, if it is of an offset below 0: to Kafka, nothing is committed there.

    ``offset`` was committed at ``committed_ms``, and the first one below 0 at ``since_ms`` (0: not known). ``last`` is
    the newest commit before that; None: not known.
    """

    topic: str
    partition: PartitionId
    offset: int
    committed_ms: int
    since_ms: int
    last: CommitPoint | None = None


class UnreadRecord(Value, array_like=True):
    """A record that is written in a version that is not known here; see RecordUnread. ``since_ms``: the first of it."""

    record_type: int
    record: str
    version: int
    newest: int
    since_ms: int
    subject: str = ""


class UnreadMembership(Value):
    """What is not known of a group's members, sorted, and ``before``: the group as the records that can be read say."""

    records: tuple[UnreadRecord, ...]
    before: GroupState


class UnreadCommit(Value, array_like=True):
    """A partition that is committed in a version that is not known here, since ``since_ms``."""

    topic: str
    partition: PartitionId
    version: int
    newest: int
    since_ms: int


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
    nobody has yet. ``sampled`` is what a collector saw of a rebalance that the log does not tell of yet;
    ``observations`` are what it saw from beginning to end, the newest ones.
    ``committed_topics`` tells a topic from one made anew, by name.
    ``taken`` are partitions whose new owner has yet to commit them.

    ``earlier_ms`` are when those rebalances ended that are no longer in the history and follow one another to it
    (monitor.tracking.rebalances.history), oldest first, bounded. Empty for a group that seldom rebalances.

    ``source`` is where all this comes from. Of a group that a collector reads as a whole, ``observed_ms`` is when it
    last read it, ``generation`` counts the changes of members and what they own (unless its system counts some), and
    ``sharing`` is how its members share partitions.

    ``share`` is of a share group, ``streams`` and ``assignor_input`` of a streams group of the broker, ``connect`` of
    the workers of a Connect cluster. As share state comes from a log of its own, ``share`` may be all that is known of
    a group (UNSEEN).

    ``unread`` is of a group that the brokers write of in a version that is not known here: who its members are is then
    not known, and it is OFFSETS_ONLY. ``unread_commits`` are the partitions, sorted, whose committed offset is not
    known for the same reason.

    ``log_partitions`` is by how many partitions of the offsets topic the group is placed (0: it has not been in
    question), see monitor.model.log_places. ``has_lost_offsets``: there were committed offsets where it was before.

    ``fastest`` is the fastest that any partition was read, in records per second, rounded up to a power of two
    (monitor.tracking.offsets.jumps).

    ``pending_offsets`` are those in transactions that were open when the group's offsets were last listed, which was
    ``pending_listed_ms`` (0: there are none).

    ``left_topics`` are those to which the last members subscribed, sorted, while there are none; empty if not known.

    ``departures`` are the partitions, sorted, whose last owners left without a commit of another offset
    (monitor.tracking.offsets.departures).

    ``deleted_offsets`` are what remains of committed offsets that were deleted, sorted, until the partition is
    committed again. They may be all that is known of a group (UNSEEN).
    ``explicit_expiries`` are of those offsets that clients requested to keep for a time of their own, sorted.
    ``invalid_commits`` are the partitions, sorted, whose newest commit is of an offset below 0.
    ``lacks_state_time``: the broker did not write when the group became empty (before Kafka 2.1).

    ``static_ids`` are the static members that were replaced of late, sorted (monitor.tracking.rebalances.static_ids).
    ``rocketmq`` is what only groups of RocketMQ have; None: there is nothing of it.
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
    kind: GroupKind = DEFAULT_KIND
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
    released: tuple[ReleasedPartitions, ...] = ()
    pause_ms: int = 0
    burst_records: int = 0
    sampled: RebalanceInProgress | None = None
    earlier_ms: tuple[int, ...] = ()
    observations: tuple[RebalanceObservation, ...] = ()
    committed_topics: tuple[CommittedTopic, ...] = ()
    taken: tuple[PendingHandover, ...] = ()
    source: Source = Source.LOG
    observed_ms: int = 0
    sharing: Sharing = Sharing.EXCLUSIVE
    share: ShareGroupState | None = None
    streams: StreamsGroupState | None = None
    connect: ConnectGroupState | None = None
    assignor_input: AssignorInput | None = None
    unread: UnreadMembership | None = None
    unread_commits: tuple[UnreadCommit, ...] = ()
    log_partitions: int = 0
    has_lost_offsets: bool = False
    fastest: int = 0
    pending_offsets: tuple[PendingOffsets, ...] = ()
    left_topics: tuple[str, ...] = ()
    pending_listed_ms: int = 0
    deleted_offsets: tuple[DeletedOffset, ...] = ()
    departures: tuple[Departures, ...] = ()
    explicit_expiries: tuple[ExplicitExpiry, ...] = ()
    lacks_state_time: bool = False
    invalid_commits: tuple[InvalidCommit, ...] = ()
    static_ids: tuple[StaticIdRun, ...] = ()
    rocketmq: RocketMQGroupState | None = None


def topics_beside_members(group: GroupState) -> frozenset[str]:
    """The topics that the state names elsewhere than in its members: a verdict may ask for each of them."""
    offsets = (group.offsets, group.unconfirmed, group.deleted_offsets, group.invalid_commits)
    return frozenset(each.topic for of_a_kind in offsets for each in of_a_kind).union(group.left_topics)
