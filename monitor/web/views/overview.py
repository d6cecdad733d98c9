"""What the overview shows: the clusters, how many groups have what, and the groups that match. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final
from urllib.parse import urlencode

from monitor.findings.alerts import alert_name, settling_until_ms, worst_first
from monitor.findings.alike import AlikeBy, AlikeGroups, alike_by
from monitor.findings.table import spec_of
from monitor.messages.formatting import age, counted, until
from monitor.messages.notification import utc
from monitor.model import ClusterSnapshot, Finding, FindingKind, GroupSummary, RecordingHealth, Value
from monitor.model.cluster_findings import ClusterFinding
from monitor.model.findings import Severity
from monitor.web.views.addresses import PAGE, GroupAddress, finding_help, runbook_help
from monitor.web.views.ended_lines import NONE_ENDED, EndedPart, endings_in_clusters
from monitor.web.views.group_list import KindCount, Listing, TeamCount, Wish
from monitor.web.views.status import cluster_sentence, shard_sentence, writing_sentence

SHOWN_GROUPS: Final = 50
"""How many groups the page lists, unless all are requested."""


class ClusterFindingLine(Value):
    """A finding of a cluster itself, as it is shown; ``kind`` is in words, ``age`` as of the evaluation."""

    kind: str
    severity: Severity
    sentence: str
    advice: str
    age: str
    since: str
    help_href: str
    runbook_href: str


class ClusterLine(Value):
    """A cluster in the head of the page. ``progress`` is in percent of the backlog, None when there is none to read.

    ``stale`` and ``late`` are by the age of the evaluation, too; what is stale is not late.
    ``warning`` is what a person should know though the cluster is read and judged. ``findings`` are its own.
    ``writing`` says where groupwatch writes, if not there.
    """

    name: str
    sentence: str
    warning: str | None
    ready: bool
    failing: bool
    evaluated: str | None
    stale: bool
    groups: int
    progress: int | None
    findings: tuple[ClusterFindingLine, ...] = ()
    writing: str | None = None
    late: bool = False


class FindingLine(Value):
    """A finding as it is shown. ``age`` is how long it had lasted when the group was judged, ``since`` when it began.

    ``advice`` says what to do first, where there is room for it. ``settling``: it is too young for its alert, which
    fires after this time; "" if it is old enough. ``help_href`` explains the finding, ``runbook_href`` what to do.
    """

    kind: FindingKind
    severity: Severity
    sentence: str
    age: str
    help_href: str
    runbook_href: str
    advice: str = ""
    since: str = ""
    settling: str = ""


class GroupLine(Value):
    """A group in the list. ``subordinate`` are findings that follow from one of its cluster.

    ``groups`` is how many it shows. If it is several, ``summary`` is of the first of them, and ``href`` lists them.
    """

    summary: GroupSummary
    href: str
    findings: tuple[FindingLine, ...]
    subordinate: tuple[FindingLine, ...] = ()
    groups: int = 1
    lag: int | None = None
    """Of several groups, their lag in total."""
    lag_age: str = ""
    """How old the lag is, or at least is, in words; "": unknown, or there is none."""
    pattern: str = ""
    """Of several groups, the pattern of their names."""


class Overview(Value):
    """The whole page. ``groups`` are listed, ``shown`` in all; the counts are of all that match name and cluster.

    ``share`` says which groups are elsewhere, None if none is; ``waiting`` is of how many clusters none is known yet.
    """

    clusters: tuple[ClusterLine, ...]
    groups: tuple[GroupLine, ...]
    shown: int
    hidden: int
    total: int
    troubled: int
    kinds: tuple[KindCount, ...]
    share: str | None
    waiting: int = 0
    teams: tuple[TeamCount, ...] = ()
    """By name; none: no file of expectations names one."""
    ended: EndedPart = NONE_ENDED


def overview(listing: Listing, now_ms: int, wish: Wish, limit: int | None) -> Overview:
    """The page of what the wish describes, with at most so many groups."""
    found, snapshot = listing.found(wish), listing.snapshot
    listed = _lines(listing, found.groups, limit, is_each=bool(wish.search or wish.kind))
    return Overview(
        clusters=tuple(cluster_line(cluster, now_ms) for cluster in snapshot.clusters),
        groups=listed,
        shown=len(found.groups),
        hidden=len(found.groups) - sum(each.groups for each in listed),
        total=found.total,
        troubled=found.troubled,
        kinds=found.kinds,
        teams=found.teams,
        share=None if snapshot.shard.is_all else shard_sentence(snapshot.shard),
        waiting=sum(not each.is_known for each in snapshot.clusters if wish.cluster in ("", each.cluster)),
        ended=endings_in_clusters((each for each in snapshot.clusters if wish.cluster in ("", each.cluster)), now_ms),
    )


def _lines(
    listing: Listing, groups: Sequence[GroupSummary], limit: int | None, *, is_each: bool
) -> tuple[GroupLine, ...]:
    """The lines of these groups; those that are alike have one, unless each is to be shown."""
    lines: list[GroupLine] = []
    shown: set[tuple[str, AlikeBy]] = set()
    for summary in groups:
        if len(lines) == limit:
            break
        common = None if is_each else alike_by(summary)
        alike = None if common is None else listing.alike[summary.cluster].get(common)
        if common is None or alike is None:
            lines.append(_group_line(listing.dated(summary)))
        elif (summary.cluster, common) not in shown:
            shown.add((summary.cluster, common))
            lines.append(_alike_line(listing.dated(summary), alike))
    return tuple(lines)


def _alike_line(first: GroupSummary, alike: AlikeGroups) -> GroupLine:
    """One line for several groups of a cluster."""
    fixed = max(alike.pattern.split("*"), key=len)
    wish = {"cluster": first.cluster, "kind": alike.kind.value} | ({"q": fixed} if fixed else {})
    line = FindingLine(
        kind=alike.kind,
        severity=alike.severity,
        sentence=alike.sentence,
        age=age(first.evaluated_ms - alike.since_ms),
        help_href=finding_help(alike.kind, alike.reason),
        runbook_href=_runbook_href(alike.kind, alike.reason),
        advice=alike.advice,
        since=utc(alike.since_ms),
    )
    return GroupLine(
        summary=first,
        href=f"/?{urlencode(wish)}",
        findings=(line,),
        groups=alike.groups,
        lag=alike.lag,
        pattern=alike.pattern,
    )


def finding_lines(summary: GroupSummary, findings: Sequence[Finding]) -> tuple[FindingLine, ...]:
    """These findings of a group, the worst first, with their ages."""
    in_order = worst_first(findings, summary.evaluated_ms)
    return tuple(
        finding_line(
            each,
            summary.evaluated_ms,
            spec_of(each.kind, each.reason).advice_for(
                summary.kind, is_connect=summary.is_connect, library=each.library
            ),
        )
        for each in in_order
    )


def finding_line(finding: Finding, at_ms: int, advice: str | None) -> FindingLine:
    """A finding as it is shown at an instant, with what to do about it."""
    until_ms = settling_until_ms(finding, at_ms)
    return FindingLine(
        kind=finding.kind,
        severity=spec_of(finding.kind, finding.reason).severity,
        sentence=finding.sentence,
        age=age(at_ms - finding.since_ms),
        help_href=finding_help(finding.kind, finding.reason),
        runbook_href=_runbook_href(finding.kind, finding.reason),
        advice=advice or "",
        since=utc(finding.since_ms),
        settling="" if until_ms is None else until(until_ms - at_ms),
    )


def cluster_line(cluster: ClusterSnapshot, now_ms: int) -> ClusterLine:
    """A cluster's condition now."""
    age_ms = cluster.age_ms(now_ms)
    return ClusterLine(
        name=cluster.cluster,
        sentence=cluster_sentence(cluster, now_ms),
        warning=_warning(cluster),
        ready=cluster.ready,
        failing=cluster.problem is not None,
        evaluated=None if age_ms is None else age(age_ms),
        stale=cluster.is_stale(now_ms),
        late=cluster.is_late(now_ms) and not cluster.is_stale(now_ms),
        groups=len(cluster.groups),
        progress=_progress(cluster),
        findings=tuple(_cluster_finding_line(each, cluster.evaluated_ms or 0) for each in cluster.findings),
        writing=None if cluster.carrier is None else writing_sentence(cluster.carrier),
    )


def _cluster_finding_line(finding: ClusterFinding, evaluated_ms: int) -> ClusterFindingLine:
    return ClusterFindingLine(
        kind=finding.kind.value.replace("_", " ").capitalize(),
        severity=finding.severity,
        sentence=finding.sentence,
        advice=finding.advice,
        age=age(evaluated_ms - finding.since_ms),
        since=utc(finding.since_ms),
        help_href=finding_help(finding.kind, finding.reason),
        runbook_href=_runbook_href(finding.kind, finding.reason),
    )


def _runbook_href(kind: str, reason: str) -> str:
    """The runbook of the finding's alert. Without an alert, what is known of the finding is in its row."""
    alert = alert_name(kind, reason)
    return finding_help(kind, reason) if alert is None else runbook_help(alert)


def recorded_line(name: str) -> ClusterLine:
    """A cluster on a page of the past: of its condition then, nothing is known."""
    return ClusterLine(
        name=name,
        sentence="",
        warning=None,
        ready=True,
        failing=False,
        evaluated=None,
        stale=False,
        groups=0,
        progress=None,
    )


def _warning(cluster: ClusterSnapshot) -> str | None:
    """What is wrong beside: partitions that are not read, findings, the recording, collectors and their passes."""
    said = (sentence for each in cluster.collectors for sentence in (each.problem, each.warning))
    beside = [sentence for sentence in said if sentence is not None and sentence not in (cluster.problem or "")]
    expected = None if cluster.expectations is None else cluster.expectations.problem
    own = [cluster.unread, cluster.findings_problem, expected, *_recording_warnings(cluster.recording)]
    return " ".join([*(each for each in own if each is not None), *beside]) or None


def _recording_warnings(recording: RecordingHealth | None) -> Iterator[str]:
    """What is wrong with the recording."""
    if recording is None:
        return
    if recording.problem is not None:
        yield recording.problem
    if recording.failed_groups:
        yield f"The newest ten minutes of the recording lack {counted(recording.failed_groups, 'group')}."
    if recording.unread_rows:
        yield f"The newest states of the recording lack {counted(recording.unread_rows, 'damaged row')} of events."


def _group_line(summary: GroupSummary) -> GroupLine:
    href = GroupAddress(summary.cluster, summary.group).under(PAGE)
    return GroupLine(
        summary=summary,
        href=href,
        findings=finding_lines(summary, summary.findings),
        subordinate=finding_lines(summary, summary.subordinate),
        lag_age=lag_age(summary) or "",
    )


def lag_age(summary: GroupSummary) -> str | None:
    """The age of the oldest record of a group's lag, or how old it is at least; None: unknown, or there is no lag."""
    if summary.lag == 0 or summary.is_connect:
        return None
    if summary.lag_since_ms is not None:
        return age(summary.evaluated_ms - summary.lag_since_ms)
    before_ms = summary.lag_before_ms
    return None if before_ms is None else f"over {age(summary.evaluated_ms - before_ms)}"


def _progress(cluster: ClusterSnapshot) -> int | None:
    warm_up = cluster.warm_up
    if warm_up is None or not warm_up.total:
        return None
    return 100 * (warm_up.total - warm_up.remaining) // warm_up.total
