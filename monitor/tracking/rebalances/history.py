"""The newest rebalances of a group: begun, ended, and kept in a bounded history."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from monitor.model import CONSEQUENTIAL_CAUSES, MOST, GroupState, Rebalance, RebalanceCause

MAX_REBALANCES: Final = 40
"""How many ended rebalances of a group are kept. That is enough to detect a storm of 20 in 10 minutes (storm_rebalances
in monitor.detection.thresholds.thresholds), also where every second one is the second half of a cooperative one.
Whether a storm continues takes twenty minutes of them, and its start even more: see MAX_EARLIER_ENDS. One takes about
120 bytes of stored state, so a group that rebalances without end has 5 kB for it, and 10,000 such groups 50 MB."""

MAX_EARLIER_ENDS: Final = 1_000
"""How many older rebalances keep their end time, in 9 bytes each. That remembers a storm that is only just one (20 in
10 minutes) for 8 hours, and one of a rebalance every 5 s for an hour and a half."""

QUIET_PERIOD_MS: Final = 3_600_000
"""What came before an hour without a rebalance is of the past: nothing is kept of it beyond the history, so the groups
that rebalance once a day cost nothing more."""


def ordered_causes(causes: Iterable[RebalanceCause]) -> tuple[RebalanceCause, ...]:
    """Each cause once, in the order of RebalanceCause; UNKNOWN if there is none.

    >>> ordered_causes([RebalanceCause.LEAVE, RebalanceCause.JOIN, RebalanceCause.LEAVE])
    (<RebalanceCause.JOIN: 'join'>, <RebalanceCause.LEAVE: 'leave'>)
    """
    found = set(causes)
    return tuple(cause for cause in RebalanceCause if cause in found) or (RebalanceCause.UNKNOWN,)


def stopped_members(rebalance: Rebalance) -> bool:
    """Whether any member had to stop for it: no one notices a static member that takes its place again (KIP-345)."""
    return rebalance.causes != (RebalanceCause.STATIC_RESTART,)


def replace_rebalance(state: GroupState, index: int, rebalance: Rebalance) -> GroupState:
    """The state with another rebalance at this place of its history; the totals stay."""
    return replace(state, history=(*state.history[:index], rebalance, *state.history[index + 1 :]))


def begin_rebalance(state: GroupState, rebalance: Rebalance) -> GroupState:
    """The state with this rebalance under way; one that has not ended yet continues, with more causes."""
    before = state.under_way
    if before is None:
        return replace(state, under_way=rebalance)
    return replace(
        state,
        under_way=Rebalance(
            generation=rebalance.generation,
            started_ms=before.started_ms,
            causes=ordered_causes((*before.causes, *rebalance.causes)),
            joined=before.joined + rebalance.joined,
            left=before.left + rebalance.left,
            moved=before.moved,
            held=before.held,
            is_first=before.is_first,
            paused_partitions=before.paused_partitions,
            pause_ms=before.pause_ms,
            burst_records=before.burst_records,
        ),
    )


def end_rebalance(state: GroupState, at_ms: int) -> GroupState:
    """The state without a rebalance under way: the one that was is in the history, ended at ``at_ms``."""
    if state.under_way is None:
        return state
    return record_rebalance(replace(state, under_way=None), replace(state.under_way, ended_ms=at_ms, held=()))


def record_rebalance(state: GroupState, rebalance: Rebalance) -> GroupState:
    """The state with an ended rebalance at the end of its history, and in its totals."""
    lasted_ms = 0 if rebalance.ended_ms is None else max(0, rebalance.ended_ms - rebalance.started_ms)
    history = (*state.history, rebalance)
    return replace(
        state,
        history=history[-MAX_REBALANCES:],
        earlier_ms=_earlier_ends(state.earlier_ms, history),
        moved_partitions=state.moved_partitions + rebalance.moved,
        avoidable_moves=state.avoidable_moves + rebalance.avoidable,
        rebalance_ms=min(MOST, state.rebalance_ms + lasted_ms),
    )


def _earlier_ends(known: tuple[int, ...], history: tuple[Rebalance, ...]) -> tuple[int, ...]:
    """When the rebalances ended that the history has no room for, those that count; none from before a long calm."""
    dropped, kept = history[:-MAX_REBALANCES], history[-MAX_REBALANCES:]
    counted = [each.ended_ms for each in dropped if not CONSEQUENTIAL_CAUSES.issuperset(each.causes)]
    ends = (*known, *[end for end in counted if end is not None])
    if not ends or (kept[0].ended_ms or 0) - ends[-1] > QUIET_PERIOD_MS:
        return ()
    return ends[-MAX_EARLIER_ENDS:]
