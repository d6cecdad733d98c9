"""Groups that are behind by more records than they may, or by commits from which nothing can be counted."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from monitor.detection.lag.lag import is_of_former_log
from monitor.detection.offsets_topic import fault_of
from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.lag import Behind, BeyondEnd, FormerLog
from monitor.findings.observation import Observation
from monitor.model import EndOffsetAt, FindingKind, TopicPartition


def find_former_log(facts: Facts) -> Iterable[Observation]:
    """Commits from before a topic was deleted and created anew: where the group will read on, nobody can say."""
    known, committed = facts.known, facts.committed
    uncounted = [row for row in facts.partitions if row.lag is None and row.committed is not None]
    if not uncounted:
        return
    places = (TopicPartition(row.topic, row.partition) for row in uncounted)
    of_anew = (place for place in places if place in known and known[place].former_ms)
    partitions = tuple(sorted(p for p in of_anew if is_of_former_log(committed[p], known[p])))
    if partitions:
        first_seen_ms = min(known[place].first_seen_ms for place in partitions)
        yield Observation(
            kind=FindingKind.LAG,
            reason="former_log",
            since_ms=facts.not_later_than_now(first_seen_ms),
            evidence=FormerLog(),
            partitions=partitions,
        )


def find_beyond_end(facts: Facts) -> Iterable[Observation]:
    """Commits beyond the end, by a poll that is newer than they are: the log was truncated, or they are wrong."""
    if not facts.beyond_end:
        return
    beyond = {place: facts.committed[place].offset - (facts.known[place].end or 0) for place in facts.beyond_end}
    furthest = min(beyond, key=lambda place: (-beyond[place], place))
    yield Observation(
        kind=FindingKind.LAG,
        reason="beyond_end",
        since_ms=facts.not_later_than_now(min(facts.beyond_end.values())),
        evidence=_beyond_end(facts, furthest),
        partitions=tuple(sorted(beyond)),
    )


def _beyond_end(facts: Facts, place: TopicPartition) -> BeyondEnd:
    """How far the commit of a partition is beyond the end, and what the polls show of how that came."""
    state, offset = facts.known[place], facts.committed[place].offset
    cut = state.truncation
    return BeyondEnd(
        place,
        offset,
        state.end or 0,
        ended_at=cut.before if cut is not None and offset <= cut.before else None,
        is_recreated=state.former_ms > 0,
    )


def find_behind(facts: Facts) -> Iterable[Observation]:
    """More records wait for the group than the settings allow; in any phase, also for a group without members.

    Where the lag is unknown until the next poll (monitor.detection.lag.doubtful_ends), it counts as it was before. A
    lag that exceeded the limit while the brokers took no commits is none: the members may have read on.
    """
    threshold = facts.settings.lag_records
    if threshold is None:
        return
    lags = {TopicPartition(row.topic, row.partition): row.lag or 0 for row in facts.waiting}
    if facts.former_lag:
        lags |= {place: lag for place, lag in facts.former_lag.items() if lag}
    if sum(lags.values()) > threshold:
        since_ms = _count_start_ms(facts, _behind_since_ms(facts, lags, threshold))
        if since_ms is None:
            return
        yield Observation(
            kind=FindingKind.LAG,
            reason="behind",
            since_ms=since_ms,
            evidence=Behind(threshold),
            partitions=tuple(sorted(lags)),
        )


def _count_start_ms(facts: Facts, since_ms: int) -> int | None:
    """Since when such a lag counts; None: not yet. After a fault of the offsets topic, members have time to commit."""
    fault = fault_of(facts.group, facts.catalog)
    if fault is None or (fault.before_ms is not None and since_ms <= fault.before_ms):
        return since_ms
    if fault.ended_ms is None or not facts.has_come(fault.ended_ms + facts.settings.commit_silence_ms):
        return None
    return max(since_ms, fault.ended_ms)


def _behind_since_ms(facts: Facts, lags: Mapping[TopicPartition, int], threshold: int) -> int:
    """The first observation by which the ends had passed the present commits by more than the threshold.

    Commits go forward, so the lag has been above the threshold at least since then. The few points from before the
    newest ten minutes count, too, or the start would follow the history. Now, if only the newest ends show it.
    """
    known = ((facts.known[place], lag) for place, lag in lags.items())
    behind_of = [((*state.older, *state.ends), (state.end or 0) - lag) for state, lag in known]
    instants = sorted({end.at_ms for ends, _ in behind_of for end in ends if facts.has_come(end.at_ms)})

    def too_many(instant_ms: int) -> bool:
        return sum(_waited_at(ends, committed, instant_ms) for ends, committed in behind_of) > threshold

    index = bisect_left(instants, True, key=too_many)
    return instants[index] if index < len(instants) else facts.now_ms


def _waited_at(ends: Sequence[EndOffsetAt], committed: int, instant_ms: int) -> int:
    """The records beyond the commit that had been observed by the instant."""
    return max(
        (end.offset - committed for end in ends if end.at_ms <= instant_ms and end.offset > committed), default=0
    )


RULES: Final = (
    Rule(find_former_log, of_owners=False),
    Rule(find_beyond_end, of_owners=False),
    Rule(find_behind, of_owners=False),
)
