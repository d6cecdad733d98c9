"""The rebalances of a report: why, how long, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from monitor.findings.rebalances import CAUSES
from monitor.history.chronicle.values import Chronicle
from monitor.history.report.facts import RebalanceThen
from monitor.history.report.times import TENTH_MS, duration_text
from monitor.messages.formatting import counted, grouped
from monitor.model import KINDS, Era, Rebalance, RebalanceCause


def rebalances_then(chronicle: Chronicle) -> tuple[RebalanceThen, ...]:
    """The rebalances that ended in the span, in the order of time."""
    return tuple(
        RebalanceThen(
            at_ms=each.ended_ms,
            generation=each.generation,
            why=cause_words(each.causes, each.joined, each.left),
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


def rebalance_sentence(rebalance: RebalanceThen, era: str, unit: str = "record") -> str:
    """One rebalance.

    >>> rebalance_sentence(RebalanceThen(0, 5, "1 member joined", moved=2, avoidable=1), "generation")
    'Rebalance to generation 5: 1 member joined. It moved 2 partitions (1 avoidable).'
    """
    took = "" if rebalance.took_ms is None else f" (took {duration_text(rebalance.took_ms)})"
    text = f"Rebalance to {era} {rebalance.generation}{took}: {rebalance.why}. It {moves_of([rebalance])}."
    return f"{text} {delay_of([rebalance], unit)}".rstrip()


def quiet_sentence(quiet: Sequence[RebalanceThen], era: str, until: str) -> str:
    """Several rebalances that moved nothing and followed one another, the last one at that time."""
    joined, left = (sum(getattr(each, name) for each in quiet) for name in ("joined", "left"))
    why = cause_words((cause for each in quiet for cause in each.causes), joined, left)
    return f"{rebalance_numbers(quiet, era)} until {until}: {why}. They moved no partitions."


def rebalance_numbers(rebalances: Sequence[RebalanceThen], era: str) -> str:
    """Rebalances that followed one another.

    >>> rebalance_numbers([RebalanceThen(0, 5, ""), RebalanceThen(1, 6, "")], "epoch")
    '2 rebalances (epochs 5 to 6)'
    """
    first, last = rebalances[0].generation, rebalances[-1].generation
    numbers = f"{era} {first}" if first == last else f"{era}s {first} to {last}"
    return f"{counted(len(rebalances), 'rebalance')} ({numbers})"


def is_quiet(rebalance: RebalanceThen) -> bool:
    """Whether it moved nothing and delayed no commit."""
    return not rebalance.moved and not rebalance.pause_ms


def moves_of(rebalances: Sequence[RebalanceThen]) -> str:
    """How many partitions they moved, as what they did."""
    moved, avoidable = (sum(getattr(each, name) for each in rebalances) for name in ("moved", "avoidable"))
    text = f"moved {counted(moved, 'partition') if moved else 'no partitions'}"
    return f"{text} ({avoidable} avoidable)" if avoidable else text


def delay_of(rebalances: Sequence[RebalanceThen], unit: str = "record") -> str:
    """How much later than usual partitions were committed by them; "" if none was.

    >>> delay_of([RebalanceThen(0, 5, "", paused_partitions=2, pause_ms=20_000, burst_records=8)])
    'Commits of 2 partitions were delayed by 20 partition-seconds (estimate), and the backlog reached 8 records.'
    """
    found = [each for each in rebalances if each.paused_partitions and each.pause_ms]
    if not found:
        return ""
    most = max(each.paused_partitions for each in found)
    of = counted(most, "partition") if len(found) == 1 else f"up to {counted(most, 'partition')} at once"
    delay = partition_seconds(sum(each.pause_ms for each in found))
    text = f"Commits of {of} were delayed by {delay} (estimate)"
    return f"{text}." if len(found) > 1 else f"{text}, and the backlog reached {counted(found[0].burst_records, unit)}."


def partition_seconds(duration_ms: int) -> str:
    """A time that is summed over partitions.

    >>> partition_seconds(20_400), partition_seconds(1), partition_seconds(4_000_000)
    ('20.4 partition-seconds', 'less than 0.1 partition-seconds', '4,000 partition-seconds')
    """
    if duration_ms < TENTH_MS:
        return "less than 0.1 partition-seconds"
    tenths = duration_ms // TENTH_MS
    return f"{tenths / 10:g} partition-seconds" if tenths < 10_000 else f"{grouped(tenths // 10)} partition-seconds"
