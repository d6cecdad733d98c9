"""The share of all clusters in which something is well, also if several shards report them."""

from __future__ import annotations

from grafana_foundation_sdk.builders.stat import Panel

from dashboards.grafana.panels import marked_below, stat
from dashboards.queries import across, described
from monitor.metrics import specs
from monitor.metrics.promql import CLUSTER
from monitor.metrics.spec_types import MetricSpec


def clusters_read() -> Panel:
    """The share of all clusters that can be read."""
    return cluster_share("Clusters read", specs.UP)


def cluster_share(title: str, family: MetricSpec) -> Panel:
    """The share of all clusters for which a family is 1."""
    return stat(
        title, described(family), "percentunit", f"avg({across('min', CLUSTER, family)})", marked=marked_below(1)
    )
