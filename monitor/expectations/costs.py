"""What a rollout cost: the rebalances since its start, and what they did."""

from __future__ import annotations

from monitor.messages.formatting import age, counted
from monitor.model import GroupState, GroupVerdict, Value
from monitor.tracking.rebalances.history import stopped_members


class RolloutCosts(Value):
    """The costs of the rebalances that ended since the start of a rollout.

    ``is_complete`` false: earlier rebalances of it are no longer known, so the counts are lower bounds.
    """

    rebalances: int
    """Number of rebalances. Restarts of static members do not count: they stop no member."""
    moved: int
    """Moves of partitions from one owner to another."""
    avoidable: int
    """Moves that a sticky assignor would have avoided."""
    pause_ms: int
    """For how long each partition stood still on average (ms)."""
    burst: int
    """Records that accumulated meanwhile."""
    redelivered: int
    """Records redelivered because committed offsets moved back, since the first look."""
    skipped_at_least: int
    """Records that the group has not read since, at least."""
    skipped_at_most: int
    """Records that the group has not read since, at most."""
    is_complete: bool = True

    def sentence(self) -> str:
        """All of it in a sentence.

        >>> RolloutCosts(3, 12, 4, 2_500, 80, 0, 0, 0).sentence()
        '3 rebalances; 12 partitions moved, 4 of them avoidable; each partition stood still for 2 s on average, in \
which 80 records accumulated; 0 records redelivered; no record skipped.'
        """
        least = "" if self.is_complete else "at least "
        skipped = f"{self.skipped_at_least:,} to {counted(self.skipped_at_most, 'record')} skipped"
        return (
            f"{least}{counted(self.rebalances, 'rebalance')}; {counted(self.moved, 'partition')} moved, "
            f"{self.avoidable:,} of them avoidable; each partition stood still for {age(self.pause_ms)} on average, in "
            f"which {counted(self.burst, 'record')} accumulated; {counted(self.redelivered, 'record')} redelivered; "
            f"{skipped if self.skipped_at_most else 'no record skipped'}."
        )


def costs_since(since_ms: int, group: GroupState, verdict: GroupVerdict, first: GroupVerdict) -> RolloutCosts:
    """The costs since an instant.

    Args:
        since_ms: the start of the rollout.
        group: the group now, with its newest rebalances.
        verdict: the verdict on it.
        first: the verdict of the first look: redelivered records are counted from there on.
    """
    ended = [each for each in group.history if each.ended_ms is not None and each.ended_ms >= since_ms]
    own = [each for each in ended if stopped_members(each)]
    skips = [each for each in verdict.skips if each.at_ms >= since_ms]
    paused_ms = sum(each.pause_ms for each in own)
    return RolloutCosts(
        rebalances=len(own),
        moved=sum(each.moved for each in own),
        avoidable=sum(each.avoidable for each in own),
        pause_ms=round(paused_ms / max(1, len(verdict.partitions))),
        burst=sum(each.burst_records for each in own),
        redelivered=verdict.redelivered_records - first.redelivered_records,
        skipped_at_least=sum(each.at_least for each in skips),
        skipped_at_most=sum(each.at_most for each in skips),
        is_complete=len(ended) < len(group.history) or group.rebalances <= len(group.history),
    )
