"""What a cluster is doing, in one sentence: for /readyz and for the page."""

from __future__ import annotations

from monitor.metrics.wording import counted, grouped, visible
from monitor.model import ClusterSnapshot, Snapshot


def told(cluster: ClusterSnapshot) -> str:
    """One sentence: the problem if there is one, else whether the cluster is ready, else what it still waits for."""
    if cluster.problem is not None:
        return cluster.problem
    if cluster.ready:
        return "Ready."
    if cluster.input_lag is None:
        return "Starting: the first batch has not been read."
    if cluster.input_lag == 0:
        return "The backlog has been read; the topics have still to be listed."
    if cluster.backlog_total is None:
        return f"Reading the backlog: {counted(cluster.input_lag, 'record')} remain."
    return f"Reading the backlog: {grouped(cluster.input_lag)} of {counted(cluster.backlog_total, 'record')} remain."


def told_of_all(snapshot: Snapshot) -> str:
    """One line for each cluster that is not ready; "ready" if there is none."""
    if not snapshot.clusters:
        return "No cluster is watched.\n"
    waiting = [f"{visible(each.cluster)}: {told(each)}\n" for each in snapshot.clusters if not each.ready]
    return "".join(waiting) or "ready\n"
