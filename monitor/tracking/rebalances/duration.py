"""How long rebalances of classic groups took: the log has when one ended, a collector from when to when it saw it.

The log has the broker's clock and an observation the collector's, and no data shows how far they are apart. But a
rebalance that is seen to end must have an end in the log. For example, its end in the log is at 100 s. It was last
seen at 104 s, and not any more at 105 s. Then the collector's clock is 4 to 5 s ahead. If two ends are near
each other, either may be that of the observation; both are possible until another observation fits only one of them.
But where clocks that agree fit, they are taken to agree. So for every offset that all observations allow, each
rebalance that lies within an observation began between two bounds. The result is the span from the least to the
greatest of them.

An observation has no result before the group's log has been read up to all ends that can belong to it. If several can,
those of the minute after it have to be read too. It never has one if the log does not reach back that far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from monitor.model import MOST, GroupState, Rebalance, RebalanceObservation, RebalanceSampled, Value
from monitor.tracking.rebalances.history import replace_rebalance, stopped_members

MAX_CLOCK_OFFSET_MS: Final = 30_000
"""How far apart the clocks of a broker and a collector may be. If they differ by more, the result is wrong."""

SYNCED_CLOCKS_MS: Final = 1_000
"""Two machines whose clocks are kept by a time service differ by less. Without this limit, either of two rebalances
within half a minute could belong to an observation, and little would be known of both."""

STALE_ANSWER_MS: Final = 500
"""How long brokers may still report a rebalance after the generation was stored: until the followers have it."""

SAME_OFFSET_MS: Final = 3_600_000
"""Observations so near to each other allow the same offset, but for the drift of the clocks."""

FOLLOW_UP_MS: Final = 60_000
"""For so long the observations that follow one are awaited, if several ends can belong to it. Of rebalances that follow
each other, the last ones may show which end the first one had."""

MS_PER_DRIFT_MS: Final = 2_000
"""In so many ms two clocks drift apart by 1 ms: NTP corrects a clock by 500 ppm at most."""

MAX_OBSERVATIONS: Final = 64
"""How many observations of a group are kept, in some 40 bytes each: those of 90 s, for which they may be awaited, of a
group that is seen to start a rebalance every one or two seconds."""

MAX_UNCERTAINTY_MS: Final = 60_000
"""A start that is known less exactly than this counts as unknown."""


class _Span(Value, order=True):
    """From the least to the greatest that a number can be."""

    least: int
    most: int


class _Beginning(Value):
    """When a rebalance began at the earliest (None: not known) and at the latest, by the broker's clock."""

    earliest_ms: int | None
    latest_ms: int


def add_observation(state: GroupState, event: RebalanceSampled) -> GroupState:
    """The state with the observation that this event completes: its rebalance is over."""
    seen_ms = event.since_ms if event.seen_ms is None else event.seen_ms
    observation = RebalanceObservation(
        since_ms=event.since_ms,
        seen_ms=seen_ms,
        over_ms=event.sampled_ms,
        interval_ms=event.interval_ms,
        gap_ms=event.gap_ms,
        took_ms=event.took_ms,
        broker=event.broker,
    )
    is_known = any(replace(each, is_recorded=False) == observation for each in state.observations)
    if is_known or not event.since_ms <= seen_ms <= event.sampled_ms:
        return state  # it was written twice, or the clock was set back meanwhile
    kept = [
        each
        for each in state.observations
        if not each.is_recorded or observation.over_ms - each.over_ms <= SAME_OFFSET_MS
    ]
    return replace(state, observations=(*kept, observation)[-MAX_OBSERVATIONS:])


def apply_durations(state: GroupState, read_until_ms: int) -> GroupState:
    """The state in which rebalances began when the observations say, as far as that is certain.

    Args:
        state: a classic group.
        read_until_ms: the group's log has been read until here, by the broker's clock.
    """
    for observation in state.observations:
        if not observation.is_recorded and _latest_end_ms(observation) + MAX_CLOCK_OFFSET_MS < read_until_ms:
            offsets = _possible_offsets(observation, state, until_ms=_latest_end_ms(observation))
            if len(offsets) > 1:
                if _latest_end_ms(observation) + FOLLOW_UP_MS + MAX_CLOCK_OFFSET_MS >= read_until_ms:
                    continue
                offsets = _possible_offsets(observation, state, until_ms=_latest_end_ms(observation) + FOLLOW_UP_MS)
                offsets = list(_intersect_spans(offsets, [_Span(-SYNCED_CLOCKS_MS, SYNCED_CLOCKS_MS)])) or offsets
            state = _apply_observation(state, observation, offsets)
    return state


def _apply_observation(state: GroupState, observation: RebalanceObservation, offsets: list[_Span]) -> GroupState:
    for place, rebalance in enumerate(state.history):
        if rebalance.uncertainty_ms is None and stopped_members(rebalance):
            beginning = _beginning(observation, offsets, state.history, place)
            if beginning is not None:
                state = _with_beginning(state, place, beginning)
    kept = state.observations if offsets else [each for each in state.observations if not each.is_recorded]
    after = (replace(each, is_recorded=True) if each == observation else each for each in kept)
    return replace(state, observations=tuple(after))


def _latest_end_ms(observation: RebalanceObservation) -> int:
    """When it was over for certain, by the collector's clock."""
    return observation.over_ms + observation.took_ms


def _has_all_ends(history: tuple[Rebalance, ...], observation: RebalanceObservation) -> bool:
    """Whether no end that the observation can mean is older than what is remembered."""
    if not history:
        return False
    first = history[0]
    return first.generation <= 1 or (
        first.ended_ms is not None and first.ended_ms <= observation.seen_ms - MAX_CLOCK_OFFSET_MS
    )


def _possible_offsets(observation: RebalanceObservation, state: GroupState, until_ms: int) -> list[_Span]:
    """By how much the collector's clock may have been ahead, so that each observation has an end; empty if none fits.

    This uses the remembered observations of the hour before, and those that were over before ``until_ms`` (by the
    collector's clock).
    """
    if not _has_all_ends(state.history, observation):
        return []
    ends = [each.ended_ms for each in state.history if each.ended_ms is not None]
    possible = [_Span(-MAX_CLOCK_OFFSET_MS, MAX_CLOCK_OFFSET_MS)]
    for each in state.observations:
        if (
            each.broker != observation.broker
            or not observation.over_ms - SAME_OFFSET_MS <= _latest_end_ms(each) <= until_ms
        ):
            continue
        if _has_all_ends(state.history, each):
            drift_ms = abs(each.over_ms - observation.over_ms) // MS_PER_DRIFT_MS
            least_ms, most_ms = each.seen_ms - STALE_ANSWER_MS - drift_ms, _latest_end_ms(each) + drift_ms
            fitting = _merge_spans(_Span(least_ms - ended_ms, most_ms - ended_ms) for ended_ms in ends)
            possible = list(_intersect_spans(possible, fitting))
    return possible


def _merge_spans(spans: Iterable[_Span]) -> Iterator[_Span]:
    """The same numbers in spans that do not meet, the least first."""
    current: _Span | None = None
    for span in sorted(spans):
        if current is not None and span.least <= current.most:
            current = _Span(current.least, max(current.most, span.most))
            continue
        if current is not None:
            yield current
        current = span
    if current is not None:
        yield current


def _intersect_spans(some: Iterable[_Span], others: Iterable[_Span]) -> Iterator[_Span]:
    """The numbers that are in both."""
    others = list(others)
    for one in some:
        for other in others:
            least, most = max(one.least, other.least), min(one.most, other.most)
            if least <= most:
                yield _Span(least, most)


def _beginning(
    observation: RebalanceObservation, offsets: Iterable[_Span], history: tuple[Rebalance, ...], place: int
) -> _Beginning | None:
    """When this rebalance began, whichever offset is the true one; None if the observation has no data on it."""
    within = [_beginning_by_observation(observation, offset, history, place) for offset in offsets]
    if not any(within):
        return None
    bounds = [each or _beginning_by_log(history, place) for each in within]
    earliest = [each.earliest_ms for each in bounds if each.earliest_ms is not None]
    return _Beginning(
        earliest_ms=min(earliest) if len(earliest) == len(bounds) else None,
        latest_ms=max(each.latest_ms for each in bounds),
    )


def _beginning_by_log(history: tuple[Rebalance, ...], place: int) -> _Beginning:
    """After the rebalance before it ended, and before all had joined."""
    return _Beginning(_previous_end_ms(history, place), history[place].started_ms)


def _previous_end_ms(history: tuple[Rebalance, ...], place: int) -> int | None:
    return history[place - 1].ended_ms if place else None


def _beginning_by_observation(
    observation: RebalanceObservation, offset: _Span, history: tuple[Rebalance, ...], place: int
) -> _Beginning | None:
    """When the rebalance began if the offset is one of these; None if the log alone shows as much."""
    rebalance, logged = history[place], _beginning_by_log(history, place)
    if rebalance.ended_ms is None:
        return None
    latest_ms = min(logged.latest_ms, _latest_beginning_ms(observation, offset, logged) or logged.latest_ms)
    earliest_ms = logged.earliest_ms
    if observation.interval_ms is not None:
        unseen_ms = (
            observation.since_ms - observation.interval_ms
        )  # it did not rebalance then, or at most as much later as it took
        if rebalance.ended_ms > unseen_ms + observation.took_ms - offset.least:
            earliest_ms = max(logged.earliest_ms or 0, unseen_ms - offset.most)
    found = _Beginning(earliest_ms, latest_ms)
    return None if found == logged else found


def _latest_beginning_ms(observation: RebalanceObservation, offset: _Span, logged: _Beginning) -> int | None:
    """When the collector first saw a rebalance that was not the one before it any more; None if it may never have."""
    first_ms = observation.since_ms + observation.took_ms - offset.least
    if logged.earliest_ms is None:
        return first_ms
    gone_ms = logged.earliest_ms + STALE_ANSWER_MS
    if gone_ms <= observation.since_ms - offset.most:
        return first_ms
    if observation.gap_ms is None or observation.seen_ms - offset.most < gone_ms:
        return None
    return max(first_ms, gone_ms + observation.gap_ms + observation.took_ms)


def _with_beginning(state: GroupState, place: int, beginning: _Beginning) -> GroupState:
    """A beginning only ever moves to an earlier time, so that what all have taken together only ever grows."""
    known = state.history[place]
    started_ms = min(known.started_ms, beginning.latest_ms)
    uncertainty_ms = None if beginning.earliest_ms is None else started_ms - beginning.earliest_ms
    if uncertainty_ms is not None and not 0 <= uncertainty_ms <= MAX_UNCERTAINTY_MS:
        uncertainty_ms = None
    changed = replace(known, started_ms=started_ms, uncertainty_ms=uncertainty_ms)
    earlier_ms = known.started_ms - started_ms
    return replace(replace_rebalance(state, place, changed), rebalance_ms=min(MOST, state.rebalance_ms + earlier_ms))
