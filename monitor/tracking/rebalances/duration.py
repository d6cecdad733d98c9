"""How long rebalances of classic groups took: the log tells when one ended, a collector from when to when it saw it.

The log has the broker's clock and a sight the collector's, and nothing says how far they are apart. But what is seen to
end must have an end in the log: with an end at 100 s, a group that was last seen to rebalance at 104 s and not any more
at 105 s says that the collector's clock is 4 to 5 s ahead. Of two ends near each other either may be meant; then both
are possible, until another sight fits one of them only; but where clocks that agree fit, they are taken to agree. So
for every offset that all sights allow, each rebalance that lies within a sight began between two bounds, and what is
told is the span from the least to the greatest of them.

Nothing is told of a sight before the group's log has been read until all ends that can be meant by it, or, if several
can, by those of the minute after it too; and nothing at all if the log does not reach back that far.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from msgspec.structs import replace

from monitor.model import MOST, GroupState, Rebalance, RebalanceSampled, Sight, Value
from monitor.tracking.rebalances.history import was_noticed, with_changed

FARTHEST_MS: Final = 30_000
"""How far apart the clocks of a broker and a collector may be. Of clocks that differ by more, what is told is wrong."""

AGREED_MS: Final = 1_000
"""Two machines whose clocks are kept by a time service differ by less. Without this, of two rebalances within half a
minute either end may be meant, and of neither much would be known."""

VISIBLE_MS: Final = 500
"""How long a group may still be said to rebalance after its generation was stored: until the followers have it."""

TOGETHER_MS: Final = 3_600_000
"""Sights so near to each other allow the same offset, but for the drift of the clocks."""

AFTERWARDS_MS: Final = 60_000
"""For so long the sights that follow one are awaited, if it can mean several ends: of rebalances that follow each
other, the last ones may tell which end the first one had."""

DRIFT: Final = 2_000
"""In so many ms two clocks drift apart by 1 ms: NTP corrects a clock by 500 ppm at most."""

MAX_SIGHTS: Final = 64
"""How many sights of a group are kept, in some 40 bytes each: those of 90 s, for which they may be awaited, of a group
that is seen to begin anew every one or two seconds."""

MOST_UNSURE_MS: Final = 60_000
"""A beginning that is known less exactly than this is said not to be known."""


class _Span(Value, order=True):
    """From the least to the greatest that a number can be."""

    least: int
    most: int


class _Beginning(Value):
    """When a rebalance began at the earliest (None: not known) and at the latest, by the broker's clock."""

    earliest_ms: int | None
    latest_ms: int


def with_sight(state: GroupState, event: RebalanceSampled) -> GroupState:
    """The state with what the event, which tells that a rebalance is over, says of all of it."""
    seen_ms = event.since_ms if event.seen_ms is None else event.seen_ms
    sight = Sight(
        since_ms=event.since_ms,
        seen_ms=seen_ms,
        over_ms=event.sampled_ms,
        interval_ms=event.interval_ms,
        gap_ms=event.gap_ms,
        took_ms=event.took_ms,
        broker=event.broker,
    )
    is_known = any(replace(each, told=False) == sight for each in state.sights)
    if is_known or not event.since_ms <= seen_ms <= event.sampled_ms:
        return state  # it was written twice, or the clock was set back meanwhile
    kept = [each for each in state.sights if not each.told or sight.over_ms - each.over_ms <= TOGETHER_MS]
    return replace(state, sights=(*kept, sight)[-MAX_SIGHTS:])


def with_durations(state: GroupState, read_until_ms: int) -> GroupState:
    """The state in which rebalances began when the sights say, as far as that is certain.

    Args:
        state: a classic group.
        read_until_ms: the group's log has been read until here, by the broker's clock.
    """
    for sight in state.sights:
        if not sight.told and _latest_ms(sight) + FARTHEST_MS < read_until_ms:
            offsets = _possible_offsets(sight, state, until_ms=_latest_ms(sight))
            if len(offsets) > 1:
                if _latest_ms(sight) + AFTERWARDS_MS + FARTHEST_MS >= read_until_ms:
                    continue
                offsets = _possible_offsets(sight, state, until_ms=_latest_ms(sight) + AFTERWARDS_MS)
                offsets = list(_common(offsets, [_Span(-AGREED_MS, AGREED_MS)])) or offsets
            state = _with_told(state, sight, offsets)
    return state


def _with_told(state: GroupState, sight: Sight, offsets: list[_Span]) -> GroupState:
    for place, rebalance in enumerate(state.history):
        if rebalance.uncertainty_ms is None and was_noticed(rebalance):
            beginning = _beginning(sight, offsets, state.history, place)
            if beginning is not None:
                state = _with_beginning(state, place, beginning)
    kept = state.sights if offsets else [each for each in state.sights if not each.told]  # a clock was set, so forget
    return replace(state, sights=tuple(replace(each, told=True) if each == sight else each for each in kept))


def _latest_ms(sight: Sight) -> int:
    """When it was over for certain, by the collector's clock."""
    return sight.over_ms + sight.took_ms


def _has_all_ends(history: tuple[Rebalance, ...], sight: Sight) -> bool:
    """Whether no end that the sight can mean is older than what is remembered."""
    if not history:
        return False
    first = history[0]
    return first.generation <= 1 or (first.ended_ms is not None and first.ended_ms <= sight.seen_ms - FARTHEST_MS)


def _possible_offsets(sight: Sight, state: GroupState, until_ms: int) -> list[_Span]:
    """By how much the collector's clock may have been ahead, so that each sight has an end; none if none fits all.

    Asked are the sights of the hour before that are remembered, and those that were over before ``until_ms`` (by the
    collector's clock).
    """
    if not _has_all_ends(state.history, sight):
        return []
    ends = [each.ended_ms for each in state.history if each.ended_ms is not None]
    possible = [_Span(-FARTHEST_MS, FARTHEST_MS)]
    for each in state.sights:
        if each.broker != sight.broker or not sight.over_ms - TOGETHER_MS <= _latest_ms(each) <= until_ms:
            continue
        if _has_all_ends(state.history, each):
            drift_ms = abs(each.over_ms - sight.over_ms) // DRIFT
            least_ms, most_ms = each.seen_ms - VISIBLE_MS - drift_ms, _latest_ms(each) + drift_ms
            fitting = _merged(_Span(least_ms - ended_ms, most_ms - ended_ms) for ended_ms in ends)
            possible = list(_common(possible, fitting))
    return possible


def _merged(spans: Iterable[_Span]) -> Iterator[_Span]:
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


def _common(some: Iterable[_Span], others: Iterable[_Span]) -> Iterator[_Span]:
    """The numbers that are in both."""
    others = list(others)
    for one in some:
        for other in others:
            least, most = max(one.least, other.least), min(one.most, other.most)
            if least <= most:
                yield _Span(least, most)


def _beginning(sight: Sight, offsets: Iterable[_Span], history: tuple[Rebalance, ...], place: int) -> _Beginning | None:
    """When this rebalance began, whichever offset is the true one; None if the sight tells nothing of it."""
    within = [_as_seen(sight, offset, history, place) for offset in offsets]
    if not any(within):
        return None
    bounds = [each or _as_logged(history, place) for each in within]
    earliest = [each.earliest_ms for each in bounds if each.earliest_ms is not None]
    return _Beginning(
        earliest_ms=min(earliest) if len(earliest) == len(bounds) else None,
        latest_ms=max(each.latest_ms for each in bounds),
    )


def _as_logged(history: tuple[Rebalance, ...], place: int) -> _Beginning:
    """After the rebalance before it ended, and before all had joined."""
    return _Beginning(_ended_before_ms(history, place), history[place].started_ms)


def _ended_before_ms(history: tuple[Rebalance, ...], place: int) -> int | None:
    return history[place - 1].ended_ms if place else None


def _as_seen(sight: Sight, offset: _Span, history: tuple[Rebalance, ...], place: int) -> _Beginning | None:
    """When the rebalance began if the offset is one of these; None if the sight tells no more than the log then."""
    rebalance, logged = history[place], _as_logged(history, place)
    if rebalance.ended_ms is None:
        return None
    latest_ms = min(logged.latest_ms, _latest_beginning_ms(sight, offset, logged) or logged.latest_ms)
    earliest_ms = logged.earliest_ms
    if sight.interval_ms is not None:
        unseen_ms = sight.since_ms - sight.interval_ms  # it did not rebalance then, or at most as much later as it took
        if rebalance.ended_ms > unseen_ms + sight.took_ms - offset.least:
            earliest_ms = max(logged.earliest_ms or 0, unseen_ms - offset.most)
    found = _Beginning(earliest_ms, latest_ms)
    return None if found == logged else found


def _latest_beginning_ms(sight: Sight, offset: _Span, logged: _Beginning) -> int | None:
    """When the collector first saw a rebalance that was not the one before it any more; None if it may never have."""
    first_ms = sight.since_ms + sight.took_ms - offset.least
    if logged.earliest_ms is None:
        return first_ms
    gone_ms = logged.earliest_ms + VISIBLE_MS
    if gone_ms <= sight.since_ms - offset.most:
        return first_ms
    if sight.gap_ms is None or sight.seen_ms - offset.most < gone_ms:
        return None
    return max(first_ms, gone_ms + sight.gap_ms + sight.took_ms)


def _with_beginning(state: GroupState, place: int, beginning: _Beginning) -> GroupState:
    """A beginning only ever moves to an earlier time, so that what all have taken together only ever grows."""
    known = state.history[place]
    started_ms = min(known.started_ms, beginning.latest_ms)
    uncertainty_ms = None if beginning.earliest_ms is None else started_ms - beginning.earliest_ms
    if uncertainty_ms is not None and not 0 <= uncertainty_ms <= MOST_UNSURE_MS:
        uncertainty_ms = None
    changed = replace(known, started_ms=started_ms, uncertainty_ms=uncertainty_ms)
    earlier_ms = known.started_ms - started_ms
    return replace(with_changed(state, place, changed), rebalance_ms=min(MOST, state.rebalance_ms + earlier_ms))
