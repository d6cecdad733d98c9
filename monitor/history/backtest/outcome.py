"""What a backtest found: how many findings and alerts there would have been instead, and examples."""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from monitor.findings.alerts import GROUP_ALERTS
from monitor.findings.table import FINDINGS
from monitor.history.backtest.episodes import Change, Pair
from monitor.model import Value
from monitor.model.findings import Severity

MOST_EXAMPLES: Final = 5
"""How many there are of each change of each finding or alert: those that make most difference."""


class Shift(Value):
    """How many started or ended at another time, and by how much, in ms: half of them by ``median_ms`` or more."""

    count: int = 0
    median_ms: int = 0
    most_ms: int = 0


class BacktestRow(Value, omit_defaults=False):
    """A finding (``kind/reason``) or an alert, with the thresholds that were in force and with the others.

    ``before`` and ``after`` count the times that it was and would have been there. ``more`` and ``fewer`` are those
    that only one of the two has. Of the others, some start sooner or later, or are longer or shorter because they end
    later or sooner.
    """

    name: str
    severity: Severity
    before: int
    after: int
    more: int
    fewer: int
    sooner: Shift
    later: Shift
    longer: Shift
    shorter: Shift


class BacktestExample(Value, omit_defaults=False):
    """One that differs. Of an alert, ``finding`` is what it is about. The times are None where there is none.

    ``by_ms`` is the size of the change: of more and fewer, for how long it is there.
    """

    name: str
    severity: Severity
    change: Change
    by_ms: int
    group: str
    sentence: str
    finding: str
    before_from_ms: int | None
    before_until_ms: int | None
    after_from_ms: int | None
    after_until_ms: int | None


class ClusterBacktest(Value, omit_defaults=False):
    """The backtest of a cluster from ``since_ms`` until ``until_ms``.

    ``judged`` of the ``groups`` have other thresholds than were in force; nothing differs in the others, which are not
    counted in the rows. Rows and examples have the worst alert or finding first. There are a few examples of each
    change of each row.
    """

    cluster: str
    since_ms: int
    until_ms: int
    groups: int
    judged: int
    alerts: tuple[BacktestRow, ...]
    findings: tuple[BacktestRow, ...]
    alert_examples: tuple[BacktestExample, ...]
    finding_examples: tuple[BacktestExample, ...]


FINDING_SEVERITIES: Final = {f"{spec.kind.value}/{spec.reason}": spec.severity for spec in FINDINGS}
"""Of each finding, the worst first."""

ALERT_SEVERITIES: Final = {
    row.name: row.severity for row in sorted(GROUP_ALERTS, key=lambda row: list(Severity).index(row.severity))
}
"""Of each alert about groups, the worst first."""


class Tally:
    """Counts what differs, group by group. Its size does not grow with the groups, but for one number a change."""

    def __init__(self, severities: dict[str, Severity]) -> None:
        self._severities = severities
        self._names = {name: place for place, name in enumerate(severities)}
        self._before: dict[str, int] = defaultdict(int)
        self._after: dict[str, int] = defaultdict(int)
        self._sizes: dict[tuple[str, Change], list[int]] = defaultdict(list)
        self._examples: dict[tuple[str, Change], list[tuple[int, int, BacktestExample]]] = defaultdict(list)
        self._number = 0

    def count(self, group: str, pairs: Iterable[Pair]) -> None:
        """The episodes of a group, as they were and as they would have been."""
        for pair in pairs:
            one = pair.after or pair.before
            if one is None:
                continue
            self._before[one.name] += pair.before is not None
            self._after[one.name] += pair.after is not None
            for change, by_ms in pair.changes.items():
                self._sizes[one.name, change].append(by_ms)
                self._keep(self._example(group, pair, change, by_ms))

    def _example(self, group: str, pair: Pair, change: Change, by_ms: int) -> BacktestExample:
        before, after = pair
        shown = before or after
        return BacktestExample(
            name=shown.name if shown is not None else "",
            severity=self._severities[shown.name] if shown is not None else Severity.INFO,
            change=change,
            by_ms=by_ms,
            group=group,
            sentence=shown.sentence if shown is not None else "",
            finding=shown.finding if shown is not None else "",
            before_from_ms=None if before is None else before.from_ms,
            before_until_ms=None if before is None else before.until_ms,
            after_from_ms=None if after is None else after.from_ms,
            after_until_ms=None if after is None else after.until_ms,
        )

    def _keep(self, example: BacktestExample) -> None:
        """The ones with the greatest change; of equal ones, the first."""
        kept = self._examples[example.name, example.change]
        self._number += 1
        heapq.heappush(kept, (example.by_ms, -self._number, example))
        if len(kept) > MOST_EXAMPLES:
            heapq.heappop(kept)

    def rows(self) -> tuple[BacktestRow, ...]:
        """A row for each finding or alert that there was or would have been."""
        return tuple(self._row(name) for name in self._severities if name in self._before)

    def _row(self, name: str) -> BacktestRow:
        return BacktestRow(
            name=name,
            severity=self._severities[name],
            before=self._before[name],
            after=self._after[name],
            more=len(self._sizes.get((name, Change.MORE), ())),
            fewer=len(self._sizes.get((name, Change.FEWER), ())),
            sooner=self._shift(name, Change.SOONER),
            later=self._shift(name, Change.LATER),
            longer=self._shift(name, Change.LONGER),
            shorter=self._shift(name, Change.SHORTER),
        )

    def _shift(self, name: str, change: Change) -> Shift:
        sizes = self._sizes.get((name, change))
        return Shift() if not sizes else Shift(len(sizes), sorted(sizes)[(len(sizes) - 1) // 2], max(sizes))

    def examples(self) -> tuple[BacktestExample, ...]:
        """A few of each change, the worst finding or alert first."""
        orders = list(Change)
        keys = sorted(self._examples, key=lambda key: (self._names[key[0]], orders.index(key[1])))
        return tuple(example for key in keys for *_, example in sorted(self._examples[key], reverse=True))
