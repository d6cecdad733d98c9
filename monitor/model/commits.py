"""Committed offsets as collectors read them, and what commits show when they follow one another."""

from __future__ import annotations

from enum import StrEnum

import msgspec

from monitor.model.values import PartitionId, Value


class CommitPoint(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A commit in a history: when, and of which offset."""

    committed_ms: int
    offset: int


class RewindCause(StrEnum):
    """Why the committed offset of a partition went back, as far as the log can tell."""

    DELETED = "deleted"
    """The offset had been deleted, or had expired; the next commit was a lower one."""
    RESET = "reset"
    """The group had no members: an administrator has reset the offset, or a tool keeps it."""
    REBALANCE = "rebalance"
    """A rebalance ended between the two commits: the owner began at an older offset."""
    OUT_OF_ORDER = "out_of_order"
    """Two commits of one owner, at most a second apart: the older one may have arrived last."""
    UNKNOWN = "unknown"


class Rewind(Value, array_like=True):
    """A commit of an offset lower than the one committed before it: records will be delivered again.

    ``before_ms`` is when the one before it was committed; None: not known, or the cause follows from it already.
    """

    at_ms: int
    before: int
    after: int
    before_ms: int | None = None
    cause: RewindCause = RewindCause.UNKNOWN


class Standstill(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """That the newest commits of a partition are all of one offset: the first one's time, and how many they are."""

    since_ms: int
    commits: int


class InnerJump(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A commit inside of a run that jumps (monitor.tracking.offsets.jumps): at least two commits of the run precede it.

    Attributes:
        before_ms: When the commit before it was made (ms since the epoch).
        before: The offset of that one.
        at_ms: When it was made.
        offset: The offset that it committed.
        preceding: So many commits of the run came before it; RECENT also means more.
        recent_since_ms: When the oldest of the newest RECENT of those was made.
        lowest: The lowest offset after it, up to the next jump of the run; None: none is lower than its own.
    """

    before_ms: int
    before: int
    at_ms: int
    offset: int
    preceding: int
    recent_since_ms: int
    lowest: int | None = None


class ListedOffset(Value):
    """One committed offset in the broker's answer."""

    topic: str
    partition: PartitionId
    offset: int


class ObservedOffset(Value, array_like=True):
    """A committed offset as a collector read it; ``committed_ms`` is when it was committed, where the system tells."""

    topic: str
    partition: PartitionId
    offset: int
    committed_ms: int | None = None
