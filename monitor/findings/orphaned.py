"""Partitions that no member owns, or that their owner does not consume.

Those of Kafka Streams and of share groups have more rows in the modules of these; Connect's tasks are in connect.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from monitor.findings.advice import (
    ALL,
    BY_BROKER,
    CLASSIC,
    COMPARE_STRATEGIES,
    CONSUMER,
    ONE_STRATEGY,
    POLLING,
    SELF_ASSIGNED,
    STATIC_MEMBER,
    STREAMS,
    ZOOKEEPER,
    Advice,
)
from monitor.findings.clauses import capitalize, have_verb, object_pronoun, strategies_sentence, task_names, topic_noun
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.findings.streams import StreamsReport, streams_reason
from monitor.messages.client_libraries import project_names
from monitor.messages.names import LISTED, era, people, places, shown
from monitor.messages.new_partitions import new_partitions_advice
from monitor.model import KINDS, FindingKind, GroupState, Library, OrphanReason, TopicPartition

_LEFT_OUT: Final = (
    Advice(f"To trigger a rebalance, restart a member ({STATIC_MEMBER}).", CLASSIC | CONSUMER),
    Advice("To trigger a rebalance, restart a member.", STREAMS | SELF_ASSIGNED),
    Advice("If the gap returns, compare the members' client libraries, assignors, and subscriptions.", CLASSIC),
    Advice("If the gap returns, check the members' subscriptions, and the log of the group's coordinator.", CONSUMER),
    Advice("If the gap returns, check the log of the group's coordinator.", STREAMS),
    Advice(f"If the gap returns, compare {COMPARE_STRATEGIES}.", SELF_ASSIGNED),
)

_NEW_PARTITIONS: Final = (
    *[
        Advice(new_partitions_advice(each, f"restart the leader ({STATIC_MEMBER})"), CLASSIC, frozenset({each}))
        for each in (*Library, None)
    ],
    Advice(
        "Wait: the coordinator assigns new partitions within moments. If it takes longer, check its log.", BY_BROKER
    ),
    Advice(
        "Wait: the members find new partitions by themselves. If it takes longer than a minute, restart a member to "
        "trigger a rebalance.",
        SELF_ASSIGNED,
    ),
)

_HANDOVER: Final = (
    Advice("Wait: the handover completes by itself.", ALL),
    Advice(
        "If it does not, check the named member: a member must poll to give up partitions and to take them.", POLLING
    ),
    Advice("If it does not, check the named member.", SELF_ASSIGNED),
    Advice("It may have given up (see its log): then restart it.", ZOOKEEPER),
)

ROWS: Final = (
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.MIXED_STRATEGY,
        Rank.MISFIT,
        advice=ONE_STRATEGY,
        mark="no owner: strategies differ",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.MIXED_SUBSCRIPTION,
        Rank.MISFIT,
        advice=(
            "Subscribe all members of the group to the same topics, or move members with other topics to a group of "
            "their own. Restart them with that change."
        ),
        mark="no owner: subscriptions differ",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.LEADER_UNSUBSCRIBED,
        Rank.MISFIT,
        advice=(
            "Subscribe all members to the same topics, or move members with other topics to a group of their own. An "
            "assignor that assigns the topics of all members also helps. A restart only changes the leader."
        ),
        mark="no owner: leader not subscribed",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.OWNER_UNSUBSCRIBED,
        Rank.MISFIT,
        advice=(
            "Subscribe all members to the same topics, or move members with other topics to a group of their own. A "
            "restart of members does not help."
        ),
        mark="no reader: owner not subscribed",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.ASSIGNOR_GAP,
        Rank.LEFT_OUT,
        advice=_LEFT_OUT,
        mark="no owner: assignor gap",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.GREW,
        Rank.UNTIL_IT_HEALS,
        advice=_NEW_PARTITIONS,
        mark="no owner: topic grew",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.PENDING,
        Rank.UNTIL_IT_HEALS,
        advice=_HANDOVER,
        mark="no owner yet: handover",
    ),
    FindingSpec(
        FindingKind.ORPHANED,
        OrphanReason.REBALANCING,
        Rank.UNTIL_IT_HEALS,
        advice="Wait: the coordinator assigns within moments. If this lasts, check the log of the group's coordinator.",
        mark="no owner yet: rebalancing",
    ),
)


_BY_PLACE: Final = "AllocateMessageQueueAveragely"
"""RocketMQ's strategies of this name, and of one that begins so, give a client what its first place in the list has."""


class NoOwner(Evidence):
    """Why nobody owns partitions.

    ``seen_growing``: they were seen to come after the generation, to topics known before. ``awaited`` are, of
    partitions on their way, the members that let them go; of KIP-848 and of groups without a leader, those that are to
    take them. ``streams`` is of Kafka Streams only.
    """

    reason: OrphanReason
    seen_growing: bool
    awaited: tuple[str, ...] = ()
    streams: StreamsReport | None = None


@sentence.register
def _no_owner(evidence: NoOwner, found: Observation, group: GroupState) -> str:
    partitions, reason, awaited = found.partitions, evidence.reason, evidence.awaited
    one = len(partitions) == 1
    head = f"{places(partitions)} {have_verb(partitions)} no owner."
    if found.tasks:
        head = f"{head} No thread runs {task_names(found.tasks)}."
    if KINDS[group.kind].broker_chooses_owners:
        return f"{head} {_coordinator_reason(reason, group, awaited, one=one)}"
    if KINDS[group.kind].is_self_assigned:
        return f"{head} {_self_assigned_reason(reason, group, awaited, partitions)}"
    if reason is OrphanReason.LEADER_UNSUBSCRIBED:
        return f"{head} {_unsubscribed_leader_reason(partitions, group)}"
    if evidence.streams is not None and reason is not OrphanReason.GREW:
        return f"{head} {streams_reason(reason, evidence.streams, group, awaited, one=one)}"
    if evidence.seen_growing and reason is OrphanReason.GREW:
        leader = _leader(group)
        return (
            f"{head} The {topic_noun(partitions)} grew after generation {group.generation} was assigned, and "
            f"{f'the group leader, {leader}, has' if leader else 'the members have'} not refreshed "
            f"{'its' if leader else 'their'} metadata."
        )
    return f"{head} {_leader_reason(reason, group, awaited, one=one)}"


def _leader_reason(reason: OrphanReason, group: GroupState, awaited: Sequence[str], *, one: bool) -> str:
    """Why the leader of a classic group has not assigned a partition."""
    them, generation = object_pronoun(one=one), era(group)
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
    return f"{capitalize(generation)} was assigned {metadata}."


def _unsubscribed_leader_reason(partitions: Sequence[TopicPartition], group: GroupState) -> str:
    """Why the leader has not assigned a topic that other members subscribe to."""
    leader, assignor, topics = _leader(group), shown(group.protocol or ""), topic_noun(partitions)
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


def _coordinator_reason(reason: OrphanReason, group: GroupState, awaited: Sequence[str], *, one: bool) -> str:
    """Why a partition has no owner in a KIP-848 group, where the coordinator assigns."""
    them, they = object_pronoun(one=one), "It" if one else "They"
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
    them, they = object_pronoun(one=one), "It" if one else "They"
    if reason is OrphanReason.MIXED_STRATEGY:
        return f"{they} {'is' if one else 'are'} in no member's share. {strategies_sentence(group)}"
    if reason is OrphanReason.MIXED_SUBSCRIPTION:
        return (
            f"{they} {'falls' if one else 'fall'} to members that do not subscribe to the {topic_noun(partitions)}, "
            f"because RocketMQ allocates every topic across all members of a group. {_missing(group, partitions)}"
        )
    if reason is OrphanReason.GREW:
        return f"{they} appeared after the members last computed their shares, and no member has taken {them} yet."
    if reason is OrphanReason.PENDING:
        strategy, have = shown(group.protocol or "The strategy"), "has" if len(awaited) < 2 else "have"
        return f"{strategy} assigns {them} to {people(awaited, group)}, which {have} not taken {them}."
    twice = [member.member_id for member in group.members if member.connections > 1]
    if twice and all((member.assignor or "").startswith(_BY_PLACE) for member in group.members):
        return (
            f"RocketMQ has a share for each connection. Those with the same id, {people(twice, group)}, all take the "
            "first share of that id, so its other shares have no owner."
        )
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


class UnsubscribedOwners(Evidence):
    """The owners do not subscribe to the topics, and their client libraries drop what they do not subscribe to."""

    libraries: tuple[Library, ...]


@sentence.register
def _unsubscribed_owners(evidence: UnsubscribedOwners, found: Observation, group: GroupState) -> str:
    partitions, leader = found.partitions, _leader(group)
    who = f"The group leader, {leader}," if leader else "The group leader"
    are, member = ("is", "a member that does") if len(partitions) == 1 else ("are", "members that do")
    libraries = project_names(evidence.libraries, "and")
    return (
        f"{places(partitions)} {are} assigned to {member} not subscribe to the {topic_noun(partitions)} "
        f"({people(found.members, group)}). {libraries} drops such partitions without an error, so no member consumes "
        f"them. {who} assigned its topics to all members in {era(group)}."
    )


def _leader(group: GroupState) -> str:
    """The member that assigns in a classic group; empty if it is not known."""
    is_known = any(member.member_id == group.leader for member in group.members)
    return people([group.leader], group) if is_known and group.leader is not None else ""
