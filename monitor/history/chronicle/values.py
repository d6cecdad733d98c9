"""What happened to a group from one instant to another, as values without a sentence of their own."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.model import (
    UNKNOWN_LIBRARY,
    ClientLibrary,
    FindingRecord,
    FindingScope,
    GroupKind,
    OrphanReason,
    PartitionId,
    Phase,
    Rebalance,
    RewindCause,
    Value,
)
from monitor.model.findings import Severity
from monitor.model.jumps import SkipCause
from monitor.model.scaling import Scaling


class FindingSpan(Value):
    """A finding while it stayed the same: ``told`` says what it was, from ``told.at_ms`` until ``until_ms``.

    ``sentence`` is what a person reads of it, and no more. ``severity`` is that of its row.
    ``was_open``: it was there already when the chronicle begins. ``is_closed``: it ended at ``until_ms``; else it
    changed then, or the chronicle ends.
    """

    told: FindingRecord
    sentence: str
    severity: Severity
    until_ms: int
    was_open: bool = False
    is_closed: bool = False

    @property
    def from_ms(self) -> int:
        """Since when the finding was as it is here."""
        return self.told.at_ms

    @property
    def name(self) -> str:
        """Its kind and reason."""
        return f"{self.told.kind}/{self.told.reason}"


def spans_of(spans: Iterable[FindingSpan], scope: FindingScope) -> tuple[FindingSpan, ...]:
    """Those of the findings of the group, or of its cluster."""
    return tuple([each for each in spans if each.told.scope is scope])


class MemberThen(Value):
    """Who a member was.

    ``session_ms``: after how long without a sign of life it is removed. ``rebalance_ms``: how long a rebalance waits
    for it. Both are 0 where the log does not have it.
    """

    member_id: str
    instance_id: str | None = None
    """The instance id of a static member."""
    client_id: str = ""
    """The client id."""
    host: str = ""
    """The host that it connected from."""
    library: ClientLibrary = UNKNOWN_LIBRARY
    """The client library that it used, as far as that is known."""
    session_ms: int = 0
    """Its session timeout (ms); absent: unknown."""
    rebalance_ms: int = 0
    """Its rebalance timeout (ms); absent: unknown."""


class MembersChanged(Value):
    """Members that came and went at once, as in the log; ``members`` is how many there were then."""

    at_ms: int
    generation: int
    joined: tuple[MemberThen, ...] = ()
    left: tuple[MemberThen, ...] = ()
    members: int = 0


class PhaseBegun(Value):
    """A group came into another phase."""

    at_ms: int
    before: Phase | None
    phase: Phase


class OwnerSpan(Value):
    """Who owned a partition for a while."""

    topic: str
    partition: PartitionId
    owners: tuple[str, ...]
    """The ids of the owners, sorted; empty: none."""
    from_ms: int
    """Since when (ms since the epoch)."""
    until_ms: int
    """Until when (ms since the epoch)."""
    orphan: OrphanReason | None = None
    """Why it had no owner at first, if it should have had one."""


class GroupPoint(Value):
    """A group at an instant."""

    at_ms: int
    """The instant (ms since the epoch)."""
    phase: Phase
    """The state of the group."""
    generation: int
    """The generation or epoch."""
    members: int
    """Number of members."""
    partitions: int
    """Number of partitions."""
    orphaned: int
    """Number of partitions without an owner that should have one."""
    lag: int | None
    lag_ms: int | None
    imbalance_ratio: float | None = None
    """As in ToldVerdict."""
    is_rebalancing: bool = False
    """Whether a rebalance was known to be in progress."""
    lost: int | None = None
    """As in ToldVerdict."""


class PartitionPoint(Value, gc=False):
    """A partition at an instant. ``owner`` is the member id, the first one if there are several."""

    at_ms: int
    topic: str
    partition: PartitionId
    committed: int | None
    end: int | None
    lag: int | None
    lag_ms: int | None
    owner: str | None
    orphan: str | None


class RewindThen(Value):
    """A commit of a lower offset than the one before it: what lies between was read again."""

    at_ms: int
    """When it was committed (ms since the epoch)."""
    topic: str
    partition: PartitionId
    before: int
    """The committed offset before."""
    after: int
    """The committed offset after."""
    cause: RewindCause = RewindCause.UNKNOWN
    """Why, as far as the log shows."""


class SkipThen(Value):
    """A commit that passed records, which the group did not read, or perhaps not.

    A jump is known with its commit, and its cause with the polls after it.
    """

    at_ms: int
    """When it was committed (ms since the epoch)."""
    topic: str
    partition: PartitionId
    cause: SkipCause
    """Why the group passed the records, as far as that is known."""
    before: int
    """The committed offset before; 0: nothing was committed."""
    after: int
    """The offset that it committed."""
    at_least: int
    """So many of the records between were not read, at least."""
    at_most: int
    """So many of the records between were not read, at most."""
    owner: str | None = None
    """The member id of the owner that committed; null: not known."""


class TopicChanged(Value):
    """A topic of the group has another number of partitions."""

    at_ms: int
    """When that was found (ms since the epoch)."""
    topic: str
    before: int
    """The number of partitions before."""
    after: int
    """The number of partitions after; 0: the topic was deleted."""


class LogTruncated(Value):
    """The end of a partition of the group went back."""

    at_ms: int
    """When a poll first found the end lower than before (ms since the epoch)."""
    topic: str
    partition: PartitionId
    before: int
    """The end before, by the last poll that saw it."""
    after: int
    """The lowest end after it, by the polls. At least the records between are gone."""
    from_ms: int
    """When the end was last seen where it was before (ms since the epoch)."""


class CommitGap(Value):
    """Two commits of a partition that followed one another, far apart. ``usual_ms`` is the usual time between two.

    ``until_ms`` and ``until_offset`` None: there was no further one by the end of the chronicle. ``usual_ms`` None: too
    few commits are known before it.
    """

    topic: str
    partition: PartitionId
    from_ms: int
    from_offset: int
    until_ms: int | None = None
    until_offset: int | None = None
    usual_ms: int | None = None


class NeededThen(Value):
    """How many members the group needed, from an instant until the next one."""

    from_ms: int
    """Since when (ms since the epoch)."""
    scaling: Scaling
    """The number, or why it was held or unknown."""


class Chronicle(Value):
    """What happened to a group from ``since_ms`` until ``until_ms``. Each list is in the order of time.

    ``points`` are the steps at which it was judged, the first instant and the last; ``partition_points`` those of its
    partitions, where they are asked for. ``members`` are all that there were. ``rebalances`` ended in that time. Of
    ``rewinds``, the newest of each partition between two steps is listed; ``redelivered`` counts the records of all of
    them. ``skips`` are the jumps of commits that counted as skips, as they are known by the end of the chronicle, or
    two minutes later.

    ``extremes`` are all partitions at the first instant, at the one with the most lag (``peak``: the group then; it
    need not be one of the steps), and at the last. ``gaps`` are there where they are asked for
    (monitor.history.chronicle.commit_gaps). Of ``truncations``, the newest of a partition between two steps is listed.
    ``step_ms`` is how far apart the steps are: what lasted less may be missing. ``is_connect``: its members are the
    workers of a Connect cluster. ``cluster_findings`` are the findings of the cluster itself that concerned the group.
    ``needed`` is there where an entry ``[[scale]]`` is for the group.
    """

    cluster: str
    group: str
    kind: GroupKind
    since_ms: int
    until_ms: int
    points: tuple[GroupPoint, ...] = ()
    partition_points: tuple[PartitionPoint, ...] = ()
    findings: tuple[FindingSpan, ...] = ()
    rebalances: tuple[Rebalance, ...] = ()
    changes: tuple[MembersChanged, ...] = ()
    phases: tuple[PhaseBegun, ...] = ()
    owners: tuple[OwnerSpan, ...] = ()
    rewinds: tuple[RewindThen, ...] = ()
    members: tuple[MemberThen, ...] = ()
    topics: tuple[TopicChanged, ...] = ()
    redelivered: int = 0
    extremes: tuple[PartitionPoint, ...] = ()
    peak: GroupPoint | None = None
    gaps: tuple[CommitGap, ...] = ()
    truncations: tuple[LogTruncated, ...] = ()
    step_ms: int = 0
    is_connect: bool = False
    skips: tuple[SkipThen, ...] = ()
    cluster_findings: tuple[FindingSpan, ...] = ()
    needed: tuple[NeededThen, ...] = ()
