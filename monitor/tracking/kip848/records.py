"""The records of a KIP-848, share or streams group, folded one after the other.

Kafka's own name for these kinds is "modern" (package ``group.modern`` of its coordinator). Each says in small records
what a classic group says in one: who the members are, what each is to own (its target), and what it owns now.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from msgspec.structs import replace

from monitor.model import (
    KINDS,
    STATIC_LEAVE_EPOCH,
    CurrentRemoved,
    CurrentStored,
    EpochStored,
    GroupDeleted,
    GroupKind,
    GroupState,
    Member,
    MemberRemoved,
    MembershipChange,
    MemberStored,
    ModernEvent,
    Phase,
    Rebalance,
    RebalanceCause,
    Reconciliation,
    RegexResolved,
    ResolvedRegex,
    Source,
    SubscribedTopicsStored,
    TargetEpochStored,
    TargetStored,
    TopicPartition,
    TopologyStored,
)
from monitor.protocol.kafka.kip848_groups import SOLE_KINDS
from monitor.tracking.kip848.assignor_input import AssignorInputDraft
from monitor.tracking.kip848.causes import (
    epoch_rebalance,
    has_subscription_changed,
    have_topics_changed,
    is_conversion,
    removal_cause,
)
from monitor.tracking.kip848.members import MembersDraft
from monitor.tracking.kip848.moves import MovesDraft, with_move_counts
from monitor.tracking.phases import PhaseEvent, enter_phase, epoch_phase_event
from monitor.tracking.rebalances.causes import static_restart_at
from monitor.tracking.rebalances.history import begin_rebalance, end_rebalance, record_rebalance
from monitor.tracking.rebalances.impact import Handover, RebalanceCost, add_cost
from monitor.tracking.rebalances.leavers import Leaver, leavers_of
from monitor.tracking.rebalances.membership import topics_left, without_membership
from monitor.tracking.rebalances.static_ids import with_replacements
from monitor.tracking.streams import is_ready, with_topology, with_validation


def kind_of(event: ModernEvent) -> GroupKind:
    """The kind of group that has such records."""
    if isinstance(event, SubscribedTopicsStored | RegexResolved | TopologyStored):
        return SOLE_KINDS[type(event)]
    return event.kind


def is_deletion(event: ModernEvent) -> bool:
    """Whether the record is a tombstone."""
    match event:
        case GroupDeleted() | MemberRemoved() | CurrentRemoved():
            return True
        case (
            TargetEpochStored(epoch=None)
            | TargetStored(target=None)
            | RegexResolved(topics=None)
            | TopologyStored(topology=None)
            | SubscribedTopicsStored(topics=())
        ):
            return True
        case _:
            return False


MAX_PENDING: Final = 10_000
"""How many changes are kept for which no epoch was raised. A broker raises it at once; a broken log may never."""


class ModernDraft:
    """A group of one of these kinds in the making: its members change in place, the rest is a state without them."""

    def __init__(self, state: GroupState, kind: GroupKind) -> None:
        kept = state if state.kind is kind else without_membership(state, kind=kind, pending=state.pending)
        self._members = MembersDraft(kept)
        self._moves = MovesDraft(kept.released)
        self._before = _assignor_input(kept)
        self._state = replace(kept, members=(), incomplete_members=())
        self._left: list[Leaver] = []

    @property
    def kind(self) -> GroupKind:
        """The kind of group that this is."""
        return self._state.kind

    def freeze(self) -> GroupState:
        """The state as it is now, members sorted by id."""
        return replace(
            self._members.freeze_into(self._state),
            under_way=self._with_moves(),
            released=self._moves.released(),
            assignor_input=None if self._before is None else self._before.freeze(),
            left_topics=() if self._members.complete else self._state.left_topics,
        )

    @property
    def phase(self) -> Phase:
        """The group's current phase."""
        return self._state.phase

    @property
    def history(self) -> tuple[Rebalance, ...]:
        """The newest rebalances."""
        return self._state.history

    def take_handed(self) -> dict[TopicPartition, Handover]:
        """The partitions that got a new owner since the last call, with their topics' ids."""
        handed, self._moves.handed = self._moves.handed, {}
        return handed

    def take_left(self) -> list[Leaver]:
        """The members that have lost all that they owned since this was last called, with the keys of their topics."""
        left, self._left = self._left, []
        return left

    def add_cost(self, resumed: RebalanceCost) -> None:
        """Partitions were committed again after the newest rebalance."""
        self._state = add_cost(self._state, resumed)

    def apply(self, event: ModernEvent) -> None:
        """Take one record of this kind of group."""
        match event:
            case EpochStored():
                self._raise_epoch(event)
            case TargetEpochStored():
                if self._before is not None:
                    self._before.complete_targets(event.epoch, self._members.complete.values())
                self._state = replace(self._state, target_epoch=event.epoch)
                self._members.raise_target_epoch(event.epoch)
                self._stand(event.stored_ms)
            case RegexResolved():
                self._resolve(event)
            case SubscribedTopicsStored():
                self._name_topics(event)
            case TopologyStored():
                self._state = with_topology(self._state, event.topology)
                self._stand(event.stored_ms)
            case GroupDeleted():
                self._delete(event)
            case _:
                self._apply_to_member(event)

    def _apply_to_member(
        self, event: MemberStored | MemberRemoved | TargetStored | CurrentStored | CurrentRemoved
    ) -> None:
        match event:
            case MemberStored():
                self._store_member(event)
            case MemberRemoved():
                self._remove_member(event)
            case TargetStored():
                self._aim(event)
                self._stand(self._state.phase_ms)  # it has no time of its own, and moves only a group just found
            case CurrentStored():
                if event.current.epoch == STATIC_LEAVE_EPOCH:
                    self._note_leaver(event.member_id, event.current.since_ms)
                self._reconcile(event.member_id, event.current)
                self._reach(event.current.epoch)
                self._stand(event.current.since_ms)
            case CurrentRemoved():
                self._note_leaver(event.member_id, event.removed_ms)
                self._reconcile(event.member_id, Reconciliation())
                self._stand(self._state.phase_ms)  # nor has this; the member's own tombstone follows

    def _note_leaver(self, member_id: str, left_ms: int) -> None:
        self._left.extend(leavers_of(self._members.complete.get(member_id), left_ms))

    def _raise_epoch(self, event: EpochStored) -> None:
        state = self._state
        if self._before is not None:
            self._before.raise_epoch(event.epoch, event.stored_ms)
        if event.epoch != state.generation:
            rebalance = epoch_rebalance(state, event)
            if state.under_way is None:
                held = self._moves.held_counts(self._members.complete.values())
                rebalance = replace(rebalance, held=held, is_first=not held)
            state = begin_rebalance(state, rebalance)
            state = replace(state, generation_ms=event.stored_ms, rebalances=state.rebalances + 1, pending=())
        state = replace(state, generation=event.epoch, metadata_hash=event.metadata_hash)
        self._state = with_validation(state, event)
        self._stand(event.stored_ms)

    def _store_member(self, event: MemberStored) -> None:
        if self._before is not None:
            self._before.add_member(event.stored_ms)
        before = self._members.store(event.member)
        if before is None:
            self._note_replacements((), (event.member,), event.stored_ms)
            self._note_join(event.member, event.stored_ms)
        elif has_subscription_changed(before, event.member):
            self._note(RebalanceCause.SUBSCRIPTION)
        self._stand(event.stored_ms)

    def _note_join(self, member: Member, at_ms: int) -> None:
        """A new member, or a static one that came back under a new id: then what its going was noted as was none."""
        gone = [c for c in self._state.pending if c.instance_id is not None and c.instance_id == member.instance_id]
        if not gone:
            self._note(RebalanceCause.JOIN, member.instance_id)
            return
        pending = tuple(change for change in self._state.pending if change not in gone)
        self._state = record_rebalance(
            replace(self._state, pending=pending), static_restart_at(self._state.generation, at_ms)
        )

    def _remove_member(self, event: MemberRemoved) -> None:
        member = self._members.remove(event.member_id)
        if member is not None:
            self._moves.remove(member, event.removed_ms)
            self._note_replacements((member,), (), event.removed_ms)
            if not self._members.complete:
                self._state = replace(self._state, left_topics=topics_left(replace(self._state, members=(member,))))
            self._note(removal_cause(member, event.removed_ms), member.instance_id)
        self._stand(event.removed_ms)

    def _note_replacements(self, gone: Iterable[Member], come: Iterable[Member], at_ms: int) -> None:
        runs = with_replacements(self._state.static_ids, gone, come, at_ms)
        if runs is not self._state.static_ids:
            self._state = replace(self._state, static_ids=runs)

    def _reconcile(self, key: str, current: Reconciliation) -> None:
        """A new current assignment; the target stays."""
        member = self._members.find(key)
        before = member.reconciliation or Reconciliation()
        after = replace(current, target=before.target, spare_target=before.spare_target)
        if key in self._members.complete and KINDS[self._state.kind].broker_assigns_partitions:
            self._moves.change(member, after)
        self._members.reconcile(member, after)

    def _aim(self, event: TargetStored) -> None:
        """A new target; the current assignment stays."""
        member = self._members.find(event.member_id)
        if self._before is not None and event.target is not None:
            self._before.change_target(member)
        elif self._before is not None:
            self._before.remove_target(event.member_id)
        before = member.reconciliation or Reconciliation()
        self._members.reconcile(member, replace(before, target=event.target, spare_target=event.spare))

    def _reach(self, epoch: int) -> None:
        """A member is never ahead of the targets, nor these of the group: both have at least the member's epoch.

        From Kafka 4.3 on a group begins at epoch 1 with empty targets, and no record says so (ModernGroup and
        StreamsGroup; KAFKA-20268). One whose only expression fits no topic stays there.
        """
        if epoch > (self._state.target_epoch or 0):
            generation = max(epoch, self._state.generation)
            self._state = replace(self._state, generation=generation, target_epoch=epoch)
            self._members.raise_target_epoch(epoch)

    def _resolve(self, event: RegexResolved) -> None:
        known = {resolved.regex: resolved for resolved in self._state.regexes}
        before = known.pop(event.regex, None)
        if event.topics is not None:
            known[event.regex] = ResolvedRegex(regex=event.regex, topics=event.topics)
            if before is None:
                self._note(RebalanceCause.SUBSCRIPTION)
            elif set(before.topics) != set(event.topics):
                self._note(RebalanceCause.TOPICS)
        self._state = replace(self._state, regexes=tuple(known[regex] for regex in sorted(known)))
        self._stand(event.stored_ms)

    def _name_topics(self, event: SubscribedTopicsStored) -> None:
        if have_topics_changed(self._state, event):
            self._note(RebalanceCause.TOPICS)
        self._state = replace(self._state, subscribed_topics=event.topics)
        self._stand(event.stored_ms)

    def _delete(self, event: GroupDeleted) -> None:
        """A group is deleted when it is empty; members that went without a new epoch went into a classic group."""
        downgrade = (MembershipChange(cause=RebalanceCause.DOWNGRADE),)
        pending = downgrade if is_conversion(self._state.pending) else ()
        self._end(event.deleted_ms)
        state = enter_phase(self._state, PhaseEvent.DELETED, event.deleted_ms)
        self._state = without_membership(state, pending=pending)
        self._moves.reset()
        self._before = _assignor_input(self._state)
        self._members = MembersDraft(self._state)

    def _note(self, cause: RebalanceCause, instance_id: str | None = None) -> None:
        change = MembershipChange(cause=cause, instance_id=instance_id)
        self._state = replace(self._state, pending=(*self._state.pending, change)[-MAX_PENDING:])

    def _stand(self, at_ms: int) -> None:
        happened = self._phase_event()
        self._state = enter_phase(self._state, happened, at_ms)
        if happened in (PhaseEvent.EMPTIED, PhaseEvent.SETTLED):
            self._end(at_ms)

    def _end(self, at_ms: int) -> None:
        """Record what a rebalance cost once it is over; without one under way no member gains what another had.

        But a member that is gone may have left partitions: the epoch in which others gain them comes after its
        tombstones.
        """
        if (rebalance := self._state.under_way) is not None:
            rebalance = with_move_counts(rebalance, self._moves.moved, self._members.complete)
            self._state = end_rebalance(replace(self._state, under_way=rebalance), at_ms)
        self._moves.reset(keeping=bool(self._state.pending))

    def _with_moves(self) -> Rebalance | None:
        """The rebalance under way with what it has moved so far, as the draft ends here."""
        rebalance = self._state.under_way
        return rebalance and replace(rebalance, moved=rebalance.moved + self._moves.moved)

    def _phase_event(self) -> PhaseEvent:
        traits = KINDS[self._state.kind]
        return epoch_phase_event(
            self._state,
            has_members=bool(self._members.complete),
            is_ready=not traits.broker_assigns_tasks or is_ready(self._state.streams),
            is_behind=self._members.are_behind,
        )


def _assignor_input(state: GroupState) -> AssignorInputDraft | None:
    """What is kept of it; None: the group is of another kind, or the log does not tell of it."""
    if not KINDS[state.kind].broker_assigns_tasks or state.source is not Source.LOG:
        return None
    return AssignorInputDraft(state.assignor_input)
