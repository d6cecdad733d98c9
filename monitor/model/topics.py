"""The state of topics and of what was read: what is known now, folded from the events of collectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import msgspec

from monitor.model.brokers import BrokersHealth
from monitor.model.connect import ConnectConfigsState
from monitor.model.expiry import FormerRetention, OffsetsRetention
from monitor.model.offsets_topic import OffsetsTopicHealth
from monitor.model.passes import PassTopicsCounted
from monitor.model.short_lives import ShortLives
from monitor.model.values import STATE_VERSION, PartitionId, Value

END_SPACING_MS: Final = 20_000
"""How far apart the kept points of a partition's end are, the newest excepted: 30 of them span about 10 minutes or more
at any poll rhythm."""

END_GAP_MS: Final = 2 * END_SPACING_MS
"""A poll so long after the newest point but one replaces no point: regular polls leave no such gap, and a failing
collector must not move the first sight of a record."""


class EndOffsetAt(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a partition ended at an instant, or began."""

    at_ms: int
    offset: int


def may_be_replaced(ends: Sequence[EndOffsetAt]) -> bool:
    """Whether the next poll may replace the newest point of a partition's end; equal ends aside.

    It may while the point is less than END_SPACING_MS after the one before. The first point after the end stood still
    for END_GAP_MS stays: it dates the first record to a poll. On average, points are as far apart all the same.

    >>> polls = [EndOffsetAt(0, 5), EndOffsetAt(40_000, 5), EndOffsetAt(41_000, 6)]
    >>> may_be_replaced(polls), may_be_replaced(polls[1:])
    (False, True)
    """
    if len(ends) < 2 or ends[-1].at_ms - ends[-2].at_ms >= END_SPACING_MS:
        return False
    stood = len(ends) > 2 and ends[-3].offset == ends[-2].offset < ends[-1].offset
    return not (stood and ends[-2].at_ms - ends[-3].at_ms >= END_GAP_MS)


class Release(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """Where a transaction held records back for long, and when it was seen to have ended."""

    at_ms: int
    offset: int


class EndFall(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """That the end of a partition went back in the same topic.

    ``from_ms`` is when a poll last saw it at ``before``, ``at_ms`` when one first saw it lower, and ``after`` the
    lowest that was seen. The log may have ended later before, and earlier after: the difference is a lower bound.
    """

    from_ms: int
    at_ms: int
    before: int
    after: int

    @property
    def records(self) -> int:
        """At least so many offsets are no longer in the log."""
        return self.before - self.after


class Truncations(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """How the end of a partition went back (monitor.tracking.truncation).

    ``falling``: polls see it below where it was, which is not confirmed yet. ``newest`` is the newest one that is, for
    a week. ``records`` counts those of all confirmed ones.
    """

    falling: EndFall | None = None
    newest: EndFall | None = None
    records: int = 0


class PartitionState(Value, gc=False):
    """One partition of a topic.

    ``first_seen_ms`` is when a collector first saw it; ``ends`` is oldest first, bounded. ``former_ms`` is when the
    partition of this name was last seen that a deleted topic of this name had (0: none is known of). ``earliest_ms`` is
    when a collector first saw the log begin at ``earliest`` (0: not known), ``earliest_end`` where it ended then.

    ``stable`` is the last stable offset where a transaction is open (None: nothing is held back, or it is not known),
    ``stable_ms`` when a collector first saw it there, ``released`` the end of the newest transaction that was long.

    ``woken`` is where the log stood still for long the last time, and when a collector first saw it go on.

    ``older`` are a few points of the end from before ``ends``, the further apart the older they are.

    ``truncations`` None: the end has never gone back in this topic, as far as is known.

    ``starts`` are a few of the offsets at which the log began before ``earliest``, oldest first, each with when it was
    last seen to begin there.
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
    truncations: Truncations | None = None
    starts: tuple[EndOffsetAt, ...] = ()

    @property
    def falling(self) -> EndFall | None:
        """What polls show of an end that may be going back."""
        return self.truncations.falling if self.truncations is not None else None

    @property
    def truncation(self) -> EndFall | None:
        """The newest time that the end went back."""
        return self.truncations.newest if self.truncations is not None else None


class TopicState(Value):
    """A topic with its partitions in order. ``pass_ms`` is the start of the newest collector pass that saw it.

    ``observed_ms`` is when it was last seen; anything older that still arrives is out of date. ``has_markers``: a
    collector saw a transaction end in it, however short (what ends one is a marker, which takes an offset). ``missed``:
    the newest completed pass did not see it; it has gone if the next one does not either. ``hidden``: it has, but may
    still exist, without the permission to see it. What is known of it is as of then.
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
    hidden: bool = False


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


class PassHistory(Value):
    """What is known of a collector's passes over the topics of a cluster, besides the newest complete one.

    Attributes:
        first_ms: When the first complete pass ended, in ms since the epoch; 0: not known, as in states of an older
            groupwatch.
        counts: How many topics the log has of the newest passes, the newest last.
        lost: How many topics the newest complete pass names whose events the log does not have.
        former_retentions: For how long brokers kept offsets before, for as long as deleted ones are remembered.
        offsets_topic: Which partitions of the offsets topic take no records; None: no pass has described it.
        brokers: Which brokers are away, and which partitions have no leader; None: no pass has seen the brokers.
    """

    first_ms: int = 0
    counts: tuple[PassTopicsCounted, ...] = ()
    lost: int = 0
    version: int = STATE_VERSION
    former_retentions: tuple[FormerRetention, ...] = ()
    offsets_topic: OffsetsTopicHealth | None = None
    brokers: BrokersHealth | None = None


class Outage(Value, frozen=True):
    """When a partition of the offsets topic could not be read, in ms since the epoch; ``ended_ms`` None: it goes on."""

    began_ms: int
    ended_ms: int | None = None


class Catalog(Value):
    """All topics of a cluster that exist now, as of a completed collector pass; ``names`` are theirs by topic id.

    ``watched_ms`` is when the first pass over all topics ended: what was first seen by then may be of any age. What was
    first seen later came later.

    ``connect_configs`` are the connectors of Connect clusters whose topics of configurations are read, by the name of
    the cluster's group.

    ``outages`` are the newest of the partitions of the offsets topic that could not be read. Groups are in that of
    ``log_partitions`` by which the brokers place them; 0: not known.

    ``offsets_retention`` is for how long brokers keep committed offsets; None: no collector reads it.

    ``short_lives`` are of groups that came and went alike, by the pattern of their names.
    ``offsets_topic`` says in which partitions of the offsets topic groups cannot commit; None: no collector looks.

    ``hidden`` are topics that collectors saw within the day and see no more, as they were: deleted, or not permitted.

    ``brokers`` says which are away, and which partitions have no leader; None: no collector looks.
    """

    cluster: str
    pass_ms: int
    topics: dict[str, TopicState] = msgspec.field(default_factory=dict)
    names: dict[str, str] = msgspec.field(default_factory=dict)
    watched_ms: int = 0
    connect_configs: dict[str, ConnectConfigsState] = msgspec.field(default_factory=dict)
    outages: dict[int, Outage] = msgspec.field(default_factory=dict)
    log_partitions: int = 0
    offsets_retention: OffsetsRetention | None = None
    short_lives: dict[str, ShortLives] = msgspec.field(default_factory=dict)
    offsets_topic: OffsetsTopicHealth | None = None
    hidden: dict[str, TopicState] = msgspec.field(default_factory=dict)
    brokers: BrokersHealth | None = None
