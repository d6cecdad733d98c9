"""How far a share group is (KIP-932): its lag, what waits for another delivery, and what is close to being given up.

The log has the answers of members, not what they hold right now. Whether archived records were given up or rejected
follows from the group's limit, ``share.delivery.count.limit``, which the log does not have either.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Final, TypeVar

from monitor.model import (
    TERMINAL,
    ArchivedRecords,
    DeliveryState,
    GroupState,
    ListedShareOffset,
    ShareBatch,
    SharePartition,
    Source,
    TopicPartition,
    Value,
)

MIN_DELIVERY_LIMIT: Final = 2
"""The smallest limit that a broker allows (``group.share.delivery.count.limit``)."""


Known = TypeVar("Known", SharePartition, ListedShareOffset)


class ShareProgress(Value):
    """How far a share group is in a partition, in records.

    ``lag`` are the records that are there and not done with; None: the group has answered for no record yet, or the end
    is not known. ``kafka_lag`` is what the broker itself says (KIP-1226), which after a cut by retention is too much.
    ``lost`` are the records below the start of the log that the group was not done with.

    ``first_waiting`` is the offset of the first record that is not done with (None: there is none, or it is not known).
    ``waiting_redelivery`` counts records that were delivered and are available again, ``max_deliveries`` is how often
    the one of them was delivered that was delivered most.
    """

    lag: int | None = None
    kafka_lag: int | None = None
    first_waiting: int | None = None
    waiting_redelivery: int = 0
    max_deliveries: int = 0
    lost: int = 0


class LastTries(Value):
    """Available records that are given up if the next delivery fails: how many, the first ones, and since when."""

    records: int = 0
    offsets: tuple[int, ...] = ()
    since_ms: int | None = None


class ArchivedCounts(Value):
    """How many records are not delivered any more, since the partition was first seen, and the newest of each sort.

    ``given_up`` were delivered as often as the group allows; a record that was rejected at its last delivery is one of
    them. ``rejected`` are the others, with the offsets that no member got (see ArchivedRecords).
    ``given_up_ms`` None: none was given up, or it is not known when.
    """

    given_up: int = 0
    rejected: int = 0
    newest_given_up: int | None = None
    given_up_ms: int | None = None


def readable_places(group: GroupState, names: Mapping[str, str]) -> frozenset[TopicPartition] | None:
    """The partitions that members can read; None: it is not known, as only the log of groups says that.

    Args:
        group: with its share state.
        names: the topics that exist, by id. Of one that was deleted and created again, nothing is readable yet.
    """
    if group.source is not Source.LOG or group.share is None:
        return None
    return frozenset(
        TopicPartition(topic, number)
        for entry in group.share.initialized
        if (topic := names.get(entry.topic_id)) is not None
        for number in entry.partitions
    )


def by_place(known: Iterable[Known], names: Mapping[str, str]) -> Iterator[tuple[TopicPartition, Known]]:
    """What is known of partitions with their names; nothing of topics that are gone.

    Args:
        known: partitions with the ids of their topics.
        names: the topics that exist, by id.
    """
    for each in known:
        topic = names.get(each.topic_id)
        if topic is not None:
            yield TopicPartition(topic, each.partition), each


def share_progress(partition: SharePartition, end: int | None, log_start: int | None = None) -> ShareProgress:
    """How far the group is in the partition.

    Args:
        partition: its state.
        end: the high watermark: open transactions and all (None: not known).
        log_start: where the log begins (None: not known, taken to be before what the group has done with).

    >>> known = SharePartition(topic_id="t", partition=0, start_offset=24, complete_count=7,
    ...     batches=(ShareBatch(24, 30, 2, 1), ShareBatch(31, 33, 0, 2)))
    >>> share_progress(known, end=40).lag, share_progress(known, end=40).first_waiting
    (9, 31)
    """
    start = partition.start_offset
    if start is None:
        return ShareProgress()
    begin = start if log_start is None else max(start, log_start)
    waiting = list(_available_from(partition.batches, begin))
    redelivery = [batch for batch in waiting if batch.deliveries > 0]
    return ShareProgress(
        lag=None if end is None else _lag(partition, start, begin, end),
        kafka_lag=_kafka_lag(partition, end),
        first_waiting=_first_waiting(partition.batches, begin, end),
        waiting_redelivery=sum(batch.last - batch.first + 1 for batch in redelivery),
        max_deliveries=max((batch.deliveries for batch in redelivery), default=0),
        lost=max(0, begin - start - _terminal_records(partition.batches, start, begin)),
    )


def last_tries(partition: SharePartition, limit: int, log_start: int = 0, most: int = 10) -> LastTries:
    """The records that are available for their last delivery, with the offsets of the first ``most`` of them.

    Args:
        partition: its state.
        limit: how often the group delivers a record at most.
        log_start: where the log begins.
        most: how many offsets are named.
    """
    begin = max(log_start, partition.start_offset or 0)
    last = [each for each in _available_from(partition.batches, begin) if each.deliveries >= limit - 1]
    if not last:
        return LastTries()
    since = [each.since_ms for each in partition.waiting if each.deliveries >= limit - 1]
    offsets = (offset for batch in last for offset in range(batch.first, batch.last + 1))
    return LastTries(
        records=sum(batch.last - batch.first + 1 for batch in last),
        offsets=tuple(offset for offset, _ in zip(offsets, range(most), strict=False)),
        since_ms=min(since, default=None),
    )


def archived_counts(archived: Iterable[ArchivedRecords], limit: int) -> ArchivedCounts:
    """What was archived, divided by the limit that the group had then.

    Args:
        archived: by delivery count and limit.
        limit: for what was archived while no limit had been read.

    >>> archived_counts([ArchivedRecords(1, 3, 20, 60_000), ArchivedRecords(5, 2, 17, 50_000)], limit=5)
    ArchivedCounts(given_up=2, rejected=3, newest_given_up=17, given_up_ms=50000)
    """
    known = tuple(archived)
    given_up = [each for each in known if each.deliveries >= (each.limit or limit)]
    newest = max(given_up, key=lambda each: each.newest_ms, default=None)
    return ArchivedCounts(
        given_up=sum(each.records for each in given_up),
        rejected=sum(each.records for each in known) - sum(each.records for each in given_up),
        newest_given_up=None if newest is None else newest.newest_offset,
        given_up_ms=None if newest is None else newest.newest_ms or None,
    )


def _lag(partition: SharePartition, start: int, begin: int, end: int) -> int:
    """Kafka counts the records that are done with from the start offset on; from a later begin, the batches tell."""
    if begin > start or partition.complete_count is None:
        return max(0, end - begin - _terminal_records(partition.batches, begin, end))
    return max(0, end - start - partition.complete_count)


def _kafka_lag(partition: SharePartition, end: int | None) -> int | None:
    """``ShareGroupPartition`` lag of KIP-1226: unknown while the start offset or the count is."""
    if end is None or partition.start_offset is None or partition.complete_count is None:
        return None
    return max(0, end - partition.start_offset - partition.complete_count)


def _first_waiting(batches: Iterable[ShareBatch], begin: int, end: int | None) -> int | None:
    first = begin
    for batch in batches:
        if batch.first > first:
            break
        if batch.state in TERMINAL:
            first = max(first, batch.last + 1)
        elif batch.last >= first:
            break
    return first if end is not None and first < end else None


def _available_from(batches: Iterable[ShareBatch], begin: int) -> Iterator[ShareBatch]:
    """The batches of available records from an offset on."""
    for batch in batches:
        if batch.state == DeliveryState.AVAILABLE and batch.last >= begin:
            yield ShareBatch(max(batch.first, begin), batch.last, batch.state, batch.deliveries)


def _terminal_records(batches: Iterable[ShareBatch], begin: int, end: int) -> int:
    """How many offsets between the two are done with."""
    return sum(
        max(0, min(batch.last + 1, end) - max(batch.first, begin)) for batch in batches if batch.state in TERMINAL
    )
