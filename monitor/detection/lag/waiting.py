"""How long records must have waited in vain before a group or a member is blamed for it."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from operator import attrgetter
from typing import Final

from monitor.detection.brokers import leaderless_periods
from monitor.detection.lag.lag import waiting_since_ms
from monitor.detection.ownership.context import Facts
from monitor.detection.ownership.self_assigned.grace_period import told_until
from monitor.model import (
    END_GAP_MS,
    EndOffsetAt,
    PartitionState,
    PartitionVerdict,
    TopicPartition,
    may_be_replaced,
)

COVERED_MS: Final = 300_000
"""How far back the history of ends shows for certain what waited: it covers about ten minutes of a busy topic
(monitor.tracking.topic). A longer patience can't be asked of it: there, it is asked of the last sign only."""

ARRIVAL_MS: Final = 20_000
"""How long after its date a poll may be read."""

_SEEN: Final = attrgetter("at_ms")


def in_vain_since_ms(facts: Facts, row: PartitionVerdict, sign_ms: int) -> int | None:
    """Since when records have waited in a partition for somebody who gave a sign of life last at ``sign_ms``.

    That is the sign, or the first record's arrival if that was seen and was later. The history of ends shows it, and
    where the log had stood still for ten minutes at the commit, when it went on stays known until it has stood still
    for as long again. Beyond both it is the sign: the answer moves back then, once, and by less than ten minutes unless
    the log has stood still twice. Where a transaction had held back what waits, it waits since the end of that; so it
    does where the partition had no leader, unless records had waited for too long before. A sink
    of Connect that is paused or stopped lets records wait on purpose; nobody is expected to read before it is resumed,
    or changed. None: not for as long as ``commit_silence_ms``, or nothing that still exists waits, or the next poll may
    move the first sight of what waits.

    Args:
        facts: of the group.
        row: a partition in which records wait.
        sign_ms: when whoever should read it was last known to live.
    """
    patience_ms, sink = facts.settings.commit_silence_ms, facts.sink
    if sink is not None and sink.is_resting:
        return None
    if sink is not None and facts.has_come(sink.changed_ms):
        sign_ms = max(sign_ms, sink.changed_ms)
    if not facts.has_come(sign_ms + patience_ms):  # nearly always, so this is asked first
        return None
    place = TopicPartition(row.topic, row.partition)
    state, offset = facts.known[place], facts.committed[place].offset
    known = told_until(facts.group, state, facts.moment)
    if state.released is not None and state.released.offset == offset:
        sign_ms = max(sign_ms, state.released.at_ms)
    waiting_ms = waiting_since_ms(state, offset, known.now_ms)
    if waiting_ms is None or not known.has_come(waiting_ms + max(min(patience_ms, COVERED_MS), 1)):
        return None
    if waiting_ms == state.ends[-1].at_ms and not known.has_come(stays_from_ms(state.ends)):
        return None
    came_ms = max(sign_ms, _went_on_ms(state, offset) or _came_ms(state.ends, waiting_ms, sign_ms))
    since_ms = _readable_since_ms(facts, row, came_ms)
    return since_ms if since_ms is not None and known.has_come(since_ms + max(patience_ms, 1)) else None


def _readable_since_ms(facts: Facts, row: PartitionVerdict, since_ms: int) -> int | None:
    """Since when records that have waited since then could be read; None: their partition has no leader.

    That is no excuse for a reader that had let them wait for too long before.
    """
    for period in leaderless_periods(facts.catalog, row.topic, row.partition):
        if period.before_ms is not None and since_ms + facts.settings.commit_silence_ms <= period.before_ms:
            return since_ms
        if period.ended_ms is None:
            return None
        since_ms = max(since_ms, period.ended_ms)
    return since_ms


def stays_from_ms(ends: Sequence[EndOffsetAt]) -> int:
    """From when on the newest point of an end is expected to stay: no poll that replaces it is still on its way."""
    return ends[-2].at_ms + END_GAP_MS + ARRIVAL_MS if may_be_replaced(ends) else ends[-1].at_ms


def _came_ms(ends: Sequence[EndOffsetAt], sight_ms: int, sign_ms: int) -> int:
    """When the first record came that was first seen at ``sight_ms``; the sign where it may have been there by then.

    In a busy log it is only known between which two points it came. If the sign lies between them, too, it is the sign,
    which stays when the points are forgotten.
    """
    index = bisect_left(ends, sight_ms, key=_SEEN)
    if index == 0:
        return sign_ms
    before_ms = ends[index - 1].at_ms
    return sign_ms if before_ms <= sign_ms and sight_ms - before_ms < END_GAP_MS else sight_ms


def _went_on_ms(state: PartitionState, committed: int) -> int | None:
    """When the log went on from the commit, where it had stood still for long; None if it is not known to have."""
    return state.woken.at_ms if state.woken is not None and state.woken.offset == committed else None
