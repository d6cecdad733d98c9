"""How long a rebalance kept a group from its records, and what burst followed, as its commits tell.

The log has no record of when a consumer stopped and when it went on. But of each partition it has the last commit
before the rebalance ended and the first one after it. What lies between them beyond the usual time between two commits
is the pause, so it is as exact as the rhythm of the commits; what the first commit covers has gathered meanwhile.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from monitor.model import MOST, CommitPoint, CommittedOffset, GroupState, Phase, Rebalance, Value
from monitor.model.commit_history import RECENT, SLOT_MS, points_of
from monitor.tracking.rebalances.history import replace_rebalance, stopped_members
from monitor.tracking.rebalances.subscription_changes import with_others_pause


class RebalanceCost(Value):
    """What partitions lost that were committed again after a rebalance: their number, partition-ms, and records."""

    partitions: int = 0
    pause_ms: int = 0
    burst: int = 0

    def and_after(self, pause_ms: int, burst: int) -> RebalanceCost:
        """The cost with one partition more."""
        return RebalanceCost(self.partitions + 1, self.pause_ms + pause_ms, self.burst + burst)


class Handover(Value):
    """A partition's change of owner, and until when its old owner may have read it (None: not known)."""

    gained_ms: int
    stopped_ms: int | None


NO_COST: Final = RebalanceCost()

EMPTY: Final[Mapping[str, int]] = MappingProxyType({})


MAX_COMMIT_DISTANCE_MS: Final = 300_000
"""How far the commits may be from the end of a rebalance to tell of it: as long as members wait for one another by
default (``max.poll.interval.ms``, 5 min). What is further away was idle, or switched off."""

MIN_GAPS: Final = 3
"""So many gaps between commits show what is usual."""


def newest_end_ms(history: tuple[Rebalance, ...], phase: Phase) -> int | None:
    """When the newest rebalance ended that may have kept members from their partitions; None if none did.

    A group that had no members before it did not read before either, and one that has none now is not about to.
    """
    if phase is Phase.EMPTY:
        return None
    for rebalance in reversed(history):
        if stopped_members(rebalance):
            return None if rebalance.is_first else rebalance.ended_ms
    return None


def pause_ms(before: CommittedOffset, first: CommitPoint, ended_ms: int) -> int:
    """How much longer than usual a partition was not committed before ``first``, the commit that follows ``before``.

    Longer than usual is longer than nine of ten of the gaps that are known: one of them may be another pause. The
    result is 0 if the usual gap is not known, and for commits that are too far from the rebalance's end.

    >>> from monitor.model.commit_history import extend
    >>> history = extend(b"", [CommitPoint(1_000 * n, n) for n in range(0, 50, 5)])
    >>> known = CommittedOffset(topic="t", partition=0, offset=45, committed_ms=45_000, history=history)
    >>> pause_ms(known, CommitPoint(62_000, 99), 50_000), pause_ms(known, CommitPoint(50_000, 50), 50_000)
    (12000, 0)
    """
    if max(ended_ms - before.committed_ms, first.committed_ms - ended_ms) > MAX_COMMIT_DISTANCE_MS:
        return 0
    times = [point.committed_ms for point in points_of(before.history)]
    recent = [later - earlier for earlier, later in pairwise(times[-RECENT:])]
    if len(recent) < MIN_GAPS:
        return 0
    gaps = sorted([*recent, *map(_least_gap_ms, times[:-RECENT])])
    usual = gaps[(len(gaps) - 1) * 9 // 10]
    return max(0, first.committed_ms - before.committed_ms - max(0, usual))


def _least_gap_ms(at_ms: int) -> int:
    """How long at least no commit followed an older one that is remembered: it was the last of its slot."""
    return SLOT_MS - at_ms % SLOT_MS


def handover_ms(handed: Handover, before: CommittedOffset, first: CommitPoint) -> int:
    """How long a partition of a KIP-848 group had no owner, when it went from one member to another.

    At least from when the old owner had to stop until the new one had it (KIP-848: it is assigned once it was revoked).
    A member that died had stopped before; then the commits show more, as in :func:`pause_ms`.

    >>> known = CommittedOffset(topic="t", partition=0, offset=45, committed_ms=45_000)
    >>> handover_ms(Handover(gained_ms=50_000, stopped_ms=47_000), known, CommitPoint(52_000, 50))
    3000
    """
    if max(handed.gained_ms - before.committed_ms, first.committed_ms - handed.gained_ms) > MAX_COMMIT_DISTANCE_MS:
        return 0
    unowned_ms = 0 if handed.stopped_ms is None else handed.gained_ms - handed.stopped_ms
    return max(0, unowned_ms, pause_ms(before, first, handed.gained_ms))


def add_cost(state: GroupState, resumed: RebalanceCost, pauses: Mapping[str, int] = EMPTY) -> GroupState:
    """The state with this added to the rebalance under way or its newest that members noticed, and to the totals.

    ``pauses`` are those of a classic group by topic, summed over its partitions (ms).
    """
    index = next((i for i in reversed(range(len(state.history))) if stopped_members(state.history[i])), None)
    if resumed == NO_COST or (index is None and state.under_way is None):
        return state
    if state.under_way is not None:
        state = replace(state, under_way=_add_to_rebalance(state.under_way, resumed))
    elif index is not None:
        known = _add_to_rebalance(state.history[index], resumed)
        if known.subscriptions is not None:
            known = replace(known, subscriptions=with_others_pause(known.subscriptions, state.members, pauses))
        state = replace_rebalance(state, index, known)
    return replace(
        state,
        pause_ms=min(MOST, state.pause_ms + resumed.pause_ms),
        burst_records=min(MOST, state.burst_records + resumed.burst),
    )


def _add_to_rebalance(known: Rebalance, resumed: RebalanceCost) -> Rebalance:
    return replace(
        known,
        paused_partitions=known.paused_partitions + resumed.partitions,
        pause_ms=min(MOST, known.pause_ms + resumed.pause_ms),
        burst_records=min(MOST, known.burst_records + resumed.burst),
    )
