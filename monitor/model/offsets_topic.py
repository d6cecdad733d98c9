"""The offsets topic as brokers describe it, and since when groups cannot commit in partitions of it."""

from __future__ import annotations

from enum import StrEnum
from typing import Final

import msgspec

from monitor.model.values import Value

NO_LEADER: Final = -1


class ReplicasSeen(Value, array_like=True):
    """A partition of the offsets topic that has no leader, or not all of its replicas in sync, by broker ids."""

    partition: int
    leader: int
    in_sync: tuple[int, ...]
    replicas: tuple[int, ...]


class OffsetsTopicSeen(Value):
    """What a pass saw of the offsets topic.

    ``degraded`` are the partitions that are not as they should be, sorted. ``min_in_sync`` is its
    ``min.insync.replicas``; None: not read, as without the permission DESCRIBE_CONFIGS, or where nothing is degraded.
    ``needs_all_of_them``: brokers before Kafka 3.7 need that many in sync where a partition has fewer replicas, too.
    """

    partitions: int
    degraded: tuple[ReplicasSeen, ...] = ()
    min_in_sync: int | None = None
    needs_all_of_them: bool = False


class FaultReason(StrEnum):
    """Why a partition of the offsets topic takes no records."""

    NO_LEADER = "no_leader"
    NOT_ENOUGH_REPLICAS = "not_enough_replicas"


class PartitionFault(Value, array_like=True):
    """That a partition of the offsets topic takes no records, and so no commit of its groups.

    ``in_sync`` of ``needed`` replicas were in sync when a pass last saw it so. ``since_ms`` is when a pass first did,
    ``before_ms`` when the last one began that did not (None: there was none), ``ended_ms`` when one first saw the end
    (None: it lasts).
    """

    partition: int
    reason: FaultReason
    in_sync: int
    needed: int
    since_ms: int
    before_ms: int | None = None
    ended_ms: int | None = None


class OffsetsTopicHealth(Value):
    """The newest fault of each partition of the offsets topic that had one lately, by partition."""

    partitions: int
    faults: dict[int, PartitionFault] = msgspec.field(default_factory=dict)

    def lasting(self) -> tuple[PartitionFault, ...]:
        """The faults that have not ended, in order."""
        return tuple([each for _, each in sorted(self.faults.items()) if each.ended_ms is None])
