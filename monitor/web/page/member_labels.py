"""The members of a group as its page always names them: by a number and a name."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.model import MemberVerdict, Value


class Holder(Value):
    """A member that has partitions. ``number`` is its place in the table of members, None if it is not there."""

    member_id: str
    name: str
    number: int | None


class Holders:
    """The members of a group by their ids."""

    def __init__(self, members: Iterable[MemberVerdict]) -> None:
        self._known = {
            member.member_id: Holder(member_id=member.member_id, name=member.client_id or member.member_id, number=n)
            for n, member in enumerate(members, 1)
        }

    def __getitem__(self, member_id: str) -> Holder:
        """Also of a member that the group does not have: some assignments name such."""
        return self._known.get(member_id) or Holder(member_id=member_id, name=member_id, number=None)

    def all(self) -> tuple[Holder, ...]:
        """The members of the group, in order."""
        return tuple(self._known.values())
