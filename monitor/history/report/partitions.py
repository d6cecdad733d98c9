"""Which partitions had no owner or several, which were not committed, and what was lost, each with its times."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from monitor.history.chronicle.values import Chronicle, CommitGap, LogTruncated, OwnerSpan, RewindThen
from monitor.history.report.facts import (
    FindingThen,
    Lost,
    MemberLeft,
    NotCommitted,
    OffsetsInstant,
    OffsetsThen,
    OwnedTwice,
    Unowned,
)
from monitor.history.report.members import has_records, place_of
from monitor.model import FindingKind, Phase, TopicPartition, Value

RHYTHMS: Final = 2
"""A gap of so many usual times between two commits is reported."""

SHORTEST_GAP_MS: Final = 5_000
"""Shorter ones are not: by default, Kafka's Java client commits every 5 s."""

MOST_OFFSETS: Final = 20
"""The offsets of so many partitions are evidence; the rest is counted."""

ABOUT_OWNERS: Final = frozenset({FindingKind.ORPHANED, FindingKind.UNATTENDED})


def orphan_spans(chronicle: Chronicle, findings: Sequence[FindingThen]) -> tuple[Unowned, ...]:
    """Partitions without an owner, those of the same time together. What no member subscribes to is left out."""
    about = [each for each in findings if each.kind in ABOUT_OWNERS]
    found: defaultdict[tuple[int, int, str], list[TopicPartition]] = defaultdict(list)
    for span in chronicle.owners:
        own = [each for each in about if _is_of(each, span)]
        if not span.owners and (span.orphan is not None or own):
            found[span.from_ms, span.until_ms, _reason(chronicle, span, own)].append(place_of(span))
    return tuple(
        Unowned(
            partitions=tuple(sorted(places)),
            from_ms=from_ms,
            until_ms=until_ms,
            is_over=until_ms < chronicle.until_ms,
            reason=reason,
        )
        for (from_ms, until_ms, reason), places in sorted(found.items())
    )


def _is_of(finding: FindingThen, span: OwnerSpan) -> bool:
    is_then = finding.opened_ms < span.until_ms and finding.until_ms > span.from_ms
    return is_then and place_of(span) in finding.partitions


def _reason(chronicle: Chronicle, span: OwnerSpan, findings: Sequence[FindingThen]) -> str:
    """The reason that the log shows: that of a finding, or that there was no member."""
    begun = [each.phase for each in chronicle.phases if each.at_ms <= span.from_ms]
    if begun and begun[-1] is Phase.EMPTY:
        return "no_members"
    if findings:
        return findings[0].reason
    return "" if span.orphan is None else span.orphan.value


def owned_twice(chronicle: Chronicle, findings: Sequence[FindingThen]) -> tuple[OwnedTwice, ...]:
    """Partitions with several owners, where that is a finding: some systems mean it so."""
    about = [each for each in findings if each.kind == FindingKind.DOUBLE_OWNED]
    found: defaultdict[tuple[int, int, tuple[str, ...]], list[TopicPartition]] = defaultdict(list)
    for span in chronicle.owners:
        if len(span.owners) > 1 and any(_is_of(each, span) for each in about):
            found[span.from_ms, span.until_ms, span.owners].append(place_of(span))
    return tuple(
        OwnedTwice(tuple(sorted(places)), owners, from_ms, until_ms, is_over=until_ms < chronicle.until_ms)
        for (from_ms, until_ms, owners), places in sorted(found.items())
    )


def not_committed(chronicle: Chronicle) -> tuple[NotCommitted, ...]:
    """Long gaps between commits while records waited, those of about the same time together."""
    clusters: list[list[CommitGap]] = []
    last_ms = _last_ms(chronicle)
    for gap in chronicle.gaps:
        if _is_long(gap, last_ms) and has_records(gap, chronicle):
            own = next((each for each in clusters if _fits(gap, each, last_ms)), None)
            if own is None:
                clusters.append([gap])
            else:
                own.append(gap)
    return tuple(_together(gaps, last_ms) for gaps in clusters)


def _last_ms(chronicle: Chronicle) -> int:
    """Until when the group could commit: until it was deleted, or to the end."""
    is_gone = bool(chronicle.phases) and chronicle.phases[-1].phase is Phase.GONE
    return chronicle.phases[-1].at_ms if is_gone else chronicle.until_ms


def _end_ms(gap: CommitGap, until_ms: int) -> int:
    return until_ms if gap.until_ms is None else gap.until_ms


def _is_long(gap: CommitGap, until_ms: int) -> bool:
    length_ms = _end_ms(gap, until_ms) - gap.from_ms
    return length_ms >= max(SHORTEST_GAP_MS, RHYTHMS * (gap.usual_ms or 0))


def _fits(gap: CommitGap, others: Sequence[CommitGap], until_ms: int) -> bool:
    """Whether a gap is of about the same time as others: most of each is common to all."""
    from_ms = max(gap.from_ms, *(each.from_ms for each in others))
    end_ms = min(_end_ms(gap, until_ms), *(_end_ms(each, until_ms) for each in others))
    longest = max(_end_ms(each, until_ms) - each.from_ms for each in (gap, *others))
    return (gap.until_ms is None) == (others[0].until_ms is None) and 2 * (end_ms - from_ms) >= longest


def _together(gaps: Sequence[CommitGap], until_ms: int) -> NotCommitted:
    """What is true of all of them: from the latest of their beginnings to the earliest of their ends."""
    ends = [gap.until_ms for gap in gaps if gap.until_ms is not None]
    records = [gap.until_offset - gap.from_offset for gap in gaps if gap.until_offset is not None]
    return NotCommitted(
        partitions=tuple(sorted(TopicPartition(gap.topic, gap.partition) for gap in gaps)),
        from_ms=max(gap.from_ms for gap in gaps),
        until_ms=min(ends) if ends else None,
        longest_ms=max(_end_ms(gap, until_ms) - gap.from_ms for gap in gaps),
        records=sum(records) or None,
    )


def records_lost(chronicle: Chronicle, findings: Sequence[FindingThen]) -> Iterator[Lost]:
    """What retention removed before it was committed."""
    most = max([point.lost for point in chronicle.points if point.lost is not None], default=0)
    for finding in findings:
        if (finding.kind, finding.reason) == (FindingKind.RETENTION, "records_lost"):
            yield Lost(finding.since_ms, most or None, finding.partitions)


def partitions_hit(
    left: Iterable[MemberLeft], rewinds: Iterable[RewindThen], *others: Iterable[TopicPartition]
) -> tuple[TopicPartition, ...]:
    """All partitions that something happened to, sorted."""
    found = {place for each in left for place in each.partitions}
    found |= {TopicPartition(each.topic, each.partition) for each in rewinds}
    return tuple(sorted(found.union(*others)))


class OffsetEvidence(Value):
    """The offsets of partitions at some instants, those that are left out, and the lag of all of them then."""

    rows: tuple[OffsetsThen, ...]
    more: int
    calm: int
    instants: tuple[OffsetsInstant, ...]


def offsets_then(chronicle: Chronicle, unowned: Iterable[Unowned]) -> OffsetEvidence:
    """Offsets of the partitions that had lag or no owner, at the start, the peak and the end.

    Those with the most lag come first if there are too many.
    """
    places: dict[TopicPartition, int] = {}
    marked = {place for each in unowned if not each.is_brief for place in each.partitions}
    for each in chronicle.extremes:
        place = TopicPartition(each.topic, each.partition)
        places[place] = max(places.get(place, 0), each.lag or 0)
        if each.lag is None or each.owner is None:
            marked.add(place)
    chosen = sorted(sorted(place for place in places if places[place] or place in marked), key=lambda p: -places[p])
    listed = frozenset(chosen[:MOST_OFFSETS])
    rows = [
        OffsetsThen(each.at_ms, each.topic, each.partition, each.committed, each.end, each.lag, each.owner)
        for each in chronicle.extremes
        if TopicPartition(each.topic, each.partition) in listed
    ]
    return OffsetEvidence(
        rows=tuple(sorted(rows, key=lambda row: (row.topic, _order(row), row.at_ms))),
        more=len(chosen) - len(listed),
        calm=len(places) - len(chosen),
        instants=tuple(_instants(chronicle, rows)),
    )


def _instants(chronicle: Chronicle, rows: Iterable[OffsetsThen]) -> Iterator[OffsetsInstant]:
    lags: defaultdict[int, int] = defaultdict(int)
    for each in chronicle.extremes:
        lags[each.at_ms] += each.lag or 0
    more = dict(lags)
    for row in rows:
        more[row.at_ms] -= row.lag or 0
    return (OffsetsInstant(at_ms, lag, more[at_ms]) for at_ms, lag in sorted(lags.items()))


def _order(row: OffsetsThen) -> tuple[int, str]:
    return (row.partition, "") if isinstance(row.partition, int) else (0, row.partition)


def is_with_its_log(rewind: RewindThen, truncations: Iterable[LogTruncated]) -> bool:
    """Whether a commit went back from beyond the end of a truncated log to within it."""
    return any(
        (cut.topic, cut.partition) == (rewind.topic, rewind.partition)
        and cut.from_ms <= rewind.at_ms
        and rewind.after <= cut.after < rewind.before
        for cut in truncations
    )


def redelivered_records(chronicle: Chronicle) -> int:
    """The records that are delivered again, without those that are gone with the end of their logs.

    Commits that may have arrived out of order count: mostly, the application itself went back.
    """
    gone = [each for each in chronicle.rewinds if is_with_its_log(each, chronicle.truncations)]
    return max(0, chronicle.redelivered - sum(each.before - each.after for each in gone))
