"""Fold the events of a classic group into what is known of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from monitor.model import (
    CommittedOffset,
    GroupDeleted,
    GroupEvent,
    GroupState,
    MembershipStored,
    OffsetCommitted,
    OffsetDeleted,
    Phase,
)
from monitor.tracking.phases import TRANSITIONS, Happened

_COUNTED: Final = frozenset({Phase.STABLE, Phase.EMPTY})  # the phases whose membership record tells a generation
_UNMOVED_BY_COMMITS: Final = frozenset(p for p in Phase if TRANSITIONS[p, Happened.COMMITTED] is p)


def fold_group(cluster: str, group: str, state: GroupState | None, events: Iterable[GroupEvent]) -> GroupState | None:
    """The group after the events, which are all of this group and in the order of the log.

    - The newest commit of a partition is the last one in the log, whatever its timestamp says.
    - ``rebalances`` counts every stored generation that differs from the one stored before it, the first one seen and
      those that only emptied the group included. A rewrite of the same generation (a static member that came back), and
      the record of a group just created (no members, no protocol type), count nothing. A generation may go back when a
      group was deleted and created anew; that counts like any other change.
    - ``generation_ms`` is when the newest generation was first stored, so a rewrite leaves it. It is 0 while there is
      no membership record.
    - A deletion of the group forgets all but its offsets, which have tombstones of their own. Converting a group to
      KIP-848 writes such a deletion and keeps the offsets.

    Returns:
        The new state; the same object if nothing changed; None if the group is gone or has neither a membership record
        nor offsets. What follows later starts anew then, its ``rebalances`` at 0.
    """
    draft = _Draft(state or GroupState(cluster=cluster, group=group))
    for event in events:
        draft.apply(event)
    after = draft.freeze()
    return state if after == state else after


class _Draft:
    """A group in the making: its offsets as a dict that changes in place, the rest as a state without them."""

    __slots__ = ("_offsets", "_state")

    def __init__(self, state: GroupState) -> None:
        self._state = replace(state, offsets=())
        self._offsets: dict[tuple[str, int], CommittedOffset | OffsetCommitted] = {
            (offset.topic, offset.partition): offset for offset in state.offsets
        }

    def apply(self, event: GroupEvent) -> None:
        if isinstance(event, OffsetCommitted):
            self._offsets[event.topic, event.partition] = event
            if self._state.phase not in _UNMOVED_BY_COMMITS:
                self._state = _entered(self._state, Happened.COMMITTED, event.committed_ms)
            return
        if isinstance(event, OffsetDeleted):
            self._offsets.pop((event.topic, event.partition), None)
        elif isinstance(event, MembershipStored):
            self._state = _stored(self._state, event)
        else:
            self._state = _deleted(self._state, event)
        if not self._offsets and not _has_membership_record(self._state):
            self._state = GroupState(cluster=self._state.cluster, group=self._state.group)

    def freeze(self) -> GroupState | None:
        if self._state.phase is Phase.UNSEEN:
            return None
        return replace(self._state, offsets=tuple(_committed(self._offsets[place]) for place in sorted(self._offsets)))


def _stored(state: GroupState, event: MembershipStored) -> GroupState:
    happened = _what_was_stored(event)
    rewritten = state.phase in _COUNTED and event.generation == state.generation
    counted = happened is not Happened.CREATED and not rewritten
    return replace(
        _entered(state, happened, event.stored_ms),
        protocol_type=event.protocol_type,
        protocol=event.protocol,
        leader=event.leader,
        generation=event.generation,
        generation_ms=state.generation_ms if rewritten else event.stored_ms,
        members=event.members,
        rebalances=state.rebalances + counted,
    )


def _what_was_stored(event: MembershipStored) -> Happened:
    if event.members:
        return Happened.STORED
    return Happened.EMPTIED if event.protocol_type else Happened.CREATED


def _deleted(state: GroupState, event: GroupDeleted) -> GroupState:
    known = _entered(state, Happened.DELETED, event.deleted_ms)
    return GroupState(
        cluster=known.cluster,
        group=known.group,
        phase=known.phase,
        phase_ms=known.phase_ms,
        rebalances=known.rebalances,
    )


def _entered(state: GroupState, happened: Happened, at_ms: int) -> GroupState:
    """The state in the phase that the table gives; ``phase_ms`` moves only if the phase does."""
    phase = TRANSITIONS[state.phase, happened]
    return state if phase is state.phase else replace(state, phase=phase, phase_ms=at_ms)


def _has_membership_record(state: GroupState) -> bool:
    return state.phase in _COUNTED or (state.phase is Phase.OFFSETS_ONLY and state.generation_ms != 0)


def _committed(offset: CommittedOffset | OffsetCommitted) -> CommittedOffset:
    if isinstance(offset, CommittedOffset):
        return offset
    return CommittedOffset(
        topic=offset.topic,
        partition=offset.partition,
        offset=offset.offset,
        committed_ms=offset.committed_ms,
        leader_epoch=offset.leader_epoch,
    )
