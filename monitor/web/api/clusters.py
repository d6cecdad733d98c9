"""What a cluster is doing, as the API tells it: what /readyz and the head of the page say, with the numbers. Pure."""

from __future__ import annotations

from monitor.model import ClusterSnapshot
from monitor.web.api.types import ClusterCondition
from monitor.web.views.overview import cluster_line


def condition(cluster: ClusterSnapshot, now_ms: int) -> ClusterCondition:
    """The cluster's condition now."""
    line = cluster_line(cluster, now_ms)
    return ClusterCondition(
        cluster=cluster.cluster,
        ready=cluster.ready,
        stale=line.stale,
        sentence=line.sentence,
        groups=len(cluster.groups) if cluster.ready else None,
        groups_with_findings=sum(bool(each.findings) for each in cluster.groups) if cluster.ready else None,
        problem=cluster.problem,
        warning=line.warning,
        evaluated_ms=cluster.evaluated_ms,
        age_ms=cluster.age_ms(now_ms),
        batch_duration_ms=cluster.batch_duration_ms,
        input_lag=cluster.input_lag,
        catalog_ms=cluster.catalog_ms,
        decode_errors=sum(error.count for source in cluster.decode_errors for error in source.errors),
        evaluation_errors=cluster.evaluation_errors,
        warm_up=cluster.warm_up,
        collectors=cluster.collectors,
    )
