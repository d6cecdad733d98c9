"""Which committed offset counts: the newest commit in the log, or what the broker itself answers.

Who reads uncommitted records sees the commits of a transaction before its end, and also if it is aborted; the records
that tell the end are never given to consumers. The broker knows. Its answer is asked for groups that may be concerned
(monitor.collectors.kafka.transactional_offsets) and kept beside what the log says; this module decides between the two.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model import CommittedOffset
from monitor.model.commit_history import newest_in
from monitor.tracking.topic import CLOCK_SET_BACK_MS

CLOCK_MARGIN_MS: Final = 5_000
"""How much later than a commit the broker must have been asked for its answer to know of it.

It covers the difference between two clocks, the commit's (the broker's) and the question's (the collector's)."""


def apply_listing(known: CommittedOffset, listed: int | None, asked_ms: int) -> CommittedOffset:
    """The same with the broker's answer (None: it knows no committed offset); an older answer changes nothing.

    One that is much older (CLOCK_SET_BACK_MS) than the one before it in the log tells that the collector's clock was
    set back: it counts, or the one before would overrule commits for as long as the clock was ahead.
    """
    if known.listed_ms - CLOCK_SET_BACK_MS <= asked_ms <= known.listed_ms:
        return known
    return replace(known, listed=listed, listed_ms=asked_ms)


def logged_commit(known: CommittedOffset) -> CommittedOffset:
    """The same with the offset that the log has, whichever counts."""
    newest = newest_in(known.history) if known.listed_ms else None
    if newest is None:
        return known
    return replace(known, offset=newest.offset, committed_ms=newest.committed_ms)


def is_overruled(logged: CommittedOffset) -> bool:
    """Whether the broker's answer counts, because it was asked well after the newest commit in the log."""
    return logged.listed_ms > logged.committed_ms + CLOCK_MARGIN_MS and logged.listed != logged.offset


def effective_commit(logged: CommittedOffset) -> CommittedOffset | None:
    """The same with the offset that counts; None if the broker knows of none: its transaction has not committed."""
    if not is_overruled(logged):
        return logged
    return None if logged.listed is None else replace(logged, offset=logged.listed)
