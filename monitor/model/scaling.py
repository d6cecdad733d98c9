"""How many members a group needs: what a deployment asks for, and what was found (monitor.scaling)."""

from __future__ import annotations

from enum import StrEnum

from monitor.model.values import Value


class ScaleTarget(Value):
    """What the number of a group's members is chosen by: an entry ``[[scale]]``, or the options of a command.

    ``least`` and ``most`` are numbers of members; ``most`` None: as many as there are partitions.
    ``members_per_replica`` None: as many as most hosts of the group have.
    """

    target_ms: int = 60_000
    """Members are to read each record within this time (ms)."""
    headroom: float = 0.8
    """So much of what a member reads may come in for it over minutes, as a share. Short peaks use more."""
    least: int = 1
    """The least number of members."""
    most: int | None = None
    """The largest number of members; absent: as many as there are partitions."""
    members_per_replica: int | None = None
    """How many members a replica has; absent: one, if each host has one."""
    down_after_ms: int = 600_000
    """A lower number has to have been enough for so long (ms). The headroom is for what came in for so long."""


class ScaleHold(StrEnum):
    """Why the number of members stays as it is. The order is that in which they count."""

    REBALANCE = "rebalance"
    """Partitions are on their way from one member to another."""
    SETTLING = "settling"
    """A rebalance has just ended, and what waited meanwhile says nothing of the load."""
    TWO_OWNERS = "two_owners"
    """Several members own one partition."""
    RECORD = "record"
    """A record stops the members that read it."""
    OWNER = "owner"
    """Members own partitions with lag and do not commit, or commit and get no further."""
    TRANSACTION = "transaction"
    """An open transaction holds records back, or commits in transactions are not known to the brokers."""
    CAPACITY = "capacity"
    """How fast a member reads is not known."""
    PARTITION = "partition"
    """One partition brings more than one member reads."""


class MemberRate(Value, array_like=True):
    """How fast a member read while it had lag: ``per_s`` records a second until ``at_ms`` (ms since the epoch)."""

    at_ms: int
    member_id: str
    host: str
    per_s: float


class EnoughMembers(Value, array_like=True):
    """How many members were enough, and no fewer, when that was seen last (ms since the epoch)."""

    until_ms: int
    members: int


class ScaleMemory(Value):
    """What was seen of a group that its present state no longer has.

    ``since_ms`` is from when on it was looked at without a gap. ``rates`` are the newest that were measured, oldest
    first. ``enough`` are numbers of members that were enough in the last minutes, falling. ``latest`` is the latest
    number of members that it needed, None: none so far; it is unknown since ``unknown_ms`` (0: it is known).
    ``crowded_ms`` is since when a partition has brought more than one member reads (0: none does).
    """

    since_ms: int = 0
    rates: tuple[MemberRate, ...] = ()
    enough: tuple[EnoughMembers, ...] = ()
    latest: int | None = None
    unknown_ms: int = 0
    crowded_ms: int = 0


class Scaling(Value):
    """How many members a group needs."""

    target_ms: int
    """Members are to read what waits within this time (ms)."""
    sentence: str
    """Why this number, why it stays as it is, or why it is unknown: a sentence."""
    wanted_members: int | None = None
    """The number of members that the group needs; absent: unknown."""
    wanted_replicas: int | None = None
    """The number of replicas that have so many members; absent: unknown, or hosts have several members and
    `members_per_replica` is not set."""
    hold: ScaleHold | None = None
    """Why the number stays as it is; absent: it does not, or it is unknown."""
    members: int = 0
    """The number of its members now."""
    members_per_replica: int | None = None
    """How many members a replica has; absent: unknown."""
    drain_ms: int | None = None
    """How long the members that there are need for what waits and comes in meanwhile (ms); absent: unknown, or they
    never catch up."""
    capacity_per_s: float | None = None
    """How fast a member reads (records per second); absent: unknown."""
    capacity_samples: int = 0
    """In so many measurements."""
    incoming_per_s: float | None = None
    """What comes into its partitions (records per second); absent: unknown."""
    waiting: int | None = None
    """The records that wait; absent: unknown."""
