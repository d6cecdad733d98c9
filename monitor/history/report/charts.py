"""The diagrams of a report, as SVG: the lag with findings and rebalances, and who owned what was hit."""

from __future__ import annotations

from typing import Final

from monitor.charts.lag import lag_chart
from monitor.charts.owners import owners_chart
from monitor.charts.values import LagAt, LagChart, Mark, OwnersChart, OwnerSpan, Span, TimeRange
from monitor.history.report.facts import IncidentReport
from monitor.history.report.rebalances import rebalance_sentence
from monitor.messages.kind_words import finding_words
from monitor.messages.names import shown
from monitor.model import KINDS, TopicPartition

MOST_PARTITIONS: Final = 40
"""Rows of the owners' diagram."""


def draw_lag(report: IncidentReport) -> str:
    """The lag over time; "" if it is never known."""
    if all(point.lag is None for point in report.points):
        return ""
    marks = (Mark(each.at_ms, rebalance_sentence(each, KINDS[report.kind].era)) for each in report.rebalances)
    spans = (
        Span(
            from_ms=max(each.since_ms, report.since_ms),
            until_ms=each.until_ms,
            severity=each.severity,
            label=finding_words(f"{each.kind}/{each.reason}"),
            sentence=each.sentence,
        )
        for each in report.findings
    )
    chart = LagChart(
        range=TimeRange(report.since_ms, report.until_ms),
        points=tuple(LagAt(point.at_ms, point.lag) for point in report.points),
        marks=tuple(marks),
        spans=tuple(spans),
        unit=report.unit,
    )
    return lag_chart(chart, with_style=False)


def draw_owners(report: IncidentReport) -> str:
    """Who owned the partitions that were hit; "" if none was, or nobody owned any."""
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
    """Member ids of Kafka's clients begin with the client id; those of KIP-848 tell nobody anything."""
    client_id = clients.get(member_id, "")
    return member_id if not client_id or member_id.startswith(client_id) else f"{client_id} {member_id}"
