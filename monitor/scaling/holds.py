"""When the number of members stays as it is, each reason with its sentence, and when nothing is known of it."""

from __future__ import annotations

from collections.abc import Iterator
from statistics import median
from typing import Final, NamedTuple

from monitor.detection.ownership.catalog_view import Topics
from monitor.messages.names import partition
from monitor.model import GroupState, GroupVerdict, TopicPartition, Value
from monitor.model.scaling import ScaleHold
from monitor.scaling.plan import Crowded

USUAL_TIMES: Final = 2
"""For so many times the length of a usual rebalance nothing counts after one."""
LONGEST_UNSEEN_MS: Final = 15_000
"""Nor until commits and polls have come after it, but for no longer: members commit every 5 s by default."""


class Held(Value):
    """Why the number stays, and until when at least (ms since the epoch); None: until something happens.

    ``may_rise``: what waits is not known, but what comes in may need more.
    """

    reason: ScaleHold
    sentence: str
    until_ms: int | None = None
    may_rise: bool = False


class _FindingHold(NamedTuple):
    reason: ScaleHold
    sentence: str
    findings: frozenset[str]
    """As KIND/REASON, or KIND."""


_BY_FINDING: Final = (
    _FindingHold(
        ScaleHold.REBALANCE,
        "Partitions are on their way to new owners.",
        frozenset({"orphaned/pending", "orphaned/rebalancing", "orphaned/delay", "orphaned/grew"}),
    ),
    _FindingHold(
        ScaleHold.TWO_OWNERS,
        "Several members own one partition; another number of members does not change that.",
        frozenset({"double_owned/same_generation", "double_owned/mixed_strategy", "double_owned/duplicate_client_id"}),
    ),
    _FindingHold(
        ScaleHold.RECORD,
        "A record stops the members that read it; more members do not help.",
        frozenset({"lag/stuck_record", "lag/unreadable"}),
    ),
    _FindingHold(
        ScaleHold.TRANSACTION,
        "Transactions hold records or commits back; more members do not help.",
        frozenset({"lag/open_transaction", "transactions"}),
    ),
    _FindingHold(
        ScaleHold.OWNER,
        "Partitions with lag have an owner that does not get further, or none; more members do not help.",
        frozenset({"dead_member", "lag/not_committing", "lag/stalled", "lag/not_moving", "orphaned"}),
    ),
)
"""The findings that more members do not end. The first that a group has counts."""


UNMEASURED: Final = Held(
    ScaleHold.CAPACITY,
    "How fast a member reads is not known yet. It is measured once records wait for a member for a minute or two.",
)


def find_hold(group: GroupState, verdict: GroupVerdict, topics: Topics) -> Held | None:
    """Why the number of members stays as it is, whatever it comes to; None: another one may be better."""
    return _rebalance(group, verdict) or _settling(group, verdict, topics) or _finding(verdict)


def _rebalance(group: GroupState, verdict: GroupVerdict) -> Held | None:
    if verdict.rebalancing_since_ms is None and not verdict.handovers and not group.pending:
        return None
    return Held(ScaleHold.REBALANCE, "The group is rebalancing.")


def _settling(group: GroupState, verdict: GroupVerdict, topics: Topics) -> Held | None:
    ended_ms, now_ms = group.generation_ms, verdict.evaluated_ms
    usual_ms = ended_ms + USUAL_TIMES * usual_rebalance_ms(group)
    unseen_ms = max(usual_ms, ended_ms + LONGEST_UNSEEN_MS)
    if not ended_ms or unseen_ms <= now_ms:
        return None
    if usual_ms <= now_ms and _is_seen_since(ended_ms, group, verdict, topics):
        return None
    is_over = usual_ms <= now_ms
    until_ms = unseen_ms if is_over else usual_ms
    may_rise = is_over and _finding(verdict) is None
    return Held(ScaleHold.SETTLING, "A rebalance has just ended.", until_ms, may_rise)


def _is_seen_since(ended_ms: int, group: GroupState, verdict: GroupVerdict, topics: Topics) -> bool:
    """Whether each partition with lag has been committed and polled after a rebalance: what waits now is known."""
    committed = {TopicPartition(each.topic, each.partition): each.committed_ms for each in group.offsets}
    for row in verdict.partitions:
        place = TopicPartition(row.topic, row.partition)
        state = topics.places(row.topic).get(place)
        polled_ms = state.ends[-1].at_ms if state is not None and state.ends else 0
        if row.lag and min(committed.get(place, 0), polled_ms) <= ended_ms:
            return False
    return True


def usual_rebalance_ms(group: GroupState) -> int:
    """How long a rebalance of the group usually takes (ms); 0: none is known."""
    known = [each.ended_ms - each.started_ms for each in group.history if each.ended_ms is not None]
    return max(0, round(median(known))) if known else 0


def _finding(verdict: GroupVerdict) -> Held | None:
    found = {name for each in verdict.findings for name in (each.kind.value, f"{each.kind.value}/{each.reason}")}
    row = next((row for row in _BY_FINDING if row.findings & found), None)
    return None if row is None else Held(row.reason, row.sentence)


def crowded_hold(crowded: tuple[Crowded, ...]) -> Held | None:
    """That more members do not help, as one partition brings more than one member reads; None: none does."""
    if not crowded:
        return None
    worst = crowded[0]
    brings = f"{partition(worst.place)} brings {worst.ratio:.0%} of what one member reads"
    sentence = f"More members do not help: {brings}, and all other partitions are read in time."
    return Held(ScaleHold.PARTITION, sentence)


def why_unknown(verdict: GroupVerdict) -> Iterator[str]:
    """Why the number of members that a group needs is unknown now, as sentences."""
    if verdict.unjudged is not None:
        yield f"The group cannot be evaluated: {verdict.unjudged}"
    if not verdict.members:
        yield "The group has no members."
    if not verdict.traits.commits_partitions:
        yield "groupwatch has no number for groups of this kind: their members share partitions, or run connectors."
    if verdict.lag is None:
        yield "The lag of the group is unknown."
    if verdict.topics_without_leader or verdict.missed_brokers:
        yield "Brokers that have its partitions are away, so what waits is unknown."
