"""Objectives for Pyrra: objects of Kubernetes, which Pyrra reads from files, too."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

from monitor.alert_rules.objectives.objective import BAD, ClusterObjective, without_template
from monitor.alert_rules.objectives.yaml_text import Yaml, yaml_documents

_LABEL: Final = re.compile(r"[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
"""What Kubernetes takes as the value of a label."""
_TEAM: Final = "pyrra.dev/team"
"""Pyrra gives its alerts the labels and annotations of this prefix."""


def pyrra_text(objectives: Iterable[ClusterObjective]) -> str:
    """An object for each."""
    return yaml_documents([_object(each) for each in objectives])


def _object(objective: ClusterObjective) -> dict[str, Yaml]:
    ratio: dict[str, Yaml] = {
        "errors": {"metric": objective.series(BAD)},
        "total": {"metric": objective.series()},
    }
    return {
        "apiVersion": "pyrra.dev/v1alpha1",
        "kind": "ServiceLevelObjective",
        "metadata": {"name": objective.name, **_team(objective.team)},
        "spec": {
            "target": objective.percent,
            "window": objective.window,
            "description": objective.description,
            "indicator": {"ratio": ratio},
        },
    }


def _team(team: str | None) -> dict[str, Yaml]:
    if team is None:
        return {}
    return {"labels" if _LABEL.fullmatch(team) else "annotations": {_TEAM: without_template(team)}}
