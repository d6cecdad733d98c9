"""Which committed offsets of a group were deleted, and until when clients requested to keep them.

What a tombstone deleted is remembered, not why: brokers write the same for an offset that expired and for one that an
administrator deleted. monitor.model.expiry distinguishes them once the brokers' retention is known.
"""

from __future__ import annotations

from collections.abc import Iterable

from monitor.kinds.offset_expiry import retention_start_ms
from monitor.model import (
    CommitRun,
    CommittedOffset,
    GroupState,
    OffsetCommitted,
    OffsetDeleted,
    PartitionId,
    Source,
)
from monitor.model.expiry import DELETED_KEPT_MS, DeletedOffset, ExplicitExpiry

Place = tuple[str, PartitionId]


class ExpiriesDraft:
    """Deleted offsets and explicit expiries by partition, while a piece of the group's log is folded in."""

    __slots__ = ("_deleted", "_explicit")

    def __init__(self, deleted: Iterable[DeletedOffset] = (), explicit: Iterable[ExplicitExpiry] = ()) -> None:
        self._deleted = {(each.topic, each.partition): each for each in deleted}
        self._explicit = {(each.topic, each.partition): each.expires_ms for each in explicit}

    def commit(self, event: OffsetCommitted | CommitRun) -> None:
        """Take a commit: its partition has an offset again. This is done for nearly every record of the log."""
        expires_ms = event.expires_ms if isinstance(event, OffsetCommitted) else None
        if expires_ms is not None:
            self._explicit[event.topic, event.partition] = expires_ms
        elif self._explicit:
            self._explicit.pop((event.topic, event.partition), None)
        if self._deleted:
            self._deleted.pop((event.topic, event.partition), None)

    def delete(self, event: OffsetDeleted, known: CommittedOffset | None, group: GroupState | None) -> None:
        """Take a deletion of what was known of a partition, in a group that was like this."""
        place = event.topic, event.partition
        expires_ms = self._explicit.pop(place, None)
        if known is None or group is None or not event.deleted_ms or not _may_expire_alone(group):
            return
        self._forget_before(event.deleted_ms - DELETED_KEPT_MS)
        self._deleted[place] = DeletedOffset(
            *place,
            offset=known.offset,
            committed_ms=known.committed_ms,
            kept_since_ms=retention_start_ms(group, known),
            deleted_ms=event.deleted_ms,
            expires_ms=expires_ms,
        )

    def _forget_before(self, instant_ms: int) -> None:
        self._deleted = {place: each for place, each in self._deleted.items() if each.deleted_ms > instant_ms}

    def deleted_offsets(self) -> tuple[DeletedOffset, ...]:
        """What remains of deleted offsets, sorted by partition."""
        return tuple([self._deleted[place] for place in sorted(self._deleted)]) if self._deleted else ()

    def explicit_expiries(self) -> tuple[ExplicitExpiry, ...]:
        """Until when clients requested to keep offsets, sorted by partition."""
        if not self._explicit:
            return ()
        return tuple([ExplicitExpiry(*place, self._explicit[place]) for place in sorted(self._explicit)])


def _may_expire_alone(group: GroupState) -> bool:
    """Whether the group has no members. With members, offsets expire only of topics that it has turned away from."""
    return group.source is Source.LOG and not group.members and not group.incomplete_members and group.unread is None
