"""A verdict as it is listed, and as the API gives it."""

from __future__ import annotations

import msgspec
from msgspec.structs import asdict, replace

from monitor.detection.client_libraries.census import count_members
from monitor.findings.table import spec_of
from monitor.model import KINDS, Finding, GroupState, GroupSummary, GroupVerdict, LibraryMembers, Phase, traits_of
from monitor.model.findings import Severity


class AdvisedFinding(Finding, kw_only=True):
    """A finding with its severity and what to do about it."""

    severity: Severity
    advice: str | None = None


class ToldVerdict(GroupVerdict):
    """Everything that groupwatch knows of a group, its findings with severity and advice."""

    findings: tuple[AdvisedFinding, ...] = ()
    """Its findings, worst first, with severity and advice."""


def summary_of(verdict: GroupVerdict) -> GroupSummary:
    """What the overview needs of a verdict."""
    return GroupSummary(
        cluster=verdict.cluster,
        group=verdict.group,
        kind=verdict.kind,
        state=verdict.state,
        assignor=verdict.assignor,
        members=None if verdict.state is Phase.OFFSETS_ONLY else len(verdict.members),
        lag=verdict.lag,
        findings=verdict.findings,
        libraries=_libraries(verdict),
        sink_groups=_sink_groups(verdict),
        is_connect=verdict.is_connect,
        unknown_versions=verdict.unknown_versions,
        lag_at_least=verdict.lag_at_least,
        short_life=verdict.short_life,
        subordinate=verdict.subordinate,
        hidden_topics=verdict.hidden_topics,
        missed_brokers=verdict.missed_brokers,
        topics_without_leader=verdict.topics_without_leader,
        lag_ms=verdict.lag_ms,
        lag_at_least_ms=verdict.lag_at_least_ms,
    )


def _sink_groups(verdict: GroupVerdict) -> tuple[str, ...]:
    if verdict.connect is None:
        return ()
    return tuple(sorted({connector.sink_group for connector in verdict.connect.connectors}))


def _libraries(verdict: GroupVerdict) -> tuple[LibraryMembers, ...]:
    """The members of a Kafka group by client library; the most frequent first."""
    if not KINDS[verdict.kind].has_kafka_clients:
        return ()
    return count_members(member.library for member in verdict.members)


def unjudged_summary(group: GroupState, last: GroupSummary | None, reason: str) -> GroupSummary:
    """What the overview has of a group that cannot be judged: its last verdict, or else who it is; and why."""
    return replace(last or _unknown(group), unjudged=reason)


def _unknown(group: GroupState) -> GroupSummary:
    return GroupSummary(
        cluster=group.cluster,
        group=group.group,
        kind=group.kind,
        state=group.phase,
        assignor=None,
        members=None,
        lag=None,
        findings=(),
        is_connect=traits_of(group).runs_connectors,
    )


def verdict_json(verdict: GroupVerdict) -> bytes:
    """The whole verdict, its findings with advice; a field that has its default (null, 0, empty) is left out."""
    advised = tuple(_with_advice(verdict, finding) for finding in verdict.findings)
    fields = {name: getattr(verdict, name) for name in verdict.__struct_fields__ if name != "findings"}
    return msgspec.json.encode(ToldVerdict(**fields, findings=advised))


def _with_advice(verdict: GroupVerdict, finding: Finding) -> AdvisedFinding:
    spec = spec_of(finding.kind, finding.reason)
    advice = spec.advice_for(verdict.kind, is_connect=verdict.is_connect)
    return AdvisedFinding(**asdict(finding), severity=spec.severity, advice=advice)
