"""The sentence that a person reads beside a finding, made from its evidence.

A sentence stays the same while nothing changes, because alerts are compared by it. It holds no age (shown beside it)
and no number that moves with the traffic. Names are shown as in monitor.messages.names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from typing import Final

from monitor.messages.client_defects import DEFECTS
from monitor.messages.client_libraries import project_name, project_names
from monitor.messages.formatting import clock_time, counted, grouped
from monitor.messages.names import (
    LISTED,
    era,
    listed,
    partition,
    people,
    places,
    seconds,
    shown,
)
from monitor.messages.units import unit_of
from monitor.model import (
    KINDS,
    Assigner,
    DriftCause,
    GroupState,
    IdPartitions,
    Member,
    OrphanReason,
    Phase,
    RebalanceCause,
    SinkState,
    SinkVerdict,
    TopicPartition,
    traits_of,
)
from monitor.model.evidence import (
    Cause,
    Difference,
    Growth,
    Refusal,
    RefusalReason,
    ReplayedAssignor,
    Skew,
)
from monitor.model.findings import (
    Abandoned,
    Behind,
    BeyondEnd,
    CloseToLoss,
    CurrentDrift,
    DoubleOwned,
    DuplicateClientIds,
    Evidence,
    FailingLeader,
    FormerLog,
    GivenUp,
    IdleMembers,
    Imbalance,
    LagImbalance,
    LastTries,
    LateHandover,
    LongRebalance,
    NoOwner,
    NotCommitting,
    NotInitialized,
    NotReady,
    NoWorker,
    Observation,
    OpenTransaction,
    RebalanceStorm,
    RecordsLost,
    RefusedAssignment,
    ReplayedDrift,
    RunTwice,
    SilentMembers,
    StalledDeliveries,
    StreamsReport,
    TargetDrift,
    TaskDrift,
    ThreadsWithoutTask,
    UnansweringMembers,
    Unattended,
    UnevenTasks,
    UnevenWorkers,
    UnnoticedMembers,
    UnreadableMembers,
    UnsubscribedOwners,
    WorkersBehind,
)


def sentence_of(
    found: Observation, group: GroupState, sinks: Sequence[SinkVerdict] = (), sink: SinkState | None = None
) -> str:
    """What a person reads of an observation.

    Args:
        found: what a rule has found of the group.
        group: the group with the names of its topics and with its members, of which the sentence names some.
        sinks: which of the members are tasks of a sink connector.
        sink: the connector whose group it is by its name.

    Raises:
        NotImplementedError: its evidence has no sentence here.
    """
    sentence = _sentence(found.evidence, found, group)
    more = [_sink_tasks(found, sinks)] if sinks else []
    if sink is not None and not sinks:
        more.append(f"By its name, this is the group of the connector {shown(sink.connector)} of Kafka Connect.")
    if sink is not None and sink.state is not None and sink.is_resting:
        more.append(f"That connector is {sink.state.lower()}.")
    return " ".join([sentence, *more])


def _sink_tasks(found: Observation, sinks: Sequence[SinkVerdict]) -> str:
    """Whose consumers the members are: of those that the finding is about, or of all."""
    own = [sink for sink in sinks if sink.member_id in found.members] or sinks
    connectors = listed(sorted({sink.connector for sink in own}))
    if own is sinks:
        return f"The members are tasks of the Connect sink {connectors}."
    tasks = [f"{sink.connector}-{sink.task}" for sink in own]
    if len(tasks) == 1:
        return f"This member is task {listed(tasks)} of the Connect sink {connectors}."
    return f"These members are the tasks {listed(tasks)} of the Connect sink {connectors}."


@singledispatch
def _sentence(evidence: Evidence, found: Observation, group: GroupState) -> str:
    """One function for each kind of evidence is registered below."""
    raise NotImplementedError(f"No sentence is made from {type(evidence).__name__}.")


def _member_names(member_ids: Sequence[str], group: GroupState) -> str:
    return people(member_ids, group) or "no member"


# --- owners -----------------------------------------------------------------------------------------------------------


@_sentence.register
def _double_owned(evidence: DoubleOwned, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    text = (
        f"{places(partitions)} {_has(partitions)} more than one owner in {era(group)}. "
        f"{_example(partitions)} belongs to {people(evidence.owners, group)}."
    )
    if not evidence.is_mixed:
        return text
    return f"{text} {_different_strategies(group)}"


@_sentence.register
def _duplicate_client_ids(evidence: DuplicateClientIds, found: Observation, group: GroupState) -> str:
    members, partitions = found.members, found.partitions
    shared_ids = "the client id" if len(members) == 1 else "each of the client ids"
    effect = (
        f"so clients with the same id consume the same partitions: {places(partitions)}"
        if partitions
        else "and cannot tell clients with the same id apart"
    )
    comma = "," if partitions else ""
    return (
        f"Several connections share {shared_ids} {people(members, group)}. "
        f"RocketMQ identifies consumers by client id{comma} {effect}."
    )


def _different_strategies(group: GroupState) -> str:
    """Which members use which strategy, among those that report one."""
    users: dict[str, list[str]] = {}
    for member in group.members:
        if member.assignor is not None:
            users.setdefault(member.assignor, []).append(member.member_id)
    strategies = "; ".join(f"{shown(name)} ({people(users[name], group)})" for name in sorted(users)[:LISTED])
    return f"The members use different assignment strategies: {strategies}."


@_sentence.register
def _not_initialized(evidence: NotInitialized, found: Observation, group: GroupState) -> str:
    one = len(found.partitions) == 1
    are = "is" if one else "are"
    return f"{places(found.partitions)} {are} not initialized for the group, so no member can read {_them(one=one)}."


@_sentence.register
def _no_owner(evidence: NoOwner, found: Observation, group: GroupState) -> str:
    partitions, reason, awaited = found.partitions, evidence.reason, evidence.awaited
    one = len(partitions) == 1
    head = f"{places(partitions)} {_has(partitions)} no owner."
    if found.tasks:
        head = f"{head} No thread runs {_tasks(found.tasks)}."
    if KINDS[group.kind].broker_chooses_owners:
        return f"{head} {_coordinator_reason(reason, group, awaited, one=one)}"
    if KINDS[group.kind].is_self_assigned:
        return f"{head} {_self_assigned_reason(reason, group, awaited, partitions)}"
    if reason is OrphanReason.LEADER_UNSUBSCRIBED:
        return f"{head} {_unsubscribed_leader_reason(partitions, group)}"
    if evidence.streams is not None and reason is not OrphanReason.GREW:
        return f"{head} {_streams_reason(evidence, evidence.streams, group, one=one)}"
    if evidence.seen_growing and reason is OrphanReason.GREW:
        leader = _leader(group)
        return (
            f"{head} The {_topics(partitions)} grew after generation {group.generation} was assigned, and "
            f"{f'the group leader, {leader}, has' if leader else 'the members have'} not refreshed "
            f"{'its' if leader else 'their'} metadata."
        )
    return f"{head} {_leader_reason(reason, group, awaited, one=one)}"


def _tasks(tasks: Sequence[str]) -> str:
    """Tasks of Kafka Streams or Connect by name, the first few of them.

    >>> _tasks(["1_2"]), _tasks(["0_0", "0_1"])
    ('the task 1_2', 'the tasks 0_0, 0_1')
    """
    return f"the task{'' if len(tasks) == 1 else 's'} {listed(tasks)}"


@_sentence.register
def _not_ready(evidence: NotReady, found: Observation, group: GroupState) -> str:
    head = f"The coordinator cannot assign tasks in {era(group)}."
    if found.partitions:
        head = f"{places(found.partitions)} {_has(found.partitions)} no owner. {head}"
    gone = " No instance is left." if not group.members else ""
    if evidence.missing:
        one = len(evidence.missing) == 1
        needs = f"topic{'' if one else 's'} {listed(evidence.missing)}, which {'does' if one else 'do'} not exist"
        return f"{head} The topology needs the {needs}.{gone}"
    if evidence.uneven:
        sizes = ", ".join(f"{shown(topic)} has {count}" for topic, count in evidence.uneven[:LISTED])
        return f"{head} The topology joins topics that must have equally many partitions: {sizes}.{gone}"
    return f"{head} groupwatch does not know the cause. Look into the log of the coordinator.{gone}"


@_sentence.register
def _uneven_tasks(evidence: UnevenTasks, found: Observation, group: GroupState) -> str:
    balance, threads = evidence.balance, len(evidence.balance.members)
    return (
        f"The instance {shown(balance.process)} runs {counted(balance.tasks, 'active task')} on "
        f"{counted(threads, 'thread')} ({people(balance.members, group)}), but {balance.fair} for each thread "
        "are enough to run all tasks."
    )


@_sentence.register
def _threads_without_task(evidence: ThreadsWithoutTask, found: Observation, group: GroupState) -> str:
    members = found.members
    has = "has" if len(members) == 1 else "have"
    return (
        f"{len(members)} of {counted(len(group.members), 'thread')} {has} neither active nor standby tasks "
        f"({people(members, group)}), although {people([evidence.busiest], group)} runs "
        f"{counted(evidence.active, 'active task')}."
    )


def _leader(group: GroupState) -> str:
    """The member that assigns in a classic group; empty if it is not known."""
    is_known = any(member.member_id == group.leader for member in group.members)
    return people([group.leader], group) if is_known and group.leader is not None else ""


def _leader_reason(reason: OrphanReason, group: GroupState, awaited: Sequence[str], *, one: bool) -> str:
    """Why the leader of a classic group has not assigned a partition."""
    them, generation = _them(one=one), era(group)
    if reason is OrphanReason.PENDING:
        is_single = one or len(awaited) == 1
        names = f" ({people(awaited, group)})" if awaited else ""
        return (
            f"The previous owner{'' if is_single else 's'}{names} {'revokes' if is_single else 'revoke'} {them} in "
            f"{generation}, and the next generation reassigns {them}."
        )
    if reason is OrphanReason.ASSIGNOR_GAP:
        return f"The assignor {shown(group.protocol or '')} did not assign {them} in {generation}."
    leader = _leader(group)
    metadata = f"from older metadata, which did not include {them}"
    if leader:
        return f"The group leader, {leader}, assigned {generation} {metadata}."
    return f"{_capitalize(generation)} was assigned {metadata}."


def _unsubscribed_leader_reason(partitions: Sequence[TopicPartition], group: GroupState) -> str:
    """Why the leader has not assigned a topic that other members subscribe to."""
    leader, assignor, topics = _leader(group), shown(group.protocol or ""), _topics(partitions)
    if not leader:
        return (
            f"The group leader is unknown; it probably does not subscribe to the {topics}. The assignor {assignor} "
            f"assigned only one member's topics in {era(group)}. The assignors of KafkaJS and @platformatic/kafka "
            "assign only the leader's topics."
        )
    return (
        f"The group leader, {leader}, does not subscribe to the {topics}. Its assignor {assignor} assigned only the "
        f"leader's topics in {era(group)}, as the assignors of KafkaJS and @platformatic/kafka do."
    )


@_sentence.register
def _unsubscribed_owners(evidence: UnsubscribedOwners, found: Observation, group: GroupState) -> str:
    partitions, leader = found.partitions, _leader(group)
    who = f"The group leader, {leader}," if leader else "The group leader"
    are, member = ("is", "a member that does") if len(partitions) == 1 else ("are", "members that do")
    libraries = project_names(evidence.libraries, "and")
    return (
        f"{places(partitions)} {are} assigned to {member} not subscribe to the {_topics(partitions)} "
        f"({people(found.members, group)}). {libraries} drops such partitions without an error, so no member consumes "
        f"them. {who} assigned its topics to all members in {era(group)}."
    )


def _streams_reason(evidence: NoOwner, streams: StreamsReport, group: GroupState, *, one: bool) -> str:
    """Why the leader of a group of Kafka Streams has not assigned a partition to a thread."""
    them, generation = _them(one=one), era(group)
    if evidence.reason is OrphanReason.PENDING:
        names = people(evidence.awaited, group) if evidence.awaited else ""
        previous = f" {names} owned {them} before." if names else ""
        return (
            f"{_capitalize(generation)} is half of a rebalance, and the next generation assigns {them} to a "
            f"thread.{previous}"
        )
    error = _STREAMS_ERRORS.get(streams.error)
    if error:
        return (
            f"Kafka Streams did not assign {them} to any thread in {generation}. The group leader reports that {error}."
        )
    complete = ", although that generation completes the rebalance" if streams.tells_what_follows else ""
    return f"Kafka Streams did not assign {them} to any thread in {generation}{complete}."


_STREAMS_ERRORS: Final[Mapping[int, str]] = {
    1: "a source topic does not exist (INCOMPLETE_SOURCE_TOPIC_METADATA)",
    3: "the assignment failed (ASSIGNMENT_ERROR)",
    4: "an instance requested a shutdown of all others (SHUTDOWN_REQUESTED)",
}
"""What the numbers mean that an assignment of Kafka Streams bears (``AssignorError`` of kafka-streams 4.3)."""


def _coordinator_reason(reason: OrphanReason, group: GroupState, awaited: Sequence[str], *, one: bool) -> str:
    """Why a partition has no owner in a KIP-848 group, where the coordinator assigns."""
    them, they = _them(one=one), "It" if one else "They"
    if reason is OrphanReason.PENDING:
        have = "has" if len(awaited) < 2 else "have"
        new_owners = people(awaited, group) or "a member"
        return f"The coordinator assigned {them} in {era(group)} to {new_owners}, which {have} not taken {them} yet."
    if reason is OrphanReason.REBALANCING:
        return f"Members or topics have changed, and the coordinator has not assigned {them} in {era(group)} yet."
    if reason is OrphanReason.GREW:
        return f"{they} appeared after {era(group)}, and the coordinator has not assigned {them} yet."
    return f"The coordinator's assignor {shown(group.protocol or '')} did not assign {them} in {era(group)}."


def _self_assigned_reason(
    reason: OrphanReason, group: GroupState, awaited: Sequence[str], partitions: Sequence[TopicPartition]
) -> str:
    """Why no member owns a partition in a group whose members each compute their own share."""
    one = len(partitions) == 1
    them, they = _them(one=one), "It" if one else "They"
    if reason is OrphanReason.MIXED_STRATEGY:
        return f"{they} {'is' if one else 'are'} in no member's share. {_different_strategies(group)}"
    if reason is OrphanReason.MIXED_SUBSCRIPTION:
        return (
            f"{they} {'falls' if one else 'fall'} to members that do not subscribe to the {_topics(partitions)}, "
            f"because RocketMQ allocates every topic across all members of a group. {_missing(group, partitions)}"
        )
    if reason is OrphanReason.GREW:
        return f"{they} appeared after the members last computed their shares, and no member has taken {them} yet."
    if reason is OrphanReason.PENDING:
        strategy, have = shown(group.protocol or "The strategy"), "has" if len(awaited) < 2 else "have"
        return f"{strategy} assigns {them} to {people(awaited, group)}, which {have} not taken {them}."
    return (
        f"No member has taken {them}. groupwatch cannot determine why, because it does not know how the members assign "
        "partitions."
    )


def _missing(group: GroupState, partitions: Sequence[TopicPartition]) -> str:
    """Which members do not subscribe to which of the topics."""
    topics = sorted({place.topic for place in partitions})
    lacking = {topic: [m.member_id for m in group.members if topic not in m.topics] for topic in topics[:LISTED]}
    return " ".join(
        f"{people(names, group)} {'does' if len(names) == 1 else 'do'} not subscribe to {shown(topic)}."
        for topic, names in lacking.items()
    )


def _topics(partitions: Sequence[TopicPartition]) -> str:
    return "topic" if len({place.topic for place in partitions}) == 1 else "topics"


def _has(partitions: Sequence[TopicPartition]) -> str:
    return "has" if len(partitions) == 1 else "have"


def _them(*, one: bool) -> str:
    return "it" if one else "them"


def _capitalize(clause: str) -> str:
    return clause[0].upper() + clause[1:]


# --- share groups -----------------------------------------------------------------------------------------------------


@_sentence.register
def _stalled_deliveries(evidence: StalledDeliveries, found: Observation, group: GroupState) -> str:
    return (
        f"{places(found.partitions)} {_has(found.partitions)} lag, and no member has accepted, released or rejected a "
        f"record there for at least {seconds(evidence.silence_ms)}."
    )


@_sentence.register
def _last_tries(evidence: LastTries, found: Observation, group: GroupState) -> str:
    first, records = found.partitions[0], evidence.records
    have = "has" if records == 1 else "have"
    named = ("offset" if len(evidence.offsets) == 1 else "offsets") + " " + ", ".join(map(str, evidence.offsets))
    named = named if records == len(evidence.offsets) else f"first {named}"
    failed = evidence.limit - 1
    times = "once or more" if failed == 1 else f"{failed} times or more"
    return (
        f"{counted(records, 'record')} of {places(found.partitions)} {have} been delivered {times} and not accepted "
        f"({named} of {partition(first)}). The group gives a record up after "
        f"{_deliveries(evidence.limit, is_default=evidence.is_default)}."
    )


@_sentence.register
def _records_given_up(evidence: GivenUp, found: Observation, group: GroupState) -> str:
    return (
        f"The group has given up records of {places(found.partitions)}: {evidence.records} so far, the newest with "
        f"offset {evidence.offset} in {partition(evidence.partition)}. It gives a record up after "
        f"{_deliveries(evidence.limit, is_default=evidence.is_default)}, and does not deliver it again."
    )


def _deliveries(limit: int, *, is_default: bool) -> str:
    """So many deliveries, and that groupwatch assumes the number if the group's own could not be read."""
    return f"{limit} deliveries" + (" (by default; the configs of the group could not be read)" if is_default else "")


# --- drift ------------------------------------------------------------------------------------------------------------


@_sentence.register
def _replayed_drift(evidence: ReplayedDrift, found: Observation, group: GroupState) -> str:
    difference, cause = evidence.difference, evidence.cause
    if KINDS[group.kind].is_self_assigned:
        return _self_assigned_drift(difference, cause, group)
    return (
        f"{places(difference.partitions)} {_has(difference.partitions)} a different owner than the assignor "
        f"{_assignor_name(group, evidence.assignor)} computes for generation {group.generation}. "
        f"{_owner_example(difference, group)} {_replayed_cause(cause, group, evidence.assignor)}"
    )


@_sentence.register
def _refused_assignment(evidence: RefusedAssignment, found: Observation, group: GroupState) -> str:
    name = _assignor_name(group, evidence.assignor)
    return (
        f"The assignor {name} cannot have computed the assignment of generation {group.generation}: "
        f"{_refusal(evidence.first, group)} {_other_release(evidence.assignor)}"
    )


def _assignor_name(group: GroupState, assignor: ReplayedAssignor | None) -> str:
    """The assignor by its name on the wire, and whose it is unless it is Kafka's own."""
    name = shown(group.protocol or "")
    return name if assignor is None else f"{name} of {project_name(assignor.library)}"


def _other_release(assignor: ReplayedAssignor) -> str:
    """What may explain that a library does not assign as it should."""
    library = project_name(assignor.library)
    return f"groupwatch knows the assignor of {library} {assignor.release}; another release may assign differently."


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


def _self_assigned_drift(difference: Difference, cause: Cause, group: GroupState) -> str:
    why = "Each member computes its own share: one of them may see different members or partitions than the rest."
    if cause.cause is DriftCause.MIXED_ASSIGNORS:
        why = _different_strategies(group)
    return (
        f"{places(difference.partitions)} {_has(difference.partitions)} a different owner than "
        f"{shown(group.protocol or 'the strategy')} computes. {_owner_example(difference, group)} {why}"
    )


@_sentence.register
def _current_drift(evidence: CurrentDrift, found: Observation, group: GroupState) -> str:
    difference = evidence.difference
    expected, actual = _member_names(difference.expected, group), _member_names(difference.actual, group)
    return (
        f"{places(difference.partitions)} would get a different owner if the group rebalanced now. "
        f"{_example(difference.partitions)} belongs to {actual} but would go to {expected}. "
        f"{_current_cause(evidence.cause, evidence.changes)}"
    )


@_sentence.register
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
        f"{shown(group.protocol or '')} computes for {era(group)}. {_example(difference.partitions)} should go to "
        f"{expected}, but the coordinator chose {chosen}. {why}"
    )


@_sentence.register
def _task_drift(evidence: TaskDrift, found: Observation, group: GroupState) -> str:
    example = f"the {'standby ' if evidence.is_standby else ''}task {shown(evidence.first)}"
    expected, chosen = _member_names(evidence.expected, group), _member_names(evidence.actual, group)
    concerned = f" This concerns {places(found.partitions)}." if found.partitions else ""
    return (
        f"The coordinator did not assign {_tasks(found.tasks)} as its assignor {shown(group.protocol or '')} computes "
        f"for {era(group)}.{concerned} For example, {example} should go to {expected}, but the coordinator chose "
        f"{chosen}. The brokers may run a different version of the assignor."
    )


@_sentence.register
def _late_handover(evidence: LateHandover, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    delay = (
        "has not revoked it, although the coordinator requested that"
        if evidence.is_told
        else "has not contacted the coordinator since"
    )
    return (
        f"{places(partitions)} {_has(partitions)} not been handed over in {era(group)}. "
        f"{_target_owner(evidence, partitions, group)} "
        f"Its current owner, {people([evidence.owner], group)}, {delay}."
    )


def _target_owner(evidence: LateHandover, partitions: Sequence[TopicPartition], group: GroupState) -> str:
    if evidence.heir is None:
        return f"{_example(partitions, evidence.first)} has no target owner."
    new_owner = people([evidence.heir], group)
    if len(partitions) == 1:
        return f"Its target owner is {new_owner}."
    return f"For example, the target owner of {partition(evidence.first)} is {new_owner}."


def _example(partitions: Sequence[TopicPartition], example: TopicPartition | None = None) -> str:
    """The example (default: the first partition) as a sentence starts with it."""
    return "It" if len(partitions) == 1 else f"For example, {partition(example or partitions[0])}"


def _owner_example(difference: Difference, group: GroupState) -> str:
    expected, actual = _member_names(difference.expected, group), _member_names(difference.actual, group)
    return f"{_example(difference.partitions)} should belong to {expected} but belongs to {actual}."


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


# --- balance ----------------------------------------------------------------------------------------------------------


@_sentence.register
def _imbalance(evidence: Imbalance, found: Observation, group: GroupState) -> str:
    balance = evidence.balance
    text = (
        f"{people([balance.member_id], group)} owns {counted(balance.largest, 'partition')}, but these subscriptions "
        f"allow an assignment with at most {balance.optimum} for any member."
    )
    if balance.alternative is None:
        return text
    why = "The range assignor assigns each topic separately, starting with the same members. " * (
        group.protocol == "range" and balance.topics > 1
    )
    return (
        f"{text} {why}With {balance.alternative.assignor}, the largest member would own {balance.alternative.largest} "
        f"instead of {balance.largest}."
    )


@_sentence.register
def _idle_members(evidence: IdleMembers, found: Observation, group: GroupState) -> str:
    members, partitions = found.members, evidence.partitions
    own, total = "owns" if len(members) == 1 else "own", len(group.members)
    head = f"{len(members)} of {counted(total, 'member')} {own} no partition ({people(members, group)})"
    if partitions is None:
        return f"{head}."
    if total > partitions:
        return f"{head}. The group has more members than the {counted(partitions, 'partition')} of its topics."
    return f"{head}, although its topics have {counted(partitions, 'partition')}."


@_sentence.register
def _lag_imbalance(evidence: LagImbalance, found: Observation, group: GroupState) -> str:
    head = (
        f"Most of the group's lag belongs to {people(found.members, group)}, which owns "
        f"{counted(evidence.owned, 'partition')}."
    )
    hottest = _capitalize(partition(evidence.hottest))
    match evidence.skew:
        case Skew.KEYS:
            return (
                f"{head} {hottest} alone receives too many records, and no assignment can divide them. Speed up this "
                "member; as a permanent fix, choose different keys."
            )
        case Skew.ASSIGNMENT:
            return (
                f"{head} Several of them are busy. {hottest} is the busiest. Add members; as a permanent fix, use a "
                "different assignor to spread them."
            )
        case Skew.MEMBER:
            return (
                f"{head} Its partitions receive no more records than others, so the member is slow. Check the member "
                "and its host."
            )


# --- the work of Connect ----------------------------------------------------------------------------------------------


@_sentence.register
def _no_worker(evidence: NoWorker, found: Observation, group: GroupState) -> str:
    one = len(found.tasks) + len(evidence.connectors) == 1
    head = f"{_work(found.tasks, evidence.connectors)} {'is' if one else 'are'} run by no worker."
    them, generation = _them(one=one), era(group)
    match evidence.reason:
        case OrphanReason.DELAY:
            return f"{head} {_delay(evidence, them)}"
        case OrphanReason.REVOKED:
            return f"{head} {_capitalize(generation)} revoked {them}, and no later generation has assigned {them}."
        case OrphanReason.CONFIG_MISMATCH:
            return (
                f"{head} The Connect leader could not read the configurations in {generation}, and assigned nothing "
                "(CONFIG_MISMATCH)."
            )
        case OrphanReason.NO_WORKERS:
            return f"{head} The Connect cluster has no workers."
        case _:
            gone = f" {_lost_workers(evidence.urls)}." if evidence.urls else ""
            return f"{head} The Connect leader has not assigned {them} in {generation}.{gone}"


def _delay(evidence: NoWorker, them: str) -> str:
    """For what Connect waits. A worker that is back gets its tasks no sooner than another one would."""
    until = f" until {clock_time(evidence.until_ms)}" if evidence.until_ms is not None else ""
    if evidence.rejoined and not evidence.urls:
        return f"{_workers(evidence.rejoined)} rejoined, but Connect waits{until} before it reassigns {them}."
    return f"{_lost_workers(evidence.urls)}. Connect waits{until} for its return before it reassigns {them}."


def _work(tasks: Sequence[str], connectors: Sequence[str]) -> str:
    """Tasks and connectors, counted and listed."""
    own = ((tasks, "task"), (connectors, "connector"))
    return " and ".join(f"{counted(len(names), word)} ({listed(names)})" for names, word in own if names)


def _lost_workers(urls: Sequence[str]) -> str:
    if not urls:
        return "Its worker is gone"
    return f"{_workers(urls)} {'is' if len(urls) == 1 else 'are'} gone"


def _workers(urls: Sequence[str]) -> str:
    return f"The worker{'' if len(urls) == 1 else 's'} at {listed(urls)}"


@_sentence.register
def _run_twice(evidence: RunTwice, found: Observation, group: GroupState) -> str:
    begun = f"from {clock_time(evidence.from_ms)}" if evidence.from_ms is not None else "for an unknown time"
    end = f" until {clock_time(evidence.until_ms)}" if evidence.until_ms is not None else ""
    return (
        f"{_work(found.tasks, evidence.connectors)} ran on more than one of the workers "
        f"{listed(evidence.urls)} at once, {begun}{end}: one of them lost "
        "contact to the group and kept running them."
    )


@_sentence.register
def _uneven_workers(evidence: UnevenWorkers, found: Observation, group: GroupState) -> str:
    what = "connector" if evidence.of_connectors else "task"
    return (
        f"The worker at {shown(evidence.most_url)} runs {counted(evidence.most, what)}, and the one at "
        f"{shown(evidence.fewest_url)} only {evidence.fewest}. Connect keeps workers within one of each other."
    )


@_sentence.register
def _workers_behind(evidence: WorkersBehind, found: Observation, group: GroupState) -> str:
    one = len(evidence.urls) == 1
    return (
        f"The worker{'' if one else 's'} at {listed(evidence.urls)} {'has' if one else 'have'} read less of the topic "
        f"of configurations than the Connect leader in generation {group.generation} and in the one before. Until "
        f"{'it has' if one else 'they have'} read all of it, {'it starts' if one else 'they start'} no new work."
    )


# --- lag --------------------------------------------------------------------------------------------------------------


@_sentence.register
def _not_committing(evidence: NotCommitting, found: Observation, group: GroupState) -> str:
    partitions, owners = found.partitions, evidence.owners
    head = f"{places(partitions)} {_has(partitions)} lag"
    limit = f"for at least {seconds(evidence.silence_ms)}"
    if not owners:
        return f"{head}, and no offset has been committed there {limit}."
    role = f"{'Its' if len(partitions) == 1 else 'Their'} owner{'' if len(owners) == 1 else 's'}"
    have = "has" if len(owners) == 1 else "have"
    return f"{head}. {role}, {people(owners, group)}, {have} committed no offset there {limit}."


@_sentence.register
def _open_transaction(evidence: OpenTransaction, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    transactions = "an open transaction" if len(partitions) == 1 else "open transactions"
    return (
        f"All lag in {places(partitions)} is behind {transactions}. Consumers that read only committed records "
        "(read_committed) cannot proceed there."
    )


@_sentence.register
def _beyond_end(evidence: BeyondEnd, found: Observation, group: GroupState) -> str:
    count = counted(evidence.committed - evidence.end, unit_of(group.kind))
    there = f"{partition(evidence.furthest)} the group has committed {grouped(evidence.committed)}"
    rest = (
        f"which is {count} beyond the end of the log ({grouped(evidence.end)}). The lag there is unknown. A consumer "
        "that checks leader epochs continues where the log was truncated. Any other is reset (auto.offset.reset), or "
        "skips new records once the log has grown past the offset."
    )
    if len(found.partitions) == 1:
        return f"In {there}, {rest}"
    return f"Committed offsets of {places(found.partitions)} are beyond the end. In {there}, {rest}"


@_sentence.register
def _former_log(evidence: FormerLog, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    offsets = "has a committed offset" if len(partitions) == 1 else "have committed offsets"
    topics = "topic was" if len({place.topic for place in partitions}) == 1 else "topics were"
    return (
        f"{places(partitions)} {offsets} from before the {topics} deleted and recreated. The lag there is unknown "
        "until the group commits there again."
    )


@_sentence.register
def _behind(evidence: Behind, found: Observation, group: GroupState) -> str:
    threshold = counted(evidence.threshold, unit_of(group.kind))
    return f"The group has a lag of more than {threshold}, in {places(found.partitions)}."


@_sentence.register
def _unattended(evidence: Unattended, found: Observation, group: GroupState) -> str:
    return f"The group has no members, and {places(found.partitions)} {_has(found.partitions)} lag."


@_sentence.register
def _abandoned(evidence: Abandoned, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    left = "share state" if KINDS[group.kind].acknowledges_records else "committed offsets"
    return (
        f"The group has {left} and lag in {places(partitions)}, but no member subscribes to the "
        f"{_topics(partitions)} anymore."
    )


# --- retention --------------------------------------------------------------------------------------------------------


@_sentence.register
def _records_lost(evidence: RecordsLost, found: Observation, group: GroupState) -> str:
    """How many they are moves with every segment that is removed, and is shown beside."""
    before = "a member acknowledged" if KINDS[group.kind].acknowledges_records else "the group committed"
    return f"The group has lost records in {places(found.partitions)}. Retention removed them before {before} them."


@_sentence.register
def _close_to_loss(evidence: CloseToLoss, found: Observation, group: GroupState) -> str:
    share = f"{100 * evidence.share:g}%"
    return (
        f"The lag in {places(found.partitions)} is at least {share} of what retention last left there. The group "
        "catches up slowly, if at all, and will lose the records that retention removes next."
    )


# --- members ----------------------------------------------------------------------------------------------------------


@_sentence.register
def _unreadable_members(evidence: UnreadableMembers, found: Observation, group: GroupState) -> str:
    members = evidence.members
    message = KINDS[group.kind].message or ("assignment" if evidence.of_assignments else "subscription")
    problems = listed(list(dict.fromkeys(evidence.problems)))
    head = (
        f"groupwatch cannot decode the {message}{'' if len(members) == 1 else 's'} of {people(members, group)} "
        f"({problems})."
    )
    if KINDS[group.kind].is_self_assigned:
        return f"{head} Partitions without an owner, drift, and imbalance of the group are therefore not detected."
    where = "if they appeared later" if evidence.of_assignments else "in topics of other members"
    return f"{head} Drift and imbalance are not detected. Partitions without an owner are detected only {where}."


@_sentence.register
def _silent_members(evidence: SilentMembers, found: Observation, group: GroupState) -> str:
    return _silence(found, group)


def _silence(found: Observation, group: GroupState) -> str:
    members, partitions = found.members, found.partitions
    own, have = ("owns", "has") if len(members) == 1 else ("own", "have")
    return (
        f"{people(members, group)} {own} {places(partitions)} and {have} not committed for a while, although there is "
        "lag. Other members are committing."
    )


@_sentence.register
def _unanswering_members(evidence: UnansweringMembers, found: Observation, group: GroupState) -> str:
    members, partitions = found.members, found.partitions
    is_are, do, they_have, their = (
        ("is", "does", "It has", "its") if len(members) == 1 else ("are", "do", "They have", "their")
    )
    return (
        f"{people(members, group)} {is_are} connected but {do} not respond to the broker. {they_have} not committed in "
        f"{their} {places(partitions)} for a while, although there is lag. Other members are committing."
    )


@_sentence.register
def _unnoticed_members(evidence: UnnoticedMembers, found: Observation, group: GroupState) -> str:
    session = seconds(evidence.session_ms)
    timeout, they_have = (
        (f"Its session timeout is {session}", "it has")
        if len(found.members) == 1
        else (f"Their session timeouts are up to {session}", "they have")
    )
    return (
        f"{_silence(found, group)} {timeout}: if {they_have} died, the coordinator may not have detected it yet. Until "
        "then, no other member takes over."
    )


# --- rebalances -------------------------------------------------------------------------------------------------------


@_sentence.register
def _long_rebalance(evidence: LongRebalance, found: Observation, group: GroupState) -> str:
    limit = seconds(evidence.limit_ms)
    if KINDS[group.kind].assigns is Assigner.LEADER:
        return f"The group has been rebalancing for more than {limit}. {_awaited_rejoins(group)}"
    return (
        f"The group has been rebalancing toward {era(group)} for more than {limit}. "
        f"{_awaited_changes(group, found.members)}"
    )


def _awaited_changes(group: GroupState, awaited: Sequence[str]) -> str:
    """What a KIP-848 group waits for."""
    if awaited:
        have = "has" if len(awaited) == 1 else "have"
        return f"{people(awaited, group)} {have} not revoked partitions that other members are waiting for."
    if group.phase is Phase.ASSIGNING:
        return "The coordinator has not computed the new assignment yet (its log may show why)."
    late = [member.member_id for member in group.members if _has_yet_to_take(member)]
    names, have = (people(late, group), "has") if len(late) == 1 else (people(late, group) or "Its members", "have")
    return f"{names} {have} not yet taken the partitions that the coordinator assigned."


def _has_yet_to_take(member: Member) -> bool:
    reconciliation = member.reconciliation
    if reconciliation is None:
        return False
    return not _by_id(reconciliation.target or ()) <= _by_id(reconciliation.assigned)


def _by_id(entries: Iterable[IdPartitions]) -> set[tuple[str, int]]:
    return {(entry.id, number) for entry in entries for number in entry.partitions}


def _awaited_rejoins(group: GroupState) -> str:
    """What a classic group waits for: members that have joined wait for those that have yet to (JoinGroup)."""
    longest_ms = max((member.rebalance_timeout_ms for member in group.members), default=0)
    most = f", at most {seconds(longest_ms)} (their rebalance timeout)" if longest_ms > 0 else ""
    return f"The coordinator is waiting for members that have not rejoined{most}."


@_sentence.register
def _rebalance_storm(evidence: RebalanceStorm, found: Observation, group: GroupState) -> str:
    causes = evidence.causes
    reasons = ", ".join(CAUSES[cause] for cause in causes)
    hints = " ".join(dict.fromkeys(_HINTS[cause] for cause in causes if cause in _HINTS))
    if traits_of(group).runs_connectors:
        reasons = ", ".join(_WORKERS_CAUSES.get(cause, CAUSES[cause]) for cause in causes)
        hints = (
            "Look for workers that restart repeatedly or lose contact, and for a program that keeps creating, "
            "deleting, or reconfiguring connectors. Each such change takes two generations."
        )
    if KINDS[group.kind].is_self_assigned:  # no log shows more of these
        reasons = ", ".join(CAUSES[cause] for cause in causes if cause is not RebalanceCause.UNKNOWN)
        hints = "Look for members that restart repeatedly or lose their connections."
    why = f" ({reasons})" if reasons else ""
    times = f"at least {evidence.enough} times within {seconds(evidence.window_ms)}"
    if evidence.failing is not None:
        hints = _failing_leaders(evidence.failing)
    return f"The group has rebalanced {times}{why}. {hints}".rstrip()


def _failing_leaders(failing: FailingLeader) -> str:
    text = DEFECTS[failing.defect]
    return (
        "In most rebalances, the leader failed or left before it assigned partitions. Known defect of "
        f"{project_name(failing.library)} ({text.releases}): {text.effect} {text.remedy}"
    )


CAUSES: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: "members joined",
    RebalanceCause.LEAVE: "members left or timed out",
    RebalanceCause.TIMEOUT: "members timed out",
    RebalanceCause.SUBSCRIPTION: "members changed their subscriptions",
    RebalanceCause.TOPICS: "topics appeared, disappeared, or grew",
    RebalanceCause.STATIC_RESTART: "static members restarted",
    RebalanceCause.ASSIGNOR: "the assignor changed",
    RebalanceCause.HANDOVER: "partitions were handed over",
    RebalanceCause.UPGRADE: "it switched to KIP-848",
    RebalanceCause.DOWNGRADE: "it switched back to the classic protocol",
    RebalanceCause.UNKNOWN: "for reasons that the log does not show",
}

_WORKERS_CAUSES: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: "workers joined",
    RebalanceCause.LEAVE: "workers left or timed out",
    RebalanceCause.TIMEOUT: "workers timed out",
    RebalanceCause.ASSIGNOR: "the protocol of the workers changed (connect.protocol)",
    RebalanceCause.UNKNOWN: "connectors or their tasks changed, or work was reassigned",
}

_MEMBERS_COME_AND_GO: Final = (
    "Look for members that restart repeatedly, or that take longer than max.poll.interval.ms between two polls. With "
    "group.instance.id, a restart within the session timeout needs no rebalance."
)
_HINTS: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: _MEMBERS_COME_AND_GO,
    RebalanceCause.LEAVE: _MEMBERS_COME_AND_GO,
    RebalanceCause.TIMEOUT: _MEMBERS_COME_AND_GO,
    RebalanceCause.SUBSCRIPTION: "Look for members that change their subscriptions.",
    RebalanceCause.TOPICS: "Find out which program creates and deletes topics that match the group's pattern.",
    RebalanceCause.ASSIGNOR: "Give all members the same partition.assignment.strategy.",
}
