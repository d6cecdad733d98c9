"""What retention takes from a group: records that are gone before it committed them, and those that go next.

Only offsets are known, so what is counted is "at most": compaction and the markers of transactions leave offsets
without a record. A log that begins at 0 has not been cut, and nobody can lose anything of it.

Rule 1: Records are lost when retention has passed the commit by two offsets or more.
Rule 2: A group that committed less than ``commit_silence_ms`` ago goes on, and has lost nothing yet. A commit that
repeats the lost offset is no progress, if records have waited for that time.
Rule 3: A log that begins at 0, and a topic that the group has left, give neither finding.
Rule 4: A group is close to loss when ``retention_share`` of what the last cut left waits, and ten records or more.
Rule 5: In place of what the last cut left, four fifths of what is kept now count, if that is more.
Rule 6: The records of rule 4 must have waited for five minutes.
Rule 7: The group must gain slowly: it reads at most twice as fast as the partition is written.
Rule 8: Rules 4 and 6 may be true at another moment of the last minutes than rule 7.
Rule 9: A partition with lost records is not close to loss as well.
Rule 10: While the brokers take no commits of the group, and ``commit_silence_ms`` longer, it may have read on. What the
last poll before that shows stays: records lost by then, and a group close to loss by then.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain
from math import inf
from typing import Final

from msgspec.structs import replace

from monitor.detection.lag.lag import waiting_since_ms
from monitor.detection.lag.standstill import moved_ms, standstill_of
from monitor.detection.lag.throughput import PACE_MS, Progress, committed_by, pace_of, progress_of
from monitor.detection.moment import Moment
from monitor.detection.offsets_topic import hiding_fault
from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.observation import Observation
from monitor.findings.retention import CloseToLoss, RecordsLost
from monitor.kinds.repartition_topics import is_repartition_topic
from monitor.model import (
    CommittedOffset,
    FindingKind,
    OrphanReason,
    Pace,
    PartitionState,
    PartitionVerdict,
    TopicPartition,
)

FEWEST: Final = 10
"""Fewer waiting records than these are no share of a log: of nine, the next one read or written is a tenth."""

A_MARKER: Final = 1
"""One lost offset may have been the marker that ends a transaction: some clients never commit the last one."""

OLD_MS: Final = 300_000
"""Records that have waited for less are not about to be removed: a log whose records are deleted as soon as they are
committed (those that Kafka Streams repartitions by) is always nearly all waiting."""

GAIN: Final = 2
"""Up to so many times as fast as it is written, a partition is gained on slowly: to read what waits takes longer than
it took to write it. With less, groups that only keep up seem to gain every now and then."""

LATELY_MS: Final = PACE_MS
"""For how long a slow pace counts. The histories reach back ten minutes, of which a pace takes five."""

EVERY_MS: Final = 60_000
"""How far apart the paces are that are looked at."""

GROWN: Final = 0.8
"""A log grows until it is cut again, and what waits becomes a lesser share of it without being any safer. So it is
compared with what the last cut left; but with this times what is kept at least: of a log that was emptied nothing was
left, and of one of two segments half."""

CLEARLY: Final = 0.95
"""By this times what is too much, a group has come out of it for certain: whether it was close need not be asked."""


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


def find_records_lost(facts: Facts) -> Iterable[Observation]:
    """Retention has passed the group's commit, and the group has not gone on for a while.

    One that goes on commits beyond the loss at once, and its log may have been read up to an earlier moment than the
    start of the partition: then nothing was lost. Topics that the group has turned away from are left out.
    """
    since = {place: _cut_since_ms(facts, place) for place in _losing(facts)} if facts.waiting else {}
    if since:
        yield _finding(facts, "records_lost", since, RecordsLost())


def _losing(facts: Facts) -> Iterable[TopicPartition]:
    known_ms = _last_known_ms(facts)
    for row in facts.waiting:
        if row.earliest and lost_records(row) > A_MARKER and row.orphan is not OrphanReason.UNSUBSCRIBED:
            place = TopicPartition(row.topic, row.partition)
            stopped_ms = _stop_ms(facts, facts.committed[place], facts.known[place])
            if stopped_ms is not None and max(stopped_ms, _cut_since_ms(facts, place)) <= known_ms:
                yield place


def _last_known_ms(facts: Facts) -> float:
    """Until when the commits show how far the group has read; -inf: not at all (rule 10)."""
    fault = hiding_fault(facts.group, facts.catalog, facts.moment, facts.settings.commit_silence_ms)
    if fault is None:
        return inf
    return -inf if fault.before_ms is None else fault.before_ms


def _stop_ms(facts: Facts, commit: CommittedOffset, state: PartitionState) -> int | None:
    """Since when the group has not gone on for a while: it is silent, or repeats its commit although records came.

    None: it goes on. An idle group repeats its commit, too. What came a moment ago it may have read before it was
    removed.
    """
    patience_ms = facts.settings.commit_silence_ms
    silent_ms = commit.committed_ms + patience_ms
    if standstill_of(commit) is not None:
        came_ms = waiting_since_ms(replace(state, earliest=None), commit.offset, facts.now_ms)
        repeated_ms = None if came_ms is None else max(came_ms, moved_ms(commit)) + patience_ms
        if repeated_ms is not None and commit.committed_ms >= repeated_ms:
            return repeated_ms
    return silent_ms if facts.has_come(silent_ms) else None


def _cut_since_ms(facts: Facts, place: TopicPartition) -> int:
    """Since when the log is known to begin where it does; it was cut there after the commit."""
    known_ms = facts.known[place].earliest_ms or facts.now_ms
    return max(known_ms, moved_ms(facts.committed[place]))


def find_close_to_loss(facts: Facts) -> Iterable[Observation]:
    """As much waits as nearly all that the last cut left of a partition, for minutes, and the group gains on it slowly.

    Told for as long as that was so at any observed instant of the last minutes, of the pace and of what waits each for
    itself: both go up and down by themselves, and a group that has come out of it for a moment is still close. One that
    has just begun at the start of the log, or again, looks the same, but gains. While its pace is not known, nothing is
    said.

    The age is that of the last cut: a group comes so close because the log is cut, or soon after. It stays the same
    from cut to cut, while what shows since when so much waits is only kept for minutes.
    """
    share = facts.settings.retention_share
    since = {}
    for row in facts.waiting:
        if row.earliest and kept_waiting(row) >= CLEARLY * GROWN * share and _is_threatened(facts, row):
            place = TopicPartition(row.topic, row.partition)
            since[place] = facts.known[place].earliest_ms or facts.now_ms
    if since:
        yield _finding(facts, "close_to_loss", since, CloseToLoss(share))


def _is_threatened(facts: Facts, row: PartitionVerdict) -> bool:
    if row.lag is None or row.lag < FEWEST or lost_records(row) or row.orphan is OrphanReason.UNSUBSCRIBED:
        return False
    if is_repartition_topic(facts.group, row.topic):
        return False
    place = TopicPartition(row.topic, row.partition)
    state = facts.known[place]
    progress = _since_rewind(progress_of(facts.committed[place], state))
    too_many = facts.settings.retention_share * _left(state)
    end = row.end or 0
    if end - min(progress.committed) < too_many:
        return False  # nor did so many wait at any instant of the last minutes
    now, known_ms = [(end, facts.moment)], _last_known_ms(facts)
    if known_ms < inf:
        now, progress = [], replace(progress, ends=tuple([each for each in progress.ends if each.at_ms <= known_ms]))
    seen = ((each.offset, Moment(each.at_ms)) for each in reversed(progress.ends))
    if not any(_is_close(progress, state, at, moment, too_many) for at, moment in chain(now, seen)):
        return False
    return any(_gains_slowly(pace) for pace in _paces(progress))


def _since_rewind(progress: Progress) -> Progress:
    """What came after the offsets were last reset to earlier ones: the pace of before says nothing of the reading."""
    offsets = progress.committed
    if sorted(offsets) == list(offsets):
        return progress
    fell = max(index for index in range(1, len(offsets)) if offsets[index] < offsets[index - 1])
    return replace(progress, committed_ms=progress.committed_ms[fell:], committed=offsets[fell:])


def _is_close(progress: Progress, state: PartitionState, end: int, moment: Moment, too_many: float) -> bool:
    """Whether so many records had waited for so long at a moment, when the log ended there."""
    committed = max(committed_by(progress, moment.now_ms), state.earliest or 0)
    if end - committed < max(too_many, FEWEST):
        return False
    since_ms = waiting_since_ms(state, committed, moment.now_ms)
    return since_ms is not None and moment.has_come(since_ms + OLD_MS)


def _left(state: PartitionState) -> float:
    """How many records the last cut left, as far as the log has not grown much since."""
    earliest = state.earliest or 0
    kept = (state.end or 0) - earliest
    return kept if state.earliest_end is None else max(state.earliest_end - earliest, GROWN * kept)


def _gains_slowly(pace: Pace | None) -> bool:
    return pace is not None and pace.consumed_per_s <= GAIN * pace.produced_per_s


def _paces(progress: Progress) -> Iterator[Pace | None]:
    """Those of the last LATELY_MS, EVERY_MS apart, the newest first."""
    ends = progress.ends
    newest_ms = next_ms = ends[-1].at_ms if ends else 0
    for index in range(len(ends), 0, -1):
        at_ms = ends[index - 1].at_ms
        if newest_ms - LATELY_MS <= at_ms <= next_ms:
            next_ms = at_ms - EVERY_MS
            yield pace_of(replace(progress, ends=ends[:index]))


def _finding(
    facts: Facts, reason: str, since: dict[TopicPartition, int], evidence: RecordsLost | CloseToLoss
) -> Observation:
    return Observation(
        kind=FindingKind.RETENTION,
        reason=reason,
        since_ms=facts.not_later_than_now(min(since.values())),
        evidence=evidence,
        partitions=tuple(sorted(since)),
    )


RULES: Final = (
    Rule(find_records_lost, of_owners=False, needs_lag=True),
    Rule(find_close_to_loss, of_owners=False, needs_lag=True),
)
