"""A verdict as it is listed, and as findings of the cluster need it."""

from __future__ import annotations

from msgspec.structs import replace

from monitor.detection.client_libraries.census import count_members
from monitor.model import KINDS, GroupState, GroupSummary, GroupVerdict, LibraryMembers, Phase, traits_of
from monitor.model.expectations import GroupExpectations, Met


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
        lag_since_ms=verdict.lag_since_ms,
        lag_before_ms=_lag_before_ms(verdict),
        expectations=verdict.expectations,
        scaling=verdict.scaling,
    )


def _lag_before_ms(verdict: GroupVerdict) -> int | None:
    """An instant, which stays as it is while nothing happens, and no age, which grows."""
    if verdict.lag_since_ms is not None or not verdict.lag_at_least_ms:
        return None
    return verdict.evaluated_ms - verdict.lag_at_least_ms


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
    listed = last or _unknown(group)
    expected = listed.expectations
    if expected is not None:
        listed = replace(listed, expectations=GroupExpectations(met=Met.UNKNOWN, team=expected.team))
    return replace(listed, unjudged=reason)


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
        is_unknown=True,
    )
