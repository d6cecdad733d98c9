"""The diagrams of a report, as SVG: the lag with findings and rebalances, and who owned what was hit."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from msgspec.structs import replace

from monitor.charts.lag import lag_chart
from monitor.charts.owners import owners_chart
from monitor.charts.values import LagAt, LagChart, Mark, OwnersChart, OwnerSpan, Span, TimeRange
from monitor.history.report.facts import FindingThen, IncidentReport, ReportLine
from monitor.history.report.findings import lasted_text
from monitor.history.report.incidents import MOST_STEPS_APART
from monitor.history.report.rebalances import rebalance_lines
from monitor.messages.kind_words import finding_words
from monitor.messages.names import shown
from monitor.model import TopicPartition

MOST_PARTITIONS: Final = 40
"""Rows of the owners' diagram."""


def past_chart(
    lag: LagChart,
    rebalances: Iterable[ReportLine],
    findings: Iterable[FindingThen],
    href: Callable[[int], str] = lambda _: "",
) -> LagChart:
    """The lag of a group with its rebalances, and with its findings since they were true.

    ``href`` is the link to an instant: for a finding, to the first one in the range at which it was found.
    """
    bars = (
        Span(
            from_ms=max(each.since_ms, lag.range.since_ms),
            until_ms=each.until_ms,
            severity=each.severity,
            label=finding_words(each.name),
            sentence=each.sentence,
            href=href(max(each.opened_ms, lag.range.since_ms)),
            times=lasted_text(each),
        )
        for each in findings
    )
    marks = (Mark(each.at_ms, each.sentence, href(each.at_ms)) for each in rebalances)
    return replace(lag, marks=tuple(marks), spans=tuple(bars))


def draw_lag(report: IncidentReport) -> str:
    """The lag over time, with its peak; "" if it is never known."""
    if all(point.lag is None for point in report.points):
        return ""
    peak = {} if report.lag.peak is None else {report.lag.peak_ms: report.lag.peak}
    lags = {point.at_ms: point.lag for point in report.points} | peak
    points = tuple(LagAt(at_ms, lags[at_ms]) for at_ms in sorted(lags))
    chart = LagChart(
        TimeRange(report.since_ms, report.until_ms),
        points,
        unit=report.unit,
        apart_ms=MOST_STEPS_APART * report.step_ms,
    )
    rebalances = rebalance_lines(report.rebalances, report.kind)
    return lag_chart(past_chart(chart, rebalances, (*report.cluster_findings, *report.findings)), with_style=False)


def draw_owners(report: IncidentReport) -> str:
    """Who owned the partitions that were hit; "" if none was, or none of them had an owner."""
    chosen = frozenset(report.hit[:MOST_PARTITIONS])
    clients = {member.member_id: member.client_id for member in report.members}
    spans = tuple(
        OwnerSpan(
            f"{shown(each.topic)} {each.partition}",
            tuple(_owner(name, clients) for name in each.owners),
            each.from_ms,
            each.until_ms,
        )
        for each in report.owners
        if TopicPartition(each.topic, each.partition) in chosen
    )
    if not spans:
        return ""
    return owners_chart(OwnersChart(TimeRange(report.since_ms, report.until_ms), spans), with_style=False)


def _owner(member_id: str, clients: dict[str, str]) -> str:
    """Member ids of Kafka's clients begin with the client id; those of KIP-848 mean nothing to a person."""
    client_id = clients.get(member_id, "")
    return member_id if not client_id or member_id.startswith(client_id) else f"{client_id} {member_id}"
