"""Partitions whose owner is another than the expected one.

Only partitions that exist are compared: what a member still holds of a deleted topic harms nobody. A partition whose
owner differs from both expectations for the same cause is told once, as "replayed": a rebalance would not put it
right.

Rule 1: Owners that the assignor does not give for the generation's inputs, nor for older metadata, are ``replayed``.
Rule 2: They are a ``tie`` if another order of the members gives them.
Rule 3: Owners that an assignor cannot give are ``replayed``, too, if it is only checked.
Rule 4: Owners are ``current`` where the inputs of now give others than these, and than those of the generation give.
Rule 5: Targets of KIP-848 that the broker's assignor does not give are ``target``.
Rule 6: Tasks of KIP-1071 that the broker's assignor does not give are ``target``.
Rule 7: A handover is ``pending`` once it takes longer than ``handover_ms``, or else than the owner's rebalance timeout.
Rule 8: A topic that no longer exists has no drift.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.catalog_view import was_seen
from monitor.detection.ownership.context import Expectation, Facts, Owners
from monitor.detection.ownership.tasks.target_check import TargetResult
from monitor.detection.ownership.tasks.task_places import target_tasks, task_holders
from monitor.detection.rules.drift_causes import CURRENT, OWN, REPLAYED, TARGET, Seen, cause_of
from monitor.detection.rules.rule import Rule
from monitor.findings.advice import BY_BROKER, STREAMS
from monitor.findings.drift import CurrentDrift, LateHandover, RefusedAssignment, ReplayedDrift, TargetDrift, TaskDrift
from monitor.findings.observation import Observation
from monitor.model import DriftCause, DriftKind, FindingKind, Handover, TopicPartition
from monitor.model.evidence import Difference, ReplayedAssignor


def find_replayed_drift(facts: Facts) -> Iterable[Observation]:
    """The assignment is not what the assignor gives for the inputs of the generation, nor for older metadata."""
    replayed = facts.expectation.replayed
    partitions = _differing(facts, replayed, facts.ownership.owners) if facts.expectation.kind == "exact" else ()
    if partitions and facts.traits.is_self_assigned:
        nobodys = {TopicPartition(row.topic, row.partition) for row in facts.partitions if row.orphan is not None}
        partitions = tuple([place for place in partitions if place not in nobodys])  # that is told, and by whom
    if partitions:
        cause = cause_of(OWN if facts.traits.is_self_assigned else REPLAYED, _drift_inputs(facts))
        yield Observation(
            kind=FindingKind.DRIFT,
            reason=DriftKind.TIE if cause.cause is DriftCause.TIE else DriftKind.REPLAYED,
            since_ms=facts.not_later_than_now(facts.group.generation_ms),
            evidence=ReplayedDrift(
                _difference(partitions, replayed, facts.ownership.owners), cause, _replayed_assignor(facts.expectation)
            ),
            partitions=partitions,
            cause=cause.cause,
        )


def find_refused_assignment(facts: Facts) -> Iterable[Observation]:
    """The leader's assignor, which is only checked, cannot have given the owners."""
    refusal, assignor = facts.expectation.refusal, _replayed_assignor(facts.expectation)
    if refusal is None or assignor is None or refusal.partition is None or refusal.partition not in facts.known:
        return
    if was_seen(facts.catalog, refusal.partition.topic):
        cause = cause_of(REPLAYED, _drift_inputs(facts))
        yield Observation(
            kind=FindingKind.DRIFT,
            reason=DriftKind.REPLAYED,
            since_ms=facts.not_later_than_now(facts.group.generation_ms),
            evidence=RefusedAssignment(assignor, refusal),
            partitions=(refusal.partition,),
            members=(refusal.member,) if refusal.member else (),
            cause=cause.cause,
        )


def _replayed_assignor(expectation: Expectation) -> ReplayedAssignor | None:
    dialect = expectation.dialect
    return None if dialect is None else ReplayedAssignor(dialect.library, dialect.version)


def _drift_inputs(facts: Facts) -> Seen:
    return Seen(facts.group, facts.expectation, {member.member_id: member.library for member in facts.members})


def find_current_drift(facts: Facts) -> Iterable[Observation]:
    """The inputs have changed since the generation, and with them the owner of these partitions: a rebalance is due."""
    current, replayed = facts.expectation.current, facts.expectation.replayed
    if facts.expectation.kind != "exact" or current is replayed or current == replayed:
        return
    differing = _differing(facts, current, facts.ownership.owners)
    pending = facts.expectation.pending  # on their way to the new owner already
    partitions = tuple(p for p in differing if current.get(p) != replayed.get(p) and p not in pending)
    if partitions:
        cause = cause_of(CURRENT, _drift_inputs(facts))
        yield Observation(
            kind=FindingKind.DRIFT,
            reason=DriftKind.CURRENT,
            since_ms=facts.not_later_than_now(_inputs_changed_ms(facts)),
            evidence=CurrentDrift(
                _difference(partitions, current, facts.ownership.owners), cause, facts.expectation.changes
            ),
            partitions=partitions,
            cause=cause.cause,
        )


def find_target_drift(facts: Facts) -> Iterable[Observation]:
    """KIP-848: the broker has chosen other owners than its assignor gives (monitor.detection.ownership.targets)."""
    chosen, given = facts.expectation.current, facts.expectation.replayed
    if facts.expectation.kind != "target" or not given or facts.expectation.target_check is not None:
        return
    partitions = _differing(facts, given, chosen)
    if partitions:
        cause = cause_of(TARGET, _drift_inputs(facts))
        yield Observation(
            kind=FindingKind.DRIFT,
            reason=DriftKind.TARGET,
            since_ms=facts.not_later_than_now(facts.group.generation_ms),
            evidence=TargetDrift(_difference(partitions, given, chosen), cause),
            partitions=partitions,
            cause=cause.cause,
        )


def find_task_drift(facts: Facts) -> Iterable[Observation]:
    """KIP-1071: the broker has chosen other tasks than its assignor gives (monitor.detection.ownership.tasks)."""
    check = facts.expectation.target_check
    if check is None or check.result is not TargetResult.DIFFERENT:
        return
    given, chosen = task_holders(check.given), task_holders(map(target_tasks, facts.group.members))
    differing = sorted(place for place in given.keys() | chosen.keys() if given.get(place) != chosen.get(place))
    if differing:
        first = differing[0]
        yield Observation(
            kind=FindingKind.DRIFT,
            reason=DriftKind.TARGET,
            since_ms=facts.not_later_than_now(facts.group.generation_ms),
            evidence=TaskDrift(str(first.task), first.is_standby, given.get(first, ()), chosen.get(first, ())),
            partitions=_differing(facts, facts.expectation.replayed, facts.expectation.current),
            tasks=tuple(dict.fromkeys(str(each.task) for each in differing)),
            cause=DriftCause.UNKNOWN,
        )


def _differing(facts: Facts, expected: Owners, actual: Owners) -> tuple[TopicPartition, ...]:
    if expected is actual:  # as it mostly is: see monitor.detection.ownership.assignment_view
        return ()
    differing = sorted(place for place in facts.known if actual.get(place) != expected.get(place))
    return tuple(place for place in differing if was_seen(facts.catalog, place.topic))


def _difference(partitions: tuple[TopicPartition, ...], expected: Owners, actual: Owners) -> Difference:
    first = partitions[0]
    return Difference(partitions=partitions, expected=expected.get(first, ()), actual=actual.get(first, ()))


def _inputs_changed_ms(facts: Facts) -> int:
    """When the newest partition that makes the difference was first seen; not before the generation."""
    seen = [change.since_ms for change in facts.expectation.changes if change.since_ms is not None]
    return max(facts.group.generation_ms, *seen) if seen else facts.group.generation_ms


USUAL_MS: Final = 300_000
"""How long a handover may take if the member's rebalance timeout is not known: ``max.poll.interval.ms`` as it is."""


def find_late_handovers(facts: Facts) -> Iterable[Observation]:
    """Handovers that take longer than they may: ``handover_ms``, or else the owner's rebalance timeout."""
    late = [handover for handover in facts.expectation.handovers if _is_late(handover, facts)]
    if late:
        first = min(late, key=lambda handover: (handover.since_ms, handover.owner))
        partitions = tuple(sorted(place for handover in late for place in handover.partitions))
        yield Observation(
            kind=FindingKind.DRIFT,
            reason=DriftKind.PENDING,
            since_ms=facts.not_later_than_now(first.since_ms),
            evidence=LateHandover(first.partitions[0], first.owner, first.heir, first.is_told),
            partitions=partitions,
            members=tuple(sorted({handover.owner for handover in late})),
        )


def _is_late(handover: Handover, facts: Facts) -> bool:
    chosen = facts.settings.handover_ms
    grace_ms = chosen if chosen is not None else handover.grace_ms or USUAL_MS
    return facts.has_passed(handover.since_ms + grace_ms)


RULES: Final = (
    Rule(find_replayed_drift, of_owners=True),
    Rule(find_refused_assignment, of_owners=True),
    Rule(find_current_drift, of_owners=True),
    Rule(find_target_drift, of_owners=False, kinds=BY_BROKER),
    Rule(find_task_drift, of_owners=False, kinds=STREAMS),
    Rule(find_late_handovers, of_owners=False),
)
