"""A report as a document: a title, a summary and sections, whatever it is written as. Its texts are not escaped yet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from monitor.history.chronicle import GroupPoint
from monitor.history.report.charts import draw_lag, draw_owners
from monitor.history.report.cluster import ClusterReport, GroupHit
from monitor.history.report.facts import IncidentReport, OffsetsThen
from monitor.history.report.member_table import HEADINGS, member_rows
from monitor.history.report.notes import notes
from monitor.messages.formatting import counted, grouped
from monitor.messages.names import owner, shown
from monitor.messages.notification import utc
from monitor.messages.units import unit_of
from monitor.model import KINDS, Value

BARS: Final = "▁▂▃▄▅▆▇█"
MOST_BARS: Final = 60

CLUSTER_NOTES: Final = (
    "groupwatch report CLUSTER GROUP has the timeline and the evidence of one group.",
    "The leaders of Kafka's partitions are not recorded, so brokers are compared only where partitions are named by "
    "them (RocketMQ, MetaQ).",
)


class Section(Value):
    """A part of a report. ``chart`` is SVG; ``bars`` are there for what cannot show it.

    ``numbers`` are the columns of the table that have numbers, from 0.
    """

    heading: str
    text: str = ""
    chart: str = ""
    bars: str = ""
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    numbers: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class Document(Value):
    """A report as it is read from top to bottom."""

    title: str
    span: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]


def document_of(report: IncidentReport | ClusterReport) -> Document:
    """The report on a group or on a cluster."""
    return cluster_document(report) if isinstance(report, ClusterReport) else report_document(report)


def report_document(report: IncidentReport) -> Document:
    """The report on a group."""
    return Document(
        title=f"Incident report: group {shown(report.group)} of cluster {shown(report.cluster)}",
        span=f"{utc(report.since_ms)} to {utc(report.until_ms)}",
        summary=report.summary,
        sections=tuple(_sections(report)),
    )


def _sections(report: IncidentReport) -> Iterator[Section]:
    yield _timeline(report)
    yield from _charts(report)
    yield from _members(report)
    yield from _evidence(report)
    yield Section("Accuracy", notes=tuple(notes(report)))


def _timeline(report: IncidentReport) -> Section:
    rows = tuple((utc(line.at_ms), line.sentence) for line in report.timeline)
    return Section("Timeline", text="" if rows else "Nothing happened.", headings=("time", "event"), rows=rows)


def _charts(report: IncidentReport) -> Iterator[Section]:
    bars = lag_bars(report.points)
    if bars:
        most = max((point.lag or 0) for point in report.points)
        text = (
            f"From {utc(report.points[0].at_ms)} to {utc(report.points[-1].at_ms)}. The most at these instants is "
            f"{grouped(most)} {report.unit}s."
        )
        yield Section("Lag", text=text, chart=draw_lag(report), bars=bars)
    owners = draw_owners(report)
    if owners:
        yield Section("Owners", chart=owners)


def lag_bars(points: Sequence[GroupPoint]) -> str:
    """The lag as bars, each the most of some points; "" if none is known.

    >>> from monitor.model import Phase
    >>> lag_bars([GroupPoint(n, Phase.STABLE, 1, 1, 1, 0, lag, None) for n, lag in enumerate((0, 4, None, 8))])
    '▁▅ █'
    """
    share = -(-len(points) // MOST_BARS) or 1
    parts = [[p.lag for p in points[n : n + share] if p.lag is not None] for n in range(0, len(points), share)]
    most = max((max(part) for part in parts if part), default=None)
    if most is None:
        return ""
    return "".join(BARS[round((len(BARS) - 1) * max(part) / max(1, most))] if part else " " for part in parts)


def _members(report: IncidentReport) -> Iterator[Section]:
    rows = tuple(
        (row.event, row.member_id, row.client_id, row.host, row.instance_id, row.library, row.partitions)
        for row in member_rows(report)
    )
    if rows:
        yield Section("Members", headings=HEADINGS, rows=rows)


def _evidence(report: IncidentReport) -> Iterator[Section]:
    era, first, last = KINDS[report.kind].era.value, report.first_generation, report.last_generation
    text = f"The {era} was {first} all the time." if first == last else f"The {era} rose from {first} to {last}."
    if KINDS[report.kind].is_self_assigned:
        text = f"The assignment changed {len(report.rebalances):,} times."
    more = f" {report.more_offsets:,} more partitions are not listed." if report.more_offsets else ""
    if report.offsets:
        yield Section(
            "Offsets at the start, at the peak of the lag, and at the end",
            text=f"{text}{more}",
            headings=("partition", "time", "committed", "end of the log (last poll)", "lag", "owner"),
            rows=tuple(map(_offset_cells, report.offsets)),
            numbers=(2, 3, 4),
        )
    if report.findings:
        yield Section(
            "Findings",
            headings=("finding", "severity", "true since", "opened", "closed", "sentence"),
            rows=tuple(_findings(report)),
        )


def _findings(report: IncidentReport) -> Iterator[tuple[str, ...]]:
    for each in report.findings:
        closed = utc(each.until_ms) if each.is_over else "still open"
        times = utc(each.since_ms), utc(each.opened_ms), closed
        yield (f"{each.kind}/{each.reason}", each.severity.value, *times, each.sentence)


def _offset_cells(row: OffsetsThen) -> tuple[str, ...]:
    numbers = ["unknown" if each is None else grouped(each) for each in (row.committed, row.end, row.lag)]
    place = f"{shown(row.topic)} {shown(str(row.partition))}"
    return place, utc(row.at_ms), *numbers, owner(() if row.owner is None else (row.owner,))


def cluster_document(report: ClusterReport) -> Document:
    """The report on a cluster."""
    return Document(
        title=f"Incident report: cluster {shown(report.cluster)}",
        span=f"{utc(report.since_ms)} to {utc(report.until_ms)}",
        summary=tuple(_cluster_summary(report)),
        sections=tuple(_cluster_sections(report)),
    )


def _cluster_summary(report: ClusterReport) -> Iterator[str]:
    groups = counted(report.groups, "group")
    if not report.hit:
        yield f"Nothing happened to any of {groups} that the recording has."
        return
    began_ms = min(hit.began_ms for hit in report.hit)
    yield f"Something happened to {len(report.hit):,} of {groups}, the first time at {utc(began_ms)}."
    most = [each for each in report.common if 2 * each.hit > len(report.hit)]
    if most:
        yield (
            f"Most of them have the {most[0].what} {shown(most[0].name)} in common: {most[0].hit:,} of "
            f"{counted(most[0].groups, 'group')} that have it were hit."
        )
    rose = [hit for hit in report.hit if hit.lag is not None and not hit.is_deleted]
    late = [hit for hit in rose if hit.caught_up_ms is None]
    if rose:
        yield f"Of {counted(len(rose), 'group')} whose lag rose, {len(rose) - len(late):,} had caught up by the end."


def _cluster_sections(report: ClusterReport) -> Iterator[Section]:
    if report.hit:
        yield Section(
            "Groups, worst first",
            headings=("group", "since", "what happened", "worst finding", "lag at most", "caught up"),
            rows=tuple(map(_hit_cells, report.hit)),
            numbers=(4,),
        )
    if report.common:
        yield Section(
            "In common",
            text="Hosts and client libraries of members that left or hung; topics and brokers of partitions that were "
            "hit.",
            headings=("what", "name", "groups hit", "groups that have it"),
            rows=tuple((c.what, shown(c.name), f"{c.hit:,}", f"{c.groups:,}") for c in report.common),
            numbers=(2, 3),
        )
    yield Section("Accuracy", notes=CLUSTER_NOTES)


def _hit_cells(hit: GroupHit) -> tuple[str, ...]:
    lag = "" if hit.lag is None else counted(hit.lag, unit_of(hit.kind))
    return shown(hit.group), utc(hit.began_ms), hit.sentence, hit.finding, lag, _end_text(hit)


def _end_text(hit: GroupHit) -> str:
    if hit.is_deleted:
        return "the group was deleted"
    if hit.lag is None:
        return ""
    return "not yet" if hit.caught_up_ms is None else utc(hit.caught_up_ms)
