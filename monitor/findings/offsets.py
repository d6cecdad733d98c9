"""Committed offsets that brokers delete by themselves (``offsets.retention.minutes``), and those below 0."""

from __future__ import annotations

from typing import Final

from monitor.findings.advice import CLASSIC, CONSUMER, STREAMS, Advice
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.formatting import counted, grouped, round_down
from monitor.messages.names import places
from monitor.messages.notification import utc
from monitor.model import FindingKind, GroupState

_COMMITTING: Final = CLASSIC | CONSUMER | STREAMS

_RESTORE: Final = (
    Advice(
        "Before its consumers start, commit the last offsets again: groupwatch explain prints the command. Without it "
        "they start where auto.offset.reset says: latest skips these records, earliest reads all records again.",
        _COMMITTING,
    ),
)

ROWS: Final = (
    FindingSpec(
        FindingKind.OFFSETS,
        "expired",
        Rank.UNKNOWN_POSITION,
        advice=_RESTORE,
        mark="expired offsets",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.OFFSETS,
        "invalid",
        Rank.UNKNOWN_POSITION,
        advice=(
            Advice(
                "Find the client that commits offsets below 0. Before consumers start there, commit the last offsets "
                "again: groupwatch explain prints the command. Without it, latest skips records, and earliest reads "
                "all again.",
                _COMMITTING,
            ),
        ),
        mark="offsets below 0",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.OFFSETS,
        "expire",
        Rank.UNKNOWN_POSITION,
        advice=(
            Advice(
                "Start its consumers before, or increase offsets.retention.minutes of the brokers, which needs their "
                "restart.",
                _COMMITTING,
            ),
            Advice(
                "If the group is no longer needed, delete it (kafka-consumer-groups.sh --delete).", CLASSIC | CONSUMER
            ),
            Advice("If the group is no longer needed, delete it (kafka-streams-groups.sh --delete).", STREAMS),
        ),
        mark="offsets expire",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.OFFSETS,
        "unsubscribed",
        Rank.AT_RISK,
        advice=(
            Advice(
                "No action is needed if the group should no longer consume this topic. Otherwise, let a member "
                "subscribe to it before.",
                _COMMITTING,
            ),
        ),
        mark="offsets expire",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.OFFSETS,
        "removed",
        Rank.AT_RISK,
        advice=(
            Advice(
                "No action is needed if they were deleted on purpose. Otherwise, commit the last offsets again "
                "before its consumers start: groupwatch explain prints the command.",
                _COMMITTING,
            ),
        ),
        mark="deleted offsets",
        jitters=True,
    ),
)


class Expiring(Evidence):
    """Records wait behind committed offsets, the first of which expires at ``expires_ms``."""

    expires_ms: int


@sentence.register
def _expiring_sentence(evidence: Expiring, found: Observation, group: GroupState) -> str:
    where, at = places(found.partitions), utc(evidence.expires_ms)
    if found.reason == "unsubscribed":
        left = f"No member subscribes to the topic of {where} any more"
        if not group.members:
            left = f"The group commits other topics, and nothing in {where} any more"
        return f"{left}. From {at} on, the brokers delete the committed offsets there, where the group has lag."
    which = "it has no members" if group.members == () and group.protocol_type else "it commits nothing there"
    return (
        f"From {at} on, the brokers delete the committed offsets of the group in {where}, as {which}. It has lag "
        "there. A consumer that starts later begins where its auto.offset.reset says."
    )


class Expired(Evidence):
    """Committed offsets from ``lowest`` to ``highest`` are gone since ``deleted_ms``. ``lag`` is that of all."""

    deleted_ms: int
    lowest: int
    highest: int
    lag: int


@sentence.register
def _expired_sentence(evidence: Expired, found: Observation, group: GroupState) -> str:
    """The lag grows by itself, and the sentence has to stay the same."""
    count = len(found.partitions)
    what, was = ("offset", "was") if count == 1 else ("offsets", "were")
    how = f"expired at {utc(evidence.deleted_ms)}, by offsets.retention.minutes of the brokers"
    if found.reason == "removed":
        how = f"{was} deleted or expired at {utc(evidence.deleted_ms)}"
    ones = "The last one was" if count == 1 else "The last ones were"
    return (
        f"The committed {what} of the group in {places(found.partitions)} {how}. "
        f"{ones} {_last(evidence.lowest, evidence.highest, evidence.lag)}. Nothing was committed there since."
    )


class Invalid(Evidence):
    """Offsets below 0 were ``committed``, the first at ``committed_ms``.

    The last ones before them are from ``lowest`` to ``highest`` (None: not known), with ``lag`` behind them in all.
    """

    committed_ms: int
    committed: tuple[int, ...]
    lowest: int | None
    highest: int | None
    lag: int


@sentence.register
def _invalid_sentence(evidence: Invalid, found: Observation, group: GroupState) -> str:
    """The lag grows by itself, and the sentence has to stay the same."""
    what = str(evidence.committed[0]) if len(evidence.committed) == 1 else "offsets below 0"
    text = (
        f"The group committed {what} in {places(found.partitions)} at {utc(evidence.committed_ms)}. "
        "To Kafka, nothing is committed there: a consumer that starts begins where its auto.offset.reset says."
    )
    if evidence.lowest is None or evidence.highest is None:
        return text
    ones = "The last offset before was" if len(found.partitions) == 1 else "The last offsets before were"
    return f"{text} {ones} {_last(evidence.lowest, evidence.highest, evidence.lag)}."


def _last(lowest: int, highest: int, lag: int) -> str:
    """The last offsets, and what has come since."""
    last = grouped(lowest) if lowest == highest else f"{grouped(lowest)} to {grouped(highest)}"
    least = round_down(lag, (1, 2, 5))
    return f"{last}, with a lag of at least {counted(least, 'record')}" if least else f"{last}, with no lag"
