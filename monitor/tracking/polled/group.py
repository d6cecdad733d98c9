"""A group that a collector reads as a whole, folded into what is known of it.

Its system keeps no log of what happened, so what changed between two readings has happened between them: members that
came or went are a rebalance, an offset that moved is a commit. What came and went between two readings is not seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from monitor.model import (
    CONSEQUENTIAL_CAUSES,
    KINDS,
    GroupObserved,
    GroupsListed,
    GroupState,
    InvalidCommit,
    InvalidOffsetCommitted,
    Member,
    OffsetCommitted,
    Phase,
    Rebalance,
    RebalanceCause,
    Sharing,
    Source,
    TopicPartition,
)
from monitor.model.silent_members import answered_holdings, presumed_holdings
from monitor.tracking.offsets.commits import OffsetsDraft
from monitor.tracking.polled.kafka import MemberFingerprint, apply_kafka_poll
from monitor.tracking.polled.rocketmq import with_poll
from monitor.tracking.rebalances.generation import Generation
from monitor.tracking.rebalances.membership import with_rebalance
from monitor.tracking.topic import CLOCK_SET_BACK_MS

SETTLING_MS: Final = 40_000
"""Within this time of a change, all members have shared partitions out again (RocketMQ's do so every 20 s, ZooKeeper's
try again after some seconds) and have been read (every 10 s)."""


SOURCE_RANK: Final = MappingProxyType({source: place for place, source in enumerate(Source)})
"""If two sources report a group of one name, the one that is named first in ``Source`` counts."""


def is_newer(state: GroupState, event: GroupObserved) -> bool:
    """Whether the reading counts: not if the group is known from a better source, nor if it is older than the last.

    A clock that was set back far (CLOCK_SET_BACK_MS) makes it count again.
    """
    if SOURCE_RANK[event.source] > SOURCE_RANK[state.source] and state.phase not in (Phase.UNSEEN, Phase.GONE):
        return False
    return event.observed_ms >= state.observed_ms or event.observed_ms < state.observed_ms - CLOCK_SET_BACK_MS


def apply_poll(state: GroupState, event: GroupObserved) -> GroupState:
    """The group with the members that the reading found; its offsets are folded in by the commits of the reading.

    A reading that finds the members as they were changes nothing but its date, and what they say of themselves.
    """
    if event.source is Source.ADMIN:
        return apply_kafka_poll(state, event)
    before = state if state.kind is event.kind and state.source is event.source else _new_group(state, event)
    if event.sharing is Sharing.EXCLUSIVE and not all(member.answers for member in event.members):
        event = replace(event, members=_keep_silent_members(before.members, event.members))
    if KINDS[event.kind].has_members and (before.phase is Phase.UNSEEN or not _is_same_generation(before, event)):
        before = _next_generation(before, event)
    return replace(
        before,
        observed_ms=event.observed_ms,
        members=event.members,
        protocol=event.protocol,
        sharing=event.sharing,
        rocketmq=with_poll(before, event),
    )


def commits_of(event: GroupObserved, known: OffsetsDraft) -> Iterator[OffsetCommitted]:
    """The commits that the reading shows: of every partition whose offset is not the one that was known."""
    for seen in event.offsets:
        if known.at(seen.topic, seen.partition) != seen.offset:
            yield OffsetCommitted(
                group=event.group,
                topic=seen.topic,
                partition=seen.partition,
                offset=seen.offset,
                committed_ms=event.observed_ms if seen.committed_ms is None else seen.committed_ms,
            )


def invalid_commits_of(event: GroupObserved, known: Iterable[InvalidCommit]) -> Iterator[InvalidOffsetCommitted]:
    """The commits of offsets below 0 that the reading shows, and the one before did not."""
    before = {(each.topic, each.partition): each.offset for each in known}
    for seen in event.invalid:
        if before.get((seen.topic, seen.partition)) != seen.offset:
            yield InvalidOffsetCommitted(event.group, seen.topic, seen.partition, seen.offset, event.observed_ms)


def is_deleted(state: GroupState, listed: GroupsListed, named: AbstractSet[str]) -> bool:
    """Whether the group is of the listing's source, was last read before it, and is not among those it names."""
    return state.source is listed.source and state.group not in named and state.observed_ms < listed.pass_ms


def _keep_silent_members(before: tuple[Member, ...], now: tuple[Member, ...]) -> tuple[Member, ...]:
    """The members; one that does not answer has what it had before, as far as no other says that it has it.

    It is not known to have given anything up, so its silence is no rebalance.
    """
    known, held = {member.member_id: member for member in before}, answered_holdings(now)
    return tuple([_with_last_known(member, known.get(member.member_id), held) for member in now])


def _with_last_known(member: Member, before: Member | None, held: AbstractSet[TopicPartition]) -> Member:
    if member.answers or before is None:
        return member
    return replace(
        member,
        topics=member.topics or before.topics,
        assigned=presumed_holdings(member.assigned or before.assigned, held),
        assignor=member.assignor or before.assignor,
    )


def _new_group(state: GroupState, event: GroupObserved) -> GroupState:
    return GroupState(cluster=state.cluster, group=state.group, kind=event.kind, source=event.source)


def _is_same_generation(state: GroupState, event: GroupObserved) -> bool:
    if event.generation is not None:
        return event.generation == state.generation
    return _fingerprints(state.members) == _fingerprints(event.members)


def _fingerprints(members: tuple[Member, ...]) -> list[MemberFingerprint]:
    """The same in whatever order the system lists members and their topics."""
    fingerprints = [
        MemberFingerprint(each.member_id, tuple(sorted(each.topics)), tuple(sorted(each.assigned)), each.connections)
        for each in members
    ]
    return sorted(fingerprints, key=lambda each: each.member_id)


def _next_generation(before: GroupState, event: GroupObserved) -> GroupState:
    """The group in the generation that the reading shows, with the rebalance that must have led to it."""
    generation = Generation(
        number=before.generation + 1 if event.generation is None else event.generation,
        members=event.members,
        protocol_type=event.protocol_type,
        protocol=event.protocol,
        started_ms=event.observed_ms,
        ended_ms=event.observed_ms,
    )
    after = with_rebalance(before, generation)
    return replace(after, history=_with_handover_cause(after.history))


def _with_handover_cause(history: tuple[Rebalance, ...]) -> tuple[Rebalance, ...]:
    """The history, the newest of it in the words of what readings tell.

    That the same members hold other partitions is, in a log, a sign of other topics. Here it is mostly the rest of the
    change before: members share partitions out one after the other.
    """
    *earlier, newest = history
    if newest.causes != (RebalanceCause.TOPICS,):
        return history
    begun_ms = [each.ended_ms for each in earlier if not CONSEQUENTIAL_CAUSES.issuperset(each.causes)]
    follows = bool(begun_ms) and (newest.ended_ms or 0) - (begun_ms[-1] or 0) <= SETTLING_MS
    return (*earlier, replace(newest, causes=(RebalanceCause.HANDOVER if follows else RebalanceCause.UNKNOWN,)))
