"""The findings of the past: each from its opening to its closing, put together from the times while it was the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from monitor.history.chronicle.grid import CLOSE_STEP_MS, SECOND_MS
from monitor.history.chronicle.values import FindingSpan
from monitor.history.report.facts import FindingThen
from monitor.messages.formatting import lasted
from monitor.messages.notification import utc
from monitor.model import TopicPartition


def findings_then(spans: Iterable[FindingSpan]) -> tuple[FindingThen, ...]:
    """The findings of a chronicle with all partitions that they had, in the order of time."""
    return tuple(sorted(map(finding_of, finding_spans(spans)), key=lambda each: (each.opened_ms, each.name)))


def finding_spans(spans: Iterable[FindingSpan]) -> list[list[FindingSpan]]:
    """The spans of each finding, in the order of time."""
    open_now: defaultdict[str, list[FindingSpan]] = defaultdict(list)
    found: list[list[FindingSpan]] = []
    for span in spans:
        open_now[span.told.id].append(span)
        if span.is_closed:
            found.append(open_now.pop(span.told.id))
    return [*found, *open_now.values()]


def finding_of(spans: Sequence[FindingSpan]) -> FindingThen:
    """One finding. ``sentence`` is that of the time with most partitions."""
    first, last = spans[0], spans[-1]
    widest = max(spans, key=lambda span: span.told.partition_count)
    places = {TopicPartition(each.topic, p) for span in spans for each in span.told.partitions for p in each.partitions}
    return FindingThen(
        kind=first.told.kind,
        reason=first.told.reason,
        severity=first.severity,
        since_ms=min(span.told.since_ms for span in spans),
        opened_ms=first.from_ms,
        until_ms=last.until_ms,
        is_over=last.is_closed,
        sentence=widest.sentence,
        partitions=tuple(sorted(places)),
        members=tuple(dict.fromkeys(member for span in spans for member in span.told.members)),
    )


def lasted_text(finding: FindingThen) -> str:
    """How long it was true and since when, as a reader gets it who subtracts the seconds that are shown.

    It is the one text of every answer about the past that does not show tenths of seconds.
    """
    seconds = finding.until_ms // SECOND_MS - finding.since_ms // SECOND_MS
    took = lasted(max(1, seconds * SECOND_MS))
    if finding.is_over:
        return f"it lasted {took}, from {utc(finding.since_ms)} to {utc(finding.until_ms)}"
    return f"it has lasted {took} since {utc(finding.since_ms)}, and is still open at {utc(finding.until_ms)}"


def is_brief(finding: FindingThen) -> bool:
    """Whether it was there for so short a time that a job would hardly have seen it."""
    return finding.is_over and finding.until_ms - finding.opened_ms < CLOSE_STEP_MS
