"""What readings of a cluster show: the findings of its groups, worst first, also those that only time can confirm."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from monitor.detection.evaluate import Judged, judge_until
from monitor.detection.ownership.assignment_view import AssignmentView, view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.doctor.empty_groups import unknown_reason
from monitor.doctor.reading import ClusterState
from monitor.doctor.unread import Unread, unread_problems
from monitor.model import CommittedOffset, Finding, FindingKind, GroupState, TopicPartition, Value
from monitor.model.findings import Severity, rank

LOOK_AHEAD_MS: Final = 600_000
"""So far ahead it is judged what would become a finding: the longest grace periods of Kafka's groups are 5 minutes."""

NOT_COMMITTING: Final = (FindingKind.LAG, "not_committing")

LIMITS: Final = (
    "When something started, and how long it has lasted.",
    "Whether a member is stuck: that takes a minute without a commit, while there is lag.",
    "What happened before and between reads: rebalances, their causes and costs, and members that left.",
    "Whether a lag grows or shrinks, and how old it is in seconds.",
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


class NotJudged(Value):
    """A group of which nothing can be said, or not all that a job may know, and why."""

    group: str
    reason: str


class Diagnosis(Value):
    """The state of a cluster's groups at ``read_ms``. The worst finding comes first.

    ``began_ms`` is the start of the first of ``readings`` readings. ``judged`` is the number of groups with a verdict
    of which all can be said. ``notes`` are sentences on how the readings limit the findings.
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

    @property
    def is_certain(self) -> bool:
        """Whether time alone changes none of it."""
        return not any(finding.opens_in_ms for finding in self.findings)


def diagnose(
    state: ClusterState,
    readings: int,
    *,
    before: Mapping[str, GroupState] | None = None,
    only: str | None = None,
    settings: DetectionSettings | None = None,
) -> Diagnosis:
    """The findings of all groups, or of one, by the rules of the job.

    Args:
        state: the cluster after the newest reading.
        readings: how many readings there were.
        before: the groups as an earlier reading found them; newer commits refute that it stands still.
        only: the one group to judge; None: all.
        settings: the thresholds; None: the defaults of the job.
    """
    topics, chosen = Topics(state.catalog()), settings or DetectionSettings()
    rebalancing = [NotJudged(group=name, reason="it rebalances") for name in _select(state.rebalancing, only)]
    findings: list[GroupFinding] = []
    not_judged: list[NotJudged] = []
    names = _select(state.groups.keys() - state.rebalancing, only)
    for name in names:
        group = state.groups[name]
        try:
            subject = _Subject(group, view_assignment(group, topics.catalog), topics, chosen)
            own = _findings(subject, (before or {}).get(name), state)
            findings += [each for each in own if not _is_excused(each, state.unread)]
            reason = unknown_reason(group, topics.catalog)
        except Exception as error:  # one group's failure is its own; the others go on
            reason = f"{type(error).__name__}: {error}"[:500]
        if reason is not None:
            not_judged.append(NotJudged(group=name, reason=reason))
    return Diagnosis(
        cluster=state.cluster,
        began_ms=state.began_ms,
        read_ms=state.pass_ms,
        readings=readings,
        judged=len(names) - len(not_judged),
        findings=tuple(sorted(findings, key=_order)),
        not_judged=(*rebalancing, *not_judged),
        problems=(*state.problems, *unread_problems(state.unread, state.groups.values(), only)),
        limits=LIMITS,
        notes=() if state.unread.note_on_brokers is None else (state.unread.note_on_brokers,),
    )


def _is_excused(finding: GroupFinding, unread: Unread) -> bool:
    """Whether it accuses members of a silence that brokers cause: what these do not return is named elsewhere."""
    is_accusation = finding.kind == FindingKind.DEAD_MEMBER or (finding.kind, finding.reason) == NOT_COMMITTING
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


def _findings(subject: _Subject, earlier: GroupState | None, state: ClusterState) -> Iterator[GroupFinding]:
    """The findings of a group now, and those that it would have later by the same rules."""
    group, last_ms = subject.group, state.pass_ms + LOOK_AHEAD_MS
    certain = subject.judge_at(state.pass_ms).verdict.findings
    for finding in certain:
        yield _group_finding(group.group, finding, state, 0)
    moved = _moved_partitions(earlier, group)
    expected = _where_moved_goes_on(subject, moved, last_ms)
    next_ms = expected.judge_at(state.pass_ms).until_ms
    if next_ms is None:  # no rule waits for anything
        return
    present = set(map(_identity, certain))
    for finding in expected.judge_at(last_ms).verdict.findings:
        is_later = _identity(finding) not in present
        if is_later and (not moved or not _is_comparison(finding) or _finds(subject, finding, last_ms)):
            yield _group_finding(group.group, finding, state, _opens_in_ms(expected, finding, state.pass_ms, next_ms))


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


def _moved_partitions(earlier: GroupState | None, group: GroupState) -> frozenset[TopicPartition]:
    """The partitions whose committed offset is another one than in the earlier reading."""
    if earlier is None:
        return frozenset()
    before = {_place(each): each.offset for each in earlier.offsets}
    return frozenset([_place(each) for each in group.offsets if before.get(_place(each)) != each.offset])


def _place(commit: CommittedOffset) -> TopicPartition:
    return TopicPartition(commit.topic, commit.partition)


def _group_finding(group: str, finding: Finding, state: ClusterState, opens_in_ms: int) -> GroupFinding:
    spec = finding.spec
    return GroupFinding(
        group=group,
        kind=finding.kind,
        reason=finding.reason,
        severity=spec.severity,
        sentence=finding.sentence,
        advice=spec.advice,
        since_ms=min(max(finding.since_ms, state.began_ms), state.pass_ms),
        opens_in_ms=opens_in_ms,
        partitions=finding.partitions,
        members=finding.members,
    )


def _order(finding: GroupFinding) -> tuple[int, bool, int, str]:
    """By rank; of equal findings, the certain ones first, then the larger."""
    return rank(finding.kind, finding.reason), finding.opens_in_ms > 0, -len(finding.partitions), finding.group
