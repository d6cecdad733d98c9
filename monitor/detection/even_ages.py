"""Whether the ages of a verdict only grow with the clock: then nothing of it has to be judged again to show them."""

from __future__ import annotations

from monitor.detection.ownership.context import Facts
from monitor.model import KINDS, GroupVerdict, PartitionVerdict, Source, TopicPartition


def grow_evenly(facts: Facts, verdict: GroupVerdict) -> bool:
    """Whether each age in the verdict that is not 0 is the time since an instant that stays, until it holds no longer.

    It is not so where a newer poll may change an age by itself, where a record may be of any time since the newest
    poll, and where something began now by this clock, as its own is ahead. Groups that are judged as of a reading, and
    share groups, are left out: their ages are those of their records.
    """
    if facts.awaits_poll or facts.uncommitted:
        return False
    is_of_reading = facts.group.source is Source.CHECKPOINT or KINDS[facts.group.kind].is_self_assigned
    if facts.deliveries is not None or is_of_reading:
        return False
    if facts.now_ms != verdict.evaluated_ms or verdict.blocked_since_ms is not None:
        return False
    if begins_now(verdict):
        return False
    if facts.waiting and not verdict.lag_at_least_ms:
        return False
    return all(row.lag_ms is None or (row.lag_ms > 0 and _is_dated(facts, row)) for row in facts.waiting)


def begins_now(verdict: GroupVerdict) -> bool:
    """Whether a finding begins with the verdict: it may do so again in the next one."""
    return any(finding.since_ms >= verdict.evaluated_ms for finding in verdict.findings)


def _is_dated(facts: Facts, row: PartitionVerdict) -> bool:
    """Whether a poll saw an end beyond the oldest record that waits, so that its age does not depend on now."""
    ends = facts.known[TopicPartition(row.topic, row.partition)].ends
    return bool(ends) and ends[-1].offset > max(row.committed or 0, row.earliest or 0)
