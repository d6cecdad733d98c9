"""Retention that removes records before the group has them."""

from __future__ import annotations

from typing import Final

from monitor.findings.advice import KAFKA_TOPICS, METAQ, POLLING, ROCKETMQ, SPARK, ZOOKEEPER, Advice
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.names import places
from monitor.model import KINDS, FindingKind, GroupState

_TO_LOSE_NO_MORE: Final = (
    Advice("Increase the retention (retention.ms): the group may lose more records.", KAFKA_TOPICS),
    Advice("Increase the brokers' retention (fileReservedTime): the group may lose more records.", ROCKETMQ),
    Advice("Increase the brokers' retention (deletePolicy): the group may lose more records.", METAQ),
    Advice(
        "Before the group goes on, check its auto.offset.reset: latest skips the records that are still retained.",
        POLLING,
    ),
    Advice(
        "Before the group goes on, check its auto.offset.reset: largest skips the records that are still retained.",
        ZOOKEEPER,
    ),
    Advice("The query fails there, unless its failOnDataLoss is false.", SPARK),
)

_UNTIL_IT_CATCHES_UP: Final = "until the group catches up faster, or runs again."

_TO_LOSE_NONE: Final = (
    Advice(f"Increase the retention (retention.ms, retention.bytes) {_UNTIL_IT_CATCHES_UP}", KAFKA_TOPICS),
    Advice(f"Increase the brokers' retention (fileReservedTime) {_UNTIL_IT_CATCHES_UP}", ROCKETMQ),
    Advice(f"Increase the brokers' retention (deletePolicy) {_UNTIL_IT_CATCHES_UP}", METAQ),
)

ROWS: Final = (
    FindingSpec(
        FindingKind.RETENTION,
        "records_lost",
        Rank.LOST,
        advice=_TO_LOSE_NO_MORE,
        mark="lost records",
        jitters=True,
    ),
    FindingSpec(
        FindingKind.RETENTION,
        "close_to_loss",
        Rank.CLOSE_TO_LOSS,
        advice=_TO_LOSE_NONE,
        mark="close to losing records",
        jitters=True,
    ),
)


class RecordsLost(Evidence):
    """Retention has removed records before they were committed."""


@sentence.register
def _records_lost(evidence: RecordsLost, found: Observation, group: GroupState) -> str:
    """How many they are moves with every segment that is removed, and is shown beside."""
    before = "a member acknowledged" if KINDS[group.kind].acknowledges_records else "the group committed"
    return f"The group has lost records in {places(found.partitions)}. Retention removed them before {before} them."


class CloseToLoss(Evidence):
    """Nearly all that retention left waits. ``share`` is the threshold, from 0 to 1."""

    share: float


@sentence.register
def _close_to_loss(evidence: CloseToLoss, found: Observation, group: GroupState) -> str:
    share = f"{100 * evidence.share:g}%"
    return (
        f"The lag in {places(found.partitions)} is at least {share} of what retention last left there. The group "
        "catches up slowly, if at all, and will lose the records that retention removes next."
    )
