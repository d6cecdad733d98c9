"""Rules of a deployment whose expressions match its own series only: other deployments have rules of their own."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Final

from monitor.alert_rules.rule import Scope, series
from monitor.metrics import specs
from monitor.metrics.spec_types import MetricSpec

_SPECIAL: Final = re.compile(r"[\\.+*?()|\[\]{}^$]")
"""What means something in an expression of RE2, which Prometheus anchors on both sides."""

_PRESENT: Final[dict[Scope, MetricSpec]] = {
    Scope.CLUSTER: specs.UP,
    Scope.COLLECTOR: specs.COLLECTOR_UP,
    Scope.PROCESS: specs.UP,
}
"""What is there whenever a series of the scope is: both come from the same process, in the same scrape."""


def own_expr(expr: str, scope: Scope, clusters: Iterable[str], label: str) -> str:
    """An expression for these clusters alone, whose label has this name. Its values stay.

    One about everything that Prometheus scrapes stays as it is.
    """
    family = _PRESENT.get(scope)
    if family is None:
        return expr
    match_on = "instance, job" if scope is Scope.PROCESS else f"{label}, exported_{label}"
    return f"({expr}) and on ({match_on}) ({_own_series(series(family), clusters, label)})"


def _own_series(family: str, clusters: Iterable[str], label: str) -> str:
    """The series of clusters by either label: where the target has ``label``, Prometheus renames that of groupwatch."""
    names = json.dumps("|".join(_SPECIAL.sub(r"\\\g<0>", name) for name in sorted(clusters)), ensure_ascii=False)
    return f'{family}{{{label}=~{names},exported_{label}=""}} or {family}{{exported_{label}=~{names}}}'
