"""Fold the events of a group into what is known of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from monitor.model import (
    KINDS,
    MOST,
    CommitRun,
    CommitUnread,
    GroupDeleted,
    GroupEvent,
    GroupObserved,
    GroupPlaced,
    GroupState,
    InvalidOffsetCommitted,
    LoggedEvent,
    MembershipEvent,
    MembershipStored,
    ModernEvent,
    OffsetCommitted,
    OffsetDeleted,
    OffsetsListed,
    Phase,
    ReadablePartitionsStored,
    RebalanceSampled,
    RecordUnread,
    ShareGroupRead,
    ShareSnapshotStored,
    ShareStateDeleted,
    ShareUpdateStored,
    Source,
)
from monitor.tracking.classic import delete_group, store_membership
from monitor.tracking.connect import with_connect_work
from monitor.tracking.kip848.handovers import HandoversDraft
from monitor.tracking.kip848.records import ModernDraft, is_deletion, kind_of
from monitor.tracking.offsets.commits import Commit, FrozenOffsets, OffsetsDraft
from monitor.tracking.offsets.deletions import Deletions
from monitor.tracking.offsets.jumps import Readers, rounded_pace
from monitor.tracking.phases import TRANSITIONS, PhaseEvent, enter_phase
from monitor.tracking.polled.group import apply_poll, commits_of, invalid_commits_of, is_newer
from monitor.tracking.rebalances.duration import apply_durations
from monitor.tracking.rebalances.impact import NO_COST, add_cost, newest_end_ms
from monitor.tracking.rebalances.in_progress import with_sample
from monitor.tracking.rebalances.leavers import leavers_between
from monitor.tracking.share.partitions import ShareDraft
from monitor.tracking.unread import UnreadDraft, shown_again, with_unread_kind

_UNMOVED_BY_COMMITS: Final = tuple([p for p in Phase if TRANSITIONS[p, PhaseEvent.COMMITTED] is p])
_LOG: Final = Source.LOG
_COMMITS: Final = (OffsetCommitted, CommitRun)
_ALL_COMMITS: Final = (OffsetCommitted, CommitRun, CommitUnread, InvalidOffsetCommitted)
_SHARE_STATE: Final = (ShareSnapshotStored, ShareUpdateStored, ShareStateDeleted, ShareGroupRead)
_WITH_MEMBERSHIP: Final = frozenset({Phase.EMPTY, Phase.NOT_READY, Phase.ASSIGNING, Phase.RECONCILING, Phase.STABLE})


def fold_group(cluster: str, group: str, state: GroupState | None, events: Iterable[GroupEvent]) -> GroupState | None:
    """The group after the events, which are all of this group and in the order of the log.

    - The newest commit of a partition is the last one in the log, whatever its timestamp says. At most 20 commits of a
      partition are remembered (320 bytes, see monitor.model.commit_history), and the newest 40 rebalances of a
      group: memory grows with members and partitions, not with time.
    - Where the broker was asked well after the newest commit in the log, its answer counts, see
      monitor.tracking.offsets.precedence. The two logs have no common order, and none is needed.
    - What a collector saw of a rebalance before the log told of it counts until then, see
      monitor.tracking.rebalances.in_progress. What it saw from beginning to end tells how long rebalances took, see
      monitor.tracking.rebalances.duration.
    - A group that a collector reads as a whole is as the newest reading says, see monitor.tracking.polled.group. Once
      the log tells of a group, readings of it no longer count.
    - ``rebalances`` counts every stored generation that differs from the one stored before it, the first one seen and
      those that only emptied the group included; of a KIP-848, share or streams group every epoch. A rewrite of the
      same generation (a static member that came back), and the record of a group just created (no members, no protocol
      type), count nothing. A generation may go back when a group was deleted and created anew; that counts like any
      other change.
    - ``generation_ms`` is when the newest generation was first stored, so a rewrite leaves it. It is 0 while there is
      no membership record.
    - Share state comes from a log of its own, with its own deletions; whatever the log of groups tells, it stays. The
      two logs have no common order. A group of which nothing else is known is UNSEEN, and is never shown.
    - A deletion of the group forgets all but its offsets, which have tombstones of their own, and its rebalances. A
      conversion between the classic protocol and that of KIP-848 writes such a deletion; members have other records
      then. A tombstone of another kind of group than it is now says nothing new.
    - What the brokers write in a version that is not known here hides the members, or the committed offset of a
      partition, until it can be read again, see monitor.tracking.unread.
    - What remains of offsets that were deleted is kept, also when nothing else is (UNSEEN), until the partition is
      committed again, see monitor.tracking.offsets.deletions.
    - What the log tells counts where the group is by the newest number of partitions: once anything is there, all from
      elsewhere is void, whatever the order (see GroupPlaced).

    Returns:
        The new state; the same object if nothing changed; None if the group is gone or has neither a membership record
        nor offsets, deleted offsets nor share state. What follows later starts anew then, its ``rebalances`` at 0.
    """
    draft = _Draft(state or GroupState(cluster=cluster, group=group))
    for event in events:
        draft.apply(event)
    after = draft.freeze()
    return state if after == state else after


class _Draft:
    """A group in the making: offsets and the members of a modern group change in place, the rest is a state."""

    __slots__ = (
        "_has_lost",
        "_is_elsewhere",
        "_modern",
        "_offsets",
        "_partitions",
        "_pending_listed_ms",
        "_pending_offsets",
        "_share",
        "_state",
        "_unread",
    )

    def __init__(self, state: GroupState) -> None:
        self._partitions, self._has_lost, self._is_elsewhere = state.log_partitions, state.has_lost_offsets, False
        self._pending_offsets, self._pending_listed_ms = state.pending_offsets, state.pending_listed_ms
        self._unread = UnreadDraft(state)
        deletions = Deletions(state.deleted_offsets, state.explicit_expiries, state.invalid_commits)
        state = shown_again(state)
        self._state = replace(
            state,
            offsets=(),
            unconfirmed=(),
            committed_topics=(),
            taken=(),
            share=None,
            unread_commits=(),
            departures=(),
            deleted_offsets=(),
            explicit_expiries=(),
            invalid_commits=(),
        )
        self._offsets = OffsetsDraft(
            (*state.offsets, *state.unconfirmed),
            state.committed_topics,
            state.fastest,
            departures=state.departures,
            deletions=deletions,
        )
        self._offsets.handovers = HandoversDraft(state.taken) if _awaits_handovers(state) else None
        self._modern: ModernDraft | None = None
        self._share = ShareDraft(state.share)
        self._look_at_rebalances(state)

    def apply(self, event: GroupEvent) -> None:
        """Take an event. Commits come first, as nearly all events are some."""
        if isinstance(event, _COMMITS):
            if not self._is_elsewhere:
                self._apply_logged(event)
        elif isinstance(event, GroupPlaced):
            self._place(event)
        elif isinstance(event, GroupObserved):
            self._observe(event)
        elif isinstance(event, _SHARE_STATE):
            self._share.apply(event)
        elif isinstance(event, OffsetsListed):
            if self._state.source is _LOG:  # the reading of a whole group has its offsets, which are the broker's too
                self._offsets.list(event)
                self._pending_offsets, self._pending_listed_ms = event.pending, event.asked_ms
        elif isinstance(event, RebalanceSampled):
            self._state = with_sample(self._freeze_modern(), event)
        elif not self._is_elsewhere:
            self._apply_logged(event)

    def _place(self, event: GroupPlaced) -> None:
        """Take where the log's events come from, until it is told again."""
        if event.before and event.partitions > self._partitions:
            self._has_lost = bool(self._offsets)
            self._modern = None
            self._begin_with_the_log()
        self._partitions = max(self._partitions, event.partitions)
        self._is_elsewhere = event.partitions < self._partitions

    def _apply_logged(self, event: LoggedEvent) -> None:
        """Take what the offsets topic tells of the group."""
        if self._state.source is not _LOG:
            self._begin_with_the_log()
        self._unread.take(event)
        if isinstance(event, _ALL_COMMITS):
            self._commit(event)
            return
        if isinstance(event, OffsetDeleted):
            self._offsets.delete(event, None if self._unread else self._freeze_modern())
        elif isinstance(event, ReadablePartitionsStored):
            self._share.store_readable(event)
        else:
            self._change_membership(event)
        self._forget_if_nothing_is_left()

    def freeze(self) -> GroupState | None:
        self._take_resumed()
        state = self._freeze_modern()
        share, deleted = self._share.freeze(), self._offsets.deletions.deleted_offsets()
        if state.phase is Phase.UNSEEN and share is None and not deleted:
            return None
        offsets = self._offsets.freeze()
        if state.observations:
            state = apply_durations(state, _read_until_ms(state, offsets))
        known = replace(
            state,
            offsets=offsets.counting,
            unconfirmed=offsets.unconfirmed,
            committed_topics=self._offsets.topics(),
            taken=self._offsets.handovers.freeze() if self._offsets.handovers else (),
            fastest=max(state.fastest, rounded_pace(self._offsets.jumps.fastest)),
            redelivered_records=min(MOST, state.redelivered_records + self._offsets.redelivered),
            share=share,
            unread_commits=self._unread.commits(),
            log_partitions=self._partitions,
            has_lost_offsets=self._has_lost,
            pending_offsets=self._pending_offsets,
            pending_listed_ms=self._pending_listed_ms if self._pending_offsets else 0,
            departures=self._offsets.departures(),
        )
        explicit = self._offsets.deletions.explicit_expiries()
        invalid = self._offsets.deletions.invalid_commits()
        known = self._unread.known_part(known)
        if not (deleted or explicit or invalid):
            return known
        return replace(known, deleted_offsets=deleted, explicit_expiries=explicit, invalid_commits=invalid)

    def _commit(self, event: Commit | CommitUnread | InvalidOffsetCommitted) -> None:
        if isinstance(event, _COMMITS):
            self._offsets.commit(event)
        elif isinstance(event, InvalidOffsetCommitted):
            self._offsets.replace_by_invalid(event)
        else:  # what was known of the partition is of the past
            self._offsets.hide(event)
        if self._modern is None and self._state.phase not in _UNMOVED_BY_COMMITS:
            self._state = enter_phase(self._state, PhaseEvent.COMMITTED, _begun_ms(event))

    def _observe(self, event: GroupObserved) -> None:
        """Take a collector's reading of the whole group."""
        known = self._freeze_modern()
        if not is_newer(known, event):
            return
        self._take_resumed()
        after = apply_poll(known, event)
        if after.source is not known.source:
            self._offsets, self._unread, self._pending_offsets = OffsetsDraft(()), UnreadDraft(after), ()
        self._state = after
        self._look_at_rebalances(after)
        for invalid in invalid_commits_of(event, self._offsets.deletions.invalid_commits()):
            self._commit(invalid)
        if not event.partial:
            self._offsets.keep_only((offset.topic, offset.partition) for offset in event.offsets)
            self._offsets.deletions.keep_invalid([(offset.topic, offset.partition) for offset in event.invalid])
        for commit in commits_of(event, self._offsets):
            self._commit(commit)

    def _look_at_rebalances(self, now: GroupState | ModernDraft) -> None:
        """Let commits know of the newest rebalances."""
        self._offsets.resumes_after_ms = newest_end_ms(now.history, now.phase)
        self._offsets.jumps.readers = Readers(now.history, now.phase) if self._state.source is _LOG else None

    def _begin_with_the_log(self) -> None:
        """What a collector has read of the group no longer counts: the log tells of it, and tells more."""
        self._state = GroupState(cluster=self._state.cluster, group=self._state.group)
        self._offsets, self._pending_offsets = OffsetsDraft(()), ()
        self._unread = UnreadDraft(self._state)
        self._look_at_rebalances(self._state)

    def _take_resumed(self) -> None:
        """Give the pauses that commits told of to the rebalance that they followed."""
        if self._offsets.resumed is NO_COST:
            return
        if self._modern is not None:
            self._modern.add_cost(self._offsets.resumed)
        else:
            self._state = add_cost(self._state, self._offsets.resumed, self._offsets.pauses)
        self._offsets.resumed, self._offsets.pauses = NO_COST, {}

    def _change_membership(self, event: MembershipEvent | RecordUnread) -> None:
        self._take_resumed()
        self._apply_membership(event)
        now = self._modern or self._state
        self._look_at_rebalances(now)
        if not KINDS[now.kind].broker_assigns_partitions:
            self._offsets.handovers = None
            return
        handovers = self._offsets.handovers = self._offsets.handovers or HandoversDraft()
        if self._modern is not None:
            handovers.add(self._modern.take_handed())
            self._offsets.note_departures(self._modern.take_left())

    def _apply_membership(self, event: MembershipEvent | RecordUnread) -> None:
        if isinstance(event, RecordUnread):
            self._state = with_unread_kind(self._freeze_modern(), event)
        elif isinstance(event, MembershipStored):
            before = self._freeze_modern()
            self._state = with_connect_work(before, store_membership(before, event), event.stored_ms)
            if KINDS[before.kind].has_generations:
                self._offsets.note_departures(leavers_between(before, self._state, event.stored_ms))
            lacks_time = event.state_ms is None and not event.members
            if lacks_time is not self._state.lacks_state_time:
                self._state = replace(self._state, lacks_state_time=lacks_time)
        elif isinstance(event, GroupDeleted) and KINDS[event.kind].has_generations:
            self._state = delete_group(self._freeze_modern(), event)
        else:
            self._change_modern(event)

    def _change_modern(self, event: ModernEvent) -> None:
        kind = kind_of(event)
        known = self._modern.kind if self._modern else self._state.kind
        if kind is not known and is_deletion(event):
            return
        if self._modern is None or kind is not known:
            self._modern = ModernDraft(self._freeze_modern(), kind)
        self._modern.apply(event)
        if isinstance(event, GroupDeleted):
            self._freeze_modern()

    def _freeze_modern(self) -> GroupState:
        """The state with what the modern draft has made of it, and no draft any more."""
        if self._modern is not None:
            self._state, self._modern = self._modern.freeze(), None
        return self._state

    def _forget_if_nothing_is_left(self) -> None:
        has_offsets = self._offsets or self._offsets.deletions.invalid_commits()
        is_known = has_offsets or self._unread or _has_membership_record(self._state)
        if self._modern is None and not is_known:
            self._state = GroupState(cluster=self._state.cluster, group=self._state.group)
            self._offsets.deletions.forget_unexpired()
            self._offsets = OffsetsDraft((), deletions=self._offsets.deletions)
            self._look_at_rebalances(self._state)


def _begun_ms(event: Commit | CommitUnread | InvalidOffsetCommitted) -> int:
    if isinstance(event, CommitUnread):
        return event.stored_ms
    return event.first.committed_ms if isinstance(event, CommitRun) else event.committed_ms


def _awaits_handovers(state: GroupState) -> bool:
    """Whether commits of a partition are waited for that has a new owner: these name the topic's id in the log only."""
    return KINDS[state.kind].broker_assigns_partitions and state.source is _LOG


def _read_until_ms(state: GroupState, offsets: FrozenOffsets) -> int:
    """The newest time in the group's log so far: its order is that of the broker's clock."""
    commits = (known.committed_ms for known in (*offsets.counting, *offsets.unconfirmed))
    return max((state.generation_ms, *commits))


def _has_membership_record(state: GroupState) -> bool:
    created = state.phase is Phase.OFFSETS_ONLY and state.generation_ms != 0
    return state.phase in _WITH_MEMBERSHIP or created or bool(state.pending)
