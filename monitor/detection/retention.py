"""What retention takes from a group: records that are gone before it committed them, and those that go next.

Only offsets are known, so what is counted is "at most": compaction and the markers of transactions leave offsets
without a record. A log that begins at 0 has not been cut, and nobody can lose anything of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from monitor.detection.facts import Facts
from monitor.detection.lag import waiting_since_ms
from monitor.detection.sentences import close_to_loss, records_lost
from monitor.model import EndOffsetAt, Finding, FindingKind, OrphanReason, PartitionVerdict, TopicPartition

FEWEST: Final = 10
"""Fewer waiting records than these are no share of a log: of nine, the next one read or written is a tenth."""

A_MARKER: Final = 1
"""One lost offset may have been the marker that ends a transaction: some clients never commit the last one."""

OLD_MS: Final = 300_000
"""Records that have waited for less are not about to be removed: a log whose records are deleted as soon as they are
committed (those that Kafka Streams repartitions by) is always nearly all waiting."""


def lost_records(row: PartitionVerdict) -> int:
    """How many offsets before the start of the log the group has not committed; 0 if that is not known.

    >>> lost_records(PartitionVerdict("t", 0, committed=3, earliest=10, end=20, lag=17))
    7
    """
    if not row.lag or row.committed is None or row.earliest is None or row.end is None:
        return 0
    return max(0, min(row.earliest, row.end) - row.committed)


def kept_waiting(row: PartitionVerdict) -> float:
    """The share of the log that waits for the group, from 0 to 1; 0 for a log of which nothing has been removed.

    >>> kept_waiting(PartitionVerdict("t", 0, committed=30, earliest=10, end=110, lag=80))
    0.8
    """
    if not row.lag or not row.earliest or row.end is None:
        return 0.0
    return row.lag / (row.end - row.earliest) if row.lag < row.end - row.earliest else 1.0


def find_records_lost(facts: Facts) -> Iterable[Finding]:
    """Retention has passed the group's commit, and the group has not gone on for a while.

    One that goes on commits beyond the loss at once, and its log may have been read up to an earlier moment than the
    start of the partition: then nothing was lost. Topics that the group has turned away from are left out.
    """
    since = {place: _cut_since_ms(facts, place) for place in _losing(facts)} if facts.waiting else {}
    if since:
        yield _finding(facts, "records_lost", since, records_lost(tuple(sorted(since))))


def _losing(facts: Facts) -> Iterable[TopicPartition]:
    for row in facts.waiting:
        if row.earliest and lost_records(row) > A_MARKER and row.orphan is not OrphanReason.UNSUBSCRIBED:
            place = TopicPartition(row.topic, row.partition)
            if facts.now_ms - facts.committed[place].committed_ms >= facts.settings.commit_silence_ms:
                yield place


def _cut_since_ms(facts: Facts, place: TopicPartition) -> int:
    """Since when the log is known to begin where it does; it was cut there after the commit."""
    known_ms = facts.known[place].earliest_ms or facts.now_ms
    return max(known_ms, facts.committed[place].committed_ms)


def find_close_to_loss(facts: Facts) -> Iterable[Finding]:
    """Nearly all that a partition still keeps waits for the group, for minutes, and the group does not gain on it.

    A group that has just begun at the start of the log looks the same, but gains. While its pace is not known, nothing
    is said.
    """
    share = facts.settings.retention_share
    since = {}
    for row in facts.waiting:
        if row.earliest and kept_waiting(row) >= share and _is_threatened(facts, row):
            place = TopicPartition(row.topic, row.partition)
            since[place] = _close_since_ms(facts, row, share)
    if since:
        yield _finding(facts, "close_to_loss", since, close_to_loss(tuple(sorted(since)), share))


def _is_threatened(facts: Facts, row: PartitionVerdict) -> bool:
    if row.pace is None or row.pace.consumed_per_s > row.pace.produced_per_s:
        return False
    if row.lag is None or row.lag < FEWEST or lost_records(row) or row.orphan is OrphanReason.UNSUBSCRIBED:
        return False
    since_ms = waiting_since_ms(facts.known[TopicPartition(row.topic, row.partition)], row.committed or 0, facts.now_ms)
    return since_ms is not None and facts.now_ms - since_ms >= OLD_MS


def _close_since_ms(facts: Facts, row: PartitionVerdict, share: float) -> int:
    """Since when so much has waited for certain, of the log as it begins now; commits were not further before."""
    known = facts.known[TopicPartition(row.topic, row.partition)]
    cut_ms = known.earliest_ms or facts.now_ms
    return max(cut_ms, _reached_ms(known.ends, row.committed or 0, row.earliest or 0, share) or facts.now_ms)


def _reached_ms(ends: Sequence[EndOffsetAt], committed: int, earliest: int, share: float) -> int | None:
    """The first observed end by which the share was reached."""
    close = (
        end.at_ms for end in ends if end.offset > earliest and end.offset - committed >= share * (end.offset - earliest)
    )
    return next(close, None)


def _finding(facts: Facts, reason: str, since: dict[TopicPartition, int], sentence: str) -> Finding:
    return Finding(
        kind=FindingKind.RETENTION,
        reason=reason,
        since_ms=facts.not_later_than_now(min(since.values())),
        sentence=sentence,
        partitions=tuple(sorted(since)),
    )
