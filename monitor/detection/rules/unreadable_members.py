"""Members whose bytes cannot be decoded: what is said of their group is less than all, and that is said."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.members import UnreadableMembers
from monitor.findings.observation import Observation
from monitor.model import FindingKind, Member


def find_unreadable(facts: Facts) -> Iterable[Observation]:
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


def _finding(facts: Facts, members: list[Member], reason: str) -> Observation:
    return Observation(
        kind=FindingKind.UNREADABLE_MEMBERS,
        reason=reason,
        since_ms=facts.not_later_than_now(facts.group.generation_ms),
        evidence=UnreadableMembers(
            members=tuple([member.member_id for member in members]),
            problems=tuple([member.unreadable or "" for member in members]),
            of_assignments=reason == "assignment",
        ),
        members=tuple(sorted(member.member_id for member in members)),
    )


RULES: Final = (Rule(find_unreadable, of_owners=False),)
