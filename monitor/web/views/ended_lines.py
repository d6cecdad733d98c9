"""Findings that ended lately as the page shows them: their alerts may still fire, so people come for them. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ended_findings import KEPT_MS, alert_sentence, ended_in_cluster, has_alert, in_group
from monitor.findings.table import spec_of
from monitor.messages.formatting import age, lasted
from monitor.messages.notification import utc
from monitor.model import ClusterSnapshot, FindingKind, Value
from monitor.model.ended_findings import EndedFinding
from monitor.model.findings import Severity
from monitor.web.views.addresses import PAGE, GroupAddress, finding_help

SHOWN_ENDED: Final = 10
"""The page lists so many, the newest."""


class EndedLine(Value):
    """A finding that ended. ``href`` is the page of its group; "" if the group has gone.

    ``alert`` says what its alert does; "" if there is nothing to say.
    """

    cluster: str
    group: str
    href: str
    kind: FindingKind
    severity: Severity
    sentence: str
    help_href: str
    ago: str
    at: str
    took: str
    alert: str


class EndedPart(Value):
    """What ended lately, the newest first. ``hidden`` are not listed. ``known`` is the instant from which it has all.

    ``known`` is "" where that is longer ago than anything listed.
    """

    lines: tuple[EndedLine, ...] = ()
    hidden: int = 0
    known: str = ""


NONE_ENDED: Final = EndedPart()


def endings_in_group(cluster: ClusterSnapshot, group: str, now_ms: int) -> EndedPart:
    """The findings of one group that ended lately."""
    ended = ended_in_cluster(cluster, now_ms)
    if ended is None:
        return NONE_ENDED
    own = [_line(cluster, each, now_ms) for each in in_group(ended, group).findings]
    known_ms = ended.known_ms + cluster.clock_behind_ms
    known = utc(known_ms) if known_ms > now_ms - KEPT_MS else ""
    return EndedPart(tuple(own[:SHOWN_ENDED]), max(0, len(own) - SHOWN_ENDED), known)


def endings_in_clusters(clusters: Iterable[ClusterSnapshot], now_ms: int) -> EndedPart:
    """The findings of groups that ended lately, but for those without an alert, or too young for it."""
    found = [
        (each, cluster)
        for cluster in clusters
        if (ended := ended_in_cluster(cluster, now_ms)) is not None
        for each in ended.findings
        if has_alert(each)
    ]
    found.sort(key=lambda pair: -pair[0].ended_ms)
    lines = tuple(_line(cluster, each, now_ms) for each, cluster in found[:SHOWN_ENDED])
    return EndedPart(lines, hidden=len(found) - len(lines))


def _line(cluster: ClusterSnapshot, ended: EndedFinding, now_ms: int) -> EndedLine:
    is_there = cluster.find_group(ended.group) is not None
    ended_ms = ended.ended_ms + cluster.clock_behind_ms
    return EndedLine(
        cluster=cluster.cluster,
        group=ended.group,
        href=GroupAddress(cluster.cluster, ended.group).under(PAGE) if is_there else "",
        kind=ended.kind,
        severity=spec_of(ended.kind, ended.reason).severity,
        sentence=ended.sentence,
        help_href=finding_help(ended.kind, ended.reason),
        ago=age(now_ms - ended_ms),
        at=utc(ended_ms),
        took=lasted(max(1, ended.ended_ms - ended.since_ms)),
        alert=alert_sentence(ended, now_ms - cluster.clock_behind_ms),
    )
