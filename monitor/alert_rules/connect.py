"""Alerts about Connect clusters: what no worker runs, what ran twice, workers behind on configurations, or uneven."""

from __future__ import annotations

from monitor.alert_rules.rule import AGE, CLUSTER, GROUP, WHICH, AlertRule, Pace, looked_up, row_rule
from monitor.findings import alerts
from monitor.metrics import specs


def connect_rules(pace: Pace) -> tuple[AlertRule, ...]:
    """None fires while Connect waits for a worker (``delay``), or between revoking and assigning (no finding yet)."""
    return (
        row_rule(
            alerts.CONNECT_TASKS_NOT_RUNNING,
            pace,
            summary=(
                f"No worker of {WHICH} has run some connectors or tasks for {AGE} ({{{{ $labels.reason }}}}"
                f"{looked_up(', # now', specs.GROUP_CONNECT_IDLE_TASKS, 'reason')})"
            ),
            description=(
                f"Connectors or tasks of the Connect cluster {GROUP} of cluster {CLUSTER} have no worker, and Connect "
                "does not wait for one to come back."
            ),
        ),
        row_rule(
            alerts.CONNECT_TASKS_RUN_TWICE,
            pace,
            summary=f"Two workers of {WHICH} ran the same connectors or tasks {AGE} ago",
            description=(
                f"A worker of the Connect cluster {GROUP} of cluster {CLUSTER} lost contact and kept running tasks "
                "that another one had taken over. It is known only now that both are in the group again."
            ),
        ),
        row_rule(
            alerts.CONNECT_CONFIGS_BEHIND,
            pace,
            summary=f"Workers of {WHICH} have been behind on its configurations for {AGE}",
            description=(
                f"Workers of the Connect cluster {GROUP} of cluster {CLUSTER} have joined it repeatedly without what "
                "their leader has read of the topic of configurations."
            ),
        ),
        row_rule(
            alerts.CONNECT_WORKERS_UNEVEN,
            pace,
            summary=f"Workers of {WHICH} have had uneven numbers of connectors or tasks for {AGE}",
            description=(
                f"One worker of the Connect cluster {GROUP} of cluster {CLUSTER} runs at least two more tasks or "
                "connectors than another one."
            ),
        ),
    )
