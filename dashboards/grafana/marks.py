"""Marks on the time axis of all graphs of a dashboard."""

from __future__ import annotations

from typing import Final

from grafana_foundation_sdk.builders.prometheus import Dataquery
from grafana_foundation_sdk.cog.builder import Builder
from grafana_foundation_sdk.models.dashboard import AnnotationQuery

from dashboards.grafana.panels import NEUTRAL, WARNING, datasource
from dashboards.queries import GROUP, increased, summed
from monitor.metrics import specs

_FIRING: Final = 'ALERTS{alertname=~"Groupwatch.+",alertstate="firing",cluster=~"$cluster",group=~"$group"}'
"""Prometheus writes these series itself. Alerts that name no cluster or group have them where all are chosen."""


class MarkQuery(AnnotationQuery):
    """An annotation from Prometheus, with what Grafana's model of annotations in general does not name.

    Its expression is there twice: older versions of Grafana read it beside the name, newer ones as a query.
    """

    def __init__(self, name: str, expr: str, title: str, text: str, color: str) -> None:
        super().__init__(name=name, datasource=datasource(), icon_color=color, expr=expr)
        self._more: dict[str, object] = {
            "target": Dataquery().ref_id("Anno").expr(expr).range().datasource(datasource()).build(),
            "titleFormat": title,
            "textFormat": text,
        }

    def to_json(self) -> dict[str, object]:
        """With ``{{label}}`` in the texts for the value of a label."""
        return super().to_json() | self._more


class _Mark(Builder[AnnotationQuery]):
    def __init__(self, mark: MarkQuery) -> None:
        self._mark = mark

    def build(self) -> AnnotationQuery:
        return self._mark


def rebalances() -> Builder[AnnotationQuery]:
    """Where a group completed a generation."""
    family = specs.GROUP_REBALANCES_TOTAL
    expr = f"{summed(family, GROUP, increased(family))} > 0"
    return _Mark(MarkQuery("Rebalances", expr, "Rebalance", "{{cluster}} {{group}}", NEUTRAL))


def alerts() -> Builder[AnnotationQuery]:
    """Where alerts of groupwatch fire, once each where replicas expose the same."""
    expr = f"max by (alertname, severity, cluster, group) ({_FIRING})"
    return _Mark(MarkQuery("Alerts", expr, "{{alertname}} ({{severity}})", "{{cluster}} {{group}}", WARNING))
