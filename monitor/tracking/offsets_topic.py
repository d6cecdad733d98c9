"""Since when, and until when, partitions of the offsets topic take no records: what passes saw, folded."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from monitor.model.offsets_topic import (
    NO_LEADER,
    FaultReason,
    OffsetsTopicHealth,
    OffsetsTopicSeen,
    PartitionFault,
)

KEPT_MS: Final = 3_600_000
"""How long a fault that has ended is remembered. A silence counts from its end for as long as ``commit_silence_s``."""


SAME_MS: Final = 60_000
"""A fault that comes back so soon is the same one: between them, nobody had the time to commit again."""


def health_after(
    known: OffsetsTopicHealth | None, seen: OffsetsTopicSeen | None, before_ms: int | None, at_ms: int
) -> OffsetsTopicHealth | None:
    """The health after a pass that saw the topic at ``at_ms`` (None: it did not, and nothing new is known).

    ``before_ms`` is when the pass before it began; None: there was none.
    """
    if seen is None:
        return known
    faults = dict(known.faults) if known is not None else {}
    now = {each.partition: each for each in _faults(seen, before_ms, at_ms)}
    for partition, fault in list(faults.items()):
        if partition not in now and fault.ended_ms is None:
            faults[partition] = replace(fault, ended_ms=at_ms)
        elif fault.ended_ms is not None and at_ms - fault.ended_ms > KEPT_MS:
            del faults[partition]
    for partition, fault in now.items():
        last = faults.get(partition)
        if last is not None and (last.ended_ms is None or at_ms - last.ended_ms <= SAME_MS):
            fault = replace(fault, since_ms=last.since_ms, before_ms=last.before_ms)  # noqa: PLW2901 -- the same fault
        faults[partition] = fault
    return OffsetsTopicHealth(partitions=seen.partitions, faults=faults)


def _faults(seen: OffsetsTopicSeen, before_ms: int | None, at_ms: int) -> Iterator[PartitionFault]:
    """The partitions that take no records. Without ``min.insync.replicas``, only a missing leader is certain.

    From Kafka 3.7 on, a broker needs no more replicas in sync than the partition has (KIP-966).
    """
    for each in seen.degraded:
        needed = seen.min_in_sync or 1
        if not seen.needs_all_of_them:
            needed = min(needed, len(each.replicas))
        reason = FaultReason.NO_LEADER if each.leader == NO_LEADER else FaultReason.NOT_ENOUGH_REPLICAS
        if reason is FaultReason.NO_LEADER or len(each.in_sync) < needed:
            yield PartitionFault(each.partition, reason, len(each.in_sync), needed, at_ms, before_ms)
