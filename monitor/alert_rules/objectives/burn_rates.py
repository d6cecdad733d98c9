"""Rules of Prometheus on how fast an error budget is used up, each by a long and a short window.

The windows and factors are those of Google's SRE workbook, "Alerting on SLOs", for a window of 30 days: 14.4 times as
fast as the budget allows for an hour uses up 2 % of it, 6 times for six hours 5 %, 3 times for a day and once for three
days 10 %. The short window ends the alert soon after the burn has ended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from monitor.alert_rules.objectives.objective import BAD, ClusterObjective, without_template
from monitor.alert_rules.rule import AlertRule
from monitor.alert_rules.rule_file import RuleGroup, rule_file_text
from monitor.model import Value
from monitor.model.findings import Severity

PAGE: Final = "GroupwatchErrorBudgetBurnsFast"
TICKET: Final = "GroupwatchErrorBudgetBurns"
NO_DATA: Final = "GroupwatchObjectiveWithoutData"
NO_DATA_AFTER_S: Final = 600
GUIDE: Final = "docs/expectations.md#slo"


class Burn(Value):
    """A budget that is used up so many times as fast as it allows, in both windows."""

    factor: float
    long: str
    short: str


PAGES: Final = (Burn(14.4, "1h", "5m"), Burn(6, "6h", "30m"))
TICKETS: Final = (Burn(3, "1d", "2h"), Burn(1, "3d", "6h"))


def burn_rate_rules(objectives: Iterable[ClusterObjective]) -> str:
    """A rule file with a page and a ticket for each objective, and an alert where nothing counts."""
    kept = tuple(objectives)
    rules = [rule for each in kept for rule in _rules(each)]
    notes = [
        f"# {each.name} has no {what}: all of the time is not fast enough.\n"
        for each in kept
        for what, burns in (("page", PAGES), ("ticket", TICKETS))
        if not _possible(burns, each)
    ]
    return "".join(notes) + rule_file_text([RuleGroup("groupwatch-error-budgets", tuple(rules))])


def _possible(burns: Iterable[Burn], objective: ClusterObjective) -> list[Burn]:
    """Those that a budget is small enough for: more than all of the time cannot be bad."""
    return [burn for burn in burns if burn.factor * objective.objective.budget < 1]


def _rules(objective: ClusterObjective) -> Iterator[AlertRule]:
    if pages := _possible(PAGES, objective):
        yield _rule(PAGE, Severity.CRITICAL, objective, pages)
    if tickets := _possible(TICKETS, objective):
        yield _rule(TICKET, Severity.WARNING, objective, tickets)
    yield _rule_without_data(objective)


def _rule(name: str, severity: Severity, objective: ClusterObjective, burns: list[Burn]) -> AlertRule:
    label = objective.cluster_label
    return AlertRule(
        name=name,
        severity=severity,
        expr=" or ".join(f"({_burns(each, objective)})" for each in burns),
        hold_s=0,
        keep_s=0,
        summary=f"{{{{ $labels.expectation }}}} of {{{{ $labels.{label} }}}} was not met, or unknown, for "
        "{{ $value | humanizePercentage }} of the time",
        description=f"The expectations of {{{{ $labels.expectation }}}} should be met for {objective.percent} % of "
        f"{objective.window}. At this rate, the time for which they need not be met is used up too soon.",
        labels=_labels(objective),
        links={"runbook": GUIDE},
    )


def _rule_without_data(objective: ClusterObjective) -> AlertRule:
    """Without series, no budget burns: a job that does not count must not look like one that finds all well."""
    return AlertRule(
        name=NO_DATA,
        severity=Severity.WARNING,
        expr=f"absent({objective.series()})",
        hold_s=NO_DATA_AFTER_S,
        keep_s=0,
        summary="Nothing counts for how long {{ $labels.expectation }} of "
        f"{{{{ $labels.{objective.cluster_label} }}}} is met",
        description="No job with this file of expectations is scraped, so its error budget is not known.",
        labels=_labels(objective),
        links={"runbook": GUIDE},
    )


def _labels(objective: ClusterObjective) -> dict[str, str]:
    """Those of all rules of an objective. Prometheus must see no template in them."""
    team = {} if objective.team is None else {"team": without_template(objective.team)}
    return {"slo": objective.name, **team}


def _burns(burn: Burn, objective: ClusterObjective) -> str:
    limit = f"{burn.factor * objective.objective.budget:.10g}"
    return " and ".join(f"{_ratio(objective, window)} > {limit}" for window in (burn.long, burn.short))


def _ratio(objective: ClusterObjective, window: str) -> str:
    """The share of the time that was not met or unknown."""
    by = f"sum by ({objective.cluster_label}, expectation)"
    bad, total = (f"{by} (increase({each}[{window}]))" for each in (objective.series(BAD), objective.series()))
    return f"{bad} / {total}"
