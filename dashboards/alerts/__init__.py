"""Alert rules: by age, never by presence, because rebalances and metadata refreshes are normal."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from dashboards.alerts.cluster import rules_about_clusters_themselves
from dashboards.alerts.connect import connect_rules
from dashboards.alerts.lag import lag_rules
from dashboards.alerts.monitor_itself import rules_about_clusters, rules_about_the_monitor
from dashboards.alerts.ownership import ownership_rules
from dashboards.alerts.rebalances import rebalance_rules
from dashboards.alerts.rule import AlertRule, Pace
from dashboards.alerts.rule_file import RuleGroup, rule_file_text

AS_MEANT: Final = Pace()

DEMO: Final = Pace(divisor=60)
"""The pace of the demo, whose minutes are seconds: its topic that grows has orphans for 25 s."""


def rule_groups(pace: Pace = AS_MEANT) -> tuple[RuleGroup, ...]:
    """All rules by their subject, at a pace."""
    return (
        RuleGroup("groupwatch-ownership", ownership_rules(pace)),
        RuleGroup("groupwatch-lag", lag_rules(pace)),
        RuleGroup("groupwatch-rebalances", rebalance_rules(pace)),
        RuleGroup("groupwatch-connect", connect_rules(pace)),
        RuleGroup("groupwatch-cluster", rules_about_clusters_themselves()),
        RuleGroup("groupwatch-itself", rules_about_the_monitor()),
    )


RULES: Final[tuple[AlertRule, ...]] = tuple(rule for group in rule_groups() for rule in group.rules)
"""All of them, at their normal pace."""


def rules_file(pace: Pace = AS_MEANT, runbooks: str | None = None, clusters: Iterable[str] = ()) -> str:
    """The rules as a rule file of Prometheus.

    Args:
        pace: how long the rules wait.
        runbooks: where the runbooks can be read, if that is known.
        clusters: those that must have series, by their names in the configuration.
    """
    missing = rules_about_clusters(clusters)
    named = (RuleGroup("groupwatch-clusters", missing),) if missing else ()
    return rule_file_text((*rule_groups(pace), *named), runbooks)
