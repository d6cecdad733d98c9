"""The members of a report, as a person looks for them: client id and host, and the member id where these are shared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from monitor.history.chronicle.values import MemberThen
from monitor.history.report.facts import IncidentReport
from monitor.history.report.members import identity
from monitor.messages.names import LISTED, shown


class People:
    """Names the members of a report."""

    def __init__(self, report: IncidentReport) -> None:
        self._alike = frozenset(report.alike)
        self._members = {member.member_id: member for member in report.members}
        hosts: defaultdict[str, set[str]] = defaultdict(set)
        for member in report.members:
            hosts[member.client_id].add(member.host)
        self._on_many_hosts = {client_id for client_id, own in hosts.items() if len(own) > 1}

    def who(self, member: MemberThen) -> str:
        """A member with its host; with its id where others there look the same."""
        name = self._name(member)
        return f"{name} at {shown(member.host)}" if member.host else name

    def label(self, member_id: str) -> str:
        """A member in a cell: with its host only where others have its client id."""
        member = self._members.get(member_id, MemberThen(member_id))
        return self.who(member) if member.client_id in self._on_many_hosts else self._name(member)

    def member(self, member_id: str) -> MemberThen:
        """The member of that id."""
        return self._members.get(member_id, MemberThen(member_id))

    def identity(self, member: MemberThen) -> tuple[str, ...]:
        """What identifies a member across restarts."""
        return identity(member, self._alike)

    def names(self, members: Sequence[MemberThen]) -> str:
        """Members, the first ten of them by name."""
        head = ", ".join(self.who(member) for member in members[:LISTED])
        return head if len(members) <= LISTED else f"{head} and {len(members) - LISTED} more"

    def _name(self, member: MemberThen) -> str:
        name = shown(member.client_id or member.member_id)
        own = member.instance_id or (member.member_id if member.member_id in self._alike else None)
        return f"{name} ({shown(own)})" if own is not None and member.client_id and own != member.client_id else name
