"""A partition as it is shown: what the group has committed, or what share state says of it, and its lag."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from monitor.kinds.share import share_progress
from monitor.model import GroupState, PartitionId, SharePartition

Shown = dict[str, object]


class TopicEnds(msgspec.Struct, frozen=True):
    """A topic that there is: its id, and where its partitions begin and end, by their numbers."""

    id: str | None = None
    start: dict[int, int] = msgspec.field(default_factory=dict)
    end: dict[int, int] = msgspec.field(default_factory=dict)


Topics = Mapping[str, TopicEnds]


class PartitionView(msgspec.Struct, frozen=True, omit_defaults=True):
    """A partition that the group has committed, or of which it has share state (monitor.kinds.share)."""

    partition: PartitionId
    topic: str | None = None
    topic_id: str | None = None
    end_offset: int | None = None
    lag: int | None = None
    committed_offset: int | None = None
    kafka_lag: int | None = None
    start_offset: int | None = None
    complete_count: int | None = None
    first_waiting: int | None = None
    waiting_redelivery: int | None = None
    max_deliveries: int | None = None
    lost: int | None = None
    answered_ms: int | None = None
    accepted: int | None = None
    returned: int | None = None
    archived: tuple[Shown, ...] | None = None
    batches: tuple[Shown, ...] | None = None


def committed_partitions(group: GroupState, topics: Topics) -> Iterator[PartitionView]:
    """The partitions with a committed offset."""
    for each in group.offsets:
        end = topics[each.topic].end.get(int(each.partition)) if each.topic in topics else None
        yield PartitionView(
            partition=each.partition,
            topic=each.topic,
            end_offset=end,
            lag=None if end is None else max(0, end - each.offset),
            committed_offset=each.offset,
        )


def shared_partitions(group: GroupState, topics: Topics, names: Mapping[str, str]) -> Iterator[PartitionView]:
    """The partitions with share state; of a topic that is no longer there, without its end."""
    for partition in group.share.partitions if group.share is not None else ():
        name = names.get(partition.topic_id)
        known = topics.get(name or "", TopicEnds())
        yield _shared_partition(partition, name, known if known.id == partition.topic_id else TopicEnds())


def _shared_partition(partition: SharePartition, name: str | None, known: TopicEnds) -> PartitionView:
    end = known.end.get(partition.partition)
    progress = share_progress(partition, end, known.start.get(partition.partition))
    return PartitionView(
        partition=partition.partition,
        topic=name,
        topic_id=partition.topic_id,
        end_offset=end,
        lag=progress.lag,
        kafka_lag=progress.kafka_lag,
        start_offset=partition.start_offset,
        complete_count=partition.complete_count,
        first_waiting=progress.first_waiting,
        waiting_redelivery=progress.waiting_redelivery,
        max_deliveries=progress.max_deliveries,
        lost=progress.lost,
        answered_ms=partition.answered_ms,
        accepted=partition.accepted,
        returned=partition.returned,
        archived=tuple(msgspec.structs.asdict(each) for each in partition.archived),
        batches=tuple(msgspec.structs.asdict(each) for each in partition.batches),
    )
