"""Records in partitions in which a group has no committed offset."""

from __future__ import annotations

from typing import Final

from monitor.findings.advice import CLASSIC, CONSUMER, Advice
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.names import people, places, seconds
from monitor.messages.notification import utc
from monitor.model import FindingKind, GroupState

_COMMITTING: Final = CLASSIC | CONSUMER

ROWS: Final = (
    FindingSpec(
        FindingKind.UNCOMMITTED,
        "unattended",
        Rank.UNKNOWN_POSITION,
        advice=(
            Advice(
                "Start its consumers. Check their auto.offset.reset first: latest skips all records there. To read "
                "them, set the offsets before (kafka-consumer-groups.sh --reset-offsets).",
                _COMMITTING,
            ),
        ),
        mark="uncommitted, no members",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.UNCOMMITTED,
        "never",
        Rank.NO_PROGRESS,
        advice=(
            Advice(
                "Check the consumer there: it may hang at its first record, have paused the partition, or not know "
                "that it owns it. Before it restarts, check auto.offset.reset: latest skips all records there.",
                _COMMITTING,
            ),
        ),
        mark="never committed",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.UNCOMMITTED,
        "at_risk",
        Rank.AT_RISK,
        advice=(
            Advice(
                "No action is needed if the group keeps its offsets elsewhere, or these records do not matter. "
                "Otherwise, check auto.offset.reset, or commit where the group is.",
                _COMMITTING,
            ),
        ),
        mark="no committed offset",
        jitters=True,
    ),
)


def _without_offset(found: Observation) -> str:
    return f"no committed offset in {places(found.partitions)}"


class NeverCommitted(Evidence):
    """Records came for ``owners``, who commit nothing there. ``silence_ms`` is the threshold, not the age.

    ``deleted_ms`` is when brokers deleted the first of the offsets that the group had there; 0: it had none, in some.
    """

    silence_ms: int
    owners: tuple[str, ...]
    deleted_ms: int = 0


@sentence.register
def _never_committed(evidence: NeverCommitted, found: Observation, group: GroupState) -> str:
    partitions = "Its" if len(found.partitions) == 1 else "Their"
    owner, has = ("owner", "has") if len(evidence.owners) == 1 else ("owners", "have")
    had = "it" if len(found.partitions) == 1 else "them"
    although = "although it commits elsewhere"
    if evidence.deleted_ms:
        although = f"since brokers deleted those there at {utc(evidence.deleted_ms)}, as they do with a topic"
    return (
        f"The group has {_without_offset(found)}, {although}. {partitions} {owner}, "
        f"{people(evidence.owners, group)}, {has} had {had} for at least {seconds(evidence.silence_ms)}, and records "
        "came since."
    )


class LeftUncommitted(Evidence):
    """Records came to partitions of a group that has no members any more."""


@sentence.register
def _left_uncommitted(evidence: LeftUncommitted, found: Observation, group: GroupState) -> str:
    return (
        f"The group has no members and {_without_offset(found)}, where records came since. Where its consumers will "
        "start there depends on their auto.offset.reset."
    )


class AtRisk(Evidence):
    """Nothing shows that records are left out. ``commits``: the group has committed offsets elsewhere.

    ``deleted_ms`` is when the newest of its offsets was deleted; 0: none was, as far as is known.
    """

    commits: bool
    deleted_ms: int = 0


@sentence.register
def _at_risk(evidence: AtRisk, found: Observation, group: GroupState) -> str:
    risk = "A restart with auto.offset.reset=latest would skip the records there that it has not consumed."
    if evidence.commits:
        return f"The group has {_without_offset(found)}. {risk}"
    if evidence.deleted_ms:
        committed = f"has committed nothing since its offsets were deleted at {utc(evidence.deleted_ms)}"
        return f"The group {committed}. It has {_without_offset(found)}. {risk}"
    return f"The group commits no offsets, so it may keep them elsewhere. It has {_without_offset(found)}. {risk}"
