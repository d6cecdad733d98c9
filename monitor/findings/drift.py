"""Owners that differ from those that the assignor, or the broker, gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from monitor.findings.advice import ALL, CLASSIC, COMPARE_STRATEGIES, SELF_ASSIGNED, STATIC_MEMBER, Advice
from monitor.findings.clauses import first_example, have_verb, strategies_sentence, task_names
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.client_libraries import project_name, project_names
from monitor.messages.formatting import counted
from monitor.messages.names import LISTED, era, listed, partition, people, places, shown
from monitor.model import KINDS, DriftCause, DriftKind, FindingKind, GroupState, TopicPartition
from monitor.model.evidence import Cause, Difference, Growth, Refusal, RefusalReason, ReplayedAssignor

_NOT_URGENT: Final = "Not urgent: partitions that have an owner are still consumed."

_OTHER_OWNERS: Final = (
    Advice(_NOT_URGENT, ALL),
    Advice("Compare the members' client libraries, versions, and lists of assignors.", CLASSIC),
    Advice(f"Compare {COMPARE_STRATEGIES}.", SELF_ASSIGNED),
)

_WOULD_MOVE: Final = (
    Advice(f"{_NOT_URGENT} The next rebalance fixes it.", ALL),
    Advice(f"To fix it now, restart the leader ({STATIC_MEMBER}).", CLASSIC),
    Advice("To fix it now, restart a member.", SELF_ASSIGNED),
)

ROWS: Final = (
    FindingSpec(
        FindingKind.DRIFT,
        DriftKind.PENDING,
        Rank.SLOW_HANDOVER,
        advice=(
            "Check whether the member that must revoke the partition hangs, and restart it if it does. If this lasts "
            "longer than its max.poll.interval.ms, also check the log of the group's coordinator."
        ),
        mark="slow handover",
    ),
    FindingSpec(
        FindingKind.DRIFT,
        DriftKind.TARGET,
        Rank.UNEXPLAINED,
        advice=f"{_NOT_URGENT} Check whether the brokers run a different version, or a custom assignor.",
        mark="differs from the broker's assignor",
    ),
    FindingSpec(
        FindingKind.DRIFT,
        DriftKind.REPLAYED,
        Rank.UNEXPLAINED,
        advice=_OTHER_OWNERS,
        mark="differs from the assignor",
    ),
    FindingSpec(
        FindingKind.DRIFT,
        DriftKind.CURRENT,
        Rank.WOULD_MOVE,
        advice=_WOULD_MOVE,
        mark="would move in a rebalance",
    ),
    FindingSpec(
        FindingKind.DRIFT,
        DriftKind.TIE,
        Rank.TIE,
        advice="No action needed: both results are the assignor's own.",
        mark="tie",
    ),
)


class LateHandover(Evidence):
    """The oldest of the handovers, by its first partition. ``heir``: None, nobody is to have it.

    ``is_told``: the broker has told the owner to give it back.
    """

    first: TopicPartition
    owner: str
    heir: str | None
    is_told: bool


@sentence.register
def _late_handover(evidence: LateHandover, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    delay = (
        "has not revoked it, although the coordinator requested that"
        if evidence.is_told
        else "has not contacted the coordinator since"
    )
    return (
        f"{places(partitions)} {have_verb(partitions)} not been handed over in {era(group)}. "
        f"{_target_owner(evidence, partitions, group)} "
        f"Its current owner, {people([evidence.owner], group)}, {delay}."
    )


def _target_owner(evidence: LateHandover, partitions: Sequence[TopicPartition], group: GroupState) -> str:
    if evidence.heir is None:
        return f"{first_example(partitions, evidence.first)} has no target owner."
    new_owner = people([evidence.heir], group)
    if len(partitions) == 1:
        return f"Its target owner is {new_owner}."
    return f"For example, the target owner of {partition(evidence.first)} is {new_owner}."


class TargetDrift(Evidence):
    """The actual owners of the difference are those that the broker has chosen."""

    difference: Difference
    cause: Cause


@sentence.register
def _target_drift(evidence: TargetDrift, found: Observation, group: GroupState) -> str:
    difference, cause = evidence.difference, evidence.cause
    if cause.cause is DriftCause.MIXED_ASSIGNORS:
        why = f"The members request different assignors: {listed(cause.seen)}."
    elif any(member.server_assignor is not None for member in group.members):
        why = "The brokers may run a different version of the assignor."
    else:
        why = (
            "No member requests an assignor, and the brokers' default (group.consumer.assignors) may be a different "
            "one."
        )
    expected, chosen = _member_names(difference.expected, group), _member_names(difference.actual, group)
    return (
        f"The coordinator did not assign {places(difference.partitions)} as its assignor "
        f"{shown(group.protocol or '')} computes for {era(group)}. {first_example(difference.partitions)} should go to "
        f"{expected}, but the coordinator chose {chosen}. {why}"
    )


class TaskDrift(Evidence):
    """The targets of a streams group are not what its task assignor gives; the tasks of the finding differ.

    Of the ``first`` one, ``expected`` are the members that are to have it, ``actual`` those that the broker has chosen:
    as standby tasks if ``is_standby``, else as the active one.
    """

    first: str
    is_standby: bool
    expected: tuple[str, ...]
    actual: tuple[str, ...]


@sentence.register
def _task_drift(evidence: TaskDrift, found: Observation, group: GroupState) -> str:
    example = f"the {'standby ' if evidence.is_standby else ''}task {shown(evidence.first)}"
    expected, chosen = _member_names(evidence.expected, group), _member_names(evidence.actual, group)
    concerned = f" This concerns {places(found.partitions)}." if found.partitions else ""
    return (
        f"The coordinator did not assign {task_names(found.tasks)} as its assignor {shown(group.protocol or '')} "
        f"computes for {era(group)}.{concerned} For example, {example} should go to {expected}, but the coordinator "
        f"chose {chosen}. The brokers may run a different version of the assignor."
    )


class ReplayedDrift(Evidence):
    """The owners are not those that the assignor gives for the inputs of the generation.

    ``assignor`` is that of the leader's client library; None: Kafka's own.
    """

    difference: Difference
    cause: Cause
    assignor: ReplayedAssignor | None = None


@sentence.register
def _replayed_drift(evidence: ReplayedDrift, found: Observation, group: GroupState) -> str:
    difference, cause = evidence.difference, evidence.cause
    if KINDS[group.kind].is_self_assigned:
        return _self_assigned_drift(difference, cause, group)
    return (
        f"{places(difference.partitions)} {have_verb(difference.partitions)} a different owner than the assignor "
        f"{_assignor_name(group, evidence.assignor)} computes for generation {group.generation}. "
        f"{_owner_example(difference, group)} {_replayed_cause(cause, group, evidence.assignor)}"
    )


def _self_assigned_drift(difference: Difference, cause: Cause, group: GroupState) -> str:
    why = "Each member computes its own share: one of them may see different members or partitions than the rest."
    if cause.cause is DriftCause.MIXED_ASSIGNORS:
        why = strategies_sentence(group)
    return (
        f"{places(difference.partitions)} {have_verb(difference.partitions)} a different owner than "
        f"{shown(group.protocol or 'the strategy')} computes. {_owner_example(difference, group)} {why}"
    )


def _replayed_cause(cause: Cause, group: GroupState, replayed: ReplayedAssignor | None) -> str:
    """Why the leader assigned differently."""
    members, assignor = people(cause.members, group), shown(group.protocol or "")
    libraries = project_names(cause.libraries)
    if cause.is_exact:
        leader = f" The group leader is {members}." if members else ""
        return f"The {assignor} of {libraries} computes exactly this assignment.{leader}"
    if cause.cause is DriftCause.FOREIGN_CLIENT and replayed is not None:
        return f"The group leader is {members}. {_other_release(replayed)}"
    unlike = (
        f"uses {libraries}" if libraries else "does not encode its subscription as any library that groupwatch knows"
    )
    texts = {
        DriftCause.TIE: (
            "A tie may explain the difference: the assignor's result depends on the order in which the leader "
            "received the members."
        ),
        DriftCause.FOREIGN_CLIENT: (
            f"Likely cause: the group leader, {members}, {unlike}, and its {assignor} may differ."
        ),
        DriftCause.MIXED_ASSIGNORS: (
            f"Likely cause: the members do not all have the same {assignor}: {_differing_members(cause, members)}."
        ),
        DriftCause.RACKS_CHANGED: (
            "Likely cause: the assignor considers racks, and the racks of members or partitions have changed since."
        ),
        DriftCause.MIXED_SUBSCRIPTIONS: (
            f"The members subscribe to different topics, which implementations of {assignor} can treat differently. "
            f"The subscription of {members} differs from the others."
        ),
    }
    return texts.get(cause.cause, "The group leader may run a different implementation or version of the assignor.")


def _differing_members(cause: Cause, members: str) -> str:
    differ = "differs" if len(cause.members) == 1 else "differ"
    others = f"; {members} {differ} from the rest" if members else ""
    return f"they use {project_names(cause.libraries, 'and')}{others}"


class RefusedAssignment(Evidence):
    """An assignor that is only checked cannot have given the owners. ``first`` is the place that shows it."""

    assignor: ReplayedAssignor
    first: Refusal


@sentence.register
def _refused_assignment(evidence: RefusedAssignment, found: Observation, group: GroupState) -> str:
    name = _assignor_name(group, evidence.assignor)
    return (
        f"The assignor {name} cannot have computed the assignment of generation {group.generation}: "
        f"{_refusal(evidence.first, group)} {_other_release(evidence.assignor)}"
    )


def _refusal(refusal: Refusal, group: GroupState) -> str:
    """The place that shows it."""
    owner, other = (people([name], group) if name else "another member" for name in (refusal.member, refusal.other))
    place = partition(refusal.partition) if refusal.partition is not None else "a partition"
    return _REFUSALS.get(refusal.reason, "{place} belongs to {owner}.").format(place=place, owner=owner, other=other)


_REFUSALS: Final[Mapping[RefusalReason, str]] = {
    RefusalReason.UNASSIGNED: "{place} has no owner.",
    RefusalReason.ASSIGNED_TWICE: "{place} belongs to both {owner} and {other}.",
    RefusalReason.NOT_SUBSCRIBED: "{place} belongs to {owner}, which does not subscribe to the topic.",
    RefusalReason.UNEVEN: "{place} belongs to {owner}, and a move of it would make the assignment more even.",
    RefusalReason.NOT_KEPT: "{place} belongs to {owner}, although {other} owned it and could have kept it.",
    RefusalReason.NOT_WITHHELD: "{place} belongs to {owner}, although {other} had not revoked it yet.",
    RefusalReason.RACK: "{place} belongs to {owner}, although other members are on its rack.",
}


def _assignor_name(group: GroupState, assignor: ReplayedAssignor | None) -> str:
    """The assignor by its name on the wire, and whose it is unless it is Kafka's own."""
    name = shown(group.protocol or "")
    return name if assignor is None else f"{name} of {project_name(assignor.library)}"


def _other_release(assignor: ReplayedAssignor) -> str:
    """What may explain that a library does not assign as it should."""
    library = project_name(assignor.library)
    return f"groupwatch knows the assignor of {library} {assignor.release}; another release may assign differently."


class CurrentDrift(Evidence):
    """The owners would be others now; ``changes`` is what makes the difference."""

    difference: Difference
    cause: Cause
    changes: tuple[Growth, ...]


@sentence.register
def _current_drift(evidence: CurrentDrift, found: Observation, group: GroupState) -> str:
    difference = evidence.difference
    expected, actual = _member_names(difference.expected, group), _member_names(difference.actual, group)
    return (
        f"{places(difference.partitions)} would get a different owner if the group rebalanced now. "
        f"{first_example(difference.partitions)} belongs to {actual} but would go to {expected}. "
        f"{_current_cause(evidence.cause, evidence.changes)}"
    )


def _current_cause(cause: Cause, changes: Sequence[Growth]) -> str:
    match cause.cause:
        case DriftCause.METADATA_STALE:
            return _stale_metadata(changes)
        case DriftCause.RACKS_CHANGED:
            return "Likely cause: the assignor considers racks, and the racks of members or partitions have changed."
        case _:
            return (
                "groupwatch detected no change of the assignor's inputs: from the members' current partitions, the "
                "assignor would move partitions."
            )


def _stale_metadata(changes: Sequence[Growth]) -> str:
    topics = ", ".join(_change(change) for change in changes[:LISTED])
    more = f" and {counted(len(changes) - LISTED, 'other topic')} changed" if len(changes) > LISTED else ""
    return f"Likely cause: {topics}{more}, and the members still use the older metadata."


def _change(change: Growth) -> str:
    if change.after == 0:
        return f"{shown(change.topic)} no longer exists"
    if change.before == 0 and not change.is_seen:
        return f"the leader did not know {shown(change.topic)} ({counted(change.after, 'partition')})"
    if change.before == 0:
        return f"{shown(change.topic)} is new with {counted(change.after, 'partition')}"
    verb = "grew" if change.after > change.before else "shrank"
    return f"{shown(change.topic)} {verb} from {change.before} to {counted(change.after, 'partition')}"


def _owner_example(difference: Difference, group: GroupState) -> str:
    expected, actual = _member_names(difference.expected, group), _member_names(difference.actual, group)
    return f"{first_example(difference.partitions)} should belong to {expected} but belongs to {actual}."


def _member_names(member_ids: Sequence[str], group: GroupState) -> str:
    return people(member_ids, group) or "no member"
