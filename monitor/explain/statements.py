"""What explanations are made of: statements with their evidence, about what was judged of a group."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from msgspec.structs import replace

from monitor.detection.cluster_findings import findings_over
from monitor.detection.ended_findings import KEPT_MS, alert_sentence, ended_lately
from monitor.detection.evaluate import judge
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.ownership.assignment_view import AssignmentView, view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.findings.alerts import settling_until_ms, worst_first
from monitor.findings.table import by_rank, spec_of
from monitor.messages.formatting import age, counted, lasted
from monitor.messages.names import era, shown
from monitor.messages.notification import utc
from monitor.model import Catalog, Finding, GroupState, GroupSummary, GroupVerdict, PartitionId, Value
from monitor.model.cluster_findings import ClusterFindingKind
from monitor.model.ended_findings import EndedLately
from monitor.model.findings import SubordinateFinding


class About(StrEnum):
    """What a statement is about."""

    GROUP = "group"
    ASSIGNOR = "assignor"
    MEMBERS = "members"
    CLIENTS = "clients"
    REBALANCE = "rebalance"
    LAG = "lag"
    NEEDED = "needed"
    """How many members the group needs."""
    PARTITION = "partition"
    OWNER = "owner"
    RULE = "rule"
    EXPECTED = "expected"
    OFFSETS = "offsets"
    FINDING = "finding"
    ENDED = "ended"
    """A finding that ended a short time ago."""


class Statement(Value):
    """A sentence, since when it is so, and what it rests on."""

    about: About
    """The subject of the sentence."""
    sentence: str
    since_ms: int | None = None
    """When it started (ms since the epoch); absent: unknown, or not applicable."""
    evidence: tuple[str, ...] = ()
    """The evidence, and what to do."""
    settling_until_ms: int | None = None
    """Of a finding that is too young for its alert: when it is old enough (ms since the epoch)."""


class Explanation(Value):
    """What can be said of a group, or of one of its partitions, at an instant."""

    cluster: str
    group: str
    evaluated_ms: int
    statements: tuple[Statement, ...]
    """The statements, in reading order."""
    topic: str | None = None
    partition: PartitionId | None = None
    state_ms: int | None = None
    """Of the past: when the recorded state was stored that later records were added to; 0: there was none."""


class Judged(Value):
    """A verdict with what it was made from."""

    verdict: GroupVerdict
    view: AssignmentView
    group: GroupState
    """With the names of its topics and its offsets."""
    catalog: Catalog

    def age_of(self, instant_ms: int) -> str:
        """How long ago an instant was."""
        return age(self.verdict.evaluated_ms - instant_ms)


def judged(inputs: GroupInputs) -> Judged:
    """The verdict on these inputs, and what it was made from."""
    topics, view = Topics(inputs.catalog), view_assignment(inputs.group, inputs.catalog)
    verdict = judge(inputs.group, topics, view, inputs.now_ms, inputs.settings)
    if inputs.expected:
        verdict = replace(verdict, findings=by_rank([*verdict.findings, *inputs.expected]))
    return Judged(verdict=verdict, view=view, group=view.named(inputs.group), catalog=inputs.catalog)


def metadata_told(known: Judged) -> Iterator[str]:
    """Which topics have changed since the generation."""
    for change in known.view.expectation.changes:
        yield (
            f"{shown(change.topic)} had {counted(change.before, 'partition')} for {era(known.group)} and has "
            f"{change.after} now."
        )


def cluster_statements(catalog: Catalog, group: GroupSummary, at_ms: int) -> Iterator[Statement]:
    """The findings of the cluster that concern the group, but for unknown versions: the group's own are enough."""
    for finding in findings_over(catalog, group, at_ms):
        if finding.kind is not ClusterFindingKind.RECORDS:
            yield Statement(
                about=About.FINDING,
                sentence=f"This is a finding of the cluster: {finding.sentence}",
                since_ms=finding.since_ms,
                evidence=(f"What to do: {finding.advice}",),
            )


def findings_told(verdict: GroupVerdict, findings: Sequence[Finding], none: str) -> Iterator[Statement]:
    """Each of these findings of a verdict with what to do; ``none`` is said where there is none."""
    if not findings:
        yield Statement(about=About.FINDING, sentence=none)
    for finding in worst_first(findings, verdict.evaluated_ms):
        yield finding_statement(finding, verdict.kind, verdict.evaluated_ms, is_connect=verdict.is_connect)


def finding_statement(finding: Finding, kind: str, at_ms: int, *, is_connect: bool) -> Statement:
    """A finding of a group of this kind as it is at an instant, with what to do."""
    advice = spec_of(finding.kind, finding.reason).advice_for(kind, is_connect=is_connect, library=finding.library)
    return Statement(
        about=About.FINDING,
        sentence=finding.sentence,
        since_ms=finding.since_ms,
        evidence=() if advice is None else (f"What to do: {advice}",),
        settling_until_ms=settling_until_ms(finding, at_ms),
    )


def subordinate_statements(subordinate: Iterable[SubordinateFinding]) -> Iterator[Statement]:
    """The findings that follow from a finding of the cluster."""
    for finding in subordinate:
        follows = finding.follows.replace("_", " ").replace("/", ": ")
        sentence = f"This follows from a finding of the cluster ({follows}): {finding.sentence}"
        yield Statement(about=About.FINDING, sentence=sentence, since_ms=finding.since_ms)


def ended_statements(ended: EndedLately | None, at_ms: int) -> Iterator[Statement]:
    """The findings that ended lately, and whether some may be missing."""
    if ended is None:
        return
    for each in ended_lately(ended, at_ms).findings:
        took = lasted(max(1, each.ended_ms - each.since_ms))
        sentence = f"{each.sentence} This ended {age(at_ms - each.ended_ms)} ago, after {took}."
        yield Statement(
            about=About.ENDED,
            sentence=f"{sentence} {alert_sentence(each, at_ms)}".rstrip(),
            since_ms=each.since_ms,
        )
    if ended.known_ms > at_ms - KEPT_MS:
        known = f"A finding that ended before {utc(ended.known_ms)} is not remembered here."
        yield Statement(about=About.ENDED, sentence=known)
