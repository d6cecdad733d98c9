"""Commits that passed many offsets at once: what the log of a group shows of records that it may not have read."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from monitor.model.values import PartitionId, Value

JUMP_KEPT_MS: Final = 3_600_000
"""How long a jump is remembered: after that, any later one replaces it. Before that, only a larger one does."""


class Jump(Value, array_like=True):
    """One commit that passed many more offsets than the commits before it did.

    Attributes:
        before: The committed offset before it; None: nothing was committed.
        before_ms: When that was committed (ms since the epoch); None: nothing was.
        offset: The offset that it committed.
        at_ms: When it was committed.
        began_ms: Since when the group can have read from ``before``: that commit, or the first member since.
        is_first: It is the first commit after a rebalance: the owner may be another one, or began again at ``before``.
        recent_since_ms: When the oldest of the ten commits before it was made; None: there was none.
        was_deleted: ``before`` had been deleted by then.
        other: Beside the largest jump of the partition, the newest; if that is the largest, the largest before it.
            None: there is none, or this is that one.
    """

    before: int | None
    before_ms: int | None
    offset: int
    at_ms: int
    began_ms: int
    is_first: bool = False
    recent_since_ms: int | None = None
    was_deleted: bool = False
    other: Jump | None = None

    @property
    def both(self) -> tuple[Jump, ...]:
        """The jump, and the other one that is kept beside it."""
        return (self,) if self.other is None else (self, self.other)

    @property
    def distance(self) -> int:
        """How many offsets it passed."""
        return self.offset - (self.before or 0)


class SkipCause(StrEnum):
    """Why a group passed records that it may not have read."""

    RETENTION = "retention"
    """Retention removed them before the group committed them."""
    REBALANCE = "rebalance"
    """The first commit after a rebalance passed them."""
    NEW_PARTITION = "new_partition"
    """The first commit of a new partition passed them."""
    DELETED = "deleted"
    """The committed offset had been deleted, or had expired; the first commit after that passed them."""


class Skip(Value):
    """Records of one partition that a commit passed, and that the group did not read, or perhaps not.

    Offsets and bounds are in records. Compaction and the markers of transactions leave offsets without a record.
    """

    topic: str
    partition: PartitionId
    cause: SkipCause
    """retention, rebalance, new_partition or deleted."""
    at_ms: int
    """When the group committed beyond these records (ms since the epoch)."""
    before: int
    """The committed offset before that; 0: nothing was committed."""
    offset: int
    """The offset that it committed."""
    at_least: int
    """So many of these records were not read, at least."""
    at_most: int
    """So many of these records were not read, at most."""
