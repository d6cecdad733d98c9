"""Alerts about Connect clusters: what no worker runs, what ran twice, workers behind on configurations, or uneven."""

from __future__ import annotations

from dashboards.alerts.rule import AGE, CLUSTER, GROUP, AlertRule, Pace, finding_age, looked_up, severity_of
from monitor.metrics import specs

_STANDING_STILL = "config_mismatch|no_workers|not_assigned|revoked"


def connect_rules(pace: Pace) -> tuple[AlertRule, ...]:
    """None fires while Connect waits for a worker (``delay``), or between revoking and assigning (no finding yet)."""
    return (
        AlertRule(
            name="GroupwatchConnectTasksNotRunning",
            severity=severity_of("orphaned", _STANDING_STILL),
            expr=f"{finding_age('orphaned', _STANDING_STILL)} > {pace.seconds(60)}",
            hold_s=pace.seconds(60),
            keep_s=pace.seconds(300),
            summary=(
                f"No worker of {GROUP} has run some connectors or tasks for {AGE} ({{{{ $labels.reason }}}}"
                f"{looked_up(', # now', specs.GROUP_CONNECT_IDLE_TASKS, 'reason')})"
            ),
            description=(
                f"Connectors or tasks of the Connect cluster {GROUP} of cluster {CLUSTER} have no worker, and Connect "
                "does not wait for one to come back."
            ),
        ),
        AlertRule(
            name="GroupwatchConnectTasksRunTwice",
            severity=severity_of("double_owned", "run_twice"),
            expr=f"{finding_age('double_owned', 'run_twice')} >= 0",
            hold_s=0,
            keep_s=pace.seconds(300),
            summary=f"Two workers of {GROUP} ran the same connectors or tasks {AGE} ago",
            description=(
                f"A worker of the Connect cluster {GROUP} of cluster {CLUSTER} lost contact and kept running tasks "
                "that another one had taken over. It is known only now that both are in the group again."
            ),
        ),
        AlertRule(
            name="GroupwatchConnectConfigsBehind",
            severity=severity_of("config_behind", "config_offset"),
            expr=f"{finding_age('config_behind', 'config_offset')} > {pace.seconds(60)}",
            hold_s=pace.seconds(60),
            keep_s=pace.seconds(300),
            summary=f"Workers of {GROUP} have been behind on its configurations for {AGE}",
            description=(
                f"Workers of the Connect cluster {GROUP} of cluster {CLUSTER} have joined it repeatedly without what "
                "their leader has read of the topic of configurations."
            ),
        ),
        AlertRule(
            name="GroupwatchConnectWorkersUneven",
            severity=severity_of("imbalance", "workers"),
            expr=f"{finding_age('imbalance', 'workers')} > {pace.seconds(3600)}",
            hold_s=pace.seconds(300),
            keep_s=pace.seconds(300),
            summary=f"Workers of {GROUP} have had uneven numbers of connectors or tasks for {AGE}",
            description=(
                f"One worker of the Connect cluster {GROUP} of cluster {CLUSTER} runs at least two more tasks or "
                "connectors than another one."
            ),
        ),
    )
