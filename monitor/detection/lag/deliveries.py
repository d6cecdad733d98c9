"""How far a share group is in each partition (KIP-932), in the form in which a verdict shows it.

Members of a share group commit no offsets: they answer for records one by one, and the share coordinator's log has
what became of each (monitor.kinds.share). For the rules that ask when somebody last went on, such a partition has a
committed offset all the same: the first record that the group is not done with, as of its newest answer.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import msgspec

from monitor.detection.ownership.catalog_view import Topics
from monitor.kinds.share import archived_counts, by_place, last_tries, readable_places, share_progress
from monitor.model import (
    KINDS,
    CommittedOffset,
    DeliveryBatch,
    DeliveryTotals,
    DeliveryVerdict,
    GroupState,
    ListedShareOffset,
    PartitionState,
    PartitionVerdict,
    ShareConfig,
    ShareOutcomes,
    SharePartition,
    TopicPartition,
)

SHOWN_BATCHES: Final = 100
"""So many batches of a partition are shown; a partition that is worked on has up to some thousands."""

Deliveries = dict[TopicPartition, DeliveryVerdict]


def read_deliveries(group: GroupState, topics: Topics, subscribed: Iterable[str], limit: int) -> Deliveries | None:
    """The partitions of a share group, sorted: those that it has answered for, and those that its members subscribe to.

    None: it is no share group, or nothing but its members is known. Partitions of topics that are gone are left out.

    Args:
        group: with its share state.
        topics: those that exist now.
        subscribed: the topics of its members.
        limit: how often it delivers a record at most.
    """
    share = group.share
    if share is None or not KINDS[group.kind].acknowledges_records:
        return None
    names = topics.catalog.names
    found = {place: _listed_delivery(known, place, topics) for place, known in by_place(share.listed, names)}
    found |= {place: _delivery(known, place, topics, limit) for place, known in by_place(share.partitions, names)}
    for topic in subscribed:
        for place in topics.places(topic):
            found.setdefault(place, DeliveryVerdict(place.topic, place.partition))
    readable = readable_places(group, names)
    return {
        place: _with_readability(found[place], is_readable=readable is None or place in readable)
        for place in sorted(found)
    }


def configs_of(group: GroupState) -> ShareConfig:
    """The configs of a share group that a collector could read; none of another group."""
    return group.share.config if group.share is not None else ShareConfig()


def totals_of(group: GroupState, limit: int) -> DeliveryTotals | None:
    """What became of all records that members of a share group have answered for.

    None: it is no share group, or its share state is not read. From its beginning, a group has some.
    """
    share = group.share
    if share is None or not share.partitions or not KINDS[group.kind].acknowledges_records:
        return None
    outcomes: tuple[ShareOutcomes | SharePartition, ...] = (share.former, *share.partitions)
    archived = archived_counts([each for known in outcomes for each in known.archived], limit)
    return DeliveryTotals(
        accepted=sum(each.accepted for each in outcomes),
        returned=sum(each.returned for each in outcomes),
        rejected=archived.rejected,
        given_up=archived.given_up,
    )


def commits_of(deliveries: Deliveries, topics: Topics) -> dict[TopicPartition, CommittedOffset]:
    """What the group is done with, as if it had committed it; nothing of partitions of which the log says nothing."""
    return {
        place: CommittedOffset(
            topic=place.topic,
            partition=place.partition,
            offset=_first_undone(delivery, place, topics),
            committed_ms=delivery.answered_ms or 0,
        )
        for place, delivery in deliveries.items()
        if delivery.lag or delivery.first_waiting is not None or delivery.answered_ms is not None
    }


def with_lag(
    rows: Iterable[PartitionVerdict], deliveries: Deliveries, config: ShareConfig
) -> tuple[PartitionVerdict, ...]:
    """The rows with the lag of the group: beyond the first record that waits, others may be done with.

    A group that reads uncommitted records, as it does by default, does not wait for transactions.
    """
    lags = {place: delivery.lag for place, delivery in deliveries.items()}
    return tuple(
        [
            msgspec.structs.replace(
                row,
                lag=lags.get(TopicPartition(row.topic, row.partition)),
                status=None,
                pace=None,
                stable=row.stable if config.reads_committed else None,
            )
            for row in rows
        ]
    )


def _first_undone(delivery: DeliveryVerdict, place: TopicPartition, topics: Topics) -> int:
    """The first record that the group is not done with: of a log that was cut, as far before it as it lost records."""
    end, log_start = _bounds(place, topics)
    if delivery.lost:
        return max(0, (log_start or 0) - delivery.lost)
    if delivery.first_waiting is not None:
        return delivery.first_waiting
    return max(delivery.start_offset or 0, end or 0)


def _listed_delivery(known: ListedShareOffset, place: TopicPartition, topics: Topics) -> DeliveryVerdict:
    """What the coordinator said of a partition: only where the log of share state is not read.

    It does not say which records wait. If all of them are at the end of the log, the first is as far from there as the
    lag is large; otherwise it is before. So no record is taken to wait longer than it does.
    """
    end, log_start = _bounds(place, topics)
    lag, first, begin = known.lag if end is not None else None, None, log_start or 0
    if lag and end is not None:
        lag = min(lag, max(0, end - begin))  # Kafka still counts what retention has deleted
        first = max(known.start_offset or 0, begin, end - lag)
    return DeliveryVerdict(place.topic, place.partition, start_offset=known.start_offset, first_waiting=first, lag=lag)


def _bounds(place: TopicPartition, topics: Topics) -> tuple[int | None, int | None]:
    """The end of a partition's log, and where it begins."""
    state: PartitionState | None = topics.places(place.topic).get(place)
    return (state.end, state.earliest) if state is not None else (None, None)


def _delivery(known: SharePartition, place: TopicPartition, topics: Topics, limit: int) -> DeliveryVerdict:
    end, log_start = _bounds(place, topics)
    progress = share_progress(known, end, log_start)
    last, archived = last_tries(known, limit, log_start or 0), archived_counts(known.archived, limit)
    return DeliveryVerdict(
        topic=place.topic,
        partition=place.partition,
        start_offset=known.start_offset,
        first_waiting=progress.first_waiting,
        lag=progress.lag,
        lost=progress.lost,
        waiting_redelivery=progress.waiting_redelivery,
        max_deliveries=progress.max_deliveries,
        last_tries=last.records,
        last_try_offsets=last.offsets,
        last_tries_since_ms=last.since_ms,
        given_up=archived.given_up,
        given_up_offset=archived.newest_given_up,
        given_up_ms=archived.given_up_ms,
        rejected=archived.rejected,
        accepted=known.accepted,
        returned=known.returned,
        answered_ms=known.answered_ms,
        batches=tuple(
            [
                DeliveryBatch(each.first, each.last, each.state, each.deliveries)
                for each in known.batches[:SHOWN_BATCHES]
            ]
        ),
        more_batches=max(0, len(known.batches) - SHOWN_BATCHES),
    )


def _with_readability(delivery: DeliveryVerdict, *, is_readable: bool) -> DeliveryVerdict:
    return delivery if is_readable else msgspec.structs.replace(delivery, is_readable=False)
