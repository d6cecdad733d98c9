"""Of all clusters, the share of which something is well: to every shard that tells of them."""

from __future__ import annotations

from grafana_foundation_sdk.builders.stat import Panel

from dashboards.grafana.panels import marked_below, stat
from dashboards.queries import CLUSTER, across, described


def clusters_read() -> Panel:
    """Of all clusters, the share that can be read."""
    return cluster_share("Clusters read", "up")


def cluster_share(title: str, name: str) -> Panel:
    """Of all clusters, the share of which a family is 1."""
    return stat(title, described(name), "percentunit", f"avg({across('min', CLUSTER, name)})", marked=marked_below(1))
