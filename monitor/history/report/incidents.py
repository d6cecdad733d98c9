"""The incidents of a report: what happened close together. A wide span may have several, perhaps of one cause."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from monitor.charts.values import TimeRange, missing_ranges
from monitor.history.report.facts import FindingThen, IncidentReport
from monitor.model.findings import Severity

CALM_MS: Final = 600_000
"""After so long without anything, what happens next is another incident: many alerts are sent again by then."""

LONG_PART: Final = 0.5
"""A finding that lasted for more than this part of the span joins nothing: it was there in each incident."""

MOST_STEPS_APART: Final = 3
"""Points with more steps between them have nothing recorded between them."""

EARLIER_MS: Final = 300_000
"""Clients see after so long at most that a topic grew: the default of metadata.max.age.ms."""


def incident_ranges(report: IncidentReport) -> list[TimeRange]:
    """From when to when each incident was, in the order of time."""
    found: list[TimeRange] = []
    for each in sorted(_disturbances(report), key=lambda one: one.since_ms):
        if found and each.since_ms <= found[-1].until_ms + CALM_MS:
            found[-1] = TimeRange(found[-1].since_ms, max(found[-1].until_ms, each.until_ms))
        else:
            found.append(each)
    return found


def incident_part(report: IncidentReport, incident: TimeRange) -> IncidentReport:
    """The report with the facts of one incident: those that began in it, or within the calm time after it.

    Findings are there that were open at any time of it. Members may have joined, and topics changed, a while before.
    """
    start_ms, end_ms = incident.since_ms, incident.until_ms + CALM_MS
    span, caused_ms = TimeRange(start_ms, end_ms), start_ms - EARLIER_MS
    return replace(
        report,
        began_ms=start_ms,
        left=tuple([each for each in report.left if start_ms <= each.at_ms <= end_ms]),
        joined=tuple([each for each in report.joined if caused_ms <= each.at_ms <= end_ms]),
        hung=tuple([each for each in report.hung if start_ms <= each.from_ms <= end_ms]),
        unowned=tuple([each for each in report.unowned if start_ms <= each.from_ms <= end_ms]),
        owned_twice=tuple([each for each in report.owned_twice if start_ms <= each.from_ms <= end_ms]),
        not_committed=tuple([each for each in report.not_committed if start_ms <= each.from_ms <= end_ms]),
        rebalances=tuple([each for each in report.rebalances if start_ms <= each.at_ms <= end_ms]),
        rewinds=tuple([each for each in report.rewinds if start_ms <= each.at_ms <= end_ms]),
        lost=tuple([each for each in report.lost if start_ms <= each.at_ms <= end_ms]),
        topics=tuple([each for each in report.topics if caused_ms <= each.at_ms <= end_ms]),
        truncations=tuple([each for each in report.truncations if start_ms <= each.at_ms <= end_ms]),
        findings=tuple([each for each in report.findings if span.overlaps(each.since_ms, each.until_ms)]),
        cluster_findings=tuple(
            [each for each in report.cluster_findings if span.overlaps(each.since_ms, each.until_ms)]
        ),
        points=tuple([each for each in report.points if each.at_ms <= end_ms]),
        deleted_ms=report.deleted_ms if start_ms <= (report.deleted_ms or 0) <= end_ms else None,
    )


def missing_parts(report: IncidentReport) -> list[TimeRange]:
    """The parts of the span of which nothing is recorded."""
    times = [point.at_ms for point in report.points]
    return missing_ranges(times, TimeRange(report.since_ms, report.until_ms), MOST_STEPS_APART * report.step_ms)


def long_findings(report: IncidentReport) -> list[FindingThen]:
    """Those of the group that are more than information and join nothing: no incident is theirs alone."""
    return [each for each in report.findings if each.severity is not Severity.INFO and _is_long(each, report)]


def _disturbances(report: IncidentReport) -> Iterator[TimeRange]:
    """From when to when each thing lasted that makes an incident. Members that only join make none."""
    end_ms = report.until_ms
    yield from (TimeRange(each.at_ms, each.back_ms or each.at_ms) for each in report.left)
    yield from (TimeRange(each.from_ms, each.until_ms) for each in report.hung)
    yield from (TimeRange(each.from_ms, each.until_ms) for each in report.unowned if not each.is_brief)
    yield from (TimeRange(each.from_ms, each.until_ms) for each in report.owned_twice)
    yield from (TimeRange(each.from_ms, each.until_ms or end_ms) for each in report.not_committed)
    moments = [each.at_ms for each in report.rewinds]
    moments += [each.at_ms for each in report.lost]
    moments += [each.at_ms for each in report.truncations]
    moments += [] if report.deleted_ms is None else [report.deleted_ms]
    yield from (TimeRange(at_ms, at_ms) for at_ms in moments)
    for finding in (*report.cluster_findings, *report.findings):
        if finding.severity is not Severity.INFO and not _is_long(finding, report):
            yield TimeRange(max(finding.since_ms, report.since_ms), finding.until_ms)


def _is_long(finding: FindingThen, report: IncidentReport) -> bool:
    lasted_ms = finding.until_ms - max(finding.since_ms, report.since_ms)
    return lasted_ms > LONG_PART * (report.until_ms - report.since_ms)
