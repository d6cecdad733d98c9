"""Alerts about groups that are not as the file of expectations says: one for each severity that it can choose."""

from __future__ import annotations

from monitor.alert_rules.rule import AGE, CLUSTER, GROUP, WHICH, AlertRule, Pace, row_rule
from monitor.findings import alerts


def expectation_rules(pace: Pace) -> tuple[AlertRule, ...]:
    """They wait for longer than a rolling restart takes."""
    return tuple(
        [
            row_rule(
                row,
                pace,
                summary=f"{WHICH} has not been as expected for {AGE}",
                description=(
                    f"Group {GROUP} of cluster {CLUSTER} is not as its team has written down in the file of "
                    "expectations. The page says what differs."
                ),
            )
            for row in (alerts.EXPECTED_CRITICAL, alerts.EXPECTED, alerts.EXPECTED_INFO)
        ]
    )
