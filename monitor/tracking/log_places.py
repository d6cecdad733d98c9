"""What is left of groups whose place in the offsets topic has moved."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.model import GroupState, GrownLog, Phase, Source
from monitor.protocol.kafka.group_metadata import group_partition


def is_left_behind(state: GroupState, before: int, partitions: int) -> bool:
    """Whether what is known of a group is from where it was by ``before`` partitions, and it is elsewhere by now."""
    if state.source is not Source.LOG or state.log_partitions >= partitions:
        return False
    return group_partition(state.group, before) != group_partition(state.group, partitions)


def without_log(state: GroupState) -> GroupState | None:
    """What is left of a group without what the offsets topic told: its share state, which has a log of its own."""
    return None if state.share is None else GroupState(cluster=state.cluster, group=state.group, share=state.share)


def note_growth(known: GrownLog, partitions: int, now_ms: int, groups: Iterable[GroupState]) -> GrownLog:
    """What became of the groups as the brokers place them by more partitions than before.

    Args:
        known: what was known until now.
        partitions: by how many partitions groups are placed now.
        now_ms: when that was seen.
        groups: all groups, as they were before any was dropped.
    """
    of_log = [state for state in groups if state.source is Source.LOG and state.phase is not Phase.UNSEEN]
    lost = [state.group for state in of_log if _has_lost(state, known.partitions, partitions)]
    return GrownLog(
        partitions=partitions,
        before=known.partitions,
        grown_ms=now_ms,
        groups=len(of_log),
        lost=tuple(sorted(lost)),
    )


def grown_together(parts: Iterable[GrownLog]) -> GrownLog | None:
    """The newest growth, as it is known of several parts of the groups; None: there was none."""
    grown = [part for part in parts if part.before]
    newest = max((part.partitions for part in grown), default=0)
    own = [part for part in grown if part.partitions == newest]
    if not own:
        return None
    return GrownLog(
        partitions=newest,
        before=own[0].before,
        grown_ms=min(part.grown_ms for part in own),
        groups=sum(part.groups for part in own),
        lost=tuple(sorted(name for part in own for name in part.lost)),
    )


def _has_lost(state: GroupState, before: int, partitions: int) -> bool:
    if state.log_partitions == partitions:
        return state.has_lost_offsets
    return bool(state.offsets) and is_left_behind(state, before, partitions)
