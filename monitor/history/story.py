"""What happened to a group in a span of time: its rebalances and findings in order, and how its lag went."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from operator import attrgetter

from monitor.charts.lag import missing_text
from monitor.charts.values import TimeRange, missing_ranges
from monitor.history.chronicle.grid import MOST_STEPS
from monitor.history.chronicle.values import Chronicle, FindingSpan
from monitor.history.chronicle.writer import COSTS_KNOWN_MS
from monitor.history.report.facts import ReportLine
from monitor.history.report.findings import finding_of, finding_spans, lasted_text
from monitor.history.report.rebalances import rebalance_lines, rebalances_then
from monitor.history.report.sentences import is_told, phase_lines, rewind_lines, skip_words, truncation_lines
from monitor.messages.units import unit_of
from monitor.model import FindingKind, Value


class HappenedKind(StrEnum):
    """What an entry of a story is about."""

    REBALANCE = "rebalance"
    OPENED = "opened"
    CLOSED = "closed"
    GROUP = "group"
    LOG = "log"
    COMMIT = "commit"


class Happened(Value):
    """Something that happened, in a sentence. Of a finding: its kind and reason as ``kind/reason``."""

    at_ms: int
    """When it happened (ms since the epoch)."""
    about: HappenedKind
    """What it is about: a rebalance, a finding of the group or of its cluster that opened or closed, the group itself,
    a log that went back, or a commit that went back or passed records."""
    sentence: str
    finding: str | None = None
    """The kind and reason of the finding."""
    since_ms: int | None = None
    """Of a finding: when it began to be true (ms since the epoch). It lasted from then; it opened when it was found."""


class LagThen(Value):
    """The lag of a group at an instant."""

    at_ms: int
    """The instant (ms since the epoch)."""
    lag: int | None


class GroupStory(Value):
    """What happened to a group from one instant to another.

    Regular instants: see :func:`monitor.history.report.notes.accuracy`.
    """

    cluster: str
    group: str
    since_ms: int
    """The beginning of the span (ms since the epoch)."""
    until_ms: int
    """Its end (ms since the epoch)."""
    happened: tuple[Happened, ...] = ()
    """What happened, the oldest first."""
    lag: tuple[LagThen, ...] = ()
    """The lag at regular instants, at the first and the last one, and when it was highest; the oldest first."""
    unit: str = "record"
    """The unit of the lag."""
    step_ms: int = 0
    """How far apart the regular instants are (ms): a finding that lasted less may be missing. Findings have their times
    to the second."""


def apart_ms(story: GroupStory) -> int:
    """Points of the lag that are further apart than this have nothing recorded between them; 0: that is not known.

    The tables of minutes keep 720 points of a span, and leave out up to two between two of them.
    """
    return 3 * max(story.step_ms, (story.until_ms - story.since_ms) // MOST_STEPS) if story.step_ms else 0


def missing_sentences(story: GroupStory) -> list[str]:
    """Where nothing is recorded of the group within the span: that nothing happened there is not known."""
    span = TimeRange(story.since_ms, story.until_ms)
    found = missing_ranges([point.at_ms for point in story.lag], span, apart_ms(story))
    return [missing_text(each, span) for each in found]


def story_of(chronicle: Chronicle) -> GroupStory:
    """A chronicle in the sentences of a report; at the same instant causes come before effects."""
    rebalances = rebalance_lines(rebalances_then(chronicle), chronicle.kind)
    happened = (
        *_findings(chronicle.cluster_findings),
        *_entries(HappenedKind.LOG, truncation_lines(chronicle)),
        *_entries(HappenedKind.GROUP, phase_lines(chronicle)),
        *_entries(HappenedKind.REBALANCE, rebalances),
        *_entries(HappenedKind.COMMIT, rewind_lines(chronicle)),
        *_entries(HappenedKind.COMMIT, _skips(chronicle)),
        *_findings(chronicle.findings),
    )
    within = range(chronicle.since_ms + 1, chronicle.until_ms + 1)
    return GroupStory(
        cluster=chronicle.cluster,
        group=chronicle.group,
        since_ms=chronicle.since_ms,
        until_ms=chronicle.until_ms,
        happened=tuple(sorted([each for each in happened if each.at_ms in within], key=attrgetter("at_ms"))),
        lag=_lags(chronicle),
        unit=unit_of(chronicle.kind),
        step_ms=chronicle.step_ms,
    )


def _lags(chronicle: Chronicle) -> tuple[LagThen, ...]:
    highest = [] if chronicle.peak is None else [chronicle.peak]
    lags = {point.at_ms: point.lag for point in (*chronicle.points, *highest)}
    return tuple(LagThen(at_ms, lags[at_ms]) for at_ms in sorted(lags))


def _entries(about: HappenedKind, lines: Iterable[ReportLine]) -> Iterator[Happened]:
    return (Happened(line.at_ms, about, line.sentence) for line in lines)


def _skips(chronicle: Chronicle) -> Iterator[ReportLine]:
    """The skips without a finding that opened by them: a finding that was open before is about others."""
    own = [span for span in chronicle.findings if span.told.kind == FindingKind.SKIPPED and not span.was_open]
    for each in filter(is_told, chronicle.skips):
        if not any(0 <= span.told.opened_ms - each.at_ms <= COSTS_KNOWN_MS for span in own):
            yield ReportLine(each.at_ms, skip_words(each))


def _findings(all_spans: Iterable[FindingSpan]) -> Iterator[Happened]:
    """What closed, and what opened, as it was then. What was open at the first instant has opened before."""
    found = [(spans[0], finding_of(spans)) for spans in finding_spans(all_spans)]
    for _, each in found:
        if each.is_over:
            over = f"It is over: {lasted_text(each)}."
            yield Happened(each.until_ms, HappenedKind.CLOSED, over, each.name, each.since_ms)
    for first, each in found:
        if not first.was_open:
            yield Happened(each.opened_ms, HappenedKind.OPENED, first.sentence, each.name, each.since_ms)
