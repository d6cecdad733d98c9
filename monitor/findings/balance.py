"""Members with more than others, or with nothing."""

from __future__ import annotations

from typing import Final

from monitor.findings.advice import KAFKA_TOPICS, METAQ, ROCKETMQ, Advice
from monitor.findings.clauses import capitalize
from monitor.findings.observation import Evidence, Observation
from monitor.findings.order import Rank
from monitor.findings.sentences import sentence
from monitor.findings.spec import FindingSpec
from monitor.messages.formatting import counted
from monitor.messages.names import partition, people
from monitor.model import FindingKind, GroupState, TopicPartition
from monitor.model.evidence import Balance, Skew

_RETAINED_FOR_LONGER: Final = (
    Advice("No record is lost while the topic retains it: increase its retention.ms in time.", KAFKA_TOPICS),
    Advice("No record is lost while the brokers retain it: increase fileReservedTime in time.", ROCKETMQ),
    Advice("No record is lost while the brokers retain it: change their deletePolicy in time.", METAQ),
)

ROWS: Final = (
    FindingSpec(
        FindingKind.IMBALANCE,
        "lag",
        Rank.UNEVEN,
        advice=_RETAINED_FOR_LONGER,
        mark="gets most records",
    ),
    FindingSpec(
        FindingKind.IMBALANCE,
        "partitions",
        Rank.UNEVEN,
        advice=(
            "Not urgent while the member keeps up. To see what another assignor would assign, run groupwatch what-if "
            "with --assignor."
        ),
    ),
    FindingSpec(
        FindingKind.IDLE_MEMBERS,
        "no_partitions",
        Rank.IDLE,
        advice=(
            "Not urgent: idle members can take over from members that fail. If that is not intended, run fewer "
            "members; if there are enough partitions, compare subscriptions. To see the effect, run groupwatch "
            "what-if with --members."
        ),
    ),
)


class LagImbalance(Evidence):
    """Most of the lag is that of one member, which owns ``owned`` partitions.

    ``hottest`` is the one of these that gets most records.
    """

    skew: Skew
    hottest: TopicPartition
    owned: int


@sentence.register
def _lag_imbalance(evidence: LagImbalance, found: Observation, group: GroupState) -> str:
    head = (
        f"Most of the group's lag belongs to {people(found.members, group)}, which owns "
        f"{counted(evidence.owned, 'partition')}."
    )
    hottest = capitalize(partition(evidence.hottest))
    match evidence.skew:
        case Skew.KEYS:
            return (
                f"{head} {hottest} alone receives too many records, and no assignment can divide them. Speed up this "
                "member; as a permanent fix, choose different keys."
            )
        case Skew.ASSIGNMENT:
            return (
                f"{head} Several of them are busy. {hottest} is the busiest. Add members; as a permanent fix, use a "
                "different assignor to spread them."
            )
        case Skew.MEMBER:
            return (
                f"{head} Its partitions receive no more records than others, so the member is slow. Check the member "
                "and its host."
            )


class Imbalance(Evidence):
    """``balance`` is that of the group."""

    balance: Balance


@sentence.register
def _imbalance(evidence: Imbalance, found: Observation, group: GroupState) -> str:
    balance = evidence.balance
    text = (
        f"{people([balance.member_id], group)} owns {counted(balance.largest, 'partition')}, but these subscriptions "
        f"allow an assignment with at most {balance.optimum} for any member."
    )
    if balance.alternative is None:
        return text
    why = "The range assignor assigns each topic separately, starting with the same members. " * (
        group.protocol == "range" and balance.topics > 1
    )
    return (
        f"{text} {why}With {balance.alternative.assignor}, the largest member would own {balance.alternative.largest} "
        f"instead of {balance.largest}."
    )


class IdleMembers(Evidence):
    """``partitions`` are those that the group subscribes, None if not all subscriptions are known."""

    partitions: int | None


@sentence.register
def _idle_members(evidence: IdleMembers, found: Observation, group: GroupState) -> str:
    members, partitions = found.members, evidence.partitions
    own, total = "owns" if len(members) == 1 else "own", len(group.members)
    head = f"{len(members)} of {counted(total, 'member')} {own} no partition ({people(members, group)})"
    if partitions is None:
        return f"{head}."
    if total > partitions:
        return f"{head}. The group has more members than the {counted(partitions, 'partition')} of its topics."
    return f"{head}, although its topics have {counted(partitions, 'partition')}."
