"""Groups of Kafka as a collector reads them by the admin API, folded into what the log of groups would have shown.

A poll is a state, while the log has steps. So this makes up the steps that lead from the last poll to this one, in the
order in which a coordinator writes them. It folds them as those of the log: the same rules find their costs and causes.
Their time is that of the poll, and what came and went in between is not seen. The generation of a classic group is not
reported; what is counted are the changes that polls show.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from msgspec.structs import replace

from monitor.model import (
    KINDS,
    STATES_WITH_TARGETS,
    ConnectAssignment,
    CurrentStored,
    EpochStored,
    GroupObserved,
    GroupState,
    Member,
    MemberRemoved,
    MemberStored,
    ModernEvent,
    Phase,
    RebalanceCause,
    Reconciliation,
    RegexResolved,
    Source,
    TargetEpochStored,
    TargetStored,
    TopicPartitions,
    Value,
)
from monitor.tracking.connect import with_connect_work
from monitor.tracking.kip848.records import ModernDraft
from monitor.tracking.phases import REPORTED_STATES, PhaseEvent, enter_phase
from monitor.tracking.rebalances.generation import Generation
from monitor.tracking.rebalances.history import replace_rebalance
from monitor.tracking.rebalances.membership import with_rebalance, without_membership
from monitor.tracking.streams import with_polled_topology

REBALANCING_STATES: Final = frozenset({"PreparingRebalance", "CompletingRebalance"})
"""The states of a classic group in which its broker reports neither what members subscribe to nor what they own."""

_WITH_MEMBERSHIP: Final = frozenset({Phase.STABLE, Phase.EMPTY})


class MemberFingerprint(Value):
    """What of a member makes a generation another one."""

    member_id: str
    topics: tuple[str, ...]
    assigned: tuple[TopicPartitions, ...]
    connections: int = 1
    work: ConnectAssignment | None = None


def apply_kafka_poll(state: GroupState, event: GroupObserved) -> GroupState:
    """The group with the membership of the poll; its offsets are folded in by the poll's commits.

    A classic group that rebalances stays as it was known before, as it does in the log: its members' subscriptions and
    partitions are not reported meanwhile. RebalanceSampled reports that it rebalances.
    """
    fresh = GroupState(cluster=state.cluster, group=state.group, source=Source.ADMIN)
    before = state if state.source is Source.ADMIN else fresh
    after = (_apply_classic if KINDS[event.kind].has_generations else _apply_modern)(before, event)
    return replace(after, source=Source.ADMIN, observed_ms=event.observed_ms)


def _apply_classic(before: GroupState, event: GroupObserved) -> GroupState:
    if event.state in REBALANCING_STATES:
        return before
    if not event.members and not event.protocol_type:
        return _offsets_only(before, event)
    known = KINDS[before.kind].has_generations and before.phase in _WITH_MEMBERSHIP
    if (
        known
        and _fingerprints(before.members) == _fingerprints(event.members)
        and before.protocol_type == event.protocol_type
    ):
        return replace(before, members=event.members, protocol=event.protocol)
    generation = Generation(
        number=before.generation + 1,
        members=event.members,
        protocol_type=event.protocol_type,
        protocol=event.protocol,
        started_ms=event.observed_ms,
        ended_ms=event.observed_ms,
    )
    base = before if KINDS[before.kind].has_generations else without_membership(before)
    after = with_connect_work(base, with_rebalance(base, generation), event.observed_ms)
    return _without_joins(after) if before.phase is Phase.UNSEEN else after


def _without_joins(state: GroupState) -> GroupState:
    """The group without what its first reading cannot know: that its members have just joined."""
    last = len(state.history) - 1
    return replace_rebalance(state, last, replace(state.history[last], causes=(RebalanceCause.UNKNOWN,), joined=0))


def _offsets_only(before: GroupState, event: GroupObserved) -> GroupState:
    """A group that exists through its offsets; if it was another before, that one was deleted."""
    if KINDS[before.kind].has_generations and before.phase not in _WITH_MEMBERSHIP:
        return before
    return without_membership(enter_phase(before, PhaseEvent.CREATED, event.observed_ms))


def _fingerprints(members: tuple[Member, ...]) -> list[MemberFingerprint]:
    return [
        MemberFingerprint(
            each.member_id, each.topics, each.assigned, work=each.connect.assignment if each.connect else None
        )
        for each in members
    ]


def _apply_modern(before: GroupState, event: GroupObserved) -> GroupState:
    draft = ModernDraft(before, event.kind)
    known = before.members if before.kind is event.kind else ()
    for step in _synthetic_events(before, {member.member_id: member for member in known}, event):
        draft.apply(step)
    after = draft.freeze()
    happened = REPORTED_STATES.get(event.state or "")
    if happened is not None:
        after = enter_phase(after, happened, event.observed_ms)
    if KINDS[event.kind].broker_assigns_tasks:
        is_ready = None if happened is PhaseEvent.EMPTIED else happened is not PhaseEvent.UNREADY
        after = with_polled_topology(after, event.topology, is_ready=is_ready)
    return replace(after, protocol=event.protocol if event.members else None)


def _synthetic_events(before: GroupState, known: Mapping[str, Member], event: GroupObserved) -> Iterator[ModernEvent]:
    """What happened to the members, then the epoch that it raised, then the targets, then what members made of them."""
    group, kind, at_ms = event.group, event.kind, event.observed_ms
    told = {member.member_id: member for member in event.members}
    for member_id in sorted(known.keys() - told.keys()):
        yield MemberRemoved(group=group, kind=kind, member_id=member_id, removed_ms=at_ms)
    for member in event.members:
        asked = replace(member, reconciliation=None)
        if member.member_id not in known or replace(known[member.member_id], reconciliation=None) != asked:
            yield MemberStored(group=group, kind=kind, member=asked, stored_ms=at_ms)
    yield from _regex_events(before, event)
    if before.kind is not kind or before.phase is Phase.UNSEEN or before.generation != event.generation:
        yield EpochStored(group=group, kind=kind, epoch=event.generation or 0, stored_ms=at_ms)
    for member in event.members:
        reconciliation, was = _reconciliation(member), _reconciliation(known.get(member.member_id))
        target, spare = reconciliation.target, reconciliation.spare_target
        if (target, spare) != (was.target, was.spare_target):
            yield TargetStored(group=group, kind=kind, member_id=member.member_id, target=target, spare=spare)
    if before.kind is not kind or before.target_epoch != event.target_epoch:
        yield TargetEpochStored(group=group, kind=kind, epoch=event.target_epoch, stored_ms=at_ms)
    # No member gets what another still has: members that only give back come first.
    for member in sorted(
        event.members,
        key=lambda each: _gains_partitions(_reconciliation(each), _reconciliation(known.get(each.member_id))),
    ):
        current = replace(_reconciliation(member), target=None, spare_target=None)
        if member.member_id not in known or not _is_unchanged(current, _reconciliation(known[member.member_id])):
            current = replace(current, since_ms=at_ms)
            yield CurrentStored(group=group, kind=kind, member_id=member.member_id, current=current)


def _regex_events(before: GroupState, event: GroupObserved) -> Iterator[RegexResolved]:
    """Expressions whose topics are others than were known; none while the broker chooses new targets."""
    if event.state not in STATES_WITH_TARGETS and event.members:
        return
    told = {entry.regex: entry.topics for entry in event.regexes}
    known = {entry.regex: entry.topics for entry in before.regexes} if before.kind is event.kind else {}
    for regex in sorted(told.keys() | known.keys()):
        if told.get(regex) != known.get(regex):
            yield RegexResolved(group=event.group, regex=regex, topics=told.get(regex), stored_ms=event.observed_ms)


def _reconciliation(member: Member | None) -> Reconciliation:
    return (member.reconciliation if member is not None else None) or Reconciliation()


def _gains_partitions(now: Reconciliation, before: Reconciliation) -> bool:
    had = {(entry.id, each) for entry in (*before.assigned, *before.revoking) for each in entry.partitions}
    return any((entry.id, each) not in had for entry in now.assigned for each in entry.partitions)


def _is_unchanged(now: Reconciliation, before: Reconciliation) -> bool:
    return now == replace(before, target=None, spare_target=None, since_ms=0)
