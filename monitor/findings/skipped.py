"""Records that commits passed, and that the group did not read, or perhaps not."""

from __future__ import annotations

from typing import Final

from monitor.findings.advice import CLASSIC, CONSUMER, POLLING, STREAMS, Advice
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.formatting import counted, grouped
from monitor.messages.names import partition, places
from monitor.model import FindingKind, GroupState, TopicPartition

_ASK_THE_APPLICATION: Final = (
    Advice("Compare with what the application has processed.", POLLING),
    *(
        Advice(f"If it missed them, stop the group and set its offsets back ({tool} --reset-offsets).", kinds)
        for tool, kinds in (("kafka-consumer-groups.sh", CLASSIC | CONSUMER), ("kafka-streams-groups.sh", STREAMS))
    ),
    Advice("To skip none in the future, set auto.offset.reset to earliest.", POLLING),
)

_RETENTION_IS_TOO_SHORT: Final = (
    Advice("Increase the retention (retention.ms, retention.bytes): the group may lose more records.", POLLING),
    Advice("Find out whether their source can write these records again.", POLLING),
)

ROWS: Final = (
    FindingSpec(FindingKind.SKIPPED, "retention", Rank.LOST, advice=_RETENTION_IS_TOO_SHORT, mark="lost records"),
    FindingSpec(
        FindingKind.SKIPPED,
        "new_partition",
        Rank.PERHAPS_PASSED_OVER,
        advice=_ASK_THE_APPLICATION,
        mark="perhaps skipped records",
    ),
    FindingSpec(
        FindingKind.SKIPPED,
        "perhaps",
        Rank.PERHAPS_PASSED_OVER,
        advice=_ASK_THE_APPLICATION,
        mark="perhaps skipped records",
    ),
)


class Passed(Evidence):
    """The commit that passed most, and the bounds of all partitions together, in records.

    ``deleted`` are those partitions whose offsets had been deleted before, and ``removed`` those in which retention had
    removed records by then.
    """

    example: TopicPartition
    before: int
    offset: int
    at_least: int
    at_most: int
    deleted: tuple[TopicPartition, ...] = ()
    removed: tuple[TopicPartition, ...] = ()


@sentence.register
def _skip_sentence(evidence: Passed, found: Observation, group: GroupState) -> str:
    where, most = places(found.partitions), counted(evidence.at_most, "record")
    match found.reason:
        case "retention":
            first = f"Retention removed records in {where} before the group read them."
            return f"{first} {_bounds(evidence)} {_example(evidence)}"
        case "new_partition":
            first = f"The first commits in {where}, which are new, passed {most}."
            return f"{first} The group read them, or skipped them (auto.offset.reset=latest): commits do not tell."
        case _ if evidence.removed == found.partitions:
            first = f"Retention removed records in {where} before the group committed them."
            return f"{first} The group had read them, or missed up to {most}: commits do not tell. {_example(evidence)}"
        case _:
            first = f"After a rebalance, the first commits in {where} passed {most} at once."
            unknown = "The group read them, or skipped them: commits do not tell."
            return f"{first} {unknown} {_example(evidence)}{_deletion_note(evidence)}"


def _deletion_note(evidence: Passed) -> str:
    """What decided where the group began, in partitions without an offset."""
    if not evidence.deleted:
        return ""
    why = "auto.offset.reset decided where the group began"
    return f" The offsets of {places(evidence.deleted)} had been deleted before, or had expired: {why}."


def _bounds(evidence: Passed) -> str:
    most = counted(evidence.at_most, "record")
    return f"At least {grouped(evidence.at_least)} and at most {most} were not read."


def _example(evidence: Passed) -> str:
    there = partition(evidence.example)
    return f"In {there}, the committed offset went from {grouped(evidence.before)} to {grouped(evidence.offset)}."
