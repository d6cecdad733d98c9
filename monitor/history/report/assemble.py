"""Makes a report on a group from its recording: the chronicle, the gaps between its commits, and what follows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from msgspec.structs import replace

from monitor.history.chronicle.commit_gaps import commit_gaps, merged_moments
from monitor.history.chronicle.grid import Steps, step_ms
from monitor.history.chronicle.values import Chronicle
from monitor.history.chronicle.writer import recorded_walk, write_chronicle
from monitor.history.replay import Recording
from monitor.history.report.facts import FindingThen, IncidentReport, MemberLeft
from monitor.history.report.findings import findings_then, is_brief
from monitor.history.report.lag import lag_course
from monitor.history.report.members import (
    Gaps,
    Owned,
    members_hung,
    members_joined,
    members_left,
    namesakes,
    place_of,
)
from monitor.history.report.partitions import (
    not_committed,
    offsets_then,
    orphan_spans,
    owned_twice,
    partitions_hit,
    records_lost,
    redelivered_records,
)
from monitor.history.report.rebalances import rebalances_then
from monitor.history.report.sentences import Wording
from monitor.history.report.summary import summarize
from monitor.history.work_limit import Check, no_check
from monitor.messages.units import unit_of
from monitor.model import FindingKind, Phase, TopicPartition
from monitor.model.findings import Severity

COMMITS_MATTER: Final = frozenset(
    {FindingKind.DEAD_MEMBER, FindingKind.UNATTENDED, FindingKind.ORPHANED, FindingKind.LAG}
)
"""With these findings, the report has how long partitions were not committed."""

USUAL_SESSION_MS: Final = 45_000
"""The default of session.timeout.ms."""


def group_report(  # noqa: PLR0913, PLR0917 -- as GroupWalk
    recording: Recording, cluster: str, group: str, since_ms: int, until_ms: int, check: Check = no_check
) -> IncidentReport | None:
    """What happened to a group, as far as it is recorded by now; None: it was not known in that time.

    Raises:
        RecordingError: the recording cannot be read, ends before that time, or this takes too long by ``check``.
    """
    walk, last_ms = recorded_walk(recording, cluster, group, since_ms, until_ms, check)
    steps = Steps(step_ms(since_ms, last_ms, walk.partitions, is_close=True), is_close=True)
    chronicle = write_chronicle(walk, since_ms, last_ms, steps=steps)
    if chronicle is None:
        return None
    gaps = commit_gaps(walk, merged_moments(list(_moments(chronicle))), last_ms)
    check(None)
    return report_of(replace(chronicle, gaps=gaps), asked_until_ms=until_ms, every_ms=steps.apart_ms)


def _moments(chronicle: Chronicle) -> Iterator[tuple[TopicPartition, int]]:
    """The instants at which it matters when partitions were committed: members went, or a finding opened."""
    owned = Owned(chronicle.owners)
    for change in chronicle.changes:
        for member in change.left:
            for span in owned.before(member.member_id, change.at_ms):
                yield place_of(span), change.at_ms
    for finding in findings_then(chronicle.findings):
        if finding.kind in COMMITS_MATTER:
            for place in finding.partitions:
                yield place, finding.opened_ms


def report_of(chronicle: Chronicle, asked_until_ms: int, every_ms: int) -> IncidentReport:
    """The report that follows from a chronicle, with its sentences."""
    facts = _facts(chronicle, asked_until_ms, every_ms)
    wording = Wording(facts, chronicle)
    return replace(facts, summary=summarize(facts, wording), timeline=wording.timeline())


def _facts(chronicle: Chronicle, asked_until_ms: int, every_ms: int) -> IncidentReport:
    findings, owned, gaps = findings_then(chronicle.findings), Owned(chronicle.owners), Gaps(chronicle.gaps)
    left = tuple(members_left(chronicle, owned, gaps))
    gone = [begun.at_ms for begun in chronicle.phases[-1:] if begun.phase is Phase.GONE]
    report = IncidentReport(
        cluster=chronicle.cluster,
        group=chronicle.group,
        kind=chronicle.kind,
        since_ms=chronicle.since_ms,
        until_ms=chronicle.until_ms,
        asked_until_ms=asked_until_ms,
        step_ms=every_ms,
        left=left,
        joined=tuple(members_joined(chronicle, left)),
        hung=tuple(members_hung(chronicle, findings, owned, gaps)),
        unowned=orphan_spans(chronicle, findings),
        owned_twice=owned_twice(chronicle, findings),
        not_committed=not_committed(chronicle),
        rebalances=rebalances_then(chronicle),
        rewinds=chronicle.rewinds,
        redelivered=redelivered_records(chronicle),
        lost=tuple(records_lost(chronicle, findings)),
        topics=chronicle.topics,
        truncations=chronicle.truncations,
        findings=tuple(each for each in findings if not is_brief(each)),
        points=chronicle.points,
        owners=chronicle.owners,
        members=chronicle.members,
        alike=tuple(sorted(namesakes(chronicle))),
        first_members=chronicle.points[0].members if chronicle.points else 0,
        last_members=chronicle.points[-1].members if chronicle.points else 0,
        first_generation=chronicle.points[0].generation if chronicle.points else 0,
        last_generation=chronicle.points[-1].generation if chronicle.points else 0,
        deleted_ms=gone[-1] if gone else None,
        unit=unit_of(chronicle.kind),
        is_connect=chronicle.is_connect,
        skips=chronicle.skips,
        cluster_findings=findings_then(chronicle.cluster_findings),
        needed=chronicle.needed,
    )
    return _with_evidence(report, chronicle)


def _with_evidence(report: IncidentReport, chronicle: Chronicle) -> IncidentReport:
    """With the lag and the offsets: which of them matter follows from what happened."""
    began_ms = min(_beginnings(report), default=None)
    hit = partitions_hit(report.left, report.rewinds, *_disturbed_places(report))
    offsets = offsets_then(chronicle, report.unowned)
    report = replace(
        report,
        began_ms=began_ms,
        hit=hit,
        offsets=offsets.rows,
        more_offsets=offsets.more,
        calm=offsets.calm,
        instants=offsets.instants,
        lag=lag_course(chronicle, began_ms),
    )
    return replace(report, is_over=began_ms is not None and not any(_goes_on(report)))


def _goes_on(report: IncidentReport) -> Iterator[bool]:
    """Whether each thing that can continue still does so at the end of the report."""
    if report.deleted_ms is not None:
        return
    yield from (not each.is_over for each in report.hung)
    yield from (not each.is_over for each in report.unowned if not each.is_brief)
    yield from (not each.is_over for each in report.owned_twice)
    yield from (each.until_ms is None for each in report.not_committed)
    yield from (not each.is_over for each in _grave_findings(report))
    yield report.lag.rose and (report.lag.caught_up_ms is None or report.lag.rose_again)


def _grave_findings(report: IncidentReport) -> Iterator[FindingThen]:
    """Those of the cluster, and those of the group that are more than information."""
    yield from report.cluster_findings
    yield from (each for each in report.findings if each.severity is not Severity.INFO)


def _disturbed_places(report: IncidentReport) -> Iterator[tuple[TopicPartition, ...]]:
    yield from (each.partitions for each in report.hung)
    yield from (each.partitions for each in report.unowned)
    yield from (each.partitions for each in report.owned_twice)
    yield from (each.partitions for each in report.not_committed)
    yield from ((TopicPartition(each.topic, each.partition),) for each in report.truncations)


def _beginnings(report: IncidentReport) -> Iterator[int]:
    yield from (_stopped_ms(each) for each in report.left)
    yield from (each.at_ms for each in report.joined)
    yield from (each.at_ms for each in report.rewinds)
    yield from (each.at_ms for each in report.topics)
    yield from (each.from_ms for each in report.truncations)
    yield from (each.at_ms for each in report.lost)
    yield from (each.from_ms for each in report.hung)
    yield from (each.from_ms for each in report.unowned)
    yield from (each.from_ms for each in report.owned_twice)
    yield from (each.from_ms for each in report.not_committed)
    yield from (each.since_ms for each in _grave_findings(report))
    if report.deleted_ms is not None:
        yield report.deleted_ms


def _stopped_ms(left: MemberLeft) -> int:
    """When a member may have stopped that is missed later: not before its last commit, nor before its last session."""
    if not left.is_uncertain or left.last_commit_ms is None:
        return left.at_ms
    return max(left.last_commit_ms, left.at_ms - max(left.member.session_ms, USUAL_SESSION_MS))
