"""Alert rules: by age, never by presence, because rebalances and metadata refreshes are normal."""

from __future__ import annotations

from typing import Final

from monitor.alert_rules.cluster import rules_about_clusters_themselves
from monitor.alert_rules.connect import connect_rules
from monitor.alert_rules.expectations import expectation_rules, missing_group_rules
from monitor.alert_rules.lag import lag_rules
from monitor.alert_rules.monitor_itself import rules_about_clusters, rules_about_the_monitor
from monitor.alert_rules.options import RuleOptions, changed_groups
from monitor.alert_rules.ownership import ownership_rules
from monitor.alert_rules.rebalances import rebalance_rules
from monitor.alert_rules.rule import AlertRule, Pace
from monitor.alert_rules.rule_file import RuleGroup, rule_file_text, rule_object_text

AS_MEANT: Final = Pace()

SHIPPED: Final = RuleOptions()

DEMO: Final = Pace(divisor=60)
"""The pace of the demo, whose minutes are seconds: its topic that grows has orphans for 25 s."""


def rule_groups(pace: Pace = AS_MEANT) -> tuple[RuleGroup, ...]:
    """All rules by their subject, at a pace."""
    return (
        RuleGroup("groupwatch-ownership", ownership_rules(pace)),
        RuleGroup("groupwatch-lag", lag_rules(pace)),
        RuleGroup("groupwatch-rebalances", rebalance_rules(pace)),
        RuleGroup("groupwatch-connect", connect_rules(pace)),
        RuleGroup("groupwatch-expectations", expectation_rules(pace)),
        RuleGroup("groupwatch-cluster", (*missing_group_rules(), *rules_about_clusters_themselves())),
        RuleGroup("groupwatch-itself", rules_about_the_monitor()),
    )


RULES: Final[tuple[AlertRule, ...]] = tuple(rule for group in rule_groups() for rule in group.rules)
"""All of them, at their normal pace."""


def configured_groups(options: RuleOptions, pace: Pace = AS_MEANT) -> tuple[RuleGroup, ...]:
    """All rules as a deployment chooses them, and one about each cluster that must have series.

    Raises:
        UnknownAlert: an option is for an alert that there is not, or that has no age.
    """
    missing = rules_about_clusters(options.clusters)
    named = (RuleGroup("groupwatch-clusters", missing),) if missing else ()
    return changed_groups((*rule_groups(options.pace(pace)), *named), options)


def rules_file(pace: Pace = AS_MEANT, options: RuleOptions = SHIPPED) -> str:
    """The rules as a rule file of Prometheus. Raises like ``configured_groups``."""
    return rule_file_text(configured_groups(options, pace))


def rules_object(options: RuleOptions = SHIPPED) -> str:
    """The rules as a PrometheusRule. Raises like ``configured_groups``."""
    return rule_object_text(rules_file(options=options), options.links.deployment)
