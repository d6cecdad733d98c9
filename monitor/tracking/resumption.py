"""How long a rebalance kept a group from its records, and what burst followed, as its commits tell.

The log has no record of when a consumer stopped and when it went on. But of each partition it has the last commit
before the rebalance ended and the first one after it. What lies between them beyond the usual time between two commits
is the pause, so it is as exact as the rhythm of the commits; what the first commit covers has gathered meanwhile.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from msgspec.structs import replace

from monitor.commit_history import points_of
from monitor.model import CommitPoint, CommittedOffset, GroupState, Phase, Rebalance, Value
from monitor.tracking.rebalances import was_noticed, with_changed


class Resumed(Value):
    """What partitions lost that were committed again after a rebalance: their number, partition-ms, and records."""

    partitions: int = 0
    pause_ms: int = 0
    burst: int = 0

    def and_after(self, pause_ms: int, burst: int) -> Resumed:
        """With one partition more."""
        return Resumed(self.partitions + 1, self.pause_ms + pause_ms, self.burst + burst)


NOTHING: Final = Resumed()


PATIENCE_MS: Final = 300_000
"""How far the commits may be from the end of a rebalance to tell of it: as long as members wait for one another by
default (``max.poll.interval.ms``, 5 min). What is further away was idle, or switched off."""

FEWEST_GAPS: Final = 3
"""So many gaps between commits show what is usual."""


def newest_end_ms(history: tuple[Rebalance, ...], phase: Phase) -> int | None:
    """When the newest rebalance ended that may have kept members from their partitions; None if none did.

    A group that had no members before it did not read before either, and one that has none now is not about to.
    """
    if phase is Phase.EMPTY:
        return None
    for rebalance in reversed(history):
        if was_noticed(rebalance):
            return None if rebalance.is_first else rebalance.ended_ms
    return None


def pause_ms(before: CommittedOffset, first: CommitPoint, ended_ms: int) -> int:
    """How much longer than usual a partition was not committed before ``first``, the commit that follows ``before``.

    Longer than usual is longer than nine of ten of the gaps that are remembered: one of them may be another pause.
    Nothing is told where it is not known what is usual, nor of commits that are too far from the rebalance's end.

    >>> from monitor.commit_history import extend
    >>> history = extend(b"", [CommitPoint(1_000 * n, n) for n in range(0, 50, 5)])
    >>> known = CommittedOffset(topic="t", partition=0, offset=45, committed_ms=45_000, history=history)
    >>> pause_ms(known, CommitPoint(62_000, 99), 50_000), pause_ms(known, CommitPoint(50_000, 50), 50_000)
    (12000, 0)
    """
    if max(ended_ms - before.committed_ms, first.committed_ms - ended_ms) > PATIENCE_MS:
        return 0
    times = [point.committed_ms for point in points_of(before.history)]
    gaps = sorted(later - earlier for earlier, later in pairwise(times))
    if len(gaps) < FEWEST_GAPS:
        return 0
    usual = gaps[(len(gaps) - 1) * 9 // 10]
    return max(0, first.committed_ms - before.committed_ms - max(0, usual))


def with_cost(state: GroupState, resumed: Resumed) -> GroupState:
    """The state with this added to its newest rebalance that members noticed, and to the totals."""
    index = next((i for i in reversed(range(len(state.history))) if was_noticed(state.history[i])), None)
    if index is None or resumed == NOTHING:
        return state
    known = state.history[index]
    costed = replace(
        known,
        paused_partitions=known.paused_partitions + resumed.partitions,
        pause_ms=known.pause_ms + resumed.pause_ms,
        burst_records=known.burst_records + resumed.burst,
    )
    return replace(
        with_changed(state, index, costed),
        pause_ms=state.pause_ms + resumed.pause_ms,
        burst_records=state.burst_records + resumed.burst,
    )
