"""The sentence that a person reads beside a finding, made from its evidence.

A sentence does not change while nothing changes, because alerts are told apart by it: it holds no age (shown beside
it) and no number that moves with the traffic. Names are shown as in monitor.messages.names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import singledispatch
from typing import Final

from monitor.messages.names import LISTED, counted, era, listed, partition, people, places, seconds, shown
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
    TopicPartition,
)
from monitor.model.evidence import Cause, Difference, Growth, Skew
from monitor.model.findings import (
    Abandoned,
    Behind,
    CloseToLoss,
    CurrentDrift,
    DoubleOwned,
    DuplicateClientIds,
    Evidence,
    FormerLog,
    IdleMembers,
    Imbalance,
    LagImbalance,
    LateHandover,
    LongRebalance,
    NoOwner,
    NotCommitting,
    Observation,
    OpenTransaction,
    RebalanceStorm,
    RecordsLost,
    ReplayedDrift,
    SilentMembers,
    StreamsReport,
    TargetDrift,
    UnansweringMembers,
    Unattended,
    UnnoticedMembers,
    UnreadableMembers,
)


def sentence_of(found: Observation, group: GroupState) -> str:
    """What a person reads of an observation.

    Args:
        found: what a rule has found of the group.
        group: the group with the names of its topics and with its members, of which the sentence names some.

    Raises:
        NotImplementedError: its evidence has no sentence here.
    """
    return _sentence(found.evidence, found, group)


@singledispatch
def _sentence(evidence: Evidence, found: Observation, group: GroupState) -> str:
    """One function for each kind of evidence is registered below."""
    raise NotImplementedError(f"No sentence is made from {type(evidence).__name__}.")


def _somebody(member_ids: Sequence[str], group: GroupState) -> str:
    return people(member_ids, group) or "nobody"


@_sentence.register
def _double_owned(evidence: DoubleOwned, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    verb = "has" if len(partitions) == 1 else "have"
    told = (
        f"{places(partitions)} {verb} more than one owner in {era(group)}: "
        f"{partition(partitions[0])} belongs to {people(evidence.owners, group)}."
    )
    if not evidence.is_mixed:
        return told
    return f"{told} The members share partitions out by different strategies: {_by_strategy(group)}."


@_sentence.register
def _duplicate_client_ids(evidence: DuplicateClientIds, found: Observation, group: GroupState) -> str:
    members, partitions = found.members, found.partitions
    several = "Several connections have" if len(members) == 1 else "Several connections each have"
    owned = f", and all of them read {places(partitions)}" if partitions else ""
    return (
        f"{several} the client id {people(members, group)}: clients with the same id take each other for themselves"
        f"{owned}."
    )


def _by_strategy(group: GroupState) -> str:
    """Which members have which strategy, of those that say it."""
    having: dict[str, list[str]] = {}
    for member in group.members:
        if member.assignor is not None:
            having.setdefault(member.assignor, []).append(member.member_id)
    return "; ".join(f"{shown(name)} ({people(having[name], group)})" for name in sorted(having)[:LISTED])


@_sentence.register
def _no_owner(evidence: NoOwner, found: Observation, group: GroupState) -> str:
    partitions, reason, awaited = found.partitions, evidence.reason, evidence.awaited
    where, one = places(partitions), len(partitions) == 1
    topics = _topics(partitions)
    head = f"{where} {'has' if one else 'have'} no owner:"
    if KINDS[group.kind].broker_chooses_owners:
        return f"{head} {_of_the_broker(reason, group, awaited, one=one)}"
    if KINDS[group.kind].is_self_assigned:
        return f"{head} {_of_own_shares(reason, group, awaited, partitions)}"
    if reason is OrphanReason.LEADER_UNSUBSCRIBED:
        return f"{head} {_of_an_unsubscribed_leader(partitions, group)}"
    if evidence.streams is not None and reason is not OrphanReason.GREW:
        return f"{head} {_of_streams(evidence, evidence.streams, group, one=one)}"
    if evidence.seen_growing and reason is OrphanReason.GREW:
        leader = _leader(group)
        return (
            f"{head} the {topics} grew after generation {group.generation} was assigned and "
            f"{f'its leader, {leader}, has' if leader else 'its members have'} not refreshed "
            f"{'its' if leader else 'their'} metadata."
        )
    return f"{head} {_of_the_leader(reason, group, awaited, one=one)}"


def _leader(group: GroupState) -> str:
    """Who assigns in a classic group; empty if that is not known."""
    is_known = any(member.member_id == group.leader for member in group.members)
    return people([group.leader], group) if is_known and group.leader is not None else ""


def _of_the_leader(reason: OrphanReason, group: GroupState, awaited: Sequence[str], *, one: bool) -> str:
    """Why the leader of a classic group has given a partition to nobody."""
    them, generation = "it" if one else "them", era(group)
    if reason is OrphanReason.PENDING:
        former = f"{'its' if one else 'their'} former owner{'' if one or len(awaited) == 1 else 's'}"
        named = f" ({people(awaited, group)})" if awaited else ""
        let = "lets" if one or len(awaited) == 1 else "let"
        return f"in {generation} {former}{named} {let} {them} go, and the next generation hands {them} over."
    if reason is OrphanReason.ASSIGNOR_GAP:
        return f"the assignor {shown(group.protocol or '')} left {them} out of {generation}."
    leader = f" by its leader, {told}," if (told := _leader(group)) else ""
    return f"{generation} was assigned{leader} from older metadata, which did not have {them}."


def _of_an_unsubscribed_leader(partitions: Sequence[TopicPartition], group: GroupState) -> str:
    """Why the leader has given nobody a topic that others subscribe to."""
    leader, assignor = _leader(group), shown(group.protocol or "")
    such, topics = "as those of KafkaJS and @platformatic/kafka do", _topics(partitions)
    if not leader:
        return (
            f"its leader, which is not known, probably does not subscribe to the {topics}. Its assignor {assignor} "
            f"assigned only topics of one member in {era(group)}, {such} with the leader's."
        )
    return (
        f"its leader, {leader}, does not subscribe to the {topics}. Its assignor {assignor} assigned only the leader's "
        f"topics in {era(group)}, {such}."
    )


def _of_streams(evidence: NoOwner, streams: StreamsReport, group: GroupState, *, one: bool) -> str:
    """Why the leader of a group of Kafka Streams has given a partition to no thread."""
    them, generation = "it" if one else "them", era(group)
    if evidence.reason is OrphanReason.PENDING:
        former = f" {people(evidence.awaited, group)} had {them} before." if evidence.awaited else ""
        return f"{generation} is half of a rebalance, and the next generation gives {them} to a thread.{former}"
    told = _STREAMS_ERRORS.get(streams.error)
    if told:
        return f"Kafka Streams gave {them} to no thread in {generation}. Its leader reports that {told}."
    complete = ", although that completes its rebalance" if streams.tells_what_follows else ""
    return f"Kafka Streams gave {them} to no thread in {generation}{complete}."


_STREAMS_ERRORS: Final[Mapping[int, str]] = {
    1: "a source topic does not exist (INCOMPLETE_SOURCE_TOPIC_METADATA)",
    3: "it failed to assign (ASSIGNMENT_ERROR)",
    4: "an instance asked all others to shut down (SHUTDOWN_REQUESTED)",
}
"""What the numbers mean that an assignment of Kafka Streams bears (``AssignorError`` of kafka-streams 4.3)."""


def _of_the_broker(reason: OrphanReason, group: GroupState, awaited: Sequence[str], *, one: bool) -> str:
    """Why a partition has no owner in a KIP-848 group, where the broker chooses."""
    them = "it" if one else "them"
    if reason is OrphanReason.PENDING:
        have = "has" if len(awaited) < 2 else "have"
        heirs = people(awaited, group) or "a member"
        return f"the broker has chosen {heirs} for {them} in {era(group)}, which {have} not taken {them} yet."
    if reason is OrphanReason.REBALANCING:
        return f"members or topics have changed, and the broker has yet to choose a member for {them} in {era(group)}."
    if reason is OrphanReason.GREW:
        return f"{'it' if one else 'they'} came after {era(group)}, and the broker has not assigned {them} yet."
    return f"the broker's assignor {shown(group.protocol or '')} left {them} out of {era(group)}."


def _of_own_shares(
    reason: OrphanReason, group: GroupState, awaited: Sequence[str], partitions: Sequence[TopicPartition]
) -> str:
    """Why nobody has a partition in a group whose members each work out their own share."""
    them, it_is = ("it", "it is") if len(partitions) == 1 else ("them", "they are")
    if reason is OrphanReason.MIXED_STRATEGY:
        return (
            f"the members share partitions out by different strategies, and {it_is} in no share: {_by_strategy(group)}."
        )
    if reason is OrphanReason.MIXED_SUBSCRIPTION:
        return (
            f"{it_is} in the shares of members that do not subscribe to the {_topics(partitions)}, as RocketMQ shares "
            f"every topic over all members of a group: {_missing(group, partitions)}."
        )
    if reason is OrphanReason.GREW:
        came = "it came" if len(partitions) == 1 else "they came"
        return f"{came} after the members last shared partitions out, and none of them has taken {them} yet."
    if reason is OrphanReason.PENDING:
        rule, have = shown(group.protocol or "its strategy"), "has" if len(awaited) < 2 else "have"
        return f"by {rule} {it_is} for {people(awaited, group)}, which {have} not taken {them}."
    return f"no member has taken {them}, and why cannot be told: how the members share partitions is not known."


def _missing(group: GroupState, partitions: Sequence[TopicPartition]) -> str:
    """Who does not subscribe to which of the topics."""
    topics = sorted({place.topic for place in partitions})
    lacking = {topic: [m.member_id for m in group.members if topic not in m.topics] for topic in topics[:LISTED]}
    return "; ".join(f"{shown(topic)} is not subscribed by {people(who, group)}" for topic, who in lacking.items())


def _topics(partitions: Sequence[TopicPartition]) -> str:
    return "topic" if len({place.topic for place in partitions}) == 1 else "topics"


@_sentence.register
def _replayed_drift(evidence: ReplayedDrift, found: Observation, group: GroupState) -> str:
    difference, cause = evidence.difference, evidence.cause
    if KINDS[group.kind].is_self_assigned:
        return _drift_of_own_shares(difference, cause, group)
    return (
        f"{places(difference.partitions)} {_have(difference.partitions)} another owner than the assignor "
        f"{shown(group.protocol or '')} gives for generation {group.generation}: {_example(difference, group)}. "
        f"{_of_replayed(cause, group)}"
    )


def _drift_of_own_shares(difference: Difference, cause: Cause, group: GroupState) -> str:
    why = "Each member works out its own share: one of them may see other members or partitions than the rest"
    if cause.cause is DriftCause.MIXED_ASSIGNORS:
        why = f"The members share partitions out by different strategies: {_by_strategy(group)}"
    return (
        f"{places(difference.partitions)} {_have(difference.partitions)} another owner than "
        f"{shown(group.protocol or 'the strategy')} gives: {_example(difference, group)}. {why}."
    )


@_sentence.register
def _current_drift(evidence: CurrentDrift, found: Observation, group: GroupState) -> str:
    difference = evidence.difference
    return (
        f"{places(difference.partitions)} would have another owner if the group rebalanced now: "
        f"{_example(difference, group)}. {_of_current(evidence.cause, evidence.changes)}."
    )


@_sentence.register
def _target_drift(evidence: TargetDrift, found: Observation, group: GroupState) -> str:
    difference, cause = evidence.difference, evidence.cause
    first = difference.partitions[0]
    if cause.cause is DriftCause.MIXED_ASSIGNORS:
        why = f"The members ask for different assignors: {listed(cause.seen)}"
    elif any(member.server_assignor is not None for member in group.members):
        why = "The brokers may have another version of the assignor"
    else:
        why = "No member asks for an assignor, and the brokers' default (group.consumer.assignors) may be another"
    expected, chosen = _somebody(difference.expected, group), _somebody(difference.actual, group)
    return (
        f"For {places(difference.partitions)} the broker has chosen another member than its assignor "
        f"{shown(group.protocol or '')} gives for {era(group)}: partition {first.partition} of {shown(first.topic)} "
        f"should go to {expected} and is meant for {chosen}. {why}."
    )


@_sentence.register
def _late_handover(evidence: LateHandover, found: Observation, group: GroupState) -> str:
    partitions, first = found.partitions, evidence.first
    heir = _somebody([] if evidence.heir is None else [evidence.heir], group)
    told = "has been told to give it back and has not" if evidence.is_told else "has not asked the broker since"
    return (
        f"{places(partitions)} {_have(partitions)} not been handed over in {era(group)}: partition {first.partition} "
        f"of {shown(first.topic)} is meant for {heir}, but {people([evidence.owner], group)} {told}."
    )


def _of_replayed(cause: Cause, group: GroupState) -> str:
    """Why the leader decided otherwise, as one sentence."""
    seen, members, assignor = listed(cause.seen), people(cause.members, group), shown(group.protocol or "")
    if cause.is_exact:
        return f"It is exactly what the {assignor} of {seen} gives{f'; the leader is {members}' if members else ''}."
    unlike = f"uses {seen}" if seen else "does not write its subscription as Kafka's Java client does"
    told = {
        DriftCause.TIE: (
            "A tie may explain it: the assignor's answer depends here on the order in which the leader met the members."
        ),
        DriftCause.FOREIGN_CLIENT: f"Likely cause: the leader {members} {unlike}, and its {assignor} may be another.",
        DriftCause.MIXED_ASSIGNORS: (
            f"Likely cause: not all members have the same {assignor}: {_unlike(cause, members)}."
        ),
        DriftCause.RACKS_CHANGED: (
            "Likely cause: the assignor looks at racks, and those of the members or partitions have changed since."
        ),
        DriftCause.MIXED_SUBSCRIPTIONS: (
            f"The members subscribe to different topics ({members} not to those of the others), which implementations "
            f"of {assignor} can treat differently."
        ),
    }
    return told.get(cause.cause, "The leader may run another implementation or version of the assignor.")


def _unlike(cause: Cause, members: str) -> str:
    libraries = [f"they use {listed(cause.seen)}"] if len(cause.seen) > 1 else []
    others = [f"{members} joined with other user data than the rest"] if members else []
    return "; ".join(libraries + others)


def _have(partitions: Sequence[TopicPartition]) -> str:
    return "has" if len(partitions) == 1 else "have"


def _example(difference: Difference, group: GroupState) -> str:
    first = difference.partitions[0]
    return (
        f"{partition(first)} should belong to {_somebody(difference.expected, group)} "
        f"and belongs to {_somebody(difference.actual, group)}"
    )


def _of_current(cause: Cause, changes: Sequence[Growth]) -> str:
    match cause.cause:
        case DriftCause.METADATA_STALE:
            return _stale(changes)
        case DriftCause.RACKS_CHANGED:
            return "Likely cause: the assignor looks at racks, and those of the members or partitions are others now"
        case _:
            return (
                "Nothing that it depends on is seen to have changed: from what the members have now, the assignor "
                "would move partitions"
            )


def _stale(changes: Sequence[Growth]) -> str:
    told = ", ".join(_change(change) for change in changes[:LISTED])
    more = f" and {counted(len(changes) - LISTED, 'other topic')} changed" if len(changes) > LISTED else ""
    return f"Likely cause: {told}{more}, and the members still use the older metadata"


def _change(change: Growth) -> str:
    if change.after == 0:
        return f"{shown(change.topic)} no longer exists"
    if change.before == 0 and not change.is_seen:
        return f"the leader did not know {shown(change.topic)} ({counted(change.after, 'partition')})"
    if change.before == 0:
        return f"{shown(change.topic)} is new with {counted(change.after, 'partition')}"
    verb = "grew" if change.after > change.before else "shrank"
    return f"{shown(change.topic)} {verb} from {change.before} to {counted(change.after, 'partition')}"


@_sentence.register
def _imbalance(evidence: Imbalance, found: Observation, group: GroupState) -> str:
    balance = evidence.balance
    told = (
        f"{people([balance.member_id], group)} owns {counted(balance.largest, 'partition')}, but with these "
        f"subscriptions no member would need more than {balance.optimum}."
    )
    if balance.alternative is None:
        return told
    why = "range deals out every topic anew, beginning with the same members: " * (
        group.protocol == "range" and balance.topics > 1
    )
    gain = f"with {balance.alternative.assignor} the largest member would have {balance.alternative.largest}"
    return f"{told} {_capitalized(f'{why}{gain} instead of {balance.largest}')}."


def _capitalized(clause: str) -> str:
    return clause[0].upper() + clause[1:]


@_sentence.register
def _idle_members(evidence: IdleMembers, found: Observation, group: GroupState) -> str:
    members, partitions = found.members, evidence.partitions
    own, of = "owns" if len(members) == 1 else "own", len(group.members)
    head = f"{len(members)} of {counted(of, 'member')} {own} no partition ({people(members, group)})"
    if partitions is None:
        return f"{head}."
    if of > partitions:
        return f"{head}: the group has more members than the {counted(partitions, 'partition')} of its topics."
    return f"{head}, although its topics have {counted(partitions, 'partition')}."


@_sentence.register
def _not_committing(evidence: NotCommitting, found: Observation, group: GroupState) -> str:
    partitions, owners = found.partitions, evidence.owners
    patience = f"for at least {seconds(evidence.silence_ms)}"
    if not owners:
        return f"Records wait in {places(partitions)}, and no offset has been committed there {patience}."
    role = f"{'its' if len(partitions) == 1 else 'their'} owner{'' if len(owners) == 1 else 's'}"
    have = "has" if len(owners) == 1 else "have"
    return (
        f"Records wait in {places(partitions)}, and {role}, {people(owners, group)}, {have} committed no offset "
        f"there {patience}."
    )


@_sentence.register
def _open_transaction(evidence: OpenTransaction, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    transactions = "a transaction that is" if len(partitions) == 1 else "transactions that are"
    return (
        f"All that waits in {places(partitions)} is behind {transactions} still open: consumers that read only "
        "committed records cannot go on there."
    )


@_sentence.register
def _former_log(evidence: FormerLog, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    offsets = "has a committed offset" if len(partitions) == 1 else "have committed offsets"
    topics = "topic was" if len({place.topic for place in partitions}) == 1 else "topics were"
    return (
        f"{places(partitions)} {offsets} from before the {topics} deleted and created anew: how many records wait "
        "is not known until the group commits there again."
    )


@_sentence.register
def _behind(evidence: Behind, found: Observation, group: GroupState) -> str:
    threshold = counted(evidence.threshold, unit_of(group.kind))
    return f"More than {threshold} wait for the group, in {places(found.partitions)}."


@_sentence.register
def _records_lost(evidence: RecordsLost, found: Observation, group: GroupState) -> str:
    """How many they are moves with every segment that is removed, and is shown beside."""
    partitions = found.partitions
    return f"Retention removed records of {places(partitions)} that the group had not committed: they are lost to it."


@_sentence.register
def _unreadable_members(evidence: UnreadableMembers, found: Observation, group: GroupState) -> str:
    members, of_assignments = evidence.members, evidence.of_assignments
    what = KINDS[group.kind].message or ("assignment" if of_assignments else "subscription")
    whose = people(members, group)
    why = listed(list(dict.fromkeys(evidence.problems)))
    told = f"groupwatch cannot decode the {what}{'' if len(members) == 1 else 's'} of {whose} ({why})."
    if KINDS[group.kind].is_self_assigned:
        return f"{told} Partitions without an owner, drift and imbalance of the group are therefore not found."
    if of_assignments:
        return f"{told} Drift and imbalance are not found, and partitions without an owner only if they came later."
    return f"{told} Drift and imbalance are not found, and partitions without an owner only in topics of other members."


@_sentence.register
def _close_to_loss(evidence: CloseToLoss, found: Observation, group: GroupState) -> str:
    share = f"{100 * evidence.share:g} %"
    return (
        f"At least as much as {share} of what retention last left of {places(found.partitions)} waits for the group, "
        "which gains on it slowly, if at all: what retention removes next is lost."
    )


@_sentence.register
def _unattended(evidence: Unattended, found: Observation, group: GroupState) -> str:
    return f"The group has no members, and records wait in vain in {places(found.partitions)}."


@_sentence.register
def _abandoned(evidence: Abandoned, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    return (
        f"Records wait in vain in {places(partitions)}: the group has committed offsets there, but none of its members "
        f"subscribes to the {_topics(partitions)} any more."
    )


@_sentence.register
def _silent_members(evidence: SilentMembers, found: Observation, group: GroupState) -> str:
    return _doing_nothing(found, group)


def _doing_nothing(found: Observation, group: GroupState) -> str:
    members, partitions = found.members, found.partitions
    have = "has" if len(members) == 1 else "have"
    return (
        f"{people(members, group)} {have} {places(partitions)}, and {have} committed nothing for a while, although "
        "records wait there and other members go on."
    )


@_sentence.register
def _unanswering_members(evidence: UnansweringMembers, found: Observation, group: GroupState) -> str:
    members, partitions = found.members, found.partitions
    is_are, do, have, their = ("is", "does", "has", "its") if len(members) == 1 else ("are", "do", "have", "their")
    return (
        f"{people(members, group)} {is_are} connected but {do} not answer the broker, and {have} committed nothing for "
        f"a while in {their} {places(partitions)}, although records wait there and other members go on."
    )


@_sentence.register
def _unnoticed_members(evidence: UnnoticedMembers, found: Observation, group: GroupState) -> str:
    up_to, they_are = ("", "it is") if len(found.members) == 1 else ("up to ", "they are")
    return (
        f"{_doing_nothing(found, group)} With a session of {up_to}{seconds(evidence.session_ms)}, the broker may "
        f"not have noticed yet if {they_are} gone: until then, nobody takes over."
    )


@_sentence.register
def _lag_imbalance(evidence: LagImbalance, found: Observation, group: GroupState) -> str:
    head = (
        f"Most of the records that wait for the group wait for {people(found.members, group)}, which has "
        f"{counted(evidence.owned, 'partition')}"
    )
    hot = partition(evidence.hottest)
    match evidence.skew:
        case Skew.KEYS:
            return (
                f"{head}: {hot} alone gets too many, which no assignment can share out. Make that member faster; for "
                "good, choose other keys."
            )
        case Skew.ASSIGNMENT:
            return (
                f"{head}: busy partitions have come together there, {hot} first. Add members; for good, let another "
                "assignor deal them out."
            )
        case Skew.MEMBER:
            return (
                f"{head}: they get no more records than others, so it is the member that is slow. Look at it and its "
                "host."
            )


@_sentence.register
def _long_rebalance(evidence: LongRebalance, found: Observation, group: GroupState) -> str:
    head = f"The group has been rebalancing for more than {seconds(evidence.limit_ms)}"
    if KINDS[group.kind].assigns is Assigner.LEADER:
        return f"{head}: {_of_the_coordinator(group)}"
    return f"{head}, towards {era(group)}: {_of_the_members(group, found.members)}"


def _of_the_members(group: GroupState, awaited: Sequence[str]) -> str:
    """What a KIP-848 group waits for."""
    if awaited:
        have = "has" if len(awaited) == 1 else "have"
        return f"{people(awaited, group)} {have} yet to give partitions back, which others wait for."
    if group.phase is Phase.ASSIGNING:
        return "the broker has yet to choose who is to have what (the log of the group's coordinator may tell why)."
    late = [member.member_id for member in group.members if _has_yet_to_take(member)]
    who_is, have = (people(late, group), "has") if len(late) == 1 else (people(late, group) or "its members", "have")
    return f"{who_is} {have} yet to take what the broker has chosen."


def _has_yet_to_take(member: Member) -> bool:
    standing = member.reconciliation
    if standing is None:
        return False
    return not _by_id(standing.target or ()) <= _by_id(standing.assigned)


def _by_id(entries: Iterable[IdPartitions]) -> set[tuple[str, int]]:
    return {(entry.id, number) for entry in entries for number in entry.partitions}


def _of_the_coordinator(group: GroupState) -> str:
    """What a classic group waits for: members that have joined wait for those that have yet to (JoinGroup)."""
    longest_ms = max((member.rebalance_timeout_ms for member in group.members), default=0)
    most = f", at most {seconds(longest_ms)} (their rebalance timeout)" if longest_ms > 0 else ""
    return f"its coordinator waits for members that have not rejoined{most}."


@_sentence.register
def _rebalance_storm(evidence: RebalanceStorm, found: Observation, group: GroupState) -> str:
    causes = evidence.causes
    told = ", ".join(CAUSES[cause] for cause in causes)
    hints = " ".join(dict.fromkeys(_HINTS[cause] for cause in causes if cause in _HINTS))
    if KINDS[group.kind].is_self_assigned:  # of which no log tells more
        told = ", ".join(CAUSES[cause] for cause in causes if cause is not RebalanceCause.UNKNOWN)
        hints = "Look for members that are restarted again and again, or that lose their connections."
    why = f" ({told})" if told else ""
    times = f"at least {evidence.enough} times within {seconds(evidence.window_ms)}"
    return f"The group has rebalanced {times}{why}. {hints}".rstrip()


CAUSES: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: "members joined",
    RebalanceCause.LEAVE: "members left or timed out",
    RebalanceCause.TIMEOUT: "members timed out",
    RebalanceCause.SUBSCRIPTION: "members subscribed to other topics",
    RebalanceCause.TOPICS: "topics came, went or grew",
    RebalanceCause.STATIC_RESTART: "static members restarted",
    RebalanceCause.ASSIGNOR: "the assignor changed",
    RebalanceCause.HANDOVER: "partitions were handed over",
    RebalanceCause.UPGRADE: "it went over to KIP-848",
    RebalanceCause.DOWNGRADE: "it went back to the classic protocol",
    RebalanceCause.UNKNOWN: "for reasons that the log does not tell",
}

_MEMBERS_COME_AND_GO: Final = (
    "Look for members that are restarted again and again, or that take longer than max.poll.interval.ms between two "
    "polls; with group.instance.id a restart within the session needs no rebalance."
)
_HINTS: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: _MEMBERS_COME_AND_GO,
    RebalanceCause.LEAVE: _MEMBERS_COME_AND_GO,
    RebalanceCause.TIMEOUT: _MEMBERS_COME_AND_GO,
    RebalanceCause.SUBSCRIPTION: "Look for members that subscribe to changing topics.",
    RebalanceCause.TOPICS: "Look who creates and deletes topics that the group's pattern finds.",
    RebalanceCause.ASSIGNOR: "Give all members the same partition.assignment.strategy.",
}
