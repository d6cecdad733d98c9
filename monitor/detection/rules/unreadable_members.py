"""Members whose bytes cannot be decoded: what is said of their group is less than all, and that is said."""

from __future__ import annotations

from collections.abc import Iterable

from monitor.detection.messages.findings import unreadable_members
from monitor.detection.ownership.context import Facts
from monitor.model import Finding, FindingKind, Member


def find_unreadable(facts: Facts) -> Iterable[Finding]:
    """Members of which groupwatch knows less than they said: what they own (the assignment), or what they want.

    A client of RocketMQ that does not answer has said nothing; it is told as dead once records wait for it.
    """
    unread = [member for member in facts.group.members if member.unreadable is not None and member.answers]
    owners = [member for member in unread if not member.assignment_read]
    others = [member for member in unread if member.assignment_read]
    if owners:
        yield _finding(facts, owners, "assignment")
    if others:
        yield _finding(facts, others, "subscription")


def _finding(facts: Facts, members: list[Member], reason: str) -> Finding:
    return Finding(
        kind=FindingKind.UNREADABLE_MEMBERS,
        reason=reason,
        since_ms=facts.not_later_than_now(facts.group.generation_ms),
        sentence=unreadable_members(members, facts.group, of_assignments=reason == "assignment"),
        members=tuple(sorted(member.member_id for member in members)),
    )
