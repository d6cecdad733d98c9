"""Why a committed offset went back, as far as the log of the group shows.

Rule 1: A group without members commits nothing: an administrator has reset the offset, or a tool keeps it.
Rule 2: If a rebalance ended between the two commits, an owner began at an older offset.
Rule 3: Two commits of one owner, at most LATE_MS apart, may have arrived in the wrong order. An application that goes
        back by itself may commit both positions as soon, so nothing follows from this cause.
Rule 4: Where the members are not known, no cause is.

A run of commits lies between two records of members (streaming_jobs.ingest.commit_rows): so the members are those of
all of its commits, and the cause does not depend on how the log is cut.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model import Phase, Rewind, RewindCause
from monitor.tracking.offsets.jumps import Readers

LATE_MS: Final = 1_000
"""Commits of one owner that are no further apart may have been on their way together."""

_WITH_MEMBERS: Final = frozenset({Phase.NOT_READY, Phase.ASSIGNING, Phase.RECONCILING, Phase.STABLE})


def with_cause(fall: Rewind, readers: Readers | None) -> Rewind:
    """The same with its cause.

    Args:
        fall: with the time of the commit before it.
        readers: who may have committed it; None: not known.
    """
    cause = RewindCause.UNKNOWN if readers is None else _cause(fall, readers)
    return replace(fall, before_ms=None, cause=cause)


def _cause(fall: Rewind, readers: Readers) -> RewindCause:
    if readers.are_none:
        return RewindCause.RESET
    before_ms, rebalanced_ms = fall.before_ms, readers.rebalanced_ms
    if before_ms is None or readers.phase not in _WITH_MEMBERS:
        return RewindCause.UNKNOWN
    if rebalanced_ms is not None and before_ms <= rebalanced_ms < fall.at_ms:
        return RewindCause.REBALANCE
    return RewindCause.OUT_OF_ORDER if 0 <= fall.at_ms - before_ms <= LATE_MS else RewindCause.UNKNOWN
