"""What readings of a cluster show: the findings of its groups, worst first, also those that only time can confirm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from monitor.detection.evaluate import Judged, judge_until
from monitor.detection.ownership.assignment_view import AssignmentView, view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.doctor.empty_groups import unknown_reason
from monitor.doctor.group_rows import GroupRow, group_row, rebalancing_row
from monitor.doctor.libraries import LibrarySeen, libraries_seen
from monitor.doctor.reading import ClusterState
from monitor.doctor.unread import Unread, unread_problems
from monitor.expectations.outcome import Outcome
from monitor.findings.table import rank, spec_of
from monitor.model import CommittedOffset, Finding, FindingKind, GroupState, TopicPartition, Value, traits_of
from monitor.model.findings import Severity

LOOK_AHEAD_MS: Final = 600_000
"""So far ahead it is judged what would become a finding: the longest grace periods of Kafka's groups are 5 minutes."""

NOT_COMMITTING: Final = (FindingKind.LAG, "not_committing")

LIMITS: Final = (
    "When something started, and how long it has lasted.",
    "Whether a member is stuck: that takes a minute without a commit, while there is lag.",
    "What happened before and between reads: rebalances, their causes and costs, and members that left.",
    "Whether a lag grows or shrinks, and how old it is if it is older than the first reading.",
    "Of share groups: deliveries of single records, and records that were given up.",
    "Of Connect: which connectors and tasks should run, and which sinks are paused or stopped on purpose.",
)
"""What one look cannot know, a sentence each."""


class GroupFinding(Value):
    """A finding of a group, with what to do first. ``severity`` is that of one that has lasted.

    ``since_ms``: since when this look has seen it, in ms since the epoch; it may be older. ``opens_in_ms``: 0 if it is
    certain; otherwise a job reports it after this time unless something changes, and the sentence holds only then.
    """

    group: str
    kind: str
    reason: str
    severity: Severity
    sentence: str
    advice: str | None
    since_ms: int
    opens_in_ms: int
    partitions: tuple[TopicPartition, ...]
    members: tuple[str, ...]
    alert_age_s: int | None = None


class NotJudged(Value):
    """A group of which nothing can be said, or not all that a job may know, and why."""

    group: str
    reason: str


class Diagnosis(Value):
    """The state of a cluster's groups at ``read_ms``. The worst finding comes first.

    ``began_ms`` is the start of the first of ``readings`` readings. ``judged`` is the number of groups with a verdict
    of which all can be said. ``notes`` are sentences on how the readings limit the findings. ``groups`` has a row for
    each group, those with the largest lag first.

    ``unconfirmed`` counts what would become a finding if nothing changed, but was seen by one reading only. A consumer
    that works looks like this between two commits, so it is no finding before an earlier reading has it, too.
    """

    cluster: str
    began_ms: int
    read_ms: int
    readings: int
    judged: int
    findings: tuple[GroupFinding, ...]
    not_judged: tuple[NotJudged, ...]
    problems: tuple[str, ...]
    limits: tuple[str, ...]
    notes: tuple[str, ...] = ()
    groups: tuple[GroupRow, ...] = ()
    unconfirmed: int = 0
    unconfirmed_groups: tuple[str, ...] = ()
    """The groups that have such findings."""
    libraries: tuple[LibrarySeen, ...] = ()
    """The client libraries of the members, with known defects."""
    expectations: Outcome | None = None
    """Whether the groups are as a file of expectations says; None: it was not compared with one."""

    @property
    def is_certain(self) -> bool:
        """Whether time alone changes none of it."""
        return not self.unconfirmed and not any(finding.opens_in_ms for finding in self.findings)


def diagnose(
    state: ClusterState,
    readings: int,
    *,
    before: ClusterState | None = None,
    only: str | None = None,
    settings: DetectionSettings | None = None,
) -> Diagnosis:
    """The findings of all groups, or of one, by the rules of the job.

    Args:
        state: the cluster after the newest reading.
        readings: how many readings there were.
        before: the cluster as an earlier reading found it. Without one, only what is certain is a finding.
        only: the one group to judge; None: all.
        settings: the thresholds; None: the defaults of the job.
    """
    chosen = settings or DetectionSettings()
    now, earlier = _Look(state, chosen), None if before is None else _Look(before, chosen)
    rebalancing = _select(state.rebalancing, only)
    names = _select(state.groups.keys() - state.rebalancing, only)
    judged = [_judge(name, now, earlier) for name in names]
    unknown = [NotJudged(group=each.group, reason=each.unknown) for each in judged if each.unknown is not None]
    rows = [*(each.row for each in judged if each.row is not None), *map(rebalancing_row, rebalancing)]
    return Diagnosis(
        cluster=state.cluster,
        began_ms=state.began_ms,
        read_ms=state.pass_ms,
        readings=readings,
        judged=len(names) - len(unknown),
        findings=tuple(sorted([found for each in judged for found in each.findings], key=_order)),
        not_judged=(*(NotJudged(group=name, reason="it rebalances") for name in rebalancing), *unknown),
        problems=(*state.problems, *unread_problems(state.unread, state.groups.values(), only)),
        limits=LIMITS,
        notes=() if state.unread.note_on_brokers is None else (state.unread.note_on_brokers,),
        groups=tuple(sorted(rows, key=lambda row: (-(row.lag or 0), row.group))),
        unconfirmed=sum(each.unconfirmed for each in judged),
        unconfirmed_groups=tuple([each.group for each in judged if each.unconfirmed]),
        libraries=libraries_seen([state.groups[name] for name in names]),
    )


class _Look:
    """A cluster after a reading, with its topics in the form that the rules read."""

    __slots__ = ("settings", "state", "topics")

    def __init__(self, state: ClusterState, settings: DetectionSettings) -> None:
        self.state = state
        self.topics = Topics(state.catalog())
        self.settings = settings

    def has(self, name: str) -> bool:
        """Whether the group was read, and does not rebalance."""
        return name in self.state.groups and name not in self.state.rebalancing

    def subject(self, name: str) -> _Subject:
        """The group by this name, which was read."""
        group = self.state.groups[name]
        return _Subject(group, view_assignment(group, self.topics.catalog), self.topics, self.settings)


@dataclass(frozen=True, slots=True)
class _Judgment:
    """What is said of one group. ``unknown`` is why it is not all that could be said."""

    group: str
    row: GroupRow | None = None
    findings: tuple[GroupFinding, ...] = ()
    unconfirmed: int = 0
    unknown: str | None = None


def _judge(name: str, now: _Look, earlier: _Look | None) -> _Judgment:
    """A group that was read; one group's failure is its own, and the others go on."""
    try:
        subject = now.subject(name)
        verdict = subject.judge_at(now.state.pass_ms).verdict
        certain = [_group_finding(subject.group, each, now.state, 0) for each in verdict.findings]
        before = earlier.subject(name) if earlier is not None and earlier.has(name) else None
        later = _later_findings(subject, verdict.findings, before, now.state)
        expected = [each for each in later if not _is_excused(each, now.state.unread)]
        confirmed = (
            [] if earlier is None or before is None else _select_confirmed(expected, before, earlier.state.pass_ms)
        )
        findings = [each for each in certain if not _is_excused(each, now.state.unread)] + confirmed
        reason = unknown_reason(subject.group, now.topics.catalog)
        return _Judgment(name, group_row(verdict), tuple(findings), len(expected) - len(confirmed), reason)
    except Exception as error:
        return _Judgment(name, unknown=f"{type(error).__name__}: {error}"[:500])


def _select_confirmed(expected: Sequence[GroupFinding], before: _Subject, read_ms: int) -> list[GroupFinding]:
    """Those that the earlier reading, at ``read_ms``, led to expect, too, or had for certain.

    A finding of the newest reading alone may be of records that have just come, and of members that are at work.
    """
    if not expected:
        return []
    verdicts = [before.judge_at(at_ms).verdict for at_ms in (read_ms, read_ms + LOOK_AHEAD_MS)]
    seen = {_identity(found) for verdict in verdicts for found in verdict.findings}
    return [each for each in expected if (each.kind, each.reason) in seen]


def _is_excused(finding: GroupFinding, unread: Unread) -> bool:
    """Whether it accuses members of a silence that brokers cause: what these do not return is named elsewhere."""
    by_commits = {FindingKind.DEAD_MEMBER, FindingKind.UNCOMMITTED}
    is_accusation = finding.kind in by_commits or (finding.kind, finding.reason) == NOT_COMMITTING
    return is_accusation and unread.excuses(finding.group, finding.partitions)


def _select(names: Iterable[str], only: str | None) -> list[str]:
    return sorted(name for name in names if only in (None, name))


@dataclass(frozen=True, slots=True)
class _Subject:
    """A group with all that its verdicts are made of, but the instant."""

    group: GroupState
    view: AssignmentView
    topics: Topics
    settings: DetectionSettings

    def judge_at(self, at_ms: int) -> Judged:
        return judge_until(self.group, self.topics, self.view, at_ms, self.settings)


def _later_findings(
    subject: _Subject, certain: Iterable[Finding], earlier: _Subject | None, state: ClusterState
) -> Iterator[GroupFinding]:
    """The findings that the group would have later, by the same rules, if nothing changed."""
    last_ms = state.pass_ms + LOOK_AHEAD_MS
    moved = _moved_partitions(earlier, subject)
    expected = _where_moved_goes_on(subject, moved, last_ms)
    next_ms = expected.judge_at(state.pass_ms).until_ms
    if next_ms is None:  # no rule waits for anything
        return
    present = set(map(_identity, certain))
    for finding in expected.judge_at(last_ms).verdict.findings:
        is_later = _identity(finding) not in present
        if is_later and (not moved or not _is_comparison(finding) or _finds(subject, finding, last_ms)):
            opens_in_ms = _opens_in_ms(expected, finding, state.pass_ms, next_ms)
            yield _group_finding(subject.group, finding, state, opens_in_ms)


def _where_moved_goes_on(subject: _Subject, moved: frozenset[TopicPartition], until_ms: int) -> _Subject:
    """The group as it will be if these partitions are consumed until then, and all others stand still.

    A commit refutes a standstill of its own partition only: a consumer can go on in one, and hang in the others. What
    it says of the rest, the rules of a job decide: which member does nothing while another commits, that a member that
    commits one partition lives, and that a commit for a group without members counts as activity of the whole group.
    """
    offsets = [
        _commit_at_end(commit, subject.topics, until_ms) if _place(commit) in moved else commit
        for commit in subject.group.offsets
    ]
    return replace(subject, group=msgspec.structs.replace(subject.group, offsets=tuple(offsets)))


def _commit_at_end(commit: CommittedOffset, topics: Topics, at_ms: int) -> CommittedOffset:
    """The commit of a partition that is consumed to its end, and committed at this instant."""
    partition = topics.places(commit.topic).get(_place(commit))
    end = None if partition is None else partition.end
    return msgspec.structs.replace(commit, offset=commit.offset if end is None else end, committed_ms=at_ms)


def _is_comparison(finding: Finding) -> bool:
    """Whether it compares the lag of members: it would be made up where the lag of the others is left out."""
    return (finding.kind, finding.reason) == (FindingKind.IMBALANCE, "lag")


def _finds(subject: _Subject, finding: Finding, at_ms: int) -> bool:
    """Whether the group has this finding of these members if nothing at all changes until then."""
    found = subject.judge_at(at_ms).verdict.findings
    return any((_identity(each), each.members) == (_identity(finding), finding.members) for each in found)


def _opens_in_ms(subject: _Subject, finding: Finding, now_ms: int, next_ms: int) -> int:
    """After how long the finding opens: from one instant that a rule waits for (first ``next_ms``) to the next."""
    at_ms, last_ms = next_ms, now_ms + LOOK_AHEAD_MS
    while at_ms < last_ms:
        judged = subject.judge_at(at_ms)
        if _identity(finding) in map(_identity, judged.verdict.findings):
            break
        at_ms = last_ms if judged.until_ms is None else judged.until_ms
    return min(at_ms, last_ms) - now_ms


def _identity(finding: Finding) -> tuple[str, str]:
    return finding.kind, finding.reason


def _moved_partitions(earlier: _Subject | None, now: _Subject) -> frozenset[TopicPartition]:
    """The partitions that do not stand still: committed further since the earlier reading, or without lag at it.

    Records that came after a reading without lag have waited for less than the time between the two. A group without
    members has nobody that could be at work on them, so there only commits count.
    """
    if earlier is None:
        return frozenset()
    before = {_place(each): each.offset for each in earlier.group.offsets}
    committed = {_place(each) for each in now.group.offsets if before.get(_place(each)) != each.offset}
    fresh = {place for place, offset in before.items() if not _has_lag(place, offset, earlier.topics)}
    return frozenset(committed | fresh if now.group.members else committed)


def _has_lag(place: TopicPartition, offset: int, topics: Topics) -> bool:
    partition = topics.places(place.topic).get(place)
    return partition is not None and partition.end is not None and offset < partition.end


def _place(commit: CommittedOffset) -> TopicPartition:
    return TopicPartition(commit.topic, commit.partition)


def _group_finding(group: GroupState, finding: Finding, state: ClusterState, opens_in_ms: int) -> GroupFinding:
    spec = spec_of(finding.kind, finding.reason)
    return GroupFinding(
        group=group.group,
        kind=finding.kind,
        reason=finding.reason,
        severity=spec.severity,
        sentence=finding.sentence,
        advice=spec.advice_for(group.kind, is_connect=traits_of(group).runs_connectors, library=finding.library),
        since_ms=min(max(finding.since_ms, state.began_ms), state.pass_ms),
        opens_in_ms=opens_in_ms,
        partitions=finding.partitions,
        members=finding.members,
        alert_age_s=finding.alert_age_s,
    )


def _order(finding: GroupFinding) -> tuple[int, bool, int, str]:
    """By rank; of equal findings, the certain ones first, then the larger."""
    return rank(finding.kind, finding.reason), finding.opens_in_ms > 0, -len(finding.partitions), finding.group
