"""The status of a partition by the rules of LinkedIn's Burrow: no threshold of lag, only how commits and lag moved.

The rules, their order and their edges are those of ``core/internal/evaluator/caching.go`` (2025-10), because people
compare the two and have alerts on them. Its edges are kept, odd ones included:

- A window with one commit has a length of 0: the group counts as stopped at once, and as stalled if it did not stop.
- A commit without a known lag is passed over: it neither ends a growth of the lag nor shows that the group caught up.
- Of several falls of the offset, only the first is looked at.
- The clock has whole seconds, the commits have milliseconds.

What Burrow decides by the rhythm of the commits alone, :mod:`monitor.detection.lag.lag` decides by time.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.model import LagStatus, Value

INTERVALS: Final = 10
"""How many commits a full window has, and how many observed ends are looked at (Burrow's ``intervals``)."""


class BurrowSettings(Value):
    """Burrow's own settings, with its defaults.

    ``allowed_lag``: a lag of so many records is none. ``minimum_complete``: how much of a window must be there for a
    status other than OK, from 0 to 1. ``intervals``: how many commits a full window has.
    """

    allowed_lag: int = 0
    minimum_complete: float = 0.0
    intervals: int = INTERVALS


class BurrowWindow(Value):
    """What is looked at. The commits stand in columns, oldest first; of each, the lag when it was made, if known.

    ``lag`` is the lag now, and ``ends`` are the newest observed ends of the log, in records.
    """

    offsets: tuple[int, ...]
    times_ms: tuple[int, ...]
    lags: tuple[int | None, ...]
    lag: int
    ends: tuple[int, ...]


def status_of(window: BurrowWindow, now_ms: int, settings: BurrowSettings) -> LagStatus:
    """The status alone: the rules from the worst down, none asked in vain."""
    if (
        not window.offsets
        or window.lag <= settings.allowed_lag
        or completeness(window, settings) < (settings.minimum_complete)
    ):
        return LagStatus.OK
    # First, whatever the lag was before: the window may be old. But not for a moment's lag of an idle topic.
    if has_stopped(window, now_ms) and not caught_up_lately(window):
        return LagStatus.STOP
    # Before a lag of 0 acquits: that is how a reset of a group that had read everything looks.
    rewound = first_fall(window)
    if rewound is not None and not has_recovered(window, rewound):
        return LagStatus.REWIND
    if not has_always_lagged(window, settings):
        return LagStatus.OK
    if has_stalled(window):
        return LagStatus.STALL
    return LagStatus.WARN if has_never_gained(window) else LagStatus.OK


def completeness(window: BurrowWindow, settings: BurrowSettings) -> float:
    """The commits in the window over those of a full one; at most 1."""
    return min(1.0, len(window.offsets) / settings.intervals)


def has_stopped(window: BurrowWindow, now_ms: int) -> bool:
    """Whether the newest commit is longer ago than the window is long. Now is a whole second, as in Burrow."""
    times_ms = window.times_ms
    return now_ms // 1000 * 1000 - times_ms[-1] > times_ms[-1] - times_ms[0]


def caught_up_lately(window: BurrowWindow) -> bool:
    """Whether any of the observed ends was not beyond the newest commit."""
    return bool(window.ends) and min(window.ends) <= window.offsets[-1]


def first_fall(window: BurrowWindow) -> int | None:
    """The index of the first commit of an offset lower than the one before it."""
    offsets = window.offsets
    if sorted(offsets) == list(offsets):
        return None
    return next(index for index in range(1, len(offsets)) if offsets[index] < offsets[index - 1])


def has_recovered(window: BurrowWindow, fall: int) -> bool:
    """Whether a commit from the fall on reached the offset before it."""
    return max(window.offsets[fall:]) >= window.offsets[fall - 1]


def has_always_lagged(window: BurrowWindow, settings: BurrowSettings) -> bool:
    """Whether no commit is known to have left no more than the allowed lag."""
    known = [lag for lag in window.lags if lag is not None]
    return not known or min(known) > settings.allowed_lag


def has_stalled(window: BurrowWindow) -> bool:
    """Whether all commits are of the same offset."""
    return window.offsets.count(window.offsets[0]) == len(window.offsets) if window.offsets else True


def has_never_gained(window: BurrowWindow) -> bool:
    """Whether the lag fell between no two commits; those without a known lag are passed over."""
    known = [lag for lag in window.lags if lag is not None]
    return sorted(known) == known


def worst_of(statuses: Iterable[LagStatus]) -> LagStatus | None:
    """The status of a group: OK, WARN or ERR, after its worst partition. None if none of them has a status."""
    seen = set(statuses)
    if not seen:
        return None
    if seen - {LagStatus.OK, LagStatus.WARN}:
        return LagStatus.ERR
    return LagStatus.WARN if LagStatus.WARN in seen else LagStatus.OK
