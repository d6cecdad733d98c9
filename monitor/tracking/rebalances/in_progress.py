"""Whether a classic group rebalances now, as a collector sees it: the log shows a rebalance only once it is complete.

The two logs have no common order, and the collector's clock is not the broker's. So a sample that is hardly younger
than the newest generation belongs to a rebalance that is over, and shows nothing about now. How long rebalances took is
computed in :mod:`monitor.tracking.rebalances.duration`.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model import (
    KINDS,
    SAMPLE_LIFETIME_MS,
    GroupState,
    Phase,
    RebalanceInProgress,
    RebalanceSampled,
)
from monitor.tracking.rebalances.duration import add_observation

CLOCK_MARGIN_MS: Final = 1_000
"""How much younger than a generation a sample must be to tell of the next rebalance: two clocks differ."""


def with_sample(state: GroupState, event: RebalanceSampled) -> GroupState:
    """The group after an answer of its broker.

    Nothing changes for a group that the log does not know (it would never be forgotten), or that it calls another kind.
    """
    if not KINDS[state.kind].has_generations or state.phase in {Phase.UNSEEN, Phase.GONE}:
        return state
    if event.state is None:
        ended = state if state.sampled is None else replace(state, sampled=replace(state.sampled, over=True))
        return add_observation(ended, event)
    if event.sampled_ms <= state.generation_ms + CLOCK_MARGIN_MS:
        return state
    return replace(state, sampled=_extended_sample(state, event))


def sample_after_generation(sampled: RebalanceInProgress | None, stored_ms: int) -> RebalanceInProgress | None:
    """What a sample still shows once a generation was stored: that the next rebalance had begun, if it is younger."""
    if sampled is None or sampled.over or sampled.last_ms <= stored_ms + CLOCK_MARGIN_MS:
        return None
    return replace(sampled, first_ms=max(sampled.first_ms, stored_ms))


def _extended_sample(state: GroupState, event: RebalanceSampled) -> RebalanceInProgress:
    """The rebalance continues, or begins after the newest generation, which the collector may have missed meanwhile."""
    before = state.sampled
    if before is not None and not before.over and event.since_ms - before.last_ms <= SAMPLE_LIFETIME_MS:
        return replace(before, last_ms=event.sampled_ms)
    first_ms = max(min(event.since_ms, event.sampled_ms), state.generation_ms)
    return RebalanceInProgress(first_ms=first_ms, last_ms=event.sampled_ms, interval_ms=event.interval_ms)
