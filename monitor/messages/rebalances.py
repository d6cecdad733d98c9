"""Rebalances in words: why they happened, how long they took, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from monitor.messages.formatting import counted, grouped
from monitor.model import KINDS, Era, GroupKind, Rebalance, RebalanceCause

CAUSES: Final[Mapping[RebalanceCause, str]] = {
    RebalanceCause.JOIN: "members joined",
    RebalanceCause.LEAVE: "members left or timed out",
    RebalanceCause.TIMEOUT: "members timed out",
    RebalanceCause.SUBSCRIPTION: "members changed their subscriptions",
    RebalanceCause.TOPICS: "topics appeared, disappeared, or grew",
    RebalanceCause.STATIC_RESTART: "static members restarted",
    RebalanceCause.ASSIGNOR: "the assignor changed",
    RebalanceCause.HANDOVER: "partitions were handed over",
    RebalanceCause.UPGRADE: "it switched to KIP-848",
    RebalanceCause.DOWNGRADE: "it switched back to the classic protocol",
    RebalanceCause.UNKNOWN: "for reasons that the log does not show",
}


def cause_words(causes: Iterable[RebalanceCause], joined: int, left: int) -> str:
    """Why one rebalance or several happened, with the members that joined and those that were gone.

    >>> cause_words((RebalanceCause.JOIN, RebalanceCause.LEAVE), joined=2, left=1)
    '2 members joined and 1 member gone'
    >>> cause_words((RebalanceCause.HANDOVER,), joined=0, left=0)
    'partitions were handed over'
    """
    known = list(dict.fromkeys(causes)) or [RebalanceCause.UNKNOWN]
    gone = "timed out" if RebalanceCause.TIMEOUT in known and RebalanceCause.LEAVE not in known else "gone"
    counts = [f"{counted(joined, 'member')} joined"] if joined else []
    counts += [f"{counted(left, 'member')} {gone}"] if left else []
    is_counted = {RebalanceCause.JOIN: joined, RebalanceCause.LEAVE: left, RebalanceCause.TIMEOUT: left}
    return " and ".join([*counts, *(CAUSES[each] for each in known if not is_counted.get(each))])


def took_ms(rebalance: Rebalance, kind: GroupKind) -> int | None:
    """How long it took; None: unknown. The log of a classic group has only its end; a collector may have seen it begin.

    >>> took_ms(Rebalance(5, 1_000, 3_000), GroupKind.CLASSIC), took_ms(Rebalance(5, 1_000, 3_000), GroupKind.CONSUMER)
    (None, 2000)
    """
    if rebalance.ended_ms is None or (KINDS[kind].era is Era.GENERATION and rebalance.uncertainty_ms is None):
        return None
    return max(1, rebalance.ended_ms - rebalance.started_ms)


def moved_words(moved: int, avoidable: int) -> str:
    """How many partitions rebalances moved, as what they did.

    >>> moved_words(2, 1), moved_words(0, 0)
    ('moved 2 partitions (1 avoidable)', 'moved no partitions')
    """
    text = f"moved {counted(moved, 'partition') if moved else 'no partitions'}"
    return f"{text} ({avoidable} avoidable)" if avoidable else text


def delay_sentence(partitions: int, pause_ms: int, burst_records: int, unit: str = "record") -> str:
    """How much later than usual partitions were committed by a rebalance; "" if none was.

    >>> delay_sentence(2, 20_000, 8)
    'Commits of 2 partitions were delayed by 20 partition-seconds (estimate), and the backlog reached 8 records.'
    """
    if not partitions or not pause_ms:
        return ""
    delayed = f"Commits of {counted(partitions, 'partition')} were delayed by {partition_seconds(pause_ms)} (estimate)"
    return f"{delayed}, and the backlog reached {counted(burst_records, unit)}."


def partition_seconds(duration_ms: int) -> str:
    """A time that is summed over partitions.

    >>> partition_seconds(20_400), partition_seconds(1), partition_seconds(4_000_000)
    ('20.4 partition-seconds', 'less than 0.1 partition-seconds', '4,000 partition-seconds')
    """
    tenths = duration_ms // 100
    if not tenths:
        return "less than 0.1 partition-seconds"
    return f"{tenths / 10:g} partition-seconds" if tenths < 10_000 else f"{grouped(tenths // 10)} partition-seconds"
