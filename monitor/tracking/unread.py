"""What is not known of a group, as the brokers write of it in a version that groupwatch does not know.

Such a record hides what the group is like until one about the same subject comes that can be read: of a classic group
the next generation, of the other kinds the same type of record about the same member.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from msgspec.structs import replace

from monitor.model import (
    CommitRun,
    CommitUnread,
    CurrentRemoved,
    CurrentStored,
    EpochStored,
    GroupDeleted,
    GroupEvent,
    GroupKind,
    GroupState,
    InvalidOffsetCommitted,
    MemberRemoved,
    MembershipStored,
    MemberStored,
    OffsetCommitted,
    OffsetDeleted,
    Phase,
    ReadablePartitionsStored,
    RecordUnread,
    RegexResolved,
    SubscribedTopicsStored,
    TargetEpochStored,
    TargetStored,
    TopologyStored,
    UnreadCommit,
    UnreadMembership,
    UnreadRecord,
)
from monitor.protocol.kafka.kip848_groups import RECORD_KINDS, SOLE_KINDS
from monitor.tracking.phases import PhaseEvent, enter_phase
from monitor.tracking.rebalances.membership import without_membership

_EVENTS: Final[Mapping[int, tuple[type[GroupEvent], ...]]] = MappingProxyType(
    {
        2: (MembershipStored,),
        3: (EpochStored,),
        4: (SubscribedTopicsStored,),
        5: (MemberStored, MemberRemoved),
        6: (TargetEpochStored,),
        7: (TargetStored,),
        8: (CurrentStored, CurrentRemoved),
        10: (MemberStored, MemberRemoved),
        11: (EpochStored,),
        12: (TargetEpochStored,),
        13: (TargetStored,),
        14: (CurrentStored, CurrentRemoved),
        15: (ReadablePartitionsStored,),
        16: (RegexResolved,),
        17: (EpochStored,),
        19: (MemberStored, MemberRemoved),
        20: (TargetEpochStored,),
        21: (TargetStored,),
        22: (CurrentStored, CurrentRemoved),
        23: (TopologyStored,),
    }
)
"""The events that a type of record tells, by its number (monitor.protocol.kafka.records)."""

_TYPES: Final[Mapping[tuple[type[GroupEvent], GroupKind], int]] = MappingProxyType(
    {(event, RECORD_KINDS[number]): number for number, events in _EVENTS.items() for event in events}
)
"""The type of record, by its number, that tells an event of a kind of group."""


class UnreadDraft:
    """What is not known of a group while a piece of its log is folded in."""

    __slots__ = ("_commits", "_records")

    def __init__(self, state: GroupState) -> None:
        records = state.unread.records if state.unread is not None else ()
        self._records = {(each.record_type, each.subject): each for each in records}
        self._commits = {(each.topic, each.partition): each for each in state.unread_commits}

    def __bool__(self) -> bool:
        """Whether anything is not known."""
        return bool(self._records or self._commits)

    def take(self, event: GroupEvent) -> None:
        """Take an event of the log: what cannot be read, or that something is known again."""
        match event:
            # First, as nearly all events are these.
            case OffsetCommitted() | CommitRun() | OffsetDeleted() | InvalidOffsetCommitted():
                if self._commits:
                    self._commits.pop((event.topic, event.partition), None)
            case RecordUnread():
                self._note(event)
            case CommitUnread():
                place = event.topic, event.partition
                since_ms = self._commits[place].since_ms if place in self._commits else event.stored_ms
                self._commits[place] = UnreadCommit(*place, event.version, event.newest, since_ms)
            case _ if self._records:
                self._clear(event)

    def _note(self, event: RecordUnread) -> None:
        """A record on the members that cannot be read. Those of another kind of group no longer count."""
        self._keep_kind(event.kind)
        place = event.record_type, event.subject
        known = self._records.get(place)
        self._records[place] = UnreadRecord(
            record_type=event.record_type,
            record=event.record,
            version=event.version,
            newest=event.newest,
            since_ms=event.stored_ms if known is None else known.since_ms,
            subject=event.subject,
        )

    def _clear(self, event: GroupEvent) -> None:
        """An event on the members that was read: what it is about is known again."""
        if isinstance(event, GroupDeleted):
            own = {place: each for place, each in self._records.items() if RECORD_KINDS[place[0]] != event.kind}
            self._records = own
            return
        kind = SOLE_KINDS.get(type(event)) or getattr(event, "kind", None)
        number = None if kind is None else _TYPES.get((type(event), kind))
        if number is not None:
            self._records.pop((number, _subject(event)), None)
        if isinstance(event, MembershipStored):
            self._keep_kind(SOLE_KINDS[MembershipStored])

    def commits(self) -> tuple[UnreadCommit, ...]:
        """The partitions whose committed offset is not known, sorted."""
        return tuple([self._commits[place] for place in sorted(self._commits)])

    def known_part(self, state: GroupState) -> GroupState:
        """The group without what is not known for certain of its members; the state itself if all of it is known."""
        if not self._records:
            return state
        records = tuple([self._records[place] for place in sorted(self._records)])
        known = replace(state, offsets=(), unconfirmed=(), committed_topics=(), taken=(), share=None, unread_commits=())
        is_new = state.phase is not Phase.OFFSETS_ONLY
        return replace(
            without_membership(state, kind=state.kind),
            phase=Phase.OFFSETS_ONLY,
            phase_ms=min(each.since_ms for each in records) if is_new else state.phase_ms,
            unconfirmed=state.unconfirmed,
            committed_topics=state.committed_topics,
            taken=state.taken,
            share=state.share,
            sampled=state.sampled,
            observations=state.observations,
            unread_commits=state.unread_commits,
            log_partitions=state.log_partitions,
            has_lost_offsets=state.has_lost_offsets,
            unread=UnreadMembership(records=records, before=known),
        )

    def _keep_kind(self, kind: GroupKind) -> None:
        self._records = {place: each for place, each in self._records.items() if RECORD_KINDS[place[0]] == kind}


def shown_again(state: GroupState) -> GroupState:
    """The group with what :meth:`UnreadDraft.known_part` has left out of it."""
    if state.unread is None:
        return state
    return replace(
        state.unread.before,
        offsets=state.offsets,
        unconfirmed=state.unconfirmed,
        committed_topics=state.committed_topics,
        taken=state.taken,
        share=state.share,
        unread_commits=state.unread_commits,
    )


def with_unread_kind(state: GroupState, event: RecordUnread) -> GroupState:
    """The group as one of the kind that the record is about; of a group that is not known, that there is one."""
    if state.kind is event.kind and state.phase not in (Phase.UNSEEN, Phase.GONE):
        return state
    before = state if state.kind is event.kind else without_membership(state, kind=event.kind)
    return enter_phase(before, PhaseEvent.CREATED, event.stored_ms)


def _subject(event: GroupEvent) -> str:
    """The member, or the regular expression, that an event is about; "": the whole group."""
    match event:
        case RegexResolved():
            return event.regex
        case MemberStored():
            return event.member.member_id
        case MemberRemoved() | TargetStored() | CurrentStored() | CurrentRemoved():
            return event.member_id
        case _:
            return ""
