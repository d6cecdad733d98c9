"""A group that a collector reads as a whole, folded into what is known of it.

Its system keeps no log of what happened, so what changed between two readings has happened between them: members that
came or went are a rebalance, an offset that moved is a commit. What came and went between two readings is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from typing import Final

from msgspec.structs import replace

from monitor.model import (
    GroupKind,
    GroupObserved,
    GroupsListed,
    GroupState,
    Member,
    MembershipStored,
    OffsetCommitted,
    Phase,
    Source,
    TopicPartitions,
    Value,
)
from monitor.tracking import classic
from monitor.tracking.observed_kafka import with_kafka_reading
from monitor.tracking.offsets import OffsetsDraft

SET_BACK_MS: Final = 60_000
"""A reading that is older than the one before it in the log by more than this is not late: the clock was set back."""


class _Seat(Value):
    """What makes an assignment another one, of a member."""

    member_id: str
    topics: tuple[str, ...]
    assigned: tuple[TopicPartitions, ...]
    connections: int


def counts(state: GroupState, event: GroupObserved) -> bool:
    """Whether the reading counts: not if the group is known from its cluster's log, nor if it is older than the last.

    A clock that was set back far makes it count again.
    """
    if state.source is Source.LOG and state.phase not in (Phase.UNSEEN, Phase.GONE):
        return False
    return event.observed_ms >= state.observed_ms or event.observed_ms < state.observed_ms - SET_BACK_MS


def with_reading(state: GroupState, event: GroupObserved) -> GroupState:
    """The group with the members that the reading found; its offsets are folded in by the commits of the reading.

    A reading that finds the members as they were changes nothing but its date, and what they say of themselves.
    """
    if event.source is Source.ADMIN:
        return with_kafka_reading(state, event)
    before = state if state.kind is event.kind and state.source is event.source else _anew(state, event)
    if event.kind is not GroupKind.SPARK and (before.phase is Phase.UNSEEN or not _alike(before, event)):
        before = _rebalanced(before, event)
    return replace(
        before,
        observed_ms=event.observed_ms,
        members=event.members,
        protocol=event.protocol,
        sharing=event.sharing,
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


def has_gone(state: GroupState, listed: GroupsListed, named: AbstractSet[str]) -> bool:
    """Whether the group is of the listing's source, was last read before it, and is not among those it names."""
    return state.source is listed.source and state.group not in named and state.observed_ms < listed.pass_ms


def _anew(state: GroupState, event: GroupObserved) -> GroupState:
    return GroupState(cluster=state.cluster, group=state.group, kind=event.kind, source=event.source)


def _alike(state: GroupState, event: GroupObserved) -> bool:
    if event.generation is not None:
        return event.generation == state.generation
    return _seats(state.members) == _seats(event.members)


def _seats(members: tuple[Member, ...]) -> list[_Seat]:
    return [_Seat(each.member_id, each.topics, each.assigned, each.connections) for each in members]


def _rebalanced(before: GroupState, event: GroupObserved) -> GroupState:
    """A rebalance, which the classic group's rules tell best: who came and went, what moved and what had to."""
    stored = MembershipStored(
        group=event.group,
        generation=before.generation + 1 if event.generation is None else event.generation,
        protocol_type=event.protocol_type,
        protocol=event.protocol,
        leader=None,
        stored_ms=event.observed_ms,
        members=event.members,
    )
    after = classic.stored(replace(before, kind=GroupKind.CLASSIC), stored)
    return replace(after, kind=event.kind, source=event.source)
