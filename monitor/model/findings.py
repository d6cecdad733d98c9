"""Every finding that can be told, worst first, with how bad it is. Each list that is sorted by that takes it from here.

What counts is what a person has to do: first what cannot be undone, then what gets worse until somebody acts, then what
can wait. Of equal severity, what heals by itself stands last.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from monitor.model.evidence import DriftCause
from monitor.model.values import TopicPartition, TopicPartitions, Value


class FindingKind(StrEnum):
    """What can be wrong with a group. Which is worse is monitor.model.findings' to say, not this order."""

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


class Finding(Value):
    """One thing that is wrong: where, since when, and the sentence a person reads. ``cause`` is that of a drift."""

    kind: FindingKind
    reason: str
    since_ms: int
    sentence: str
    partitions: tuple[TopicPartition, ...] = ()
    members: tuple[str, ...] = ()
    cause: DriftCause | None = None


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


class Severity(StrEnum):
    """What somebody has to do, worst first."""

    CRITICAL = "critical"
    """Get up: records are lost, not read, or read twice, or nobody would learn of it."""
    WARNING = "warning"
    """Look at it in working hours."""
    INFO = "info"
    """Worth knowing; nothing is wrong yet."""


class FindingSpec(Value):
    """One finding that can be told. ``severity`` is that of one that has lasted: its alert waits for that."""

    kind: FindingKind
    reason: str
    severity: Severity


_CRITICAL, _WARNING, _INFO = Severity.CRITICAL, Severity.WARNING, Severity.INFO

FINDINGS: Final[tuple[FindingSpec, ...]] = (
    # Gone unread: nothing brings them back, and until the group goes on, more follow.
    FindingSpec(FindingKind.RETENTION, "records_lost", _CRITICAL),
    # Nothing is lost yet, but this one has a deadline, whatever the cause below is.
    FindingSpec(FindingKind.RETENTION, "close_to_loss", _CRITICAL),
    # Processed twice, and commits overwrite each other: data is wrong, not only late.
    FindingSpec(FindingKind.DOUBLE_OWNED, "same_generation", _CRITICAL),
    FindingSpec(FindingKind.DOUBLE_OWNED, "mixed_strategy", _CRITICAL),
    FindingSpec(FindingKind.DOUBLE_OWNED, "duplicate_client_id", _CRITICAL),
    # Nobody reads, and no rebalance puts it right: retention may lose what waits. The first has others read twice, too.
    FindingSpec(FindingKind.ORPHANED, OrphanReason.MIXED_STRATEGY, _CRITICAL),
    FindingSpec(FindingKind.ORPHANED, OrphanReason.MIXED_SUBSCRIPTION, _CRITICAL),
    FindingSpec(FindingKind.ORPHANED, OrphanReason.LEADER_UNSUBSCRIBED, _CRITICAL),
    FindingSpec(FindingKind.ORPHANED, OrphanReason.NO_TASK, _CRITICAL),
    FindingSpec(FindingKind.ORPHANED, OrphanReason.ASSIGNOR_GAP, _CRITICAL),
    # The same for all of a group, often by intent or for a while: it is switched off or restarts.
    FindingSpec(FindingKind.UNATTENDED, "no_members", _CRITICAL),
    # Nobody else gets what these members have; the last may be gone, which the group then notices by itself.
    FindingSpec(FindingKind.DEAD_MEMBER, "silent", _CRITICAL),
    FindingSpec(FindingKind.DEAD_MEMBER, "no_answer", _CRITICAL),
    FindingSpec(FindingKind.DEAD_MEMBER, "unnoticed", _CRITICAL),
    # Nobody reads, but it mostly heals: by a refresh of metadata, by who lets go, by the broker's choice.
    FindingSpec(FindingKind.ORPHANED, OrphanReason.GREW, _CRITICAL),
    FindingSpec(FindingKind.ORPHANED, OrphanReason.PENDING, _CRITICAL),
    FindingSpec(FindingKind.ORPHANED, OrphanReason.REBALANCING, _CRITICAL),
    # Where the group reads on is not known: it may pass records over.
    FindingSpec(FindingKind.LAG, "former_log", _WARNING),
    # Those who wait read nothing; it ends, or explains the partitions that are not committed.
    FindingSpec(FindingKind.REBALANCE, "long", _WARNING),
    # Somebody should read and makes no progress; a long batch can look like that.
    FindingSpec(FindingKind.LAG, "not_committing", _WARNING),
    # The same, not by the group's fault; most end by themselves, with their timeout.
    FindingSpec(FindingKind.LAG, "open_transaction", _WARNING),
    # Progress, but too slow: late, nothing is lost yet.
    FindingSpec(FindingKind.LAG, "behind", _WARNING),
    # Everything is read between two rebalances, much of it twice: it costs, and makes the group late.
    FindingSpec(FindingKind.REBALANCE, "storm", _WARNING),
    # It says nothing of harm, and hides it: the first hides more.
    FindingSpec(FindingKind.UNREADABLE_MEMBERS, "assignment", _WARNING),
    FindingSpec(FindingKind.UNREADABLE_MEMBERS, "subscription", _WARNING),
    # All is read, but one member waits for another that may hang.
    FindingSpec(FindingKind.DRIFT, DriftKind.PENDING, _WARNING),
    # Everything is read, by owners that cannot be explained: a hint at mixed clients or brokers, before harm.
    FindingSpec(FindingKind.DRIFT, DriftKind.TARGET, _WARNING),
    FindingSpec(FindingKind.DRIFT, DriftKind.REPLAYED, _WARNING),
    # Everything that was assigned is read; the next rebalance puts it right.
    FindingSpec(FindingKind.DRIFT, DriftKind.CURRENT, _WARNING),
    # Works as assigned, only slower than it could; of the first, records wait already.
    FindingSpec(FindingKind.IMBALANCE, "lag", _INFO),
    FindingSpec(FindingKind.IMBALANCE, "partitions", _INFO),
    # Costs money and no time; with more members than partitions it is often intended.
    FindingSpec(FindingKind.IDLE_MEMBERS, "no_partitions", _INFO),
    # Mostly intended: the group has turned to other topics.
    FindingSpec(FindingKind.ABANDONED, "unsubscribed", _INFO),
    # Nothing is to be done: both answers are right.
    FindingSpec(FindingKind.DRIFT, DriftKind.TIE, _INFO),
)
"""All findings, worst first. The order of severities is that of the rows, too."""

KINDS: Final[tuple[FindingKind, ...]] = tuple(dict.fromkeys(spec.kind for spec in FINDINGS))
"""The kinds of findings, each by the worst of its reasons."""

_RANKS: Final[Mapping[tuple[FindingKind, str], int]] = {
    (spec.kind, str(spec.reason)): rank for rank, spec in enumerate(FINDINGS)
}


def rank(kind: FindingKind, reason: str) -> int:
    """How bad a finding is among all; 0 is the worst.

    >>> rank(FindingKind.RETENTION, "records_lost")
    0

    Raises:
        KeyError: the table has no such finding. No verdict has one, as verdicts are sorted by this.
    """
    return _RANKS[kind, reason]
