"""What the rules know of a group: read once, then handed to every rule."""

from __future__ import annotations

from typing import Literal

import msgspec

from monitor.assignors.dialects import DialectRow
from monitor.detection.moment import Moment
from monitor.detection.ownership.inference import Fit
from monitor.detection.ownership.tasks.target_check import TargetCheck
from monitor.detection.ownership.tasks.task_view import TaskView
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.model import (
    Catalog,
    CommittedOffset,
    DeliveryVerdict,
    GroupState,
    Handover,
    KindTraits,
    MemberVerdict,
    PartitionState,
    PartitionVerdict,
    ShortLife,
    SinkState,
    SinkVerdict,
    TaskVerdict,
    TopicPartition,
    Value,
)
from monitor.model.evidence import Balance, Growth, Refusal
from monitor.model.expiry import ExpiredOffset
from monitor.model.jumps import Skip

Owners = dict[TopicPartition, tuple[str, ...]]
"""The member ids that own a partition, sorted. A partition without an owner has no entry."""

Judgement = Literal["exact", "checked", "target", "invariants", "none"]
"""How much is known about the expected owners; see ``GroupVerdict.expectation``."""


class Ownership(Value):
    """What the members subscribe and hold. ``complete``: a living group of consumers, every member readable.

    ``is_lived_in``: a living group of consumers, readable or not. ``owners_known``: and every member's assignment can
    be read, so that what is not in ``owners`` has no owner; of some members the subscription may be missing.
    ``dropped`` have owners that do not consume them: they do not subscribe to the topic. ``shared`` have several owners
    on purpose (monitor.detection.ownership.copies). So old could the leader's metadata be: ``metadata_age_ms``.
    """

    owners: Owners
    subscribed: frozenset[str]
    complete: bool
    is_lived_in: bool = True
    owners_known: bool = True
    dropped: frozenset[TopicPartition] = frozenset()
    shared: frozenset[TopicPartition] = frozenset()
    metadata_age_ms: int = 0


class Expectation(Value):
    """The expected owners: ``current`` for the topics as they are now, ``replayed`` for the inputs of the generation.

    ``stale_metadata``: the actual assignment is exactly what the assignor gives for fewer (or other) partitions than
    the catalog had by then, so the leader worked from older metadata, and ``replayed`` is that assignment. ``changes``
    lists what differs between the inputs of the two. ``pending`` are the partitions that the assignor gave to no member
    because their previous owner has to release them first. ``tie``: the owners differ from ``replayed``, but another
    order of the members could have made the assignor decide otherwise. ``like`` are assignors of other client libraries
    that give exactly the owners, where that of the leader does not. Nothing of this is known unless ``kind`` is
    "exact"; if it is "target", ``current`` is what the broker itself has chosen, and ``pending`` and ``handovers`` are
    known too; ``replayed`` is then what the assignor gives, and empty where that is the same.

    ``dialect`` is the assignor of a client library that is replayed or checked; None: Kafka's own. If ``kind`` is
    "checked", it cannot be replayed: it may have given the owners, unless there is a ``refusal``.

    ``left_out`` are topics that the leader of a classic group does not assign because it does not subscribe to them
    (monitor.detection.ownership.leaders_topics).

    ``target_check`` is of a streams group of the broker: whether its targets are the answer of the task assignor.

    ``fit`` is of a group whose members each work out their own share
    (monitor.detection.ownership.self_assigned.groups): which strategy explains the owners best. There ``replayed`` is
    what it gives for the partitions that the members know.
    """

    kind: Judgement
    current: Owners = msgspec.field(default_factory=dict)
    replayed: Owners = msgspec.field(default_factory=dict)
    stale_metadata: bool = False
    changes: tuple[Growth, ...] = ()
    pending: frozenset[TopicPartition] = frozenset()
    tie: bool = False
    like: tuple[DialectRow, ...] = ()
    handovers: tuple[Handover, ...] = ()
    fit: Fit | None = None
    left_out: frozenset[str] = frozenset()
    dialect: DialectRow | None = None
    refusal: Refusal | None = None
    target_check: TargetCheck | None = None


class Losses(Value):
    """What a group passes over, forgets, or leaves behind.

    ``skips`` are the records that it passed (monitor.detection.lag.skips). ``expiries`` are when its committed offsets
    expire (monitor.detection.lag.expiry). ``expired`` is what remains of those that have expired, or may have, in
    partitions that there still are. ``short_life`` is the life of a group that one member used for a short time;
    ``is_one_off``: others of such a name came and went alike, so it is not expected back (monitor.kinds.short_lives).
    """

    skips: tuple[Skip, ...] = ()
    expiries: dict[TopicPartition, int] = msgspec.field(default_factory=dict)
    expired: tuple[ExpiredOffset, ...] = ()
    short_life: ShortLife | None = None
    is_one_off: bool = False


class Facts(Value):
    """Everything a rule may look at.

    ``traits`` are those of the group, which depend on its kind and its protocol (monitor.model.kinds). ``known`` holds
    the partitions that exist now and concern the group: those of subscribed topics, and owned or committed ones of
    others. ``committed`` holds the group's offsets by partition, ``partitions`` and ``members`` the judged rows,
    ``waiting`` those of the partitions in which records wait. ``is_settling``: the members may be about to share their
    partitions again, so their expected owners are not judged (monitor.detection.ownership.self_assigned.grace_period).
    ``deliveries`` are of a share group, which delivers a record ``delivery_limit`` times at most; None: it is none.
    ``task_view`` is of groups whose members have tasks, and ``tasks`` are those with the reason why one does not run.
    ``sinks`` are the members that are tasks of a sink of Connect, by their client ids, and ``sink`` is the connector
    whose group it is, by its name. ``beyond_end`` are the partitions whose commit is beyond the end of the log, with
    since when; ``former_lag`` those whose lag is unknown until the next polls, with the records that waited before that
    (monitor.detection.lag.doubtful_ends). ``awaits_poll``: by the date of the next poll alone, more may be known.
    ``uncommitted`` are the partitions in which the group has no committed offset, each with its records
    (monitor.detection.lag.uncommitted). ``losses`` are what it passed, and the committed offsets
    that it loses.
    """

    group: GroupState
    traits: KindTraits
    catalog: Catalog
    moment: Moment
    settings: DetectionSettings
    ownership: Ownership
    expectation: Expectation
    known: dict[TopicPartition, PartitionState]
    committed: dict[TopicPartition, CommittedOffset]
    partitions: tuple[PartitionVerdict, ...]
    members: tuple[MemberVerdict, ...]
    balance: Balance | None
    waiting: tuple[PartitionVerdict, ...] = ()
    is_settling: bool = False
    deliveries: dict[TopicPartition, DeliveryVerdict] | None = None
    delivery_limit: int = 0
    task_view: TaskView | None = None
    tasks: tuple[TaskVerdict, ...] = ()
    sinks: tuple[SinkVerdict, ...] = ()
    sink: SinkState | None = None
    beyond_end: dict[TopicPartition, int] = msgspec.field(default_factory=dict)
    former_lag: dict[TopicPartition, int] = msgspec.field(default_factory=dict)
    awaits_poll: bool = False
    uncommitted: dict[TopicPartition, int] = msgspec.field(default_factory=dict)
    losses: Losses = Losses()

    @property
    def now_ms(self) -> int:
        """The instant of the evaluation. Who compares times with it asks ``has_come`` instead."""
        return self.moment.now_ms

    def has_come(self, instant_ms: float) -> bool:
        """Whether it is this instant, or later. Each call limits how long the verdict holds."""
        return self.moment.has_come(instant_ms)

    def has_passed(self, instant_ms: float) -> bool:
        """Whether it is later than this instant. Each call limits how long the verdict holds."""
        return self.moment.has_passed(instant_ms)

    def not_later_than_now(self, instant_ms: int) -> int:
        """The instant, or now if another machine's clock put it into the future: an age is never negative."""
        return instant_ms if self.moment.has_come(instant_ms) else self.moment.now_ms
