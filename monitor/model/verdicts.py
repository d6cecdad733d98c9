"""The verdict on one group at an instant."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from monitor.model.client_libraries import UNKNOWN_LIBRARY, ClientLibrary
from monitor.model.connect import CONNECT, TargetState
from monitor.model.evidence import TaskBalance
from monitor.model.expectations import GroupExpectations
from monitor.model.expiry import ExpiredOffset
from monitor.model.findings import Finding, OrphanReason, SubordinateFinding
from monitor.model.jumps import Skip
from monitor.model.kinds import CONSUMER_PROTOCOL, KindTraits, Phase, Sharing, Source, traits_by_protocol
from monitor.model.members import MemberRemark, MemberState
from monitor.model.scaling import Scaling
from monitor.model.short_lives import ShortLife
from monitor.model.values import PartitionId, TopicPartition, Value


class Handover(Value):
    """Partitions of a KIP-848 group that ``owner`` still has and ``heir`` is to have.

    ``is_told`` false: the coordinator has not heard from the owner since it chose.
    """

    owner: str
    """The id of the current owner."""
    heir: str | None
    """The id of the target owner; absent: none."""
    is_told: bool
    """Whether the coordinator has requested the revocation."""
    since_ms: int
    grace_ms: int | None
    """The grace period of the owner (ms)."""
    partitions: tuple[TopicPartition, ...]
    """The partitions."""


class LagStatus(StrEnum):
    """How the lag develops, by the rules of LinkedIn's Burrow (monitor.detection.thresholds.burrow).

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
    """How fast a partition is read and written, over the same last minutes."""

    consumed_per_s: float
    """Records consumed per second."""
    produced_per_s: float
    """Records produced per second."""


class TopicLag(Value):
    """The lag of a group in one topic."""

    topic: str
    lag: int | None = None
    lag_ms: int | None = None
    partitions: int = 0
    """Number of the topic's partitions in the group."""
    lag_at_least: int | None = None
    uncommitted_partitions: int = 0
    uncommitted_records: int = 0


class PartitionVerdict(Value, gc=False):
    """One partition of a group. Offsets and lag are in records.

    ``replayed`` is of the inputs of the current generation. It is None where it is not computable (see
    ``GroupVerdict.expectation``), and where the broker chooses, as it would be the same as ``expected``. ``end`` is
    that of the newest poll, or a newer committed offset beyond it; it is below ``committed`` only where the two do not
    fit together. ``status`` is None where the lag is not known.
    """

    topic: str
    partition: PartitionId
    owners: tuple[str, ...] = ()
    """The ids of the members that own it."""
    expected: str | None = None
    """The id of its owner if the group rebalanced now; absent: none, or unknown."""
    replayed: str | None = None
    """The id of the owner that the assignor computes for this generation."""
    committed: int | None = None
    """The committed offset; absent: there is none."""
    earliest: int | None = None
    """The first retained offset."""
    end: int | None = None
    """The end of the log."""
    lag: int | None = None
    lag_ms: int | None = None
    orphan: OrphanReason | None = None
    """Why it has no owner, if it should have one."""
    status: LagStatus | None = None
    pace: Pace | None = None
    stable: int | None = None
    """The last stable offset, if an open transaction holds back part of the lag."""


class DeliveryBatch(Value):
    """Records of a share group from the first to the last offset, in the same state and delivered equally often.

    ``state`` is a number of DeliveryState, or one that a newer Kafka writes.
    """

    first: int
    """The first offset."""
    last: int
    """The last offset."""
    state: int
    """0 available, 2 acknowledged, 4 archived (rejected, or given up at the delivery limit)."""
    deliveries: int
    """How often these records were delivered."""


class DeliveryVerdict(Value):
    """How far a share group is in a partition (KIP-932), by the acknowledgments of its members.

    What members hold right now is not in any log. If only the coordinator's word is known, ``first_waiting`` may be an
    earlier record. ``lag`` and ``lost`` count records, see monitor.kinds.share. ``max_deliveries`` is of
    ``waiting_redelivery``, and so are ``last_tries``.
    """

    topic: str
    partition: PartitionId
    start_offset: int | None = None
    """The share group's start offset, which is one acknowledgment behind; absent: none yet."""
    first_waiting: int | None = None
    """The first offset that is not done; absent: there is none, or it is unknown."""
    lag: int | None = None
    lost: int = 0
    """Records that retention removed before they were done."""
    waiting_redelivery: int = 0
    """Records that were delivered and are available again."""
    max_deliveries: int = 0
    """The largest delivery count of these records."""
    last_tries: int = 0
    """Records that are given up if the next delivery fails."""
    last_try_offsets: tuple[int, ...] = ()
    """The first ten offsets of these records."""
    last_tries_since_ms: int | None = None
    """Since when there have been such records (ms since the epoch)."""
    given_up: int = 0
    """Records that were archived at the delivery limit since the partition was first seen."""
    given_up_offset: int | None = None
    """The newest offset of these records."""
    given_up_ms: int | None = None
    """When it was archived (ms since the epoch)."""
    rejected: int = 0
    """Other archived offsets: rejected, markers and aborted records of transactions, compacted away."""
    accepted: int = 0
    """Accepted records since the partition was first seen."""
    returned: int = 0
    """Records that became available again after a delivery since the partition was first seen."""
    answered_ms: int | None = None
    """When a member last acknowledged records, or a lock expired (ms since the epoch)."""
    is_readable: bool = True
    """Whether the coordinator has initialized the partition for the group."""
    batches: tuple[DeliveryBatch, ...] = ()
    """Its first 100 batches, by offset."""
    more_batches: int = 0
    """How many batches follow these."""


class DeliveryTotals(Value):
    """What became of the records of a share group since it was first seen, also in partitions that are gone."""

    accepted: int = 0
    """Accepted records."""
    returned: int = 0
    """Records that became available again after a delivery."""
    rejected: int = 0
    """Other archived offsets, as in DeliveryVerdict."""
    given_up: int = 0
    """Records that were archived at the delivery limit."""


class RedeliveryVerdict(Value):
    """What became of records of a RocketMQ group that its members did not process."""

    sent_back: int = 0
    """Records that came into the retry topics of the group, each once for every attempt."""
    waiting: int = 0
    """Records in the retry topics that the group has not consumed."""
    waiting_since_ms: int | None = None
    """A time at which one of these waited already (ms since the epoch); absent: none waits."""
    given_up: int = 0
    """Records that came into the dead-letter topic of the group."""
    given_up_ms: int | None = None
    """When the newest of them came (ms since the epoch, by the broker's clock); absent: none is kept."""
    dead_letters: int = 0
    """Records that are still in the dead-letter topic."""
    in_flight: int | None = None
    """Records that members took by POP and have not acknowledged; absent: no member reports it."""


class TaskVerdict(Value):
    """A task of Kafka Streams or Kafka Connect: who runs it, or why nobody does."""

    task: str
    """The name of the task; of Connect, that of the connector itself if it is one."""
    part: str
    """The subtopology, or the connector."""
    number: int | None
    """The number of the task there; null: the connector itself."""
    owners: tuple[str, ...] = ()
    """The ids of the members that run it."""
    standbys: tuple[str, ...] = ()
    """The ids of the members that keep a copy of its state."""
    reads: tuple[TopicPartition, ...] = ()
    """The partitions that it consumes."""
    orphan: OrphanReason | None = None
    """Why no member runs it."""
    since_ms: int | None = None
    """Since when no member runs it (ms since the epoch)."""
    last_url: str | None = None
    """Connect: the URL of the worker that ran it last."""
    until_ms: int | None = None
    """Connect: until when the leader waits for that worker (ms since the epoch)."""


class ProcessLoad(Value):
    """An instance of a Kafka Streams application, whose members are its threads; or a worker of Connect.

    ``config_offset`` None: not known, or no worker.
    """

    process: str
    members: tuple[str, ...]
    """The ids of its members."""
    active: int = 0
    """Number of active tasks."""
    standby: int = 0
    """Number of standby tasks."""
    connectors: int = 0
    """Connect: number of connectors."""
    config_offset: int | None = None
    """Connect: the offset of the topic of configurations up to which it had read when it joined."""


class ConnectorVerdict(Value):
    """A connector of a Connect cluster.

    ``tasks`` and ``state`` are None where the topic of configurations is not read.
    """

    connector: str
    running: int
    """Number of its tasks that run."""
    sink_group: str
    """The consumer group of the connector if it is a sink."""
    tasks: int | None = None
    """Number of its configured tasks; absent: the topic of configurations is not read."""
    state: TargetState | None = None
    """What it is to do, as configured; absent: not configured, so it is started, or not known."""
    workers: tuple[str, ...] = ()
    """The ids of the members that run it or its tasks."""


class ConnectVerdict(Value):
    """What is known of a Connect cluster beside its tasks.

    ``leader_url`` and ``config_offset`` None: not known.
    """

    connectors: tuple[ConnectorVerdict, ...] = ()
    """The connectors that run, or are configured."""
    leader_url: str | None = None
    """The URL of the leader."""
    config_offset: int | None = None
    """The offset of the topic of configurations up to which the leader had read."""
    delay_until_ms: int | None = None
    """Until when the leader waits for a worker that is gone (ms since the epoch)."""


class SinkVerdict(Value):
    """The task of a sink connector that a member of a consumer group is."""

    member_id: str
    connector: str
    task: int
    """The number of the task."""


class SinkState(Value):
    """The connector that a consumer group is of by its name, and what that is to do."""

    connector: str
    state: TargetState | None = None
    """What it is to do; absent: it is started."""
    changed_ms: int = 0
    """When its configuration was last changed (ms since the epoch)."""

    @property
    def is_resting(self) -> bool:
        """Whether it lets records wait on purpose."""
        return self.state in {TargetState.PAUSED, TargetState.STOPPED}


class MemberVerdict(Value):
    """One member with the number of partitions it owns and would own if the group rebalanced now.

    ``epoch`` and ``state`` are also those of a member of a share or streams group. ``answers``, ``connections`` and
    ``unreadable`` are those of the Member.
    """

    member_id: str
    instance_id: str | None = None
    """The instance id of a static member."""
    client_id: str = ""
    """The client id."""
    host: str = ""
    """The host that it connects from."""
    topics: tuple[str, ...] = ()
    """The topics that it subscribes to."""
    partitions: int = 0
    """Number of partitions that it owns."""
    expected_partitions: int | None = None
    """Number of partitions that it would own if the group rebalanced now."""
    idle: bool | None = False
    """Whether it owns no partition while others do; null: not evaluated, as tasks count (Kafka Streams)."""
    epoch: int | None = None
    """The epoch of a member of a KIP-848 group."""
    state: MemberState | None = None
    """The reconciliation state of a member of a KIP-848 group."""
    lag: int = 0
    """The known lag of its partitions, summed."""
    answers: bool = True
    """Whether it responded to the last request (RocketMQ)."""
    connections: int = 1
    """Number of its connections."""
    unreadable: str | None = None
    """Why its data could not be decoded."""
    library: ClientLibrary = UNKNOWN_LIBRARY
    """The client library that it uses; absent: unknown, or not a Kafka client."""
    remarks: tuple[MemberRemark, ...] = ()
    """What deviates from Kafka's protocol in its bytes, although groupwatch can decode them."""
    process: str = ""
    """The application instance that it is a thread of (Kafka Streams)."""
    active_tasks: int | None = None
    """Number of tasks that it runs; absent: the group has no tasks."""
    standby_tasks: int | None = None
    """Number of tasks of which it keeps a copy of the state (Kafka Streams)."""
    leads: bool = False
    """True: it is the leader of a classic group, which decides what each member gets."""


class UnknownVersion(Value):
    """Records of a group are written in a version that groupwatch does not know."""

    record: str
    """The type of the records, in Kafka's words."""
    version: int
    """The newest version in which they are written."""
    newest: int
    """The newest version that groupwatch reads."""
    since_ms: int
    """When the first of them was written (ms since the epoch)."""
    partitions: int = 0
    """How many partitions are committed by them; absent: they are about the members."""


class GroupVerdict(Value):
    """All that is known and judged of one group at ``evaluated_ms``.

    ``imbalance_ratio`` is also None without members or partitions. ``status`` is None if no lag is known.

    ``pace`` is the sum over the partitions with lag, as far as it is known: it is ``paced_lag`` of their records, nine
    tenths of ``lag`` at least, or both are None. ``catch_up_ms`` is 0 without lag.

    ``lost`` counts offsets where there is no record count; ``kept_waiting`` is of partitions that retention has
    trimmed. Both are None if no lag is known. ``stable_lag`` is None if ``lag`` is. Of a MetaQ group offsets and all
    that is counted from them are bytes (monitor.messages.units).

    ``settles_ms`` is when the verdict may become another by time alone; None: nothing is awaited. ``lag_at_least_ms``
    None: no age is known; ``lag_since_ms`` is also None without lag.

    ``deliveries`` has a row for each partition of which a share group has share state or that its members subscribe to.
    Where ``unknown_versions`` are of committed offsets, ``lag`` is None. The counts are those of the GroupState.

    ``lag`` is None too where ``uncommitted_partitions`` is not 0 (monitor.detection.lag.uncommitted). ``lag_at_least``
    is then the sum of the known lags; None where ``lag`` is known, and where nothing is.
    """

    cluster: str
    group: str
    kind: str
    state: Phase
    evaluated_ms: int
    unjudged: str | None = None
    """Why it cannot be evaluated now. Its findings are then those of the previous evaluation, its members and offsets
    those of evaluated_ms, and its lag and expected owners are unknown. Absent: it is evaluated."""
    is_unknown: bool = False
    """True: it cannot be evaluated, and there is no previous evaluation, so nothing is known of it."""
    assignor: str | None = None
    """The assignor that the group uses."""
    expectation: str = "none"
    """exact: groupwatch replays the assignor; checked: only its invariants, as its result depends on what only the
    leader knows; target: the coordinator's target assignment; invariants: groupwatch does not support the assignor;
    none: no members, or unreadable ones."""
    generation: int = 0
    """The generation of a classic group, the epoch of the others."""
    generation_ms: int = 0
    """When that was stored (ms since the epoch)."""
    members: tuple[MemberVerdict, ...] = ()
    """The members."""
    partitions: tuple[PartitionVerdict, ...] = ()
    """The partitions that the group subscribes to, owns or has committed."""
    findings: tuple[Finding, ...] = ()
    """Its findings, worst first."""
    lag: int | None = None
    """The lag in records (of MetaQ bytes); absent: unknown, or a Connect cluster, which has none of its own."""
    lag_ms: int | None = None
    imbalance_ratio: float | None = None
    """Partitions of the largest member over those of the largest one in an optimal assignment; null: unknown, or not
    applicable (Kafka Streams)."""
    rebalances: int = 0
    """Rebalances since the group was first seen."""
    status: LagStatus | None = None
    topics: tuple[TopicLag, ...] = ()
    """The lag of each topic, by name."""
    pace: Pace | None = None
    catch_up_ms: int | None = None
    """Time until no partition has lag, each at its own throughput (ms); absent: never, or unknown."""
    lost: int | None = None
    """Upper bound of the records that retention removed before they were committed."""
    kept_waiting: float | None = None
    """The largest lag of a partition as a share of its log, from 0 to 1."""
    handovers: tuple[Handover, ...] = ()
    """Partitions of a KIP-848 group that move from one member to another."""
    rebalancing_since_ms: int | None = None
    """When the rebalance in progress started, as far as known (ms since the epoch)."""
    rebalance_ms: int = 0
    """Total duration of its rebalances (ms)."""
    moved_partitions: int = 0
    """Partitions that its rebalances moved."""
    avoidable_moves: int = 0
    """Moves that a sticky assignor would have avoided."""
    redelivered_records: int = 0
    """Records redelivered because committed offsets moved back."""
    pause_ms: int = 0
    """Time in which rebalances stopped consumption, summed over partitions (ms)."""
    burst_records: int = 0
    """Records that accumulated during these pauses."""
    stable_lag: int | None = None
    """The part of the lag that is not behind an open transaction."""
    paced_lag: int | None = None
    """The part of the lag whose throughput is known."""
    source: Source = Source.LOG
    """The source of the group's state."""
    sharing: Sharing = Sharing.EXCLUSIVE
    """How its members consume partitions."""
    settles_ms: int | None = None
    """The end of the grace period in which members may still be rebalancing (ms since the epoch)."""
    lag_at_least_ms: int | None = None
    """Lower bound of the age of the oldest record of the lag (ms): as lag_ms, but also where the record is older than
    the history of its partition."""
    lag_since_ms: int | None = None
    """When the oldest record of the lag was written (ms since the epoch), as estimated from the end offsets that were
    seen."""
    tasks: tuple[TaskVerdict, ...] = ()
    """The tasks of Kafka Streams, or the connectors and tasks of Connect, sorted."""
    processes: tuple[ProcessLoad, ...] = ()
    """What runs them: application instances, or Connect workers."""
    task_balance: TaskBalance | None = None
    """The busiest of them; absent: not evaluated, or no tasks."""
    connect: ConnectVerdict | None = None
    """Of the workers of a Connect cluster; absent: the group is none."""
    sinks: tuple[SinkVerdict, ...] = ()
    """Which member is which task of a Connect sink, by the client ids that Connect gives."""
    sink: SinkState | None = None
    """The connector whose group it is by its name, according to the topic of configurations; absent: none."""
    deliveries: tuple[DeliveryVerdict, ...] = ()
    """Share groups: progress in each partition, by the acknowledgments of the members; absent: none."""
    delivery_totals: DeliveryTotals | None = None
    """Share groups: what became of the records since the group was first seen; absent: share state is not read."""
    delivery_limit: int | None = None
    """Share groups: a record is given up after so many deliveries."""
    has_default_limit: bool = False
    """Whether delivery_limit is that of the settings, as the configs of the group could not be read."""
    unknown_versions: tuple[UnknownVersion, ...] = ()
    """Versions of its records that groupwatch does not read, so its members or offsets are unknown; absent: none."""
    skips: tuple[Skip, ...] = ()
    """Records that commits passed in the last hour, and that the group did not read, or perhaps not; absent: none."""
    lag_at_least: int | None = None
    uncommitted_partitions: int = 0
    uncommitted_records: int = 0
    offsets_expire_ms: int | None = None
    """When brokers will delete the first of its committed offsets, if it commits nothing before (ms since the epoch);
    absent: unknown, or none expires."""
    expired_offsets: tuple[ExpiredOffset, ...] = ()
    """Committed offsets that expired in the last seven days, of partitions without a commit since; absent: none."""
    short_life: ShortLife | None = None
    """Of a group that one member used for a short time, and left by itself; absent: it is none."""
    subordinate: tuple[SubordinateFinding, ...] = ()
    """Findings that follow from a finding of the cluster: no alert is about them. Each becomes a finding of the group
    if it lasts after the end of that one. Absent: none."""
    hidden_topics: tuple[str, ...] = ()
    """Topics that it has committed and that polls do not see: deleted, or not permitted. Absent: none."""
    missed_brokers: tuple[int, ...] = ()
    """Ids of brokers that are away and were its coordinator, or led partitions that it has committed. Absent: none."""
    topics_without_leader: tuple[str, ...] = ()
    """Its topics with partitions that have no leader now, so these cannot be read. Absent: none."""
    blocked_since_ms: int | None = None
    """When a poll last saw that the brokers take commits of the group (ms since the epoch): its partition of
    `__consumer_offsets` takes no records now. If none saw that, since its lag. Absent: they take them."""
    redelivery: RedeliveryVerdict | None = None
    """RocketMQ: records that members sent back, and that the group gave up; absent: none so far, or unknown."""
    unreadable_records: int = 0
    """RocketMQ: records that the group has not consumed, in queues of its topics that may not be read."""
    expectations: GroupExpectations | None = None
    """Whether it is as the file of expectations says; absent: the file says nothing of it, or the job has none."""
    scaling: Scaling | None = None
    """How many members it needs; absent: no entry `[[scale]]` is for it."""

    @property
    def is_connect(self) -> bool:
        """Whether its members are the workers of a Connect cluster."""
        return self.connect is not None

    @property
    def traits(self) -> KindTraits:
        """The traits of the group, those included that only its protocol tells."""
        return traits_by_protocol(self.kind, CONNECT if self.is_connect else CONSUMER_PROTOCOL, self.assignor)
