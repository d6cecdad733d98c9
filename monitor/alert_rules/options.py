"""What a deployment chooses of the alert rules, and the rules with that."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec
from msgspec.structs import replace

from monitor.alert_rules.links import Links, link_annotations
from monitor.alert_rules.own_series import own_expr
from monitor.alert_rules.rule import TEAM_LABEL, AlertRule, Pace
from monitor.alert_rules.rule_file import RuleGroup
from monitor.findings.alerts import GROUP_ALERTS
from monitor.metrics.cluster_label import with_cluster_label
from monitor.model.cluster_label import CLUSTER_LABEL
from monitor.model.findings import Severity

AGES: Final = frozenset(row.name for row in GROUP_ALERTS if getattr(row, "age_s", None) is not None)
"""The alerts whose expression has an age."""


class UnknownAlert(Exception):  # noqa: N818 -- says what happened
    """The settings name an alert that there is not, or give it what it cannot have. The text is a sentence."""


class AlertChange(msgspec.Struct, frozen=True):
    """Other values for one alert; None: as shipped. Times are in seconds."""

    severity: Severity | None = None
    age_s: int | None = None
    hold_s: int | None = None
    labels: Mapping[str, str] = {}


class RuleOptions(msgspec.Struct, frozen=True):
    """Everything that a deployment chooses. The default gives the shipped rules.

    ``clusters`` must have series, by their names in the configuration. With ``is_alone`` False, other deployments have
    rules in the same Prometheus, and these rules are about ``clusters`` only.
    """

    disabled: tuple[str, ...] = ()
    changes: Mapping[str, AlertChange] = {}
    labels: Mapping[str, str] = {}
    links: Links = Links()
    clusters: tuple[str, ...] = ()
    is_alone: bool = True
    cluster_label: str = CLUSTER_LABEL

    def pace(self, pace: Pace) -> Pace:
        """The pace with the ages of these options."""
        ages = {name: change.age_s for name, change in self.changes.items() if change.age_s is not None}
        return replace(pace, ages=ages)


def changed_groups(groups: Iterable[RuleGroup], options: RuleOptions) -> tuple[RuleGroup, ...]:
    """The groups of rules with the options applied, without those that are empty then.

    Raises:
        UnknownAlert: an option is for an alert that there is not, or that has no age.
    """
    groups = tuple(groups)
    require_known([rule.name for group in groups for rule in group.rules], options)
    changed = (RuleGroup(group.name, tuple(_changed_rules(group.rules, options))) for group in groups)
    return tuple(group for group in changed if group.rules)


def require_known(names: Iterable[str], options: RuleOptions) -> None:
    """Return if each alert that the options name is one of these, and can have what they give it.

    Raises:
        UnknownAlert: otherwise.
    """
    known = frozenset(names)
    for place, named in (("disabled", options.disabled), ("overrides", options.changes)):
        for name in named:
            if name not in known:
                near = difflib.get_close_matches(name, sorted(known), n=1)
                hint = f" (did you mean {near[0]}?)" if near else ""
                raise UnknownAlert(f"alerts.{place}: there is no alert {name}{hint}.")
    chosen = (options.labels, *(change.labels for change in options.changes.values()))
    if any(options.cluster_label in labels for labels in chosen):
        raise UnknownAlert(f"alerts.labels: {options.cluster_label} is already the label of the Kafka cluster.")
    for name, change in options.changes.items():
        if change.age_s is not None and name not in AGES:
            raise UnknownAlert(f"alerts.overrides: {name} has no age; for_s changes how long its condition must hold.")


def _own_labels(rule: AlertRule, cluster_label: str) -> Mapping[str, str]:
    """The labels of a rule as it is shipped, for series whose clusters are named by this label."""
    return {
        cluster_label if name == CLUSTER_LABEL else name: with_cluster_label(value, cluster_label)
        if name == TEAM_LABEL
        else value
        for name, value in rule.labels.items()
    }


def _changed_rules(rules: Iterable[AlertRule], options: RuleOptions) -> Iterator[AlertRule]:
    def with_own_label(text: str) -> str:
        return with_cluster_label(text, options.cluster_label)

    for rule in rules:
        if rule.name in options.disabled:
            continue
        change = options.changes.get(rule.name, AlertChange())
        yield replace(
            rule,
            severity=change.severity or rule.severity,
            hold_s=rule.hold_s if change.hold_s is None else change.hold_s,
            labels={**_own_labels(rule, options.cluster_label), **options.labels, **change.labels},
            links={name: with_own_label(link) for name, link in link_annotations(rule, options.links).items()},
            expr=_expr(rule, options),
            summary=with_own_label(rule.summary),
            description=with_own_label(rule.description),
        )


def _expr(rule: AlertRule, options: RuleOptions) -> str:
    renamed = with_cluster_label(rule.expr, options.cluster_label)
    return renamed if options.is_alone else own_expr(renamed, rule.scope, options.clusters, options.cluster_label)
