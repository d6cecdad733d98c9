"""The partitions of a share group while a piece of its logs is folded in."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

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
            self._state = replace(self._state, config=event.config, listed=event.offsets)
            return
        place = event.topic_id, event.partition
        known = self._partitions.get(place)
        match event:
            case ShareSnapshotStored():
                self._partitions[place] = _after_snapshot(known, event)
            case ShareUpdateStored():
                if known is not None:
                    self._partitions[place] = _after_update(known, event)
            case ShareStateDeleted():
                self._delete(place)

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


def _after_snapshot(known: SharePartition | None, event: ShareSnapshotStored) -> SharePartition:
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
    return _with_counts(before, after, merged, event.stored_ms, archived_ms=0 if known is None else event.stored_ms)


def _after_update(before: SharePartition, event: ShareUpdateStored) -> SharePartition:
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
    return _with_counts(before, after, merged, event.stored_ms, archived_ms=event.stored_ms)


def _with_counts(
    before: SharePartition, after: SharePartition, merged: Merged, at_ms: int, *, archived_ms: int
) -> SharePartition:
    """The partition with the changes counted. A record that has reached a terminal state is counted once there."""
    accepted, returned, archived = after.accepted, after.returned, list(after.archived)
    for change in merged.changes:
        now, records = change.now, change.now.last - change.now.first + 1
        if change.before is not None and change.before.state == now.state != DeliveryState.AVAILABLE:
            continue
        if now.state == DeliveryState.ACKNOWLEDGED:
            accepted += records
        elif now.state == DeliveryState.ARCHIVED:
            _add_archived(archived, ArchivedRecords(now.deliveries, records, now.last, archived_ms))
        elif now.state == DeliveryState.AVAILABLE and now.deliveries > 0:
            returned += records
    is_same = after.batches is before.batches
    return replace(
        after,
        accepted=min(MOST, accepted),
        returned=min(MOST, returned),
        archived=tuple(archived),
        waiting=before.waiting if is_same else _waiting_since(before.waiting, after.batches, at_ms),
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
    """Count records in, which are newer than those that are known of this delivery count."""
    deliveries, records = min(more.deliveries, MAX_DELIVERIES), more.records
    place = next((at for at, each in enumerate(archived) if each.deliveries >= deliveries), len(archived))
    if place < len(archived) and archived[place].deliveries == deliveries:
        records += archived[place].records
        del archived[place]
    archived.insert(place, ArchivedRecords(deliveries, min(MOST, records), more.newest_offset, more.newest_ms))


def _waiting_since(
    known: Iterable[DeliveredSince], batches: Iterable[ShareBatch], at_ms: int
) -> tuple[DeliveredSince, ...]:
    """For each delivery count that available records have, since when there have been some, without a gap."""
    since = {each.deliveries: each.since_ms for each in known}
    counts = {batch.deliveries for batch in batches if batch.state == DeliveryState.AVAILABLE and batch.deliveries}
    return tuple(DeliveredSince(count, since.get(count, at_ms)) for count in sorted(counts))
