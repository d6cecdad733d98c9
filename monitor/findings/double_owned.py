"""Partitions that several members own at once."""

from __future__ import annotations

from typing import Final

from monitor.findings.advice import ALL, BY_BROKER, CLASSIC, ONE_STRATEGY, SELF_ASSIGNED, Advice
from monitor.findings.clauses import first_example, have_verb, strategies_sentence
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.names import era, people, places
from monitor.model import FindingKind, GroupState

_STOP_ONE_OWNER: Final = (
    Advice("Stop one of the owners: each of them processes every record there.", ALL),
    Advice("Then compare their client libraries and assignors.", CLASSIC),
    Advice("Then compare their client libraries and versions.", BY_BROKER),
    Advice("Then compare their client versions and strategies.", SELF_ASSIGNED),
)

ROWS: Final = (
    FindingSpec(
        FindingKind.DOUBLE_OWNED,
        "same_generation",
        Rank.PROCESSED_TWICE,
        advice=_STOP_ONE_OWNER,
    ),
    FindingSpec(
        FindingKind.DOUBLE_OWNED,
        "mixed_strategy",
        Rank.PROCESSED_TWICE,
        advice=(*ONE_STRATEGY, Advice("Until then, each record there is processed twice.", ALL)),
    ),
    FindingSpec(
        FindingKind.DOUBLE_OWNED,
        "duplicate_client_id",
        Rank.PROCESSED_TWICE,
        advice=(
            "Give each client its own id (setInstanceName) and restart it. Until then, all of these clients process "
            "each record there."
        ),
        mark="duplicate client id",
    ),
)


class DoubleOwned(Evidence):
    """``owners`` are those of the first partition. ``is_mixed``: they share partitions out by different strategies."""

    owners: tuple[str, ...]
    is_mixed: bool


@sentence.register
def _double_owned(evidence: DoubleOwned, found: Observation, group: GroupState) -> str:
    partitions = found.partitions
    text = (
        f"{places(partitions)} {have_verb(partitions)} more than one owner in {era(group)}. "
        f"{first_example(partitions)} belongs to {people(evidence.owners, group)}."
    )
    if not evidence.is_mixed:
        return text
    return f"{text} {strategies_sentence(group)}"


class DuplicateClientIds(Evidence):
    """Several connections have the id of one member; the partitions are those of the members."""


@sentence.register
def _duplicate_client_ids(evidence: DuplicateClientIds, found: Observation, group: GroupState) -> str:
    members, partitions = found.members, found.partitions
    shared_ids = "the client id" if len(members) == 1 else "each of the client ids"
    effect = (
        f"so clients with the same id consume the same partitions: {places(partitions)}"
        if partitions
        else "and cannot tell clients with the same id apart"
    )
    comma = "," if partitions else ""
    return (
        f"Several connections share {shared_ids} {people(members, group)}. "
        f"RocketMQ identifies consumers by client id{comma} {effect}."
    )
