"""Offsets that were deleted: the next commit of the partition shows whether records were passed, or are read again.

Rule 1: A tombstone deletes an offset: an administrator does that, expiry, and the deletion of the topic.
Rule 2: The next commit ends it. A commit of another topic of that name has nothing to do with it.
Rule 3: A new topic of the name is known by its id. So a commit goes back only where both ids are known.
Rule 4: Of each group, the MOST newest are kept, and none that was committed KEPT_MS before the newest.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from monitor.model import (
    CommitPoint,
    CommitRun,
    CommittedOffset,
    CommitUnread,
    DeletedOffset,
    OffsetCommitted,
    Rewind,
    RewindCause,
)
from monitor.tracking.offsets.jumps import Readers

MOST: Final = 1_000
"""How many are kept of a group."""

KEPT_MS: Final = 7 * 86_400_000
"""How much older than the newest one they may be (offsets.retention.minutes is seven days by default)."""


class Deletions:
    """The deleted offsets of a group while a piece of its log is folded in."""

    __slots__ = ("_known",)

    def __init__(self, known: Iterable[DeletedOffset]) -> None:
        self._known = {(each.topic, each.partition): each for each in known}

    def __bool__(self) -> bool:
        """Whether there are any."""
        return bool(self._known)

    def add(self, known: CommittedOffset, topic_key: int | None) -> None:
        """A partition whose offset is deleted now; the oldest ones give way."""
        place = known.topic, known.partition
        newest_ms = max([known.committed_ms, *[each.committed_ms for each in self._known.values()]])
        kept = {
            at: each for at, each in self._known.items() if newest_ms - each.committed_ms <= KEPT_MS and at != place
        }
        kept[place] = DeletedOffset(*place, known.offset, known.committed_ms, topic_key)
        self._known = dict(list(kept.items())[-MOST:])

    def take(self, event: OffsetCommitted | CommitRun | CommitUnread) -> DeletedOffset | None:
        """The deleted offset of a partition that is committed now, and no longer; None: there is none (rule 2)."""
        deleted = self._known.pop((event.topic, event.partition), None)
        if deleted is None or isinstance(event, CommitUnread):
            return None
        is_recreated = None not in (deleted.topic_key, event.topic_key) and deleted.topic_key != event.topic_key
        return None if is_recreated else deleted

    def freeze(self) -> tuple[DeletedOffset, ...]:
        """All of them, the newest deletion last."""
        return tuple(self._known.values())


def with_rewind(
    after: CommittedOffset, deleted: DeletedOffset, event: OffsetCommitted | CommitRun, readers: Readers | None
) -> CommittedOffset:
    """The partition after its first commit since its offset was deleted, which goes back behind that (rule 3)."""
    first = event.first if isinstance(event, CommitRun) else CommitPoint(event.committed_ms, event.offset)
    cause = RewindCause.RESET if readers is not None and readers.are_none else RewindCause.DELETED
    fall = Rewind(first.committed_ms, deleted.offset, first.offset, cause=cause)
    return replace(after, rewinds=after.rewinds + 1, last_rewind=after.last_rewind or fall)
