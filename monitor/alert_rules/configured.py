"""The options of the alert rules, from the settings."""

from __future__ import annotations

from monitor.alert_rules import configured_groups
from monitor.alert_rules.links import Links
from monitor.alert_rules.monitor_itself import MISSING
from monitor.alert_rules.options import AlertChange, RuleOptions, UnknownAlert
from monitor.config import ConfigError, Settings
from monitor.config.alerts import AlertOverride
from monitor.model.findings import Severity


def rule_options(settings: Settings) -> RuleOptions:
    """What the settings choose; each watched cluster and system must have series, and the rules are about these only.

    Raises:
        ConfigError: they name an alert that there is not, or give it an age that it does not have.
    """
    alerts = settings.alerts
    options = RuleOptions(
        disabled=alerts.disabled,
        changes={override.alert: _change(override) for override in alerts.overrides},
        labels=alerts.labels,
        links=Links(
            runbooks=alerts.runbook_url or _own_runbooks(settings.http.external_url),
            page=settings.http.external_url,
            grafana=alerts.grafana_url,
            deployment=settings.dashboards.name,
        ),
        clusters=settings.watched_names,
        # Where a name differs in Prometheus, no restricted rule fires. Only GroupwatchClusterMissing reports that.
        is_alone=not settings.watched_names or MISSING in alerts.disabled,
        cluster_label=settings.metrics.cluster_label,
    )
    try:
        configured_groups(options)
    except UnknownAlert as error:
        raise ConfigError(str(error)) from None
    return options


def _own_runbooks(external_url: str | None) -> str | None:
    """The runbooks that the page itself serves."""
    return None if external_url is None else f"{external_url}/help/runbooks"


def _change(override: AlertOverride) -> AlertChange:
    return AlertChange(
        severity=None if override.severity is None else Severity(override.severity),
        age_s=override.age_s,
        hold_s=override.for_s,
        labels=override.labels,
    )
