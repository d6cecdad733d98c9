"""Every finding that groupwatch reports, worst first, with its severity. Each list that is sorted by severity uses it.

The order is that of what a person has to do: first what cannot be undone, then what gets worse without action, then
what can wait. Of equal severity, findings that resolve by themselves come last.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final

from monitor.model.advice import (
    ALL,
    BY_BROKER,
    CLASSIC,
    CONSUMER,
    KAFKA_TOPICS,
    METAQ,
    POLLING,
    ROCKETMQ,
    SELF_ASSIGNED,
    SHARE,
    SPARK,
    STREAMS,
    WORKERS,
    ZOOKEEPER,
    Advice,
    advice_of,
)
from monitor.model.client_libraries import ClientDefect, Library
from monitor.model.evidence import (
    Balance,
    Cause,
    Difference,
    DriftCause,
    Growth,
    Refusal,
    ReplayedAssignor,
    Skew,
    TaskBalance,
)
from monitor.model.groups import RebalanceCause
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
    POISON = "poison"
    """Records of a share group that its members do not accept, however often they get them."""
    UNREADABLE_MEMBERS = "unreadable_members"
    """Members sent bytes that cannot be decoded, so what is wrong with the group may not be seen."""
    CONFIG_BEHIND = "config_behind"
    """A worker of Connect has read less of the configurations than its leader."""


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


class Evidence(Value):
    """What was seen of a finding, beside its partitions and members: all that its sentence needs, in no words.

    Each kind of evidence has one sentence (monitor.messages.findings).
    """


class RecordsLost(Evidence):
    """Retention has removed records before they were committed."""


class CloseToLoss(Evidence):
    """Nearly all that retention left waits. ``share`` is the threshold, from 0 to 1."""

    share: float


class DoubleOwned(Evidence):
    """``owners`` are those of the first partition. ``is_mixed``: they share partitions out by different strategies."""

    owners: tuple[str, ...]
    is_mixed: bool


class DuplicateClientIds(Evidence):
    """Several connections have the id of one member; the partitions are those of the members."""


class StreamsReport(Value):
    """What the leader of a classic group of Kafka Streams has told its members of its assignment.

    ``error`` is a number of ``AssignorError``, 0 for none; ``tells_what_follows``: every member knows if another
    generation follows.
    """

    error: int
    tells_what_follows: bool


class NoOwner(Evidence):
    """Why nobody owns partitions.

    ``seen_growing``: they were seen to come after the generation, to topics known before. ``awaited`` are, of
    partitions on their way, the members that let them go; of KIP-848 and of groups without a leader, those that are to
    take them. ``streams`` is of Kafka Streams only.
    """

    reason: OrphanReason
    seen_growing: bool
    awaited: tuple[str, ...] = ()
    streams: StreamsReport | None = None


class NotReady(Evidence):
    """The broker cannot assign the topology of a Kafka Streams application.

    ``missing`` are topics that it needs and that do not exist, sorted. ``uneven`` must have equally many partitions,
    and have these numbers. Both are empty where it is not known what is wrong.
    """

    missing: tuple[str, ...]
    uneven: tuple[tuple[str, int], ...]


class NoWorker(Evidence):
    """Connectors and tasks of Connect that no worker runs; the tasks are those of the finding.

    ``urls`` are the workers that had them last and are gone, ``rejoined`` those of them that are in the group again.
    ``until_ms`` is until when the leader keeps the tasks back.
    """

    reason: OrphanReason
    connectors: tuple[str, ...] = ()
    urls: tuple[str, ...] = ()
    rejoined: tuple[str, ...] = ()
    until_ms: int | None = None


class RunTwice(Evidence):
    """Connectors and tasks of Connect that these workers ran at once.

    ``from_ms`` None: not known; ``until_ms`` None: they still do.
    """

    urls: tuple[str, ...]
    from_ms: int | None
    until_ms: int | None
    connectors: tuple[str, ...] = ()


class UnevenWorkers(Evidence):
    """Workers of Connect that run the most and the fewest tasks or, if ``of_connectors``, connectors."""

    most_url: str
    most: int
    fewest_url: str
    fewest: int
    of_connectors: bool


class WorkersBehind(Evidence):
    """Workers of Connect that joined again and again without what their leader has read of the configurations."""

    urls: tuple[str, ...]


class UnsubscribedOwners(Evidence):
    """The owners do not subscribe to the topics, and their client libraries drop what they do not subscribe to."""

    libraries: tuple[Library, ...]


class NotInitialized(Evidence):
    """The coordinator of a share group has not initialized partitions for it."""


class StalledDeliveries(Evidence):
    """Members of a share group have answered for no record of the partitions for ``silence_ms``, the threshold."""

    silence_ms: int


class LastTries(Evidence):
    """``records`` of a share group are given up at the next delivery that fails, after ``limit`` of them.

    ``offsets`` are the first ones of the first partition. ``is_default``: the limit is assumed.
    """

    records: int
    offsets: tuple[int, ...]
    limit: int
    is_default: bool = False


class GivenUp(Evidence):
    """A share group gave up ``records`` after ``limit`` deliveries, the newest at ``offset`` of ``partition``.

    ``is_default``: the limit is assumed.
    """

    records: int
    partition: TopicPartition
    offset: int
    limit: int
    is_default: bool = False


class Unattended(Evidence):
    """Records wait for a group without members."""


class SilentMembers(Evidence):
    """Members that commit nothing while records wait in the partitions, which are theirs, and others go on."""


class UnansweringMembers(Evidence):
    """The same of members that do not answer: the partitions are those that they had last, or should have."""


class UnnoticedMembers(Evidence):
    """The same of members that may be gone. ``session_ms`` is the longest of their sessions."""

    session_ms: int


class FormerLog(Evidence):
    """Commits from before the topics were deleted and created anew."""


class BeyondEnd(Evidence):
    """Committed offsets beyond the end of the log. ``furthest`` is the partition where it is the most records.

    ``committed`` and ``end`` are those of that partition.
    """

    furthest: TopicPartition
    committed: int
    end: int


class LongRebalance(Evidence):
    """``limit_ms`` is the threshold, not the age. The members are those known to keep the others waiting."""

    limit_ms: int


class NotCommitting(Evidence):
    """``silence_ms`` is the threshold, not the age; ``owners`` are the members that have the partitions."""

    silence_ms: int
    owners: tuple[str, ...]


class OpenTransaction(Evidence):
    """All that waits in the partitions is behind the beginning of a transaction."""


class Behind(Evidence):
    """``threshold`` in records, of MetaQ in bytes; the lag itself moves and is shown beside."""

    threshold: int


class FailingLeader(Value):
    """A client library whose assignor can fail, by a known defect."""

    library: Library
    defect: ClientDefect


class RebalanceStorm(Evidence):
    """``enough`` within ``window_ms`` are the thresholds, not the counts; ``causes`` of the newest of them.

    ``failing``: most of the newest generations follow on one that its leader never assigned, and leaders with this
    client library are known to fail.
    """

    enough: int
    window_ms: int
    causes: tuple[RebalanceCause, ...]
    failing: FailingLeader | None = None


class UnreadableMembers(Evidence):
    """Members that cannot be decoded, in the group's order, and in the same order ``problems``: why.

    ``of_assignments``: what cannot be read is what they own, and maybe also what they subscribe to.
    """

    members: tuple[str, ...]
    problems: tuple[str, ...]
    of_assignments: bool


class LateHandover(Evidence):
    """The oldest of the handovers, by its first partition. ``heir``: None, nobody is to have it.

    ``is_told``: the broker has told the owner to give it back.
    """

    first: TopicPartition
    owner: str
    heir: str | None
    is_told: bool


class TargetDrift(Evidence):
    """The actual owners of the difference are those that the broker has chosen."""

    difference: Difference
    cause: Cause


class TaskDrift(Evidence):
    """The targets of a streams group are not what its task assignor gives; the tasks of the finding differ.

    Of the ``first`` one, ``expected`` are the members that are to have it, ``actual`` those that the broker has chosen:
    as standby tasks if ``is_standby``, else as the active one.
    """

    first: str
    is_standby: bool
    expected: tuple[str, ...]
    actual: tuple[str, ...]


class ReplayedDrift(Evidence):
    """The owners are not those that the assignor gives for the inputs of the generation.

    ``assignor`` is that of the leader's client library; None: Kafka's own.
    """

    difference: Difference
    cause: Cause
    assignor: ReplayedAssignor | None = None


class RefusedAssignment(Evidence):
    """An assignor that is only checked cannot have given the owners. ``first`` is the place that shows it."""

    assignor: ReplayedAssignor
    first: Refusal


class CurrentDrift(Evidence):
    """The owners would be others now; ``changes`` is what makes the difference."""

    difference: Difference
    cause: Cause
    changes: tuple[Growth, ...]


class LagImbalance(Evidence):
    """Most of the lag is that of one member, which owns ``owned`` partitions.

    ``hottest`` is the one of these that gets most records.
    """

    skew: Skew
    hottest: TopicPartition
    owned: int


class Imbalance(Evidence):
    """``balance`` is that of the group."""

    balance: Balance


class UnevenTasks(Evidence):
    """``balance`` is that of the processes of an application, or of the workers of a Connect cluster."""

    balance: TaskBalance


class IdleMembers(Evidence):
    """``partitions`` are those that the group subscribes, None if not all subscriptions are known."""

    partitions: int | None


class ThreadsWithoutTask(Evidence):
    """Threads of Kafka Streams without any task, while ``busiest`` has ``active`` active ones."""

    busiest: str
    active: int


class Abandoned(Evidence):
    """Records wait in topics that a living group no longer subscribes."""


class Observation(Value):
    """What a rule has found, in no words; it becomes a :class:`Finding` at the end of the verdict.

    ``tasks`` are those of Kafka Streams or Kafka Connect, by name.
    """

    kind: FindingKind
    reason: str
    since_ms: int
    evidence: Evidence
    partitions: tuple[TopicPartition, ...] = ()
    members: tuple[str, ...] = ()
    cause: DriftCause | None = None
    tasks: tuple[str, ...] = ()


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

    @property
    def spec(self) -> FindingSpec:
        """Its row of :data:`FINDINGS`."""
        return spec_of(self.kind, self.reason)


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
    task_count: int = 0
    tasks: tuple[str, ...] = ()


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
    """One finding that can be told, with all that is the same wherever it is found.

    ``severity`` is that of one that has lasted: its alert waits for that. ``advice`` is what a person can do first, as
    one text where it can be true of every group that has the finding; None: there is no general advice. ``mark`` are
    the short words beside a partition of it on the page of its group; None: it is not about partitions, or their number
    is in the words.

    ``jitters``: which partitions and members it is about changes with every commit, and is no news. Nor is a later
    beginning: what shows since when records wait is only kept for minutes, and what was told stays true.
    ``remembered``: its beginning is looked for in a bounded history (of hours, in a storm) and moves on with it in the
    end, which is no news.
    """

    kind: FindingKind
    reason: str
    severity: Severity
    advice: str | tuple[Advice, ...] | None = None
    mark: str | None = None
    jitters: bool = False
    remembered: bool = False

    def advice_for(self, kind: str, *, is_connect: bool = False) -> str | None:
        """What a person can do first about it in a group of this kind; None: there is no general advice.

        ``is_connect``: its members are the workers of a Connect cluster.
        """
        if self.advice is None or isinstance(self.advice, str):
            return self.advice
        return advice_of(self.advice, kind, is_connect=is_connect)


_CRITICAL, _WARNING, _INFO = Severity.CRITICAL, Severity.WARNING, Severity.INFO

_STATIC: Final = "a static member must be away longer than its session timeout"
_NOT_URGENT: Final = "Not urgent: partitions that have an owner are still consumed."
_COMPARE_STRATEGIES: Final = "the members' versions, strategies and subscriptions"

_TO_LOSE_NO_MORE: Final = (
    Advice("Increase the retention (retention.ms): the group may lose more records.", KAFKA_TOPICS),
    Advice("Increase the brokers' retention (fileReservedTime): the group may lose more records.", ROCKETMQ),
    Advice("Increase the brokers' retention (deletePolicy): the group may lose more records.", METAQ),
    Advice(
        "Before the group goes on, check its auto.offset.reset: latest skips the records that are still retained.",
        POLLING,
    ),
    Advice(
        "Before the group goes on, check its auto.offset.reset: largest skips the records that are still retained.",
        ZOOKEEPER,
    ),
    Advice("The query fails there, unless its failOnDataLoss is false.", SPARK),
)
_UNTIL_IT_CATCHES_UP: Final = "until the group catches up faster, or runs again."
_TO_LOSE_NONE: Final = (
    Advice(f"Increase the retention (retention.ms, retention.bytes) {_UNTIL_IT_CATCHES_UP}", KAFKA_TOPICS),
    Advice(f"Increase the brokers' retention (fileReservedTime) {_UNTIL_IT_CATCHES_UP}", ROCKETMQ),
    Advice(f"Increase the brokers' retention (deletePolicy) {_UNTIL_IT_CATCHES_UP}", METAQ),
)
_ONE_STRATEGY: Final = (
    Advice(
        "Give all members the same allocateMessageQueueStrategy, and restart those that have a different one.",
        ROCKETMQ,
    ),
    Advice(
        "Give all members the same partition.assignment.strategy, and restart those that have a different one.",
        ZOOKEEPER,
    ),
    Advice("Give all members the same load balance strategy, and restart those that have a different one.", METAQ),
)
_STOP_ONE_OWNER: Final = (
    Advice("Stop one of the owners: each of them processes every record there.", ALL),
    Advice("Then compare their client libraries and assignors.", CLASSIC),
    Advice("Then compare their client libraries and versions.", BY_BROKER),
    Advice("Then compare their client versions and strategies.", SELF_ASSIGNED),
)
_LEFT_OUT: Final = (
    Advice(f"To trigger a rebalance, restart a member ({_STATIC}).", CLASSIC | CONSUMER),
    Advice("To trigger a rebalance, restart a member.", STREAMS | SELF_ASSIGNED),
    Advice("If the gap returns, compare the members' client libraries, assignors, and subscriptions.", CLASSIC),
    Advice("If the gap returns, check the members' subscriptions, and the log of the group's coordinator.", CONSUMER),
    Advice("If the gap returns, check the log of the group's coordinator.", STREAMS),
    Advice(f"If the gap returns, compare {_COMPARE_STRATEGIES}.", SELF_ASSIGNED),
)
_NEW_PARTITIONS: Final = (
    Advice(
        "Wait for the next metadata refresh (metadata.max.age.ms, 5 minutes by default). If it takes longer, restart "
        f"the leader ({_STATIC}).",
        CLASSIC,
    ),
    Advice(
        "Wait: the coordinator assigns new partitions within moments. If it takes longer, check its log.", BY_BROKER
    ),
    Advice(
        "Wait: the members find new partitions by themselves. If it takes longer than a minute, restart a member to "
        "trigger a rebalance.",
        SELF_ASSIGNED,
    ),
)
_HANDOVER: Final = (
    Advice("Wait: the handover completes by itself.", ALL),
    Advice(
        "If it does not, check the named member: a member must poll to give up partitions and to take them.", POLLING
    ),
    Advice("If it does not, check the named member.", SELF_ASSIGNED),
    Advice("It may have given up (see its log): then restart it.", ZOOKEEPER),
)
_RESET_TOOLS: Final = (
    ("kafka-consumer-groups.sh --reset-offsets", CLASSIC | CONSUMER),
    ("kafka-share-groups.sh --reset-offsets", SHARE),
    ("kafka-streams-groups.sh --reset-offsets", STREAMS),
    ("mqadmin resetOffsetByTime", ROCKETMQ),
    ("they are in ZooKeeper", ZOOKEEPER | METAQ),
)
_BEYOND_THE_END: Final = (
    Advice("Find out whether the log was truncated, or what committed these offsets.", ALL),
    *(
        Advice(
            f"Then set the group's offsets to where it should continue ({tool}), before new records fill the gap.",
            kinds,
        )
        for tool, kinds in _RESET_TOOLS
    ),
    Advice("Then start the query with a new checkpoint and startingOffsets, before new records fill the gap.", SPARK),
)
_FORMER_LOG: Final = (
    Advice("If the group consumes there, make sure that it commits.", ALL - SPARK),
    *(Advice(f"If not, set its offsets before it starts ({tool}).", kinds) for tool, kinds in _RESET_TOOLS),
    Advice("Start the query with a new checkpoint and startingOffsets.", SPARK),
    Advice("The old offsets point to arbitrary records of the new topic.", ALL),
)
_DELETE_OFFSETS: Final = (
    *(
        Advice(f"If the group should no longer consume this topic, delete its offsets ({tool}).", kinds)
        for tool, kinds in (
            ("kafka-consumer-groups.sh --delete-offsets", CLASSIC | CONSUMER),
            ("kafka-share-groups.sh --delete-offsets", SHARE),
            ("kafka-streams-groups.sh --delete-offsets", STREAMS),
        )
    ),
    Advice("If the group should no longer consume this topic, delete its offsets.", SELF_ASSIGNED),
    Advice("Otherwise, let a member subscribe to the topic again.", ALL - SPARK - WORKERS),
)
_WAITS_FOR_MEMBERS: Final = (
    Advice(
        "If the group waits for members, find the one that is slow to process what it polled (see its log or a "
        "thread dump). Restart it if it hangs. As a permanent fix, let members poll fewer records "
        "(max.poll.records).",
        POLLING,
    ),
    Advice(
        "If the group waits for workers, find the one that is slow to stop its tasks (see its log or a thread dump; "
        "task.shutdown.graceful.timeout.ms). Restart it if it hangs.",
        WORKERS,
    ),
    Advice("Check the log of the group's coordinator.", SHARE),
)
_NO_MORE_THAN_PARTITIONS: Final = (
    "Find out what slows the members down, or add members, up to the number of partitions (groupwatch what-if "
    "--members)."
)
_TOO_SLOW: Final = (
    Advice(_NO_MORE_THAN_PARTITIONS, CLASSIC | CONSUMER | STREAMS | SELF_ASSIGNED),
    Advice("Find out what slows the members down, or add members: several of them can share a partition.", SHARE),
    Advice("Find out what slows the query down, or give it more cores.", SPARK),
)
_UPDATE_THE_CLIENT: Final = (
    Advice(
        "Find out which client libraries and versions the member and the group leader run, and update them. Other "
        "clients may fail on the same bytes.",
        CLASSIC,
    ),
    Advice(
        "Find out which versions of Connect the worker and the leader run, and update them. Other workers may fail on "
        "the same bytes.",
        WORKERS,
    ),
    Advice("Find out which client version the member runs, and update it.", ALL - CLASSIC - WORKERS),
    Advice("Until then, watch the group's lag.", ALL - WORKERS),
)
_OTHER_OWNERS: Final = (
    Advice(_NOT_URGENT, ALL),
    Advice("Compare the members' client libraries, versions, and lists of assignors.", CLASSIC),
    Advice(f"Compare {_COMPARE_STRATEGIES}.", SELF_ASSIGNED),
)
_WOULD_MOVE: Final = (
    Advice(f"{_NOT_URGENT} The next rebalance fixes it.", ALL),
    Advice(f"To fix it now, restart the leader ({_STATIC}).", CLASSIC),
    Advice("To fix it now, restart a member.", SELF_ASSIGNED),
)
_RETAINED_FOR_LONGER: Final = (
    Advice("No record is lost while the topic retains it: increase its retention.ms in time.", KAFKA_TOPICS),
    Advice("No record is lost while the brokers retain it: increase fileReservedTime in time.", ROCKETMQ),
    Advice("No record is lost while the brokers retain it: change their deletePolicy in time.", METAQ),
)

FINDINGS: Final[tuple[FindingSpec, ...]] = (
    # Gone unread: nothing brings them back, and until the group goes on, more follow.
    FindingSpec(
        FindingKind.RETENTION,
        "records_lost",
        _CRITICAL,
        advice=_TO_LOSE_NO_MORE,
        mark="lost records",
        jitters=True,
    ),
    # Nothing is lost yet, but this one has a deadline, whatever the cause below is.
    FindingSpec(
        FindingKind.RETENTION,
        "close_to_loss",
        _CRITICAL,
        advice=_TO_LOSE_NONE,
        mark="close to losing records",
        jitters=True,
    ),
    # Processed twice, and commits overwrite each other: data is wrong, not only late.
    FindingSpec(
        FindingKind.DOUBLE_OWNED,
        "same_generation",
        _CRITICAL,
        advice=_STOP_ONE_OWNER,
    ),
    FindingSpec(
        FindingKind.DOUBLE_OWNED,
        "mixed_strategy",
        _CRITICAL,
        advice=(*_ONE_STRATEGY, Advice("Until then, each record there is processed twice.", ALL)),
    ),
    FindingSpec(
        FindingKind.DOUBLE_OWNED,
        "duplicate_client_id",
        _CRITICAL,
        advice=(
            "Give each client its own id (setInstanceName) and restart it. Until then, all of these clients process "
            "each record there."
        ),
        mark="duplicate client id",
    ),
    # Nobody reads, and no rebalance puts it right: retention may lose what waits. The first has others read twice, too.
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.MIXED_STRATEGY,
        _CRITICAL,
        advice=_ONE_STRATEGY,
        mark="no owner: strategies differ",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.MIXED_SUBSCRIPTION,
        _CRITICAL,
        advice=(
            "Subscribe all members of the group to the same topics, or move members with other topics to a group of "
            "their own. Restart them with that change."
        ),
        mark="no owner: subscriptions differ",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.LEADER_UNSUBSCRIBED,
        _CRITICAL,
        advice=(
            "Subscribe all members to the same topics, or move members with other topics to a group of their own. An "
            "assignor that assigns the topics of all members also helps. A restart only changes the leader."
        ),
        mark="no owner: leader not subscribed",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.OWNER_UNSUBSCRIBED,
        _CRITICAL,
        advice=(
            "Subscribe all members to the same topics, or move members with other topics to a group of their own. A "
            "restart of members does not help."
        ),
        mark="no reader: owner not subscribed",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.NO_TASK,
        _CRITICAL,
        advice=(
            "Make sure that all instances run the same topology: the leader creates the tasks of its own topology. Its "
            "log shows what failed (StreamsPartitionAssignor). To trigger a rebalance, restart an instance."
        ),
        mark="no owner: no task",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.NOT_READY,
        _CRITICAL,
        advice=(
            "Create the missing source topics, or give topics that are joined equally many partitions. Then restart "
            "the instances that have stopped: they leave when a source topic is missing (MissingSourceTopicException)."
        ),
        mark="no owner: topology not ready",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.ASSIGNOR_GAP,
        _CRITICAL,
        advice=_LEFT_OUT,
        mark="no owner: assignor gap",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.CONFIG_MISMATCH,
        _CRITICAL,
        advice=(
            "Check that every worker can read the topic of configurations (config.storage.topic): the leader's log "
            "shows what failed. Until then, Connect assigns nothing."
        ),
        mark="no worker: configurations unread",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.NO_WORKERS,
        _CRITICAL,
        advice="Start the workers of this Connect cluster. If it is no longer needed, delete its connectors.",
        mark="no worker: none left",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.NOT_ASSIGNED,
        _CRITICAL,
        advice=(
            "Check the log of the Connect leader. To trigger a rebalance, restart a worker, or start another one. A "
            "restart of the connector does not assign its tasks again."
        ),
        mark="no worker: not assigned",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.REVOKED,
        _CRITICAL,
        advice=(
            "Wait for the next generation. If it does not come, check the log of the Connect leader, and whether a "
            "worker hangs while it stops a task (task.shutdown.graceful.timeout.ms)."
        ),
        mark="no worker yet: revoked",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.NOT_INITIALIZED,
        _CRITICAL,
        advice=(
            "Wait: the coordinator initializes partitions within seconds. If this lasts, check the brokers' logs for "
            "the share coordinator, and the topic __share_group_state (replication factor, min.insync.replicas)."
        ),
        mark="not initialized for the group",
    ),
    # Gone unprocessed by design: somebody has to look at these records.
    FindingSpec(
        FindingKind.POISON,
        "given_up",
        _CRITICAL,
        advice=(
            "Read the newest of these records with a console consumer, and find out why the consumers do not accept "
            "it. The group does not deliver them again: process them by hand if they matter."
        ),
        mark="records given up",
        remembered=True,
    ),
    # The same for all of a group, often by intent or for a while: it is switched off or restarts.
    FindingSpec(
        FindingKind.LAG,
        "beyond_end",
        _CRITICAL,
        advice=_BEYOND_THE_END,
        mark="committed beyond the end",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.UNATTENDED,
        "no_members",
        _CRITICAL,
        advice="Start its consumers. If the group is no longer needed, delete it together with its offsets.",
        mark="lag, no members",
        jitters=True,
    ),
    # Nobody else gets what these members have; the last may be gone, which the group then notices by itself.
    FindingSpec(
        FindingKind.DEAD_MEMBER,
        "silent",
        _CRITICAL,
        advice="Find out where it hangs (take a thread dump), then restart it.",
        mark="owner does not commit",
    ),
    FindingSpec(
        FindingKind.DEAD_MEMBER,
        "no_answer",
        _CRITICAL,
        advice=(
            "Check whether its process is stopped or its machine is down. If it runs, find out where it hangs (take a "
            "thread dump). Restart or stop it: until then, no other member takes over."
        ),
        mark="owner does not respond",
    ),
    FindingSpec(
        FindingKind.DEAD_MEMBER,
        "unnoticed",
        _CRITICAL,
        advice=(
            "Check whether it runs. If it is gone, start it again or wait for its session to expire "
            "(session.timeout.ms). If it runs, find out where it hangs."
        ),
        mark="owner does not commit, or is gone",
    ),
    # Nobody reads, but it mostly heals: by a refresh of metadata, by who lets go, by the broker's choice.
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.GREW,
        _CRITICAL,
        advice=_NEW_PARTITIONS,
        mark="no owner: topic grew",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.PENDING,
        _CRITICAL,
        advice=_HANDOVER,
        mark="no owner yet: handover",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.REBALANCING,
        _CRITICAL,
        advice="Wait: the coordinator assigns within moments. If this lasts, check the log of the group's coordinator.",
        mark="no owner yet: rebalancing",
    ),
    # It has ended by the time that it is known; what was written twice remains.
    FindingSpec(
        FindingKind.DOUBLE_OWNED,
        "run_twice",
        _WARNING,
        advice=(
            "Check what those connectors wrote in that time: records may be there twice. Find out why the worker lost "
            "contact (long pauses, network); Connect stops its tasks only when it rejoins."
        ),
    ),
    # Where the group reads on is not known: it may pass records over.
    FindingSpec(
        FindingKind.LAG,
        "former_log",
        _WARNING,
        advice=_FORMER_LOG,
        mark="committed before the topic was recreated",
        jitters=True,
    ),
    # Those who wait read nothing; it ends, or explains the partitions that are not committed.
    FindingSpec(
        FindingKind.REBALANCE,
        "long",
        _WARNING,
        advice=_WAITS_FOR_MEMBERS,
    ),
    # Somebody should read and makes no progress; a long batch can look like that.
    FindingSpec(
        FindingKind.LAG,
        "not_committing",
        _WARNING,
        advice=(
            "Check the consumer there: it may hang in processing (take a thread dump), fail before it commits, or have "
            "stopped committing."
        ),
        mark="not committing",
        jitters=True,
    ),
    # The same, not by the group's fault; most end by themselves, with their timeout.
    FindingSpec(
        FindingKind.LAG,
        "open_transaction",
        _WARNING,
        advice=(
            "Check the producer, not the group. If it is gone and its transaction.timeout.ms is over, find and abort "
            "the transaction with kafka-transactions.sh (find-hanging, abort)."
        ),
        mark="behind an open transaction",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.LAG,
        "stalled",
        _WARNING,
        advice=(
            "Check the consumers there: they may hang in processing (take a thread dump), or have stopped polling. "
            "Records that a consumer holds are delivered again after its lock ends."
        ),
        mark="no acknowledgments",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.POISON,
        "last_try",
        _WARNING,
        advice=(
            "Check the consumers' logs for errors at these offsets. A crash or an expired lock is a failed delivery, "
            "too. More attempts: share.delivery.count.limit of the group (before Kafka 4.3: of the brokers)."
        ),
        mark="last delivery attempt",
        jitters=True,
    ),
    # Progress, but too slow: late, nothing is lost yet.
    FindingSpec(
        FindingKind.LAG,
        "behind",
        _WARNING,
        advice=_TOO_SLOW,
        jitters=True,
    ),
    # Everything is read between two rebalances, much of it twice: it costs, and makes the group late.
    FindingSpec(
        FindingKind.REBALANCE,
        "storm",
        _WARNING,
        advice="The logs of its members show why each of them rejoined.",
        remembered=True,
    ),
    # It starts no new connector there until it has read them.
    FindingSpec(
        FindingKind.CONFIG_BEHIND,
        "config_offset",
        _WARNING,
        advice=(
            "Check the worker's connection to the topic of configurations (config.storage.topic), and that all workers "
            "of the cluster are configured with the same topic."
        ),
    ),
    # It says nothing of harm, and hides it: the first hides more.
    FindingSpec(
        FindingKind.UNREADABLE_MEMBERS,
        "assignment",
        _WARNING,
        advice=_UPDATE_THE_CLIENT,
    ),
    FindingSpec(
        FindingKind.UNREADABLE_MEMBERS,
        "subscription",
        _WARNING,
        advice=_UPDATE_THE_CLIENT,
    ),
    # All is read, but one member waits for another that may hang.
    FindingSpec(
        FindingKind.DRIFT,
        DriftKind.PENDING,
        _WARNING,
        advice=(
            "Check whether the member that must revoke the partition hangs, and restart it if it does. If this lasts "
            "longer than its max.poll.interval.ms, also check the log of the group's coordinator."
        ),
        mark="slow handover",
    ),
    # Everything is read, by owners that cannot be explained: a hint at mixed clients or brokers, before harm.
    FindingSpec(
        FindingKind.DRIFT,
        DriftKind.TARGET,
        _WARNING,
        advice=f"{_NOT_URGENT} Check whether the brokers run a different version, or a custom assignor.",
        mark="differs from the broker's assignor",
    ),
    FindingSpec(
        FindingKind.DRIFT,
        DriftKind.REPLAYED,
        _WARNING,
        advice=_OTHER_OWNERS,
        mark="differs from the assignor",
    ),
    # Everything that was assigned is read; the next rebalance puts it right.
    FindingSpec(
        FindingKind.DRIFT,
        DriftKind.CURRENT,
        _WARNING,
        advice=_WOULD_MOVE,
        mark="would move in a rebalance",
    ),
    # Works as assigned, only slower than it could; of the first, records wait already.
    FindingSpec(
        FindingKind.IMBALANCE,
        "lag",
        _INFO,
        advice=_RETAINED_FOR_LONGER,
        mark="gets most records",
    ),
    FindingSpec(
        FindingKind.IMBALANCE,
        "partitions",
        _INFO,
        advice=(
            "Not urgent while the member keeps up. To see what another assignor would assign, run groupwatch what-if "
            "with --assignor."
        ),
    ),
    FindingSpec(
        FindingKind.IMBALANCE,
        "tasks",
        _INFO,
        advice=(
            "Not urgent while the instance keeps up. The next rebalance moves tasks if it can. If this lasts, compare "
            "the numbers of threads (num.stream.threads), and look for tasks whose state is still being restored."
        ),
    ),
    FindingSpec(
        FindingKind.IMBALANCE,
        "workers",
        _INFO,
        advice=(
            "Not urgent while the worker keeps up. The next rebalance spreads connectors and tasks evenly. If this "
            "lasts, check the log of the Connect leader."
        ),
    ),
    # The leader waits on purpose: a worker that restarts gets its tasks back.
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.DELAY,
        _INFO,
        advice=(
            "Start the worker again before then, or wait: Connect then assigns its tasks to other workers. How long it "
            "waits is scheduled.rebalance.max.delay.ms."
        ),
        mark="no worker: delay",
    ),
    # Costs money and no time; with more members than partitions it is often intended.
    FindingSpec(
        FindingKind.IDLE_MEMBERS,
        "no_partitions",
        _INFO,
        advice=(
            "Not urgent: idle members can take over from members that fail. If that is not intended, run fewer "
            "members; if there are enough partitions, compare subscriptions. To see the effect, run groupwatch "
            "what-if with --members."
        ),
    ),
    FindingSpec(
        FindingKind.IDLE_MEMBERS,
        "no_tasks",
        _INFO,
        advice=(
            "Not urgent: every task is running. If this lasts after the next rebalance, restart the instance of the "
            "idle threads."
        ),
    ),
    # Mostly intended: the group has turned to other topics.
    FindingSpec(
        FindingKind.ABANDONED,
        "unsubscribed",
        _INFO,
        advice=_DELETE_OFFSETS,
        mark="lag, not subscribed",
        jitters=True,
    ),
    # Nothing is to be done: both answers are right.
    FindingSpec(
        FindingKind.DRIFT,
        DriftKind.TIE,
        _INFO,
        advice="No action needed: both results are the assignor's own.",
        mark="tie",
    ),
)
"""All findings, worst first. The order of severities is that of the rows, too."""

FINDING_KINDS: Final[tuple[FindingKind, ...]] = tuple(dict.fromkeys(spec.kind for spec in FINDINGS))
"""The kinds of findings, each by the worst of its reasons."""

_SPECS: Final[Mapping[tuple[str, str], FindingSpec]] = {(spec.kind, str(spec.reason)): spec for spec in FINDINGS}
_RANKS: Final[Mapping[tuple[str, str], int]] = {key: rank for rank, key in enumerate(_SPECS)}


def spec_of(kind: str, reason: str) -> FindingSpec:
    """The row of a finding.

    >>> spec_of(FindingKind.DRIFT, "tie").advice
    "No action needed: both results are the assignor's own."

    Raises:
        KeyError: the table has no such finding. No verdict has one, as verdicts are sorted by :func:`rank`.
    """
    return _SPECS[kind, reason]


def rank(kind: str, reason: str) -> int:
    """How bad a finding is among all; 0 is the worst.

    >>> rank(FindingKind.RETENTION, "records_lost")
    0

    Raises:
        KeyError: the table has no such finding.
    """
    return _RANKS[kind, reason]
