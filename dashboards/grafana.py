"""The Grafana dashboard: one function a panel, one list that reads like a table of contents."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from dashboards.queries import chosen, spec_of, summed

DATASOURCE_UID: Final = "groupwatch-prometheus"
"""The uid of the provisioned data source; panels refer to it."""

DASHBOARD_UID: Final = "groupwatch"
_DATASOURCE: Final = {"type": "prometheus", "uid": DATASOURCE_UID}
_GROUP: Final = "{{cluster}} {{group}}"
_CLUSTER: Final = "{{cluster}}"


class Query(msgspec.Struct, frozen=True):
    """A PromQL expression and how its series are named in the legend."""

    expr: str
    legend: str


class Panel(msgspec.Struct, frozen=True):
    """A graph over time. ``unit`` is Grafana's name of a unit; ``steps``: drawn as steps, for counts."""

    title: str
    description: str
    unit: str
    queries: tuple[Query, ...]
    steps: bool = False


def group_lag() -> Panel:
    """Records that wait, group by group."""
    return _panel("Lag", "short", "group_lag", _GROUP)


def group_lag_seconds() -> Panel:
    """Age of the oldest record that waits."""
    return _panel("Lag in time", "s", "group_lag_seconds", _GROUP)


def orphaned() -> Panel:
    """Partitions nobody owns, by reason."""
    return _counts("Orphaned partitions by reason", "group_orphaned_partitions", "reason")


def orphaned_age() -> Panel:
    """How long the oldest orphan has had no owner: what to alert on."""
    return _panel("Oldest orphan", "s", "group_orphaned_oldest_seconds", _GROUP)


def drift() -> Panel:
    """Partitions with another owner than the assignor gives, by expectation."""
    return _counts("Drifted partitions", "group_drifted_partitions", "kind")


def imbalance() -> Panel:
    """1 is the best that any assignment could reach."""
    return _panel("Imbalance", "none", "group_imbalance_ratio", _GROUP)


def rebalances() -> Panel:
    """Generations completed within five minutes."""
    spec = spec_of("group_rebalances_total")
    return Panel(
        title="Rebalances in 5 minutes",
        description=spec.help,
        unit="short",
        queries=(Query(expr=f"increase({chosen('group_rebalances_total')}[5m])", legend=_GROUP),),
    )


def members() -> Panel:
    """Members, and those of them that own nothing."""
    return Panel(
        title="Members",
        description=spec_of("group_members").help,
        unit="short",
        queries=(
            Query(expr=chosen("group_members"), legend=_GROUP),
            Query(expr=f"{chosen('group_idle_members')} > 0", legend=f"{_GROUP} idle"),
        ),
        steps=True,
    )


def evaluation_age() -> Panel:
    """How old the numbers on this dashboard are."""
    name = "last_evaluation_timestamp_seconds"
    return Panel(
        title="groupwatch: age of the newest evaluation",
        description=spec_of(name).help,
        unit="s",
        queries=(Query(expr=f"time() - {chosen(name)}", legend=_CLUSTER),),
    )


def batch_duration() -> Panel:
    """How long groupwatch needs to read and judge."""
    return _panel("groupwatch: batch duration", "s", "batch_duration_seconds", _CLUSTER)


def input_lag() -> Panel:
    """How far groupwatch itself is behind."""
    return _panel("groupwatch: records still to read", "short", "input_lag_records", _CLUSTER)


def errors() -> Panel:
    """Records that could not be read and groups that could not be judged."""
    return Panel(
        title="groupwatch: errors in 5 minutes",
        description=spec_of("decode_errors_total").help,
        unit="short",
        queries=(
            Query(expr=f"increase({chosen('decode_errors_total')}[5m])", legend="{{cluster}} {{source}} {{reason}}"),
            Query(expr=f"increase({chosen('evaluation_errors_total')}[5m])", legend="{{cluster}} not judged"),
        ),
    )


PANELS: Final = (
    group_lag,
    group_lag_seconds,
    orphaned,
    orphaned_age,
    drift,
    imbalance,
    rebalances,
    members,
    evaluation_age,
    batch_duration,
    input_lag,
    errors,
)


def dashboard() -> dict[str, Any]:
    """The dashboard as Grafana's JSON model (schema 39, Grafana 11 and newer)."""
    return {
        "uid": DASHBOARD_UID,
        "title": "groupwatch",
        "tags": ["kafka", "groupwatch"],
        "schemaVersion": 39,
        "editable": False,
        "graphTooltip": 1,
        "refresh": "10s",
        "time": {"from": "now-15m", "to": "now"},
        "templating": {
            "list": [_variable("cluster", chosen("up", ())), _variable("group", chosen("group_members", ("cluster",)))]
        },
        "panels": [_panel_json(place, make()) for place, make in enumerate(PANELS)],
    }


def _panel(title: str, unit: str, name: str, legend: str) -> Panel:
    query = Query(expr=chosen(name), legend=legend)
    return Panel(title=title, description=spec_of(name).help, unit=unit, queries=(query,))


def _counts(title: str, name: str, by: str) -> Panel:
    """Counts above 0, summed over the clusters, by group and one more label."""
    query = Query(expr=f"{summed(name, ['group', by])} > 0", legend=f"{{{{group}}}} {{{{{by}}}}}")
    return Panel(title=title, description=spec_of(name).help, unit="short", queries=(query,), steps=True)


def _panel_json(place: int, panel: Panel) -> dict[str, Any]:
    """A panel in a grid of two columns."""
    return {
        "id": place + 1,
        "type": "timeseries",
        "title": panel.title,
        "description": panel.description,
        "datasource": _DATASOURCE,
        "gridPos": {"h": 8, "w": 12, "x": 12 * (place % 2), "y": 8 * (place // 2)},
        "fieldConfig": {
            "defaults": {
                "unit": panel.unit,
                "min": 0,
                "custom": {"lineInterpolation": "stepAfter" if panel.steps else "linear", "fillOpacity": 10},
            },
            "overrides": [],
        },
        "options": {"legend": {"displayMode": "list", "placement": "bottom"}, "tooltip": {"mode": "multi"}},
        "targets": [
            {
                "refId": chr(ord("A") + number),
                "datasource": _DATASOURCE,
                "expr": query.expr,
                "legendFormat": query.legend,
            }
            for number, query in enumerate(panel.queries)
        ],
    }


def _variable(label: str, series: str) -> dict[str, Any]:
    """A choice of the values that a label has in these series; everything is chosen at first."""
    query = f"label_values({series}, {label})"
    return {
        "name": label,
        "type": "query",
        "datasource": _DATASOURCE,
        "query": {"query": query, "refId": label},
        "definition": query,
        "refresh": 2,
        "multi": True,
        "includeAll": True,
        "allValue": ".*",
        "sort": 1,
        "current": {"selected": True, "text": ["All"], "value": ["$__all"]},
    }
