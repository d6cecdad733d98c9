"""The rebalances of a report: why, how long, and what they cost."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from monitor.history.chronicle.values import Chronicle
from monitor.history.report.facts import RebalanceThen, ReportLine
from monitor.history.report.times import duration_text
from monitor.messages.formatting import counted
from monitor.messages.rebalances import cause_words, delay_sentence, moved_words, partition_seconds, took_ms
from monitor.messages.units import unit_of
from monitor.model import KINDS, GroupKind


def rebalances_then(chronicle: Chronicle) -> tuple[RebalanceThen, ...]:
    """The rebalances that ended in the span, in the order of time."""
    return tuple(
        RebalanceThen(
            at_ms=each.ended_ms,
            generation=each.generation,
            why=cause_words(each.causes, each.joined, each.left),
            took_ms=took_ms(each, chronicle.kind),
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


def rebalance_lines(rebalances: Iterable[RebalanceThen], kind: GroupKind) -> Iterator[ReportLine]:
    """Each rebalance in a sentence.

    >>> then = RebalanceThen(0, 5, "1 member joined", moved=2, avoidable=1)
    >>> [line.sentence for line in rebalance_lines([then], GroupKind.CLASSIC)]
    ['Rebalance to generation 5: 1 member joined. It moved 2 partitions (1 avoidable).']
    """
    era, unit = KINDS[kind].era.value, unit_of(kind)
    for each in rebalances:
        took = "" if each.took_ms is None else f" (took {duration_text(each.took_ms)})"
        text = f"Rebalance to {era} {each.generation}{took}: {each.why}. It {moves_of([each])}."
        yield ReportLine(each.at_ms, f"{text} {delay_of([each], unit)}".rstrip())


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


def moves_of(rebalances: Iterable[RebalanceThen]) -> str:
    """How many partitions they moved, as what they did."""
    counts = [(each.moved, each.avoidable) for each in rebalances]
    return moved_words(sum(moved for moved, _ in counts), sum(avoidable for _, avoidable in counts))


def delay_of(rebalances: Sequence[RebalanceThen], unit: str) -> str:
    """How much later than usual partitions were committed by them; "" if none was."""
    found = [each for each in rebalances if each.paused_partitions and each.pause_ms]
    if len(found) == 1:
        return delay_sentence(found[0].paused_partitions, found[0].pause_ms, found[0].burst_records, unit)
    if not found:
        return ""
    of = f"up to {counted(max(each.paused_partitions for each in found), 'partition')} at once"
    delay = partition_seconds(sum(each.pause_ms for each in found))
    return f"Commits of {of} were delayed by {delay} (estimate)."
