"""The report on a whole cluster: the groups that were hit, worst first, and what they have in common."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import starmap
from typing import Final

from monitor.findings.table import FINDINGS, rank
from monitor.history.chronicle.values import MemberThen
from monitor.history.report.facts import Departure, FindingThen, IncidentReport
from monitor.messages.client_libraries import library_name
from monitor.model import KINDS, Certainty, GroupKind, TopicPartition, Value
from monitor.model.findings import Severity

MOST_COMMON: Final = 20
"""More things that hit groups have in common are left out."""

KNOWN: Final = frozenset({Certainty.CERTAIN, Certainty.LIKELY})
"""With these certainties, the client library of a member counts."""


class GroupHit(Value):
    """A group to which something happened. ``sentence`` says what; ``severity`` is that of its worst finding.

    ``lag`` is the most that was seen of it while it was more than before (None: it did not rise). ``caught_up_ms``
    None: it has not caught up, or it did not have to. ``is_deleted``: the group was deleted.
    """

    group: str
    kind: GroupKind
    began_ms: int
    sentence: str
    severity: Severity | None = None
    finding: str = ""
    longest_ms: int = 0
    lag: int | None = None
    caught_up_ms: int | None = None
    is_deleted: bool = False


class Common(Value):
    """Something that several groups that were hit have in common: ``hit`` of ``groups`` groups that have it.

    ``what`` is "host", "client library", "topic" or "broker". Of a group, the hosts and libraries of the members count
    that left or hung, and the topics and brokers of the partitions that were hit.
    """

    what: str
    name: str
    hit: int
    groups: int


class ClusterFault(Value):
    """A finding of the cluster itself, by the groups that it concerned: their number, the first time, and the last.

    ``is_over``: it was over for all of them by the end of the report.
    """

    name: str
    severity: Severity
    since_ms: int
    until_ms: int
    is_over: bool
    groups: int


class ClusterReport(Value):
    """What happened in a cluster from one instant to another: ``hit`` of ``groups`` groups that were evaluated."""

    cluster: str
    since_ms: int
    until_ms: int
    groups: int
    hit: tuple[GroupHit, ...] = ()
    common: tuple[Common, ...] = ()
    faults: tuple[ClusterFault, ...] = ()


def cluster_report(cluster: str, since_ms: int, until_ms: int, reports: Iterable[IncidentReport]) -> ClusterReport:
    """The report that follows from those on the groups."""
    traits: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    shared: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    hit: list[GroupHit] = []
    faults: defaultdict[str, list[tuple[str, FindingThen]]] = defaultdict(list)
    count, reach_ms = 0, since_ms
    for report in reports:
        count, reach_ms = count + 1, max(reach_ms, report.until_ms)
        for trait in _traits(report):
            traits[trait].add(report.group)
        for finding in report.cluster_findings:
            faults[finding.name].append((report.group, finding))
        if report.began_ms is not None:
            hit.append(_hit(report, report.began_ms))
            for trait in _hit_traits(report):
                shared[trait].add(report.group)
    return ClusterReport(
        cluster=cluster,
        since_ms=since_ms,
        until_ms=min(until_ms, reach_ms) if count else until_ms,
        groups=count,
        hit=tuple(sorted(hit, key=_weight)),
        common=tuple(_common(traits, shared)),
        faults=tuple(sorted(starmap(_fault, faults.items()), key=lambda each: (each.since_ms, each.name))),
    )


def _fault(name: str, of_groups: Sequence[tuple[str, FindingThen]]) -> ClusterFault:
    """What the reports on groups say of one finding of the cluster, which may have come and gone."""
    found = [each for _, each in of_groups]
    return ClusterFault(
        name=name,
        severity=found[0].severity,
        since_ms=min(each.since_ms for each in found),
        until_ms=max(each.until_ms for each in found),
        is_over=all(each.is_over for each in found),
        groups=len({group for group, _ in of_groups}),
    )


def _hit(report: IncidentReport, began_ms: int) -> GroupHit:
    worst = min(report.findings, key=lambda each: rank(each.kind, each.reason), default=None)
    return GroupHit(
        group=report.group,
        kind=report.kind,
        began_ms=began_ms,
        sentence=report.summary[0] if report.summary else "",
        severity=None if worst is None else worst.severity,
        finding="" if worst is None else worst.name,
        longest_ms=max(_disturbances_ms(report), default=0),
        lag=report.lag.peak if report.lag.rose else None,
        caught_up_ms=report.lag.caught_up_ms,
        is_deleted=report.deleted_ms is not None,
    )


def _disturbances_ms(report: IncidentReport) -> Iterator[int]:
    yield from (each.until_ms - each.from_ms for each in report.unowned)
    yield from (each.until_ms - each.from_ms for each in report.hung)
    yield from (each.longest_ms for each in report.not_committed)


def _weight(hit: GroupHit) -> tuple[int, int, int, str]:
    """Sorts the worst first: by its worst finding, then by how long it lasted, then by the lag."""
    kind, _, reason = hit.finding.partition("/")
    worst = rank(kind, reason) if hit.finding else len(FINDINGS)
    return worst, -hit.longest_ms, -(hit.lag or 0), hit.group


def _traits(report: IncidentReport) -> set[tuple[str, str]]:
    """All that the group has."""
    places = {TopicPartition(span.topic, span.partition) for span in report.owners}
    return _member_traits(report.members) | _place_traits(report, places.union(report.hit))


def _hit_traits(report: IncidentReport) -> set[tuple[str, str]]:
    """All that was hit of it."""
    left = [each.member for each in report.left if each.departure is not Departure.REPLACED]
    hung = [each.member for each in report.hung]
    return _member_traits([*left, *hung]) | _place_traits(report, report.hit)


def _member_traits(members: Sequence[MemberThen]) -> set[tuple[str, str]]:
    found = {("host", member.host) for member in members if member.host}
    libraries = (member.library for member in members)
    return found | {("client library", library_name(each)) for each in libraries if each.certainty in KNOWN}


def _place_traits(report: IncidentReport, places: Collection[TopicPartition]) -> set[tuple[str, str]]:
    """Topics, and brokers where partitions are named by them (RocketMQ, MetaQ): leaders of Kafka are not recorded."""
    found = {("topic", place.topic) for place in places}
    if KINDS[report.kind].text_partitions:
        found |= {("broker", str(place.partition).rpartition("-")[0]) for place in places}
    return found


def _common(traits: Mapping[tuple[str, str], set[str]], shared: Mapping[tuple[str, str], set[str]]) -> list[Common]:
    """What at least two groups that were hit have in common: first what most of them have, then what is rare."""
    found = [
        Common(what, name, hit=len(groups), groups=max(len(groups), len(traits.get((what, name), ()))))
        for (what, name), groups in shared.items()
        if len(groups) > 1
    ]
    return sorted(found, key=lambda each: (-each.hit, each.groups, each.what, each.name))[:MOST_COMMON]
