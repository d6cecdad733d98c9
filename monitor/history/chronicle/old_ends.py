"""What is not known: lags, as no collector polled the ends of the topics, and all, as nothing was recorded."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.history.walk import GroupWalk
from monitor.model import Catalog, GroupVerdict

OLD_ENDS_MS: Final = 120_000
"""From this age on, the ends of topics say nothing about the lag: no collector polled them meanwhile."""

MISSED_PASSES: Final = 3
"""So many passes have to be missing, too, where a collector polls seldom."""


def old_after_ms(pass_apart_ms: int) -> int:
    """After how long without a poll the ends say nothing, where passes are so far apart."""
    return max(OLD_ENDS_MS, MISSED_PASSES * pass_apart_ms)


def has_old_ends(verdict: GroupVerdict, catalog: Catalog, pass_apart_ms: int) -> bool:
    """Whether the lag of a verdict is not known, as the ends were last polled long before it."""
    return bool(catalog.pass_ms) and verdict.evaluated_ms - catalog.pass_ms > old_after_ms(pass_apart_ms)


def unrecorded_parts(walk: GroupWalk, until_ms: int) -> list[range]:
    """The instants between records of a walk that are too far apart: of these, nothing is known.

    A record is a pass of a collector, or a part of the log that has events of the group.
    """
    if not walk.has_passes:
        return []
    spans, longest_ms = walk.recorded_spans, old_after_ms(walk.pass_apart_ms)
    found: list[range] = []
    known_ms = spans[0][1]
    for from_ms, to_ms in (*spans, (walk.until_ms, walk.until_ms)):
        if from_ms - known_ms > longest_ms:
            found.append(range(known_ms + 1, min(from_ms, until_ms)))
        known_ms = max(known_ms, to_ms)
    return found


def without_lag(verdict: GroupVerdict) -> GroupVerdict:
    """The verdict with no lag that is known."""
    rows = tuple(replace(row, end=None, lag=None, lag_ms=None) for row in verdict.partitions)
    return replace(verdict, partitions=rows, lag=None, lag_ms=None)
