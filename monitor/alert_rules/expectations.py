"""Alerts about groups that are not as the file of expectations says: one for each severity that it can choose."""

from __future__ import annotations

from monitor.alert_rules.cluster import cluster_finding_age
from monitor.alert_rules.rule import AGE, CLUSTER, GROUP, WHICH, AlertRule, Pace, row_rule
from monitor.findings import alerts
from monitor.findings.alerts import FindingAlert
from monitor.model.findings import Severity


def expectation_rules(pace: Pace) -> tuple[AlertRule, ...]:
    """They wait for longer than a rolling restart takes."""
    of_groups = (alerts.EXPECTED_CRITICAL, alerts.EXPECTED, alerts.EXPECTED_INFO)
    return tuple([_not_as_expected(row, pace) for row in of_groups])


def missing_group_rules() -> tuple[AlertRule, ...]:
    """They keep their pace in the demo, as other alerts about clusters do."""
    return tuple(map(_missing_groups, Severity))


def _not_as_expected(row: FindingAlert, pace: Pace) -> AlertRule:
    return row_rule(
        row,
        pace,
        summary=f"{WHICH} has not been as expected for {AGE}",
        description=(
            f"Group {GROUP} of cluster {CLUSTER} is not as its team has written down in the file of expectations. The "
            "page says what differs."
        ),
    )


def _missing_groups(severity: Severity) -> AlertRule:
    return AlertRule(
        name=f"GroupwatchExpectedGroups{'' if severity is Severity.WARNING else severity.capitalize()}",
        severity=severity,
        expr=cluster_finding_age("expected_groups", severity.value),
        hold_s=300,
        summary=f"Expected groups of {CLUSTER} do not exist",
        description=(
            f"The file of expectations says that these groups exist, and cluster {CLUSTER} has none of them. The page "
            "names their entries. Their consumers may never have started, or use another group id."
        ),
    )
