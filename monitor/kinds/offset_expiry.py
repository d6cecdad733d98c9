"""From when the retention of a committed offset counts, and which groups are shown that brokers have deleted."""

from __future__ import annotations

from msgspec.structs import replace

from monitor.model import KINDS, GroupKind, GroupState, PassCompleted, PassHistory, Phase
from monitor.model.expiry import (
    DELETED_KEPT_MS,
    MOST_FORMER,
    READ_MS,
    DeletedOffset,
    FormerRetention,
    OffsetsRetention,
    has_expired,
)


def retention_start_ms(group: GroupState, committed_ms: int) -> int:
    """From when the brokers' retention of an offset counts (``Group.offsetExpirationCondition`` of the coordinator).

    Of a classic group without members, that is when it became empty. Of all others, it is the commit: of those without
    a protocol, and of KIP-848 and streams groups with and without members.
    """
    is_empty = group.phase is Phase.EMPTY and KINDS[group.kind].has_generations
    return committed_ms if not is_empty or group.lacks_state_time else group.generation_ms


def with_retention(history: PassHistory, before: PassCompleted | None, now: PassCompleted) -> PassHistory:
    """The history with the retention of the pass before, if the brokers have another one now."""
    former, known = history.former_retentions, None if before is None else before.offsets_retention
    if before is not None and known is not None and now.offsets_retention is not None:
        kept_ms = known.retention_ms
        if kept_ms is not None and kept_ms != now.offsets_retention.retention_ms:
            others = [each for each in former if each.retention_ms != kept_ms]
            former = (*others, FormerRetention(kept_ms, before.pass_ms - READ_MS))[-MOST_FORMER:]
    if former and former[0].until_ms + DELETED_KEPT_MS < now.pass_ms:
        former = former[1:]
    return history if former is history.former_retentions else replace(history, former_retentions=former)


def retention_of(completed: PassCompleted, former: tuple[FormerRetention, ...]) -> OffsetsRetention | None:
    """For how long brokers keep offsets, with the retentions before; None: no collector reads it."""
    retention = completed.offsets_retention
    return retention if retention is None or not former else replace(retention, former=former)


def recent_deletions(group: GroupState, retention: OffsetsRetention | None, now_ms: int) -> tuple[DeletedOffset, ...]:
    """The deleted offsets that may have expired, and not too long ago; none where no collector reads it."""
    if not group.deleted_offsets or retention is None:
        return ()
    lately = (each for each in group.deleted_offsets if each.deleted_ms + DELETED_KEPT_MS > now_ms)
    return tuple([each for each in lately if has_expired(each, retention) is not False])


def is_shown(group: GroupState, retention: OffsetsRetention | None, now_ms: int) -> bool:
    """Whether there is such a group, or its offsets may have expired lately.

    A group whose offsets were deleted before they were due was deleted by an administrator.
    """
    return group.phase is not Phase.UNSEEN or bool(recent_deletions(group, retention, now_ms))


def known_kind(group: GroupState) -> GroupKind:
    """What the group is, or what it was before the brokers deleted it with its offsets."""
    is_gone = group.phase is Phase.UNSEEN and bool(group.deleted_offsets)
    return group.deleted_offsets[0].kind if is_gone else group.kind


def is_forgotten(group: GroupState, now_ms: int) -> bool:
    """Whether only deleted offsets remain of the group, all too old to be reported."""
    if group.phase is not Phase.UNSEEN or group.share is not None or not group.deleted_offsets:
        return False
    return all(each.deleted_ms + DELETED_KEPT_MS <= now_ms for each in group.deleted_offsets)
