"""Questions to the catalog: which partitions exist, which existed at an instant, and what an assignor knows of them."""

from __future__ import annotations

from monitor.model import Catalog, PartitionState, TopicShape, TopicState


def partition_of(catalog: Catalog, topic: str, partition: int) -> PartitionState | None:
    """The partition as it is now, or None if it does not exist."""
    state = catalog.topics.get(topic)
    if state is None or partition < 0:
        return None
    if partition < len(state.partitions) and state.partitions[partition].partition == partition:
        return state.partitions[partition]
    return next((known for known in state.partitions if known.partition == partition), None)


def count_now(state: TopicState) -> int:
    """How many partitions the topic has. The highest id decides: a collector may have missed one in between."""
    return state.partitions[-1].partition + 1 if state.partitions else 0


def first_seen_ms(state: TopicState) -> int:
    """When a collector first saw any partition of the topic (0 for a topic without partitions)."""
    return min((partition.first_seen_ms for partition in state.partitions), default=0)


def count_at(state: TopicState, instant_ms: int) -> int:
    """How many partitions the topic had at an instant, as far as the collectors can tell.

    A topic first seen after the instant counts as it was first seen: groupwatch may have started later than the group,
    and a topic that is really new is recognised by the assignment, which has nothing of it.
    """
    horizon_ms = max(instant_ms, first_seen_ms(state))
    seen = (known.partition for known in state.partitions if known.first_seen_ms <= horizon_ms)
    return 1 + max(seen, default=-1)


def shape_of(topic: str, count: int, state: TopicState | None, *, with_racks: bool) -> TopicShape:
    """What an assignor is told of a topic with ``count`` partitions. Partitions the catalog lacks have no rack."""
    racks: list[tuple[str | None, ...]] = [()] * count if with_racks else []
    for partition in state.partitions if state and with_racks else ():
        if 0 <= partition.partition < count:
            racks[partition.partition] = partition.racks
    has_rack = any(rack is not None for replicas in racks for rack in replicas)
    return TopicShape(topic=topic, partitions=count, racks=tuple(racks) if has_rack else ())
