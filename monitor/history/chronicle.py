"""What happened to a group from one instant to another, as values without a sentence of their own."""

from __future__ import annotations

from monitor.model import (
    UNKNOWN_LIBRARY,
    ClientLibrary,
    FindingRecord,
    GroupKind,
    PartitionId,
    Phase,
    Rebalance,
    Value,
)
from monitor.model.findings import Severity


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
        """Since when the finding was as it is told here."""
        return self.told.at_ms

    @property
    def name(self) -> str:
        """Its kind and reason."""
        return f"{self.told.kind}/{self.told.reason}"


class MemberThen(Value):
    """Who a member was."""

    member_id: str
    instance_id: str | None = None
    client_id: str = ""
    host: str = ""
    library: ClientLibrary = UNKNOWN_LIBRARY


class MembersChanged(Value):
    """Members that came and went at once, as the log tells it; ``members`` is how many there were then."""

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
    """Who owned a partition for a while: member ids, sorted; none: nobody."""

    topic: str
    partition: PartitionId
    owners: tuple[str, ...]
    from_ms: int
    until_ms: int


class GroupPoint(Value):
    """A group at an instant. ``lag`` None: not known. ``orphaned`` counts partitions that nobody owns, but should."""

    at_ms: int
    phase: Phase
    generation: int
    members: int
    partitions: int
    orphaned: int
    lag: int | None
    lag_ms: int | None
    imbalance_ratio: float | None = None
    is_rebalancing: bool = False


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
    topic: str
    partition: PartitionId
    before: int
    after: int


class Chronicle(Value):
    """What happened to a group from ``since_ms`` until ``until_ms``. Each list is in the order of time.

    ``points`` are the steps at which it was judged; ``partition_points`` those of its partitions, where they are asked
    for. ``members`` are all that there were. ``rebalances`` ended in that time. Of ``rewinds``, the newest of each
    partition between two steps is told.
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
