"""What can be wrong with a group, and a finding of it with its sentence, as verdicts and records have it.

The rows, the evidence and the sentences of findings are in monitor.findings.
"""

from __future__ import annotations

from enum import StrEnum

from msgspec import UNSET, UnsetType

from monitor.model.client_libraries import Library
from monitor.model.evidence import DriftCause
from monitor.model.values import TopicPartition, TopicPartitions, Value


class FindingKind(StrEnum):
    """What can be wrong with a group. Which is worse is monitor.findings.order's to say, not this order."""

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
    SKIPPED = "skipped"
    """A commit passed records that the group did not read, or perhaps not."""
    UNCOMMITTED = "uncommitted"
    """Records are in partitions in which the group has no committed offset."""
    OFFSETS = "offsets"
    """Committed offsets expire, or have expired."""
    ABANDONED = "abandoned"
    """Records wait in topics that a living group once read and no longer subscribes."""
    REBALANCE = "rebalance"
    TRANSACTIONS = "transactions"
    """Transactions that keep a group from going on: its own are not committed, or an open one holds its offsets."""
    POISON = "poison"
    """Records that members of a share group or of RocketMQ do not accept, however often they get them."""
    UNREADABLE_MEMBERS = "unreadable_members"
    """Members sent bytes that cannot be decoded, so what is wrong with the group may not be seen."""
    SUBSCRIPTION = "subscription"
    """Members subscribe to topics that do not exist, or to one topic with different expressions."""
    CONFIG_BEHIND = "config_behind"
    """A worker of Connect has read less of the configurations than its leader."""
    CAPACITY = "capacity"
    """A partition brings more than one member reads, so that no number of members is enough."""
    EXPECTATION = "expectation"
    """The group is not as the file of expectations says; the reason is the severity that the file has chosen."""


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
    OWNER_UNSUBSCRIBED = "owner_unsubscribed"
    """The leader gave it to a member that does not subscribe to the topic, and whose library does not consume it."""
    NOT_INITIALIZED = "not_initialized"
    """Share groups: the coordinator has not initialized it for the group, so no member can read it."""
    NO_TASK = "no_task"
    """Kafka Streams: it belongs to no task that was given to a thread."""
    NOT_READY = "not_ready"
    """KIP-1071: the topology of a Kafka Streams application needs a topic that is not there, or has a wrong size."""
    DELAY = "delay"
    """Connect: the worker of the task is gone, and the leader waits for it to come back."""
    REVOKED = "revoked"
    """Connect: the newest generation took the task from a worker, and the next one gives it to another."""
    NOT_ASSIGNED = "not_assigned"
    """Connect: the leader has given the task to no worker, and waits for none."""
    CONFIG_MISMATCH = "config_mismatch"
    """Connect: the leader could not read the configurations, and gave nothing to anybody."""
    NO_WORKERS = "no_workers"
    """Connect: the cluster has no workers."""


class DriftKind(StrEnum):
    """Which expectation the owner differs from; or, quieter, that a tie of the assignor may explain the difference."""

    REPLAYED = "replayed"
    CURRENT = "current"
    TIE = "tie"
    TARGET = "target"
    """KIP-848, KIP-1071: the broker has chosen another owner than its assignor gives."""
    PENDING = "pending"
    """KIP-848: a member still has what another is to have, for longer than a handover takes."""


class Finding(Value):
    """One thing that is wrong: where, since when, and the sentence a person reads."""

    kind: FindingKind
    """The kind of finding."""
    reason: str
    since_ms: int
    sentence: str
    partitions: tuple[TopicPartition, ...] = ()
    """The partitions of the finding."""
    members: tuple[str, ...] = ()
    """The member ids of the finding."""
    cause: DriftCause | None = None
    tasks: tuple[str, ...] = ()
    """The tasks of the finding, by name (Kafka Streams, Kafka Connect)."""
    alert_age_s: int | None = None
    library: Library | None = None
    """The client library of the group leader, if the advice depends on it; absent: it does not, or it is unknown."""


class SubordinateFinding(Finding, kw_only=True):
    """A finding that follows from one of its cluster, so no alert is about it."""

    follows: str
    """The finding of the cluster, as `kind/reason`."""


class FindingNews(StrEnum):
    """What has happened to a finding."""

    OPENED = "opened"
    CHANGED = "changed"
    CLOSED = "closed"


class FindingScope(StrEnum):
    """What a finding is about as a whole."""

    GROUP = "group"
    ALIKE = "alike"
    """Groups that have the same finding and no other (monitor.findings.alike)."""
    CLUSTER = "cluster"


class FindingRecord(Value, omit_defaults=False):
    """One record of the findings topic: a finding as it was when it opened, changed or closed. docs/findings.md.

    ``id`` is the same whenever this can be said of this group, also after a restart of the job. ``since_ms`` is when
    it began to be true, ``opened_ms`` when it was first reported, ``at_ms`` when this happened. The lists are cut after
    their first thousands; the counts are not.

    A finding of a cluster has no group (``""``); it concerns ``group_count`` of those that the job with this ``shard``
    (its number, from 1) watches. ``follows`` is the finding of the cluster that a closed one of a group is now under.
    One of alike groups has no group either, but the ``pattern`` of their names; a closed one of a group ``follows`` it.
    ``page_url`` is the address of the page of the group, or of the cluster's groups, where one is configured.
    ``team`` is that of the group, where the file of expectations names one.
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
    task_count: int = 0
    tasks: tuple[str, ...] = ()
    scope: FindingScope = FindingScope.GROUP
    group_count: int = 0
    follows: str | None = None
    shard: int = 1
    pattern: str = ""
    page_url: str | UnsetType = UNSET
    team: str | UnsetType = UNSET


class FindingOutdated(Value):
    """That a finding was closed so long ago that its records need not be kept."""

    id: str


class Severity(StrEnum):
    """What somebody has to do, worst first."""

    CRITICAL = "critical"
    """Get up: records are lost, not read, or read twice, or nobody would learn of it."""
    WARNING = "warning"
    """Look at it in working hours."""
    INFO = "info"
    """Worth knowing; nothing is wrong yet."""
