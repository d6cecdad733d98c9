"""What a collector saw of rebalances, beside the log, which shows one of a classic group only once it is complete.

The two logs have no common order, and the collector's clock is not the broker's. So a sample that is hardly younger
than the newest generation belongs to a rebalance that is over: it may tell when that one began, and nothing about now.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model import (
    SAMPLE_HOLDS_MS,
    GroupKind,
    GroupState,
    Phase,
    Rebalance,
    RebalanceSampled,
    Sampled,
)
from monitor.tracking.rebalances import was_noticed, with_changed

MARGIN_MS: Final = 1_000
"""How much younger than a generation a sample must be to tell of the next rebalance: two clocks differ."""


def with_sample(state: GroupState, event: RebalanceSampled) -> GroupState:
    """The group after an answer of its broker.

    Nothing changes for a group that the log does not know (it would never be forgotten), or that it calls another kind.
    """
    if state.kind is not GroupKind.CLASSIC or state.phase in {Phase.UNSEEN, Phase.GONE}:
        return state
    if event.state is None:
        return state if state.sampled is None else replace(state, sampled=replace(state.sampled, over=True))
    if event.sampled_ms <= state.generation_ms + MARGIN_MS:
        return _with_a_past_one(state, event)
    return replace(state, sampled=_seen(state, event))


def begun_as_sampled(rebalance: Rebalance, sampled: Sampled | None) -> Rebalance:
    """The ended rebalance of a classic group, begun when it was first seen, if that can have been this one."""
    ended_ms = rebalance.ended_ms
    if sampled is None or ended_ms is None or sampled.first_ms > ended_ms:
        return rebalance
    if ended_ms - sampled.last_ms > SAMPLE_HOLDS_MS:
        return rebalance  # an earlier one, which left no record: its coordinator died
    if rebalance.uncertainty_ms is not None and sampled.first_ms >= rebalance.started_ms:
        return rebalance
    started_ms = min(rebalance.started_ms, sampled.first_ms)
    return replace(rebalance, started_ms=started_ms, uncertainty_ms=sampled.interval_ms)


def left_of(sampled: Sampled | None, stored_ms: int) -> Sampled | None:
    """What a sample still tells once a generation was stored: that the next rebalance had begun, if it is younger."""
    if sampled is None or sampled.last_ms <= stored_ms + MARGIN_MS:
        return None
    return replace(sampled, first_ms=max(sampled.first_ms, stored_ms))


def _seen(state: GroupState, event: RebalanceSampled) -> Sampled:
    """It goes on, or has begun: not before the newest generation, which the collector may have missed in between."""
    before = state.sampled
    if before is not None and not before.over and event.since_ms - before.last_ms <= SAMPLE_HOLDS_MS:
        return replace(before, last_ms=event.sampled_ms)
    first_ms = max(min(event.since_ms, event.sampled_ms), state.generation_ms)
    return Sampled(first_ms=first_ms, last_ms=event.sampled_ms, interval_ms=event.interval_ms)


def _with_a_past_one(state: GroupState, event: RebalanceSampled) -> GroupState:
    """The group with the start of the rebalance that was seen then: its end was read before the sample was."""
    floor_ms = 0
    for place, rebalance in enumerate(state.history):
        if rebalance.ended_ms is None or not was_noticed(rebalance):
            continue
        if event.sampled_ms <= rebalance.ended_ms + MARGIN_MS:
            first_ms = max(min(event.since_ms, event.sampled_ms), floor_ms)
            sampled = Sampled(first_ms=first_ms, last_ms=event.sampled_ms, interval_ms=event.interval_ms)
            return _with_start(state, place, begun_as_sampled(rebalance, sampled))
        floor_ms = rebalance.ended_ms
    return state


def _with_start(state: GroupState, place: int, rebalance: Rebalance) -> GroupState:
    before = state.history[place]
    if rebalance == before:
        return state
    earlier_ms = before.started_ms - rebalance.started_ms
    return replace(with_changed(state, place, rebalance), rebalance_ms=state.rebalance_ms + earlier_ms)
