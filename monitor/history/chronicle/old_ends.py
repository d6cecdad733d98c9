"""Lags that are not known, as no collector polled the ends of the topics."""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model import Catalog, GroupVerdict

OLD_ENDS_MS: Final = 120_000
"""From this age on, the ends of topics say nothing about the lag: no collector polled them meanwhile."""

MISSED_PASSES: Final = 3
"""So many passes have to be missing, too, where a collector polls seldom."""


def has_old_ends(verdict: GroupVerdict, catalog: Catalog, pass_apart_ms: int) -> bool:
    """Whether the lag of a verdict is not known, as the ends were last polled long before it."""
    old_ms = max(OLD_ENDS_MS, MISSED_PASSES * pass_apart_ms)
    return bool(catalog.pass_ms) and verdict.evaluated_ms - catalog.pass_ms > old_ms


def without_lag(verdict: GroupVerdict) -> GroupVerdict:
    """The verdict with no lag that is known."""
    rows = tuple(replace(row, end=None, lag=None, lag_ms=None) for row in verdict.partitions)
    return replace(verdict, partitions=rows, lag=None, lag_ms=None)
