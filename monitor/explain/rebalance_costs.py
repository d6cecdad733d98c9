"""What rebalances cost, in sentences: what moved and need not have, the pause, the burst, what is delivered again."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.detection.messages.findings import counted
from monitor.messages.formatting import lasted
from monitor.model import GroupState, Rebalance


def cost_of(rebalance: Rebalance) -> str:
    """What one rebalance cost, as far as the log tells.

    >>> cost_of(Rebalance(5, 0, 9, moved=3, avoidable=1, paused_partitions=4, pause_ms=12_000, burst_records=70))
    'It moved 3 partitions, 1 of which need not have moved; 4 partitions were paused for 12 s in all, and 70 records \
had gathered by then.'
    >>> cost_of(Rebalance(5, 0, 9))
    'It moved no partition, and no pause was seen.'
    """
    moved = f"It moved {counted(rebalance.moved, 'partition') if rebalance.moved else 'no partition'}"
    if rebalance.avoidable:
        moved += f", {rebalance.avoidable} of which need not have moved"
    if not rebalance.paused_partitions:
        return f"{moved}{', and' if not rebalance.avoidable else ';'} no pause was seen."
    were = "was" if rebalance.paused_partitions == 1 else "were"
    paused = (
        f"{counted(rebalance.paused_partitions, 'partition')} {were} paused for {lasted(rebalance.pause_ms)} in all"
    )
    return f"{moved}; {paused}, and {counted(rebalance.burst_records, 'record')} had gathered by then."


def costs_so_far(group: GroupState) -> Iterator[str]:
    """What all rebalances cost since the group was first seen."""
    took, paused = lasted(group.rebalance_ms), lasted(group.pause_ms)
    yield f"{counted(group.rebalances, 'rebalance')} since the group was first seen, {took} in all"
    yield f"{counted(group.moved_partitions, 'partition')} moved, {group.avoidable_moves} of them for nothing"
    yield f"{paused} of pauses, summed over partitions, and {counted(group.burst_records, 'record')} after"
    yield f"{counted(group.redelivered_records, 'record')} delivered again, as commits went back"
