"""What the members of a streams group had when the broker's task assignor ran, record by record.

The assignor is sticky, so its result depends on what members had before. Brokers before 4.4 pass it their targets,
later ones what they run (``TargetAssignmentBuilder`` of Kafka's group coordinator). Both are in the log only as long as
the next record of the member has not replaced them, so they are kept until the next epoch.

In a compacted log, records are missing. Epochs are counted one by one: where each is seen, none of the records between
two of them can have been replaced by a later one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.model import AssignorInput, FormerTasks, IdPartitions, Member, Reconciliation

MOST_FIRST_EPOCH: Final = 2
"""A group's first epoch is 1, and from Kafka 4.3 on 2 (KAFKA-20268)."""


class AssignorInputDraft:
    """The input in the making. See AssignorInput for what is kept."""

    def __init__(self, known: AssignorInput | None) -> None:
        known = known or AssignorInput()
        self._epoch = known.epoch
        self._first_ms = known.first_ms
        self._is_open = known.is_open
        self._is_complete = known.is_complete
        self._targets = {former.member_id: former for former in known.targets}
        self._held = known.held

    def freeze(self) -> AssignorInput:
        """The input as it is now."""
        return AssignorInput(
            epoch=self._epoch,
            first_ms=self._first_ms,
            is_open=self._is_open,
            is_complete=self._is_complete,
            targets=tuple(self._targets[key] for key in sorted(self._targets)),
            held=self._held,
        )

    def add_member(self, at_ms: int) -> None:
        """A member was stored; the first one of a new group is stored with the group's first epoch."""
        if not self._epoch and self._first_ms is None:
            self._first_ms = at_ms

    def raise_epoch(self, epoch: int, at_ms: int) -> None:
        """The group has this epoch; an epoch that is written again says nothing new."""
        if epoch == self._epoch:
            return
        is_next = epoch == self._epoch + 1 if self._epoch else epoch <= MOST_FIRST_EPOCH and self._first_ms == at_ms
        if not self._is_open:
            self._is_open, self._is_complete = True, True
            self._forget()
        if not is_next:
            self._is_complete = False
            self._forget()
        self._epoch, self._first_ms = epoch, None

    def change_target(self, before: Member) -> None:
        """A member gets another target; ``before`` has the one until then.

        Targets come with an epoch. Another one, between two epochs, is the target of the member that this one replaces.
        """
        if not self._is_open or not self._is_complete:
            return
        if before.member_id in self._targets:
            self._is_complete = False  # which of the two was the assignor's?
            self._forget()
            return
        self._targets[before.member_id] = _target_tasks(before)

    def remove_target(self, member_id: str) -> None:
        """A member has no target any more: it is gone."""
        if self._is_open:
            self._targets.pop(member_id, None)

    def complete_targets(self, epoch: int | None, members: Iterable[Member]) -> None:
        """The targets are those for this epoch; the members are as they were until then."""
        if not self._is_open:
            return
        self._is_open = False
        if epoch != self._epoch:
            self._is_complete = False
            self._forget()
        if self._is_complete:
            self._held = tuple(former for member in members if (former := self._held_otherwise(member)) is not None)

    def _held_otherwise(self, member: Member) -> FormerTasks | None:
        """What the member ran, if that is something else than its target before."""
        held = _held_tasks(member)
        return None if held == self._targets.get(member.member_id, _target_tasks(member)) else held

    def _forget(self) -> None:
        self._targets, self._held = {}, ()


def _target_tasks(member: Member) -> FormerTasks:
    now = member.reconciliation or Reconciliation()
    standby = now.spare_target.standby if now.spare_target else ()
    return FormerTasks(member.member_id, _in_order(now.target or ()), _in_order(standby))


def _held_tasks(member: Member) -> FormerTasks:
    now = member.reconciliation or Reconciliation()
    standby = now.spare.standby if now.spare else ()
    return FormerTasks(member.member_id, _in_order(now.assigned), _in_order(standby))


def _in_order(entries: Iterable[IdPartitions]) -> tuple[IdPartitions, ...]:
    return tuple(sorted(IdPartitions(entry.id, tuple(sorted(entry.partitions))) for entry in entries))
