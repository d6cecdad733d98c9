"""The rebalances of a report: why, how long, and what they cost."""

from __future__ import annotations

from monitor.explain.group import because
from monitor.history.chronicle import Chronicle
from monitor.history.report.facts import RebalanceThen
from monitor.messages.formatting import counted, lasted
from monitor.model import KINDS, Era, Rebalance


def rebalances_then(chronicle: Chronicle) -> tuple[RebalanceThen, ...]:
    """The rebalances that ended in the span, in the order of time."""
    return tuple(
        RebalanceThen(
            at_ms=each.ended_ms,
            generation=each.generation,
            why=because(each),
            took_ms=_took_ms(chronicle, each),
            causes=each.causes,
            joined=each.joined,
            left=each.left,
            moved=each.moved,
            avoidable=each.avoidable,
            paused_partitions=each.paused_partitions,
            pause_ms=each.pause_ms,
            burst_records=each.burst_records,
        )
        for each in chronicle.rebalances
        if each.ended_ms is not None
    )


def _took_ms(chronicle: Chronicle, rebalance: Rebalance) -> int | None:
    """The log of a classic group has only the end of a rebalance; a collector may have seen it begin."""
    if KINDS[chronicle.kind].era is Era.GENERATION and rebalance.uncertainty_ms is None:
        return None
    return max(1, (rebalance.ended_ms or 0) - rebalance.started_ms)


def rebalance_sentence(rebalance: RebalanceThen, era: str) -> str:
    """One rebalance.

    >>> rebalance_sentence(RebalanceThen(0, 5, "because members joined", moved=2, avoidable=1), "generation")
    'Rebalance to generation 5, because members joined. It moved 2 partitions (1 avoidable).'
    """
    took = "" if rebalance.took_ms is None else f"; it took {lasted(rebalance.took_ms)}"
    moved = counted(rebalance.moved, "partition") if rebalance.moved else "no partition"
    avoidable = f" ({rebalance.avoidable} avoidable)" if rebalance.avoidable else ""
    text = f"Rebalance to {era} {rebalance.generation}, {rebalance.why}{took}. It moved {moved}{avoidable}."
    if not rebalance.paused_partitions:
        return text
    were = "was" if rebalance.paused_partitions == 1 else "were"
    paused = f"{counted(rebalance.paused_partitions, 'partition')} {were} paused for {lasted(rebalance.pause_ms)}"
    return f"{text} {paused} in total, and {counted(rebalance.burst_records, 'record')} had accumulated by then."
