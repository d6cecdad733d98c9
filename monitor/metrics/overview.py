"""What the overview shows: the clusters, the groups with findings worst first, and the others by name. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from monitor.detection.telling import utc
from monitor.metrics.addresses import PAGE, GroupAddress
from monitor.metrics.readiness import share_told, told
from monitor.metrics.wording import age
from monitor.model import ClusterSnapshot, FindingKind, GroupSummary, Snapshot, Value

STALE_AFTER_MS: Final = 60_000
"""From this age on, the page says that an evaluation is old: many times the interval between two batches."""

SHOWN_GROUPS: Final = 200
"""How many groups the page lists, unless it is asked for all."""

_SEVERITY: Final = {kind: rank for rank, kind in enumerate(FindingKind)}
_RIGHT: Final = len(_SEVERITY)


class ClusterLine(Value):
    """A cluster in the head of the page. ``progress`` is in percent of the backlog, None when there is none to read.

    ``warning`` is what a person should know though the cluster is read and judged.
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


class FindingLine(Value):
    """A finding as it is shown. ``age`` is how long it had lasted when the group was judged, ``since`` when it began.

    ``advice`` says what to do first, where there is room for it.
    """

    kind: FindingKind
    sentence: str
    age: str
    advice: str = ""
    since: str = ""


class GroupLine(Value):
    """A group in the list."""

    summary: GroupSummary
    href: str
    findings: tuple[FindingLine, ...]


class Overview(Value):
    """The whole page. ``troubled`` and ``calm`` are the listed groups; the counts are of all that match the search.

    ``share`` says which groups are elsewhere, None if none is.
    """

    clusters: tuple[ClusterLine, ...]
    troubled: tuple[GroupLine, ...]
    calm: tuple[GroupLine, ...]
    troubled_count: int
    group_count: int
    hidden: int
    share: str | None


def overview(snapshot: Snapshot, now_ms: int, search: str, limit: int | None) -> Overview:
    """The page for a search (part of a group's name, in any case) with at most so many groups."""
    wanted = search.casefold()
    summaries = [each for each in judged(snapshot) if wanted in each.group.casefold()]
    ordered = sorted(summaries, key=worst_first)
    listed = ordered[:limit]
    return Overview(
        clusters=tuple(cluster_line(cluster, now_ms) for cluster in snapshot.clusters),
        troubled=tuple(_group_line(each) for each in listed if each.findings),
        calm=tuple(_group_line(each) for each in listed if not each.findings),
        troubled_count=sum(bool(each.findings) for each in ordered),
        group_count=len(ordered),
        hidden=len(ordered) - len(listed),
        share=None if snapshot.shard.is_all else share_told(snapshot.shard),
    )


def judged(snapshot: Snapshot) -> Iterable[GroupSummary]:
    """The groups of all clusters that are ready. Before that, a group is only half read and must not be shown."""
    return (
        replace(summary, evaluated_ms=cluster.evaluated_ms or 0)
        for cluster in snapshot.clusters
        if cluster.ready
        for summary in cluster.groups
    )


def worst_first(summary: GroupSummary) -> tuple[int, int, str, str]:
    """The worst kind of finding first, the longest first, then by name. Groups without findings come last."""
    worst = min(summary.findings, key=lambda finding: (_SEVERITY[finding.kind], finding.since_ms), default=None)
    if worst is None:
        return _RIGHT, 0, summary.cluster, summary.group
    return _SEVERITY[worst.kind], worst.since_ms, summary.cluster, summary.group


def finding_lines(summary: GroupSummary) -> tuple[FindingLine, ...]:
    """The findings in their order, with their ages."""
    return tuple(
        FindingLine(
            kind=each.kind,
            sentence=each.sentence,
            age=age(summary.evaluated_ms - each.since_ms),
            since=utc(each.since_ms),
        )
        for each in summary.findings
    )


def cluster_line(cluster: ClusterSnapshot, now_ms: int) -> ClusterLine:
    """A cluster's condition now."""
    since_ms = None if cluster.evaluated_ms is None else now_ms - cluster.evaluated_ms - cluster.clock_behind_ms
    return ClusterLine(
        name=cluster.cluster,
        sentence=told(cluster),
        warning=_warning(cluster),
        ready=cluster.ready,
        failing=cluster.problem is not None,
        evaluated=None if since_ms is None else age(since_ms),
        stale=since_ms is not None and since_ms >= STALE_AFTER_MS,
        groups=len(cluster.groups),
        progress=_progress(cluster),
    )


def _warning(cluster: ClusterSnapshot) -> str | None:
    """What is wrong beside the reading: with the findings, with collectors that tell of more groups, and in passes."""
    said = (sentence for each in cluster.collectors for sentence in (each.problem, each.warning))
    beside = [sentence for sentence in said if sentence is not None and sentence not in (cluster.problem or "")]
    problems = beside if cluster.findings_problem is None else [cluster.findings_problem, *beside]
    return " ".join(problems) or None


def _group_line(summary: GroupSummary) -> GroupLine:
    href = GroupAddress(summary.cluster, summary.group).under(PAGE)
    return GroupLine(summary=summary, href=href, findings=finding_lines(summary))


def _progress(cluster: ClusterSnapshot) -> int | None:
    warm_up = cluster.warm_up
    if warm_up is None or not warm_up.total:
        return None
    return 100 * (warm_up.total - warm_up.remaining) // warm_up.total
