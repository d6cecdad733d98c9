"""The verdict on one group at an instant."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from monitor.model.client_libraries import UNKNOWN_LIBRARY, ClientLibrary
from monitor.model.connect import CONNECT, TargetState
from monitor.model.evidence import TaskBalance
from monitor.model.findings import Finding, OrphanReason
from monitor.model.kinds import CONSUMER_PROTOCOL, KindTraits, Phase, Sharing, Source, traits_by_protocol
from monitor.model.members import MemberRemark, MemberState
from monitor.model.values import PartitionId, TopicPartition, Value


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


class PartitionVerdict(Value, gc=False):
    """One partition of a group. Owners and expected owners are member ids; offsets and lag are in records.

    ``expected`` is the owner that the assignor would choose now, ``replayed`` the one it should have chosen for the
    inputs of the current generation; None: nobody, or not computable (see ``GroupVerdict.expectation``), or the same
    as ``expected`` if the broker chooses.
    ``committed`` None: no committed offset. ``end`` is that of the newest poll, or a newer committed offset beyond it;
    it is below ``committed`` only where the two do not fit together. ``lag`` None: not known. ``lag_ms``: age of the
    oldest waiting record. ``status`` is Burrow's, None where the lag is not known; ``pace`` is measured only where
    records wait. ``stable`` is the last stable offset, told only where records wait and a transaction holds some of the
    partition's records back.
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


class DeliveryBatch(Value):
    """Records of a share group from the first to the last offset, in the same state and delivered equally often.

    ``state`` is a number of DeliveryState, or one that a newer Kafka writes.
    """

    first: int
    last: int
    state: int
    deliveries: int


class DeliveryVerdict(Value):
    """How far a share group is in a partition (KIP-932), by the answers of its members.

    What members hold right now is not in any log. ``start_offset`` is the group's own, which is one answer behind
    (None: nobody has answered for a record yet); ``first_waiting`` is the first record that the group is not done with
    (None: there is none, or it is not known; if only the coordinator's word is known, it may be an earlier one).
    ``lag`` and ``lost`` count records, see monitor.kinds.share.

    ``waiting_redelivery`` records were delivered and are available again, one of them after ``max_deliveries``.
    ``last_tries`` of them are given up if the next delivery fails: ``last_try_offsets`` are the first ones, and
    ``last_tries_since_ms`` says since when there have been some. ``given_up``, ``rejected``, ``accepted`` and
    ``returned`` count records since the partition was first seen; ``given_up_offset`` is the newest one that was given
    up, at ``given_up_ms``. Offsets that nobody got are among the rejected ones: markers and aborted records of
    transactions, and what compaction has removed.

    ``answered_ms`` is when a member last answered, or a record's lock ended. ``is_readable``: the coordinator has
    initialized the partition, so members can read it. ``batches`` are the first ones, by offset; ``more_batches``
    follow.
    """

    topic: str
    partition: PartitionId
    start_offset: int | None = None
    first_waiting: int | None = None
    lag: int | None = None
    lost: int = 0
    waiting_redelivery: int = 0
    max_deliveries: int = 0
    last_tries: int = 0
    last_try_offsets: tuple[int, ...] = ()
    last_tries_since_ms: int | None = None
    given_up: int = 0
    given_up_offset: int | None = None
    given_up_ms: int | None = None
    rejected: int = 0
    accepted: int = 0
    returned: int = 0
    answered_ms: int | None = None
    is_readable: bool = True
    batches: tuple[DeliveryBatch, ...] = ()
    more_batches: int = 0


class DeliveryTotals(Value):
    """What became of the records of a share group since it was first seen, also in partitions that are gone.

    The fields are those of DeliveryVerdict.
    """

    accepted: int = 0
    returned: int = 0
    rejected: int = 0
    given_up: int = 0


class TaskVerdict(Value):
    """A task of Kafka Streams or Kafka Connect: who runs it, or why nobody does.

    ``part`` is the subtopology or the connector, ``number`` the task's number there (None: the connector itself).
    ``owners`` run it, ``standbys`` keep a copy of its state; both are member ids. ``reads`` are the partitions that it
    consumes. ``orphan`` says why nobody runs it, ``since_ms`` since when.

    Of Connect: ``last_url`` is the worker that ran it last, ``until_ms`` until when the leader waits for that worker.
    """

    task: str
    part: str
    number: int | None
    owners: tuple[str, ...] = ()
    standbys: tuple[str, ...] = ()
    reads: tuple[TopicPartition, ...] = ()
    orphan: OrphanReason | None = None
    since_ms: int | None = None
    last_url: str | None = None
    until_ms: int | None = None


class ProcessLoad(Value):
    """An instance of a Kafka Streams application, whose members are its threads; or a worker of Connect, by its url.

    ``active`` and ``standby`` count the tasks of all of them, ``connectors`` the connectors that a worker runs.
    ``config_offset`` is how far a worker had read the configurations as it joined (None: not known, or no worker).
    """

    process: str
    members: tuple[str, ...]
    active: int = 0
    standby: int = 0
    connectors: int = 0
    config_offset: int | None = None


class ConnectorVerdict(Value):
    """A connector of a Connect cluster. ``workers`` run it or its tasks: member ids, sorted.

    ``tasks`` are those that it should have, ``running`` those that a worker runs. ``state`` is what it is to do. Both
    are None where the topic of configurations is not read. ``sink_group`` is the consumer group that it has if it is a
    sink, which is not known.
    """

    connector: str
    running: int
    sink_group: str
    tasks: int | None = None
    state: TargetState | None = None
    workers: tuple[str, ...] = ()


class ConnectVerdict(Value):
    """What is told of a Connect cluster beside its tasks.

    ``leader_url`` and ``config_offset`` are of the leader (None: not known). ``delay_until_ms`` is until when it keeps
    back what a worker had that is gone.
    """

    connectors: tuple[ConnectorVerdict, ...] = ()
    leader_url: str | None = None
    config_offset: int | None = None
    delay_until_ms: int | None = None


class SinkVerdict(Value):
    """The task of a sink connector that a member of a consumer group is."""

    member_id: str
    connector: str
    task: int


class SinkState(Value):
    """The connector that a consumer group is of by its name, and what that is to do (None: it is started).

    ``changed_ms`` is when the newest record of its configuration was written.
    """

    connector: str
    state: TargetState | None = None
    changed_ms: int = 0

    @property
    def is_resting(self) -> bool:
        """Whether it lets records wait on purpose."""
        return self.state in {TargetState.PAUSED, TargetState.STOPPED}


class MemberVerdict(Value):
    """One member with the number of partitions it owns and would own if the group rebalanced now.

    ``epoch`` and ``state`` are those of a member of a KIP-848, share or streams group. ``lag``: the records that are
    known to wait in its partitions, together; what is not known is not counted. ``answers``, ``connections`` and
    ``unreadable`` are those of the Member. ``idle`` None: that is not judged, as tasks count there.
    ``library`` is the client library that it uses, as far as that is known; ``remarks`` say what deviates in its bytes.

    ``process`` is the application instance that it is a thread of (Kafka Streams). ``active_tasks`` and
    ``standby_tasks`` are how many it runs; None: the group has no tasks.
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
    library: ClientLibrary = UNKNOWN_LIBRARY
    remarks: tuple[MemberRemark, ...] = ()
    process: str = ""
    active_tasks: int | None = None
    standby_tasks: int | None = None


class UnknownVersion(Value):
    """Records of a group are written since ``since_ms`` in a version that groupwatch does not know.

    ``record`` is their type in Kafka's words, ``newest`` the newest known version. ``partitions`` is how many are
    committed by such records; 0: they are about the members.
    """

    record: str
    version: int
    newest: int
    since_ms: int
    partitions: int = 0


class GroupVerdict(Value):
    """All that is known and judged of one group at ``evaluated_ms``. Findings are ordered worst first.

    ``expectation`` is "exact" (assignor known, both expectations computed), "target" (KIP-848: ``expected`` is what the
    broker has chosen), "checked" (a client library's assignor without one answer: it may have given the owners, or a
    finding says why not), "invariants" (assignor not known to us) or "none" (no members, or a member whose bytes cannot
    be read). ``imbalance_ratio`` is the largest member's partitions over the smallest largest that any assignment could
    reach; None without members or partitions, and where partitions are not what is to be even (Kafka Streams).

    ``status`` is Burrow's, None if no lag is known; ``topics`` are sorted by name. ``pace`` is the sum over the
    partitions in which records wait, as far as it is known: ``paced_lag`` records wait where it is, nine tenths of
    ``lag`` at least, or both are None; ``catch_up_ms`` is how long the slowest of these partitions takes to be read at
    its own pace, None if that is never; 0 without lag. ``lost`` are the records that retention removed before the group
    committed them (at most: offsets without a record count), ``kept_waiting`` the largest share of a trimmed
    partition's log that waits for the group, from 0 to 1; both None if no lag is known.

    ``rebalancing_since_ms``: a rebalance is known to be under way since then. The counts are those of the GroupState.

    ``stable_lag`` are the records of ``lag`` that no open transaction holds back; None if ``lag`` is.

    ``source`` is where it is known from, ``sharing`` how its members share partitions. Of a MetaQ group offsets and all
    that is counted from them are bytes (monitor.messages.units). ``settles_ms`` is when the verdict may
    become another by time alone, as its members may be about to share their partitions out anew; None: nothing is
    awaited.

    ``lag_at_least_ms`` is the age, at least, of the oldest record that waits: ``lag_ms``, but also of partitions in
    which the oldest record is from before what is remembered of their ends. None: no age is known.
    ``lag_since_ms`` is when the record was written whose age is ``lag_ms``; None: none waits, or no age is known.

    ``tasks`` are those of Kafka Streams and Kafka Connect, sorted; ``processes`` are what runs them. ``task_balance``
    is None where that is not judged. ``connect`` is of the workers of a Connect cluster, ``sinks`` of the group of a
    sink connector, ``sink`` likewise where the connectors of its Connect cluster are known.

    ``deliveries`` are of a share group, a row for each partition of which it has share state or that its members
    subscribe to; ``delivery_totals`` are those of the whole group (None: its share state is not read), and
    ``delivery_limit`` is how often it delivers a record at most. ``has_default_limit``: no collector could read that,
    so it is the one that the settings assume.

    ``unknown_versions`` say why the members are not known, or the committed offsets of some partitions: ``lag`` is None
    then.
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
    lag_since_ms: int | None = None
    tasks: tuple[TaskVerdict, ...] = ()
    processes: tuple[ProcessLoad, ...] = ()
    task_balance: TaskBalance | None = None
    connect: ConnectVerdict | None = None
    sinks: tuple[SinkVerdict, ...] = ()
    sink: SinkState | None = None
    deliveries: tuple[DeliveryVerdict, ...] = ()
    delivery_totals: DeliveryTotals | None = None
    delivery_limit: int | None = None
    has_default_limit: bool = False
    unknown_versions: tuple[UnknownVersion, ...] = ()

    @property
    def is_connect(self) -> bool:
        """Whether its members are the workers of a Connect cluster."""
        return self.connect is not None

    @property
    def traits(self) -> KindTraits:
        """The traits of the group, those included that only its protocol tells."""
        return traits_by_protocol(self.kind, CONNECT if self.is_connect else CONSUMER_PROTOCOL, self.assignor)
