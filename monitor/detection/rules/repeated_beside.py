"""Partitions whose owner commits one offset again and again, and moves others: perhaps it has paused them.

A consumer commits the position of each partition that it has. It may have paused one, read others first, or wait until
it has enough records of it. It may also be stuck there. Commits do not tell these apart, so this is information, once
records have waited for LONG_STANDSTILL_MS.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.detection.rules.stalled_commits import (
    moved_beside,
    repeated_offsets,
    silent_partitions,
    standing_partitions,
)
from monitor.findings.lag import NotMoving
from monitor.findings.observation import Observation
from monitor.model import FindingKind

LONG_STANDSTILL_MS: Final = 3_600_000
"""Twelve times the default of ``max.poll.interval.ms``."""


def find_not_moving(facts: Facts) -> Iterable[Observation]:
    """All of them in one finding."""
    beside = moved_beside(facts, standing_partitions(facts))
    long = {place: since_ms for place, since_ms in beside.items() if facts.has_come(since_ms + LONG_STANDSTILL_MS)}
    found = sorted(long.keys() - silent_partitions(facts).keys()) if long else []
    if not found:
        return
    yield Observation(
        kind=FindingKind.LAG,
        reason="not_moving",
        since_ms=min(long[place] for place in found),
        evidence=NotMoving(repeated_offsets(facts, found)),
        partitions=tuple(found),
    )


RULES: Final = (Rule(find_not_moving, of_owners=False, needs_lag=True),)
