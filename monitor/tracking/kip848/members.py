"""The members of a KIP-848 group, record by record, and which of them have what the broker chose for them."""

from __future__ import annotations

from collections.abc import Mapping

from msgspec.structs import replace

from monitor.model import GroupState, Member, MemberState, Reconciliation


class MembersDraft:
    """The members of a group in the making.

    A member is complete once its own record was seen; what the log has of it before that waits in ``_incomplete``.
    ``_behind`` are the complete members that have not reached the targets (ConsumerGroupMember's ``isReconciledTo``),
    kept up to date so that a record costs no walk over all members.
    """

    __slots__ = ("_behind", "_complete", "_incomplete", "_target_epoch")

    def __init__(self, state: GroupState) -> None:
        self._complete = {member.member_id: member for member in state.members}
        self._incomplete = {member.member_id: member for member in state.incomplete_members}
        self._behind: set[str] = set()
        self.raise_target_epoch(state.target_epoch)

    @property
    def complete(self) -> Mapping[str, Member]:
        """The complete members, by id."""
        return self._complete

    @property
    def are_behind(self) -> bool:
        """Whether a complete member has not reached the targets."""
        return bool(self._behind)

    def freeze_into(self, state: GroupState) -> GroupState:
        """The state with the members as they are now, sorted by id."""
        return replace(
            state,
            members=tuple(self._complete[key] for key in sorted(self._complete)),
            incomplete_members=tuple(self._incomplete[key] for key in sorted(self._incomplete)),
        )

    def find(self, key: str) -> Member:
        """The member, as far as it is known."""
        return self._complete.get(key) or self._incomplete.get(key) or Member(member_id=key)

    def store(self, stored: Member) -> Member | None:
        """Take a member's own record, and return what was known of the member if it was complete before."""
        key = stored.member_id
        before = self._complete.get(key)
        waiting = before or self._incomplete.pop(key, None)
        self._complete[key] = replace(stored, reconciliation=waiting.reconciliation if waiting else Reconciliation())
        self._compare(key)
        return before

    def remove(self, key: str) -> Member | None:
        """Remove a member, and return it if it was complete."""
        self._incomplete.pop(key, None)
        self._behind.discard(key)
        return self._complete.pop(key, None)

    def reconcile(self, member: Member, after: Reconciliation) -> None:
        """Give a member other assignments: its target, or what it has now."""
        key = member.member_id
        if key in self._complete:
            self._complete[key] = replace(member, reconciliation=after)
            self._compare(key)
        elif after == Reconciliation():
            self._incomplete.pop(key, None)
        else:
            self._incomplete[key] = replace(member, reconciliation=after)

    def raise_target_epoch(self, epoch: int | None) -> None:
        """Compare all members with targets of this epoch; None: there are none."""
        self._target_epoch = epoch or 0
        for key in self._complete:
            self._compare(key)

    def _compare(self, key: str) -> None:
        now = self._complete[key].reconciliation or Reconciliation()
        if now.epoch == self._target_epoch and now.state is MemberState.STABLE:
            self._behind.discard(key)
        else:
            self._behind.add(key)
