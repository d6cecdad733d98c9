"""Objectives for Sloth, in its own format prometheus/v1 (pkg/prometheus/api/v1 of slok/sloth)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Final

from monitor.alert_rules.objectives.burn_rates import GUIDE
from monitor.alert_rules.objectives.objective import BAD, ClusterObjective, ObjectiveError, name_of, without_template
from monitor.alert_rules.objectives.yaml_text import Yaml, yaml_documents
from monitor.model.findings import Severity

ALERT: Final = "GroupwatchErrorBudgetBurns"
WINDOWS: Final = frozenset({"28d", "30d"})
"""Those for which Sloth has factors of its own."""


def sloth_text(objectives: Iterable[ClusterObjective]) -> str:
    """A document for each cluster, which Sloth calls a service.

    Raises:
        ObjectiveError: the windows differ: Sloth takes one, as an option of its command. Or it has no factors for it.
    """
    by_cluster: dict[str, list[ClusterObjective]] = defaultdict(list)
    for each in objectives:
        by_cluster[each.cluster].append(each)
    windows = sorted({each.window for kept in by_cluster.values() for each in kept})
    if len(windows) > 1:
        raise ObjectiveError(f"Sloth takes one window for all, and the file has {' and '.join(windows)}.")
    if not WINDOWS.issuperset(windows):
        raise ObjectiveError(f"Sloth has windows of 28d and 30d only, and the file has {windows[0]}.")
    documents = [_document(cluster, kept) for cluster, kept in by_cluster.items()]
    return f"# sloth generate --default-slo-period {''.join(windows)}\n{yaml_documents(documents)}"


def _document(cluster: str, objectives: Iterable[ClusterObjective]) -> dict[str, Yaml]:
    return {"version": "prometheus/v1", "service": name_of(cluster), "slos": [_objective(each) for each in objectives]}


def _objective(objective: ClusterObjective) -> dict[str, Yaml]:
    queries = {
        name: f"sum(rate({series}[{{{{.window}}}}]))"
        for name, series in (("error_query", objective.series(BAD)), ("total_query", objective.series()))
    }
    labels = {} if objective.team is None else {"labels": {"team": without_template(objective.team)}}
    return {
        "name": name_of(objective.expression),
        "objective": objective.objective.percent,
        "description": objective.description,
        **labels,
        "sli": {"events": queries},
        "alerting": {
            "name": ALERT,
            "labels": {"slo": objective.name},
            "annotations": {"summary": objective.description, "runbook": GUIDE},
            "page_alert": {"labels": {"severity": Severity.CRITICAL.value}},
            "ticket_alert": {"labels": {"severity": Severity.WARNING.value}},
        },
    }
