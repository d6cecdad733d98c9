"""Offsets that were deleted, and until when clients requested to keep theirs.

What a tombstone deleted is remembered, not why: brokers write the same for an offset that expired and for one that an
administrator deleted. monitor.model.expiry distinguishes them once the brokers' retention is known.

Rule 1: A tombstone deletes an offset: an administrator does that, expiry, and the deletion of the topic.
Rule 2: The next commit ends it, and shows whether records were passed, or are read again. A commit of another topic of
        that name has nothing to do with it.
Rule 3: A new topic of the name is known by its id. So a commit goes back only where both ids are known.
Rule 4: An offset may have expired only if the group had no members. With members, offsets expire only of topics that
        the group has turned away from.
Rule 5: A commit of an offset below 0 is stored like any other, and deletes the offset before it. While it is stored, it
        may expire: then the last offset that was committed has expired.
Rule 6: Of each group, at most MOST_DELETED are kept at a time, and none that was deleted DELETED_KEPT_MS before the
        newest.
"""

from __future__ import annotations

from collections.abc import Container, Iterable
from typing import Final

from msgspec.structs import replace

from monitor.kinds.offset_expiry import retention_start_ms
from monitor.model import (
    DEFAULT_KIND,
    MOST,
    CommitPoint,
    CommitRun,
    CommittedOffset,
    CommitUnread,
    GroupState,
    InvalidCommit,
    InvalidOffsetCommitted,
    OffsetCommitted,
    OffsetDeleted,
    PartitionId,
    Phase,
    Rewind,
    RewindCause,
    Source,
)
from monitor.model.expiry import DELETED_KEPT_MS, DeletedOffset, ExplicitExpiry
from monitor.tracking.offsets.jumps import Readers

MOST_DELETED: Final = 10_000
"""How many are kept of a group."""


class Deletions:
    """Deleted offsets, those below 0, and explicit expiries by partition, while a piece of the log is folded in."""

    __slots__ = ("_deleted", "_explicit", "_invalid", "_oldest_ms")

    def __init__(
        self,
        deleted: Iterable[DeletedOffset] = (),
        explicit: Iterable[ExplicitExpiry] = (),
        invalid: Iterable[InvalidCommit] = (),
    ) -> None:
        self._invalid = {(each.topic, each.partition): each for each in invalid}
        self._deleted = {(each.topic, each.partition): each for each in deleted}
        self._explicit = {(each.topic, each.partition): each.expires_ms for each in explicit}
        self._oldest_ms = min(map(_age_ms, self._deleted.values()), default=MOST)
        """No deletion is older: a group with many partitions loses all of them at once."""

    def commit(self, event: OffsetCommitted | CommitRun) -> DeletedOffset | None:
        """Take a commit: its partition has an offset again. This is done for nearly every record of the log.

        Returns:
            The deleted offset from which the group goes on; None: there is none (rule 2).
        """
        expires_ms = event.expires_ms if isinstance(event, OffsetCommitted) else None
        if expires_ms is not None:
            self._explicit[event.topic, event.partition] = expires_ms
        elif self._explicit:
            self._explicit.pop((event.topic, event.partition), None)
        if self._invalid:
            self._invalid.pop((event.topic, event.partition), None)
        return self._take(event) if self._deleted else None

    def _take(self, event: OffsetCommitted | CommitRun) -> DeletedOffset | None:
        deleted = self._deleted.pop((event.topic, event.partition), None)
        if deleted is None:
            return None
        is_recreated = None not in (deleted.topic_key, event.topic_key) and deleted.topic_key != event.topic_key
        return None if is_recreated else deleted

    def hide(self, event: CommitUnread) -> None:
        """Take a commit that cannot be read: nothing follows from what was deleted before."""
        for known in (self._explicit, self._deleted, self._invalid):
            known.pop((event.topic, event.partition), None)

    def delete(
        self, event: OffsetDeleted, known: CommittedOffset | None, topic_key: int | None, group: GroupState | None
    ) -> None:
        """Take a deletion.

        Args:
            event: the deletion.
            known: what was committed there; None: nothing is known.
            topic_key: which topic of that name it is; None: not known.
            group: as it was then; None: some of its records cannot be read.
        """
        place = event.topic, event.partition
        expires_ms, invalid = self._explicit.pop(place, None), self._invalid.pop(place, None)
        newest = known or invalid
        last = _point(known) if known is not None else invalid and invalid.last
        if newest is None or last is None:
            return
        if known is None and place in self._deleted:  # what is committed in no partition has no id any more
            topic_key = self._deleted[place].topic_key
        may_expire = group is not None and event.deleted_ms and _has_no_members(group)
        deleted = DeletedOffset(
            *place,
            offset=last.offset,
            committed_ms=last.committed_ms,
            kept_since_ms=retention_start_ms(group, newest.committed_ms) if group is not None and may_expire else None,
            deleted_ms=event.deleted_ms,
            expires_ms=expires_ms,
            topic_key=topic_key,
            emptied_ms=group.phase_ms if group is not None and group.phase is Phase.EMPTY else None,
            kind=DEFAULT_KIND if group is None else group.kind,
        )
        self._remember(place, deleted)

    def replace_by_invalid(
        self, event: InvalidOffsetCommitted, known: CommittedOffset | None, topic_key: int | None
    ) -> None:
        """Take a commit of an offset below 0 (rule 5).

        Args:
            event: the commit.
            known: what was committed there; None: nothing is known.
            topic_key: which topic of that name it is; None: not known.
        """
        place = event.topic, event.partition
        self._explicit.pop(place, None)
        before, deleted = self._invalid.get(place), self._deleted.get(place)
        former = known or deleted
        last = before.last if before is not None else _point(former) if former is not None else None
        since_ms = event.committed_ms if before is None else before.since_ms
        self._invalid[place] = InvalidCommit(*place, event.offset, event.committed_ms, since_ms, last)
        if last is not None:
            key = topic_key if deleted is None else deleted.topic_key
            emptied_ms = None if deleted is None else deleted.emptied_ms
            none = DeletedOffset(*place, last.offset, last.committed_ms, None, 0, topic_key=key, emptied_ms=emptied_ms)
            self._remember(place, none)

    def _remember(self, place: tuple[str, PartitionId], deleted: DeletedOffset) -> None:
        if len(self._deleted) >= MOST_DELETED and place not in self._deleted:
            return
        self._deleted[place] = deleted
        self._oldest_ms = min(self._oldest_ms, _age_ms(deleted))
        self._forget_before(_age_ms(deleted) - DELETED_KEPT_MS)

    def _forget_before(self, instant_ms: int) -> None:
        if self._oldest_ms < instant_ms:
            self._deleted = {place: each for place, each in self._deleted.items() if _age_ms(each) >= instant_ms}
            self._oldest_ms = min(map(_age_ms, self._deleted.values()), default=MOST)

    def forget_unexpired(self) -> None:
        """Forget the offsets that have not expired for certain: nothing else is left of the group."""
        self._deleted = {place: each for place, each in self._deleted.items() if each.kept_since_ms is not None}

    def deleted_offsets(self) -> tuple[DeletedOffset, ...]:
        """What remains of deleted offsets, sorted by partition."""
        return tuple([self._deleted[place] for place in sorted(self._deleted)]) if self._deleted else ()

    def keep_invalid(self, places: Container[tuple[str, PartitionId]]) -> None:
        """Forget the offsets below 0 of all other partitions."""
        self._invalid = {place: each for place, each in self._invalid.items() if place in places}

    def invalid_commits(self) -> tuple[InvalidCommit, ...]:
        """The newest commits that are below 0, sorted by partition."""
        return tuple([self._invalid[place] for place in sorted(self._invalid)]) if self._invalid else ()

    def explicit_expiries(self) -> tuple[ExplicitExpiry, ...]:
        """Until when clients requested to keep offsets, sorted by partition."""
        if not self._explicit:
            return ()
        return tuple([ExplicitExpiry(*place, self._explicit[place]) for place in sorted(self._explicit)])


def _point(known: CommittedOffset | DeletedOffset) -> CommitPoint:
    return CommitPoint(known.committed_ms, known.offset)


def _age_ms(deleted: DeletedOffset) -> int:
    """When it was deleted, or else committed."""
    return deleted.deleted_ms or deleted.committed_ms


def _has_no_members(group: GroupState) -> bool:
    return group.source is Source.LOG and not group.members and not group.incomplete_members and group.unread is None


def with_rewind(
    after: CommittedOffset, deleted: DeletedOffset, first: CommitPoint, readers: Readers | None
) -> CommittedOffset:
    """The partition after its first commit since its offset was deleted, which goes back behind that (rule 3)."""
    cause = RewindCause.RESET if readers is not None and readers.are_none else RewindCause.DELETED
    fall = Rewind(first.committed_ms, deleted.offset, first.offset, cause=cause)
    return replace(after, rewinds=after.rewinds + 1, last_rewind=after.last_rewind or fall)
