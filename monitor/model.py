"""The vocabulary of groupwatch: frozen values that every other module takes and gives.

Nothing here has behaviour beyond a lookup. Times are integers in milliseconds since the epoch (``*_ms``), offsets and
lags are counted in records. ``None`` means "not known" or "there is none"; no sentinel number ever stands for it.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, dataclass_transform

import msgspec

STATE_VERSION: Final = 1
"""Version of the stored states below. A state written by a newer version is refused, never guessed at."""


# msgspec hands "frozen" down to subclasses; a type checker has to be told.
@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of all values: immutable, compared by content, written without the fields that have their default."""


# A large group needs a million of the next two. They can't be part of a cycle, so Python's collector need not see them.
class TopicPartition(msgspec.Struct, frozen=True, order=True, gc=False):
    """One partition of one topic."""

    topic: str
    partition: int


class TopicPartitions(msgspec.Struct, frozen=True, order=True, gc=False):
    """Some partitions of one topic, in the order in which they were given."""

    topic: str
    partitions: tuple[int, ...]


# --- what an assignor takes and gives ---------------------------------------------------------------------------------


class Member(Value):
    """A group member: what it asked for (its subscription) and what it was given (its assignment).

    ``generation``, ``owned`` and ``user_data`` are the fields of the subscription it joined with (-1, empty and None
    where its client does not send them). ``unreadable`` says why its bytes could not be decoded, if they could not.
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
    """A group committed an offset: the next record it will read of that partition."""

    group: str
    topic: str
    partition: int
    offset: int
    committed_ms: int
    leader_epoch: int = -1


class OffsetDeleted(Event):
    """A committed offset was deleted (by expiry, by an administrator, or because its topic went)."""

    group: str
    topic: str
    partition: int


class MembershipStored(Event):
    """The coordinator wrote a completed generation of a classic group (no members: the group became Empty)."""

    group: str
    generation: int
    protocol_type: str
    protocol: str | None
    leader: str | None
    stored_ms: int
    members: tuple[Member, ...] = ()


class GroupDeleted(Event):
    """The coordinator deleted the group."""

    group: str
    deleted_ms: int


class PartitionObserved(Value):
    """One partition as a collector saw it; None where the broker did not answer for it."""

    partition: int
    earliest: int | None = None
    end: int | None = None
    racks: tuple[str | None, ...] = ()


class TopicObserved(Event):
    """A topic as a collector saw it. ``pass_ms`` is when the pass began that saw it."""

    cluster: str
    topic: str
    pass_ms: int
    observed_ms: int
    partitions: tuple[PartitionObserved, ...]
    topic_id: str | None = None


class PassCompleted(Event):
    """A collector has written every topic of the cluster. Topics not seen since ``pass_ms`` no longer exist."""

    cluster: str
    pass_ms: int
    completed_ms: int
    topics: int


class DecodeFailed(Event):
    """A record could not be read. ``reason`` is a word from a short fixed list; the place lets a person find it."""

    source: str
    reason: str
    log_partition: int
    log_offset: int
    position: int | None = None


GroupEvent = OffsetCommitted | OffsetDeleted | MembershipStored | GroupDeleted
TopicEvent = TopicObserved | PassCompleted
AnyEvent = GroupEvent | TopicEvent | DecodeFailed


# --- states: what is known now, folded from the events ----------------------------------------------------------------


class Phase(StrEnum):
    """Where a classic group stands, as far as the log can tell (a rebalance in progress is not in the log)."""

    UNSEEN = "unseen"
    OFFSETS_ONLY = "offsets_only"
    EMPTY = "empty"
    STABLE = "stable"
    GONE = "gone"


class CommittedOffset(Value):
    """The newest committed offset of one partition and when it was committed (the client's or broker's clock)."""

    topic: str
    partition: int
    offset: int
    committed_ms: int
    leader_epoch: int = -1


class GroupState(Value):
    """Everything known of one group. ``offsets`` is sorted by topic and partition.

    ``generation_ms`` is when the newest generation was stored, ``phase_ms`` when the phase began; ``rebalances`` counts
    the generations seen since the group was first seen, those that only emptied the group included.
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


class EndOffsetAt(Value):
    """Where a partition ended at an instant."""

    at_ms: int
    offset: int


class PartitionState(Value):
    """One partition of a topic.

    ``first_seen_ms`` is when a collector first saw it; ``ends`` is oldest first, bounded.
    """

    partition: int
    first_seen_ms: int
    earliest: int | None = None
    end: int | None = None
    racks: tuple[str | None, ...] = ()
    ends: tuple[EndOffsetAt, ...] = ()


class TopicState(Value):
    """A topic with its partitions in order. ``pass_ms`` is the start of the newest collector pass that saw it.

    ``observed_ms`` is when it was last seen; anything older that still arrives is out of date.
    """

    cluster: str
    topic: str
    pass_ms: int
    topic_id: str | None = None
    partitions: tuple[PartitionState, ...] = ()
    observed_ms: int = 0
    version: int = STATE_VERSION


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
    """All topics of a cluster that exist now, as of a completed collector pass."""

    cluster: str
    pass_ms: int
    topics: dict[str, TopicState] = {}


class FindingKind(StrEnum):
    """What can be wrong with a group."""

    ORPHANED = "orphaned"
    DOUBLE_OWNED = "double_owned"
    DRIFT = "drift"
    IMBALANCE = "imbalance"
    IDLE_MEMBERS = "idle_members"
    LAG = "lag"


class OrphanReason(StrEnum):
    """Why nobody owns a partition that somebody should read."""

    NO_MEMBERS = "no_members"
    GREW = "grew"
    UNSUBSCRIBED = "unsubscribed"
    ASSIGNOR_GAP = "assignor_gap"
    PENDING = "pending"


class DriftKind(StrEnum):
    """Which expectation the owner differs from; or, quieter, that a tie of the assignor may explain the difference."""

    REPLAYED = "replayed"
    CURRENT = "current"
    TIE = "tie"


class Finding(Value):
    """One thing that is wrong: where, since when, and the sentence a person reads."""

    kind: FindingKind
    reason: str
    since_ms: int
    sentence: str
    partitions: tuple[TopicPartition, ...] = ()
    members: tuple[str, ...] = ()


class PartitionVerdict(Value):
    """One partition of a group. Owners and expected owners are member ids; offsets and lag are in records.

    ``expected`` is the owner that the assignor would choose now, ``replayed`` the one it should have chosen for the
    inputs of the current generation; None: nobody, or not computable (see ``GroupVerdict.expectation``).
    ``committed`` None: no committed offset. ``lag`` None: not known. ``lag_ms``: age of the oldest waiting record.
    """

    topic: str
    partition: int
    owners: tuple[str, ...] = ()
    expected: str | None = None
    replayed: str | None = None
    committed: int | None = None
    earliest: int | None = None
    end: int | None = None
    lag: int | None = None
    lag_ms: int | None = None
    orphan: OrphanReason | None = None


class MemberVerdict(Value):
    """One member with the number of partitions it owns and would own if the group rebalanced now."""

    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    host: str = ""
    topics: tuple[str, ...] = ()
    partitions: int = 0
    expected_partitions: int | None = None
    idle: bool = False


class GroupVerdict(Value):
    """All that is known and judged of one group at ``evaluated_ms``. Findings are ordered worst first.

    ``expectation`` is "exact" (assignor known, both expectations computed), "invariants" (assignor not known to us) or
    "none" (no members, or members whose bytes cannot be read). ``imbalance_ratio`` is the largest member's partitions
    over the smallest largest that any assignment could reach; None without members or partitions.
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


# --- what is published ------------------------------------------------------------------------------------------------


class FamilyBlock(Value):
    """Rendered samples of one metric family, without its HELP and TYPE lines; every line ends with a newline."""

    family: str
    samples: str


class GroupSummary(Value):
    """One line of the overview: enough to list a group without decoding its verdict."""

    cluster: str
    group: str
    kind: str
    state: Phase
    assignor: str | None
    members: int
    lag: int | None
    findings: tuple[Finding, ...]
    evaluated_ms: int


class PublishedGroup(Value):
    """A group as published: its summary, and its whole verdict as the JSON that the API gives."""

    summary: GroupSummary
    verdict_json: bytes


class ClusterSnapshot(Value):
    """The newest evaluation of one cluster. ``ready`` is False until the backlog seen at start has been read."""

    cluster: str
    ready: bool = False
    evaluated_ms: int | None = None
    batch_duration_ms: int | None = None
    input_lag: int | None = None
    backlog_total: int | None = None
    evaluation_errors: int = 0
    decode_errors: tuple[SourceState, ...] = ()
    groups: tuple[PublishedGroup, ...] = ()
    blocks: tuple[FamilyBlock, ...] = ()
    catalog_ms: int | None = None
    problem: str | None = None


class Snapshot(Value):
    """Everything the HTTP app serves: prepared, immutable, replaced as a whole. ``metrics`` is the exposition text."""

    clusters: tuple[ClusterSnapshot, ...] = ()
    metrics: bytes = b""

    @property
    def ready(self) -> bool:
        """Whether every cluster has been read up to the end that was seen at start."""
        return bool(self.clusters) and all(cluster.ready for cluster in self.clusters)
