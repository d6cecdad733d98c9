"""The partitions of a share group while a piece of its logs is folded in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final, NamedTuple, TypeVar

from msgspec.structs import replace

from monitor.model import (
    MOST,
    ArchivedRecords,
    DeliveredSince,
    DeliveryState,
    ReadablePartitionsStored,
    ShareBatch,
    ShareConfig,
    ShareGroupRead,
    ShareGroupState,
    ShareOutcomes,
    SharePartition,
    ShareSnapshotStored,
    ShareStateDeleted,
    ShareStateEvent,
    ShareUpdateStored,
)
from monitor.tracking.share.batches import Merged, cut_batches, merge_batches, replace_batches

MAX_DELIVERIES: Final = 100
"""Up to this many deliveries, archived records are counted apart; those with more are counted with these. No group
allows more than 25 (``group.share.max.delivery.count.limit`` of Kafka 4.3)."""


class ShareDraft:
    """What is known of a share group beside its members, by partition.

    - A snapshot replaces what is known. An update is added to it, and left out if no snapshot was read before it: the
      log begins with the oldest snapshot that still counts, and what stands before it is out of date.
    - Batches that overlap are combined, and cut at the start offset (monitor.tracking.share.batches).
    - The two logs have no common order: what is readable, and who the members are, changes nothing here.
    """

    def __init__(self, state: ShareGroupState | None) -> None:
        self._state = state or ShareGroupState()
        self._partitions = {(known.topic_id, known.partition): known for known in self._state.partitions}

    def apply(self, event: ShareStateEvent | ShareGroupRead) -> None:
        """Take one record of the log of share state, or what a collector read of the group."""
        if isinstance(event, ShareGroupRead):
            self._take_reading(event)
            return
        place = event.topic_id, event.partition
        known, limit = self._partitions.get(place), self._state.config.delivery_limit or 0
        match event:
            case ShareSnapshotStored():
                self._partitions[place] = _after_snapshot(known, event, limit)
            case ShareUpdateStored():
                if known is not None:
                    self._partitions[place] = _after_update(known, event, limit)
            case ShareStateDeleted():
                self._delete(place)

    def _take_reading(self, event: ShareGroupRead) -> None:
        """Take the configs. What was archived before a limit was known is judged by the first that is, and stays so."""
        self._state = replace(self._state, config=event.config, listed=event.offsets)
        limit = event.config.delivery_limit
        if limit is not None:
            self._state = replace(self._state, former=_with_limit(self._state.former, limit))
            self._partitions = {place: _with_limit(known, limit) for place, known in self._partitions.items()}

    def _delete(self, place: tuple[str, int]) -> None:
        deleted = self._partitions.pop(place, None)
        if deleted is not None:
            self._state = replace(self._state, former=_with_outcomes(self._state.former, deleted))

    def store_readable(self, event: ReadablePartitionsStored) -> None:
        """Take a record of the log of groups."""
        self._state = replace(self._state, initialized=event.initialized, initializing=event.initializing)

    def freeze(self) -> ShareGroupState | None:
        """As it is now; None: nothing is known, or all of it was deleted."""
        after = replace(self._state, partitions=tuple(self._partitions[place] for place in sorted(self._partitions)))
        of_logs = after.partitions or after.initialized or after.initializing
        is_known = of_logs or after.config != ShareConfig() or after.listed
        return after if is_known else None


Outcomes = TypeVar("Outcomes", ShareOutcomes, SharePartition)


def _with_limit(known: Outcomes, limit: int) -> Outcomes:
    """The same with a limit for what was archived while none was known."""
    if all(each.limit for each in known.archived):
        return known
    archived: list[ArchivedRecords] = []
    for each in sorted(known.archived, key=lambda each: each.newest_ms):
        _add_archived(archived, replace(each, limit=each.limit or limit))
    return replace(known, archived=tuple(archived))


def _after_snapshot(known: SharePartition | None, event: ShareSnapshotStored, limit: int) -> SharePartition:
    before = known or SharePartition(topic_id=event.topic_id, partition=event.partition)
    merged = replace_batches(before.batches, event.batches)
    after = replace(
        before,
        start_offset=event.start_offset,
        complete_count=event.complete_count,
        batches=merged.batches,
        snapshot_epoch=event.snapshot_epoch,
        state_epoch=event.state_epoch,
        leader_epoch=event.leader_epoch,
        answered_ms=event.stored_ms if merged.changes else before.answered_ms,
    )
    counting = Counting(event.stored_ms, 0 if known is None else event.stored_ms, limit)
    return _with_counts(before, after, merged, counting)


def _after_update(before: SharePartition, event: ShareUpdateStored, limit: int) -> SharePartition:
    merged = merge_batches(before.batches, event.batches)
    start = before.start_offset if event.start_offset is None else event.start_offset
    after = replace(
        before,
        start_offset=start,
        complete_count=event.complete_count,
        batches=merged.batches if start is None else cut_batches(merged.batches, start),
        snapshot_epoch=event.snapshot_epoch,
        leader_epoch=event.leader_epoch,
        answered_ms=event.stored_ms if event.batches else before.answered_ms,
    )
    return _with_counts(before, after, merged, Counting(event.stored_ms, event.stored_ms, limit))


class Counting(NamedTuple):
    """When a record was written, when what it archives was archived (0: before that), and the limit known then."""

    at_ms: int
    archived_ms: int
    limit: int


def _with_counts(before: SharePartition, after: SharePartition, merged: Merged, counting: Counting) -> SharePartition:
    """The partition with the changes counted. A record that has reached a terminal state is counted once there."""
    accepted, returned, archived = after.accepted, after.returned, list(after.archived)
    for change in merged.changes:
        now, records = change.now, change.now.last - change.now.first + 1
        if change.before is not None and change.before.state == now.state != DeliveryState.AVAILABLE:
            continue
        if now.state == DeliveryState.ACKNOWLEDGED:
            accepted += records
        elif now.state == DeliveryState.ARCHIVED:
            more = ArchivedRecords(now.deliveries, records, now.last, counting.archived_ms, counting.limit)
            _add_archived(archived, more)
        elif now.state == DeliveryState.AVAILABLE and now.deliveries > 0:
            returned += records
    is_same = after.batches is before.batches
    return replace(
        after,
        accepted=min(MOST, accepted),
        returned=min(MOST, returned),
        archived=tuple(archived),
        waiting=before.waiting if is_same else _waiting_since(before.waiting, after.batches, counting.at_ms),
    )


def _with_outcomes(known: ShareOutcomes, partition: SharePartition) -> ShareOutcomes:
    archived = list(known.archived)
    for each in partition.archived:
        _add_archived(archived, each)
    return ShareOutcomes(
        accepted=min(MOST, known.accepted + partition.accepted),
        returned=min(MOST, known.returned + partition.returned),
        archived=tuple(archived),
    )


def _add_archived(archived: list[ArchivedRecords], more: ArchivedRecords) -> None:
    """Count records in, which are newer than those that are known of this delivery count and limit."""
    deliveries, records = min(more.deliveries, MAX_DELIVERIES), more.records
    key = deliveries, more.limit
    place = next((at for at, each in enumerate(archived) if (each.deliveries, each.limit) >= key), len(archived))
    if place < len(archived) and (archived[place].deliveries, archived[place].limit) == key:
        records += archived[place].records
        del archived[place]
    newest = ArchivedRecords(deliveries, min(MOST, records), more.newest_offset, more.newest_ms, more.limit)
    archived.insert(place, newest)


def _waiting_since(
    known: Iterable[DeliveredSince], batches: Iterable[ShareBatch], at_ms: int
) -> tuple[DeliveredSince, ...]:
    """For each delivery count that available records have, since when there have been some, without a gap."""
    since = {each.deliveries: each.since_ms for each in known}
    counts = {batch.deliveries for batch in batches if batch.state == DeliveryState.AVAILABLE and batch.deliveries}
    return tuple(DeliveredSince(count, since.get(count, at_ms)) for count in sorted(counts))
