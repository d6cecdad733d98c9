"""Objectives as OpenSLO v1 has them: a service for each cluster, and an SLO for each entry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Final

from monitor.alert_rules.objectives.objective import BAD, ClusterObjective, name_of
from monitor.alert_rules.objectives.yaml_text import Yaml, yaml_documents

VERSION: Final = "openslo/v1"
_LONGEST: Final = 1_050
"""The longest description that OpenSLO takes."""


def openslo_text(objectives: Iterable[ClusterObjective]) -> str:
    """The services, then the objectives."""
    kept = tuple(objectives)
    clusters = dict.fromkeys(each.cluster for each in kept)
    return yaml_documents([*map(_service, clusters), *map(_objective, kept)])


def _service(cluster: str) -> dict[str, Yaml]:
    return {
        "apiVersion": VERSION,
        "kind": "Service",
        "metadata": {"name": name_of(cluster), "displayName": cluster},
        "spec": {"description": f"The consumer groups of {cluster}."[:_LONGEST]},
    }


def _objective(objective: ClusterObjective) -> dict[str, Yaml]:
    metadata = {"name": objective.name, "displayName": f"{objective.expression} of {objective.cluster}"}
    return {
        "apiVersion": VERSION,
        "kind": "SLO",
        "metadata": metadata,
        "spec": {
            "description": objective.description[:_LONGEST],
            "service": name_of(objective.cluster),
            "indicator": {"metadata": {"name": f"{objective.name}"}, "spec": {"ratioMetric": dict(_ratio(objective))}},
            "timeWindow": [{"duration": objective.window, "isRolling": True}],
            "budgetingMethod": "Occurrences",
            "objectives": [{"displayName": "Met", "target": round(objective.objective.percent / 100, 12)}],
        },
    }


def _ratio(objective: ClusterObjective) -> Iterator[tuple[str, Yaml]]:
    yield "counter", True
    for name, series in (("bad", objective.series(BAD)), ("total", objective.series())):
        yield name, {"metricSource": {"type": "Prometheus", "spec": {"query": f"sum({series})"}}}
