"""Members that do nothing with what they own, or that cannot be decoded."""

from __future__ import annotations

from typing import Final

from monitor.findings.advice import ALL, CLASSIC, WORKERS, Advice
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.names import listed, people, places, seconds
from monitor.model import KINDS, FindingKind, GroupState

_UPDATE_THE_CLIENT: Final = (
    Advice(
        "Find out which client libraries and versions the member and the group leader run, and update them. Other "
        "clients may fail on the same bytes.",
        CLASSIC,
    ),
    Advice(
        "Find out which versions of Connect the worker and the leader run, and update them. Other workers may fail on "
        "the same bytes.",
        WORKERS,
    ),
    Advice("Find out which client version the member runs, and update it.", ALL - CLASSIC - WORKERS),
    Advice("Until then, watch the group's lag.", ALL - WORKERS),
)

ROWS: Final = (
    FindingSpec(
        FindingKind.DEAD_MEMBER,
        "silent",
        Rank.SILENT_MEMBER,
        advice="Find out where it hangs (take a thread dump), then restart it.",
        mark="owner does not commit",
    ),
    FindingSpec(
        FindingKind.DEAD_MEMBER,
        "no_answer",
        Rank.SILENT_MEMBER,
        advice=(
            "Check whether its process is stopped or its machine is down. If it runs, find out where it hangs (take a "
            "thread dump). Restart or stop it: until then, no other member takes over."
        ),
        mark="owner does not respond",
    ),
    FindingSpec(
        FindingKind.DEAD_MEMBER,
        "unnoticed",
        Rank.SILENT_MEMBER,
        advice=(
            "Check whether it runs. If it is gone, start it again or wait for its session to expire "
            "(session.timeout.ms). If it runs, find out where it hangs."
        ),
        mark="owner does not commit, or is gone",
    ),
    FindingSpec(
        FindingKind.UNREADABLE_MEMBERS,
        "assignment",
        Rank.HIDDEN,
        advice=_UPDATE_THE_CLIENT,
    ),
    FindingSpec(
        FindingKind.UNREADABLE_MEMBERS,
        "subscription",
        Rank.HIDDEN,
        advice=_UPDATE_THE_CLIENT,
    ),
)


class SilentMembers(Evidence):
    """Members that commit nothing while records wait in the partitions, which are theirs, and others go on."""


@sentence.register
def _silent_members(evidence: SilentMembers, found: Observation, group: GroupState) -> str:
    return _silence(found, group)


def _silence(found: Observation, group: GroupState) -> str:
    members, partitions = found.members, found.partitions
    own, have = ("owns", "has") if len(members) == 1 else ("own", "have")
    return (
        f"{people(members, group)} {own} {places(partitions)} and {have} not committed for a while, although there is "
        "lag. Other members are committing."
    )


class UnansweringMembers(Evidence):
    """The same of members that do not answer: the partitions are those that they had last, or should have."""


@sentence.register
def _unanswering_members(evidence: UnansweringMembers, found: Observation, group: GroupState) -> str:
    members, partitions = found.members, found.partitions
    is_are, do, they_have, their = (
        ("is", "does", "It has", "its") if len(members) == 1 else ("are", "do", "They have", "their")
    )
    return (
        f"{people(members, group)} {is_are} connected but {do} not respond to the broker. {they_have} not committed in "
        f"{their} {places(partitions)} for a while, although there is lag. Other members are committing."
    )


class UnnoticedMembers(Evidence):
    """The same of members that may be gone. ``session_ms`` is the longest of their sessions."""

    session_ms: int


@sentence.register
def _unnoticed_members(evidence: UnnoticedMembers, found: Observation, group: GroupState) -> str:
    session = seconds(evidence.session_ms)
    timeout, they_have = (
        (f"Its session timeout is {session}", "it has")
        if len(found.members) == 1
        else (f"Their session timeouts are up to {session}", "they have")
    )
    return (
        f"{_silence(found, group)} {timeout}: if {they_have} died, the coordinator may not have detected it yet. Until "
        "then, no other member takes over."
    )


class UnreadableMembers(Evidence):
    """Members that cannot be decoded, in the group's order, and in the same order ``problems``: why.

    ``of_assignments``: what cannot be read is what they own, and maybe also what they subscribe to.
    """

    members: tuple[str, ...]
    problems: tuple[str, ...]
    of_assignments: bool


@sentence.register
def _unreadable_members(evidence: UnreadableMembers, found: Observation, group: GroupState) -> str:
    members = evidence.members
    message = KINDS[group.kind].message or ("assignment" if evidence.of_assignments else "subscription")
    problems = listed(list(dict.fromkeys(evidence.problems)))
    head = (
        f"groupwatch cannot decode the {message}{'' if len(members) == 1 else 's'} of {people(members, group)} "
        f"({problems})."
    )
    if KINDS[group.kind].is_self_assigned:
        return f"{head} Partitions without an owner, drift, and imbalance of the group are therefore not detected."
    where = "if they appeared later" if evidence.of_assignments else "in topics of other members"
    return f"{head} Drift and imbalance are not detected. Partitions without an owner are detected only {where}."
