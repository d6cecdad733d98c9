"""The command rules. It ends with 0, or with 2 and one sentence for each mistake of the configuration."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.answering import exit_with, write_text
from monitor.cli.errors import SourceError

if TYPE_CHECKING:  # loaded when rules are written: --help must be quick
    from monitor.alert_rules.options import RuleOptions


class RuleFormat(StrEnum):
    """What rules can be written as."""

    PROMETHEUS = "prometheus"
    PROMETHEUSRULE = "prometheusrule"
    ALERTMANAGERCONFIG = "alertmanagerconfig"


def add_rules(app: typer.Typer) -> None:
    """Give the app this command."""
    app.command()(rules)


def rules(
    config: Annotated[
        Path | None,
        typer.Option(help="The configuration (TOML): its table alerts, the clusters, and the addresses of links."),
    ] = None,
    format_: Annotated[
        RuleFormat,
        typer.Option(
            "--format",
            help="A rule file, or objects of the Prometheus operator: a PrometheusRule, or the inhibitions as an "
            "AlertmanagerConfig.",
        ),
    ] = RuleFormat.PROMETHEUS,
) -> None:
    """Write the alert rules for Prometheus, as the configuration chooses them."""
    exit_with(lambda: write_text(_text(format_, _options(config))))


def _options(config: Path | None) -> RuleOptions:
    from monitor.alert_rules.configured import rule_options  # noqa: PLC0415 -- --help must be quick
    from monitor.config import ConfigError, load  # noqa: PLC0415 -- as above

    try:
        return rule_options(load(config))
    except ConfigError as error:
        raise SourceError(str(error)) from None


def _text(format_: RuleFormat, options: RuleOptions) -> str:
    from monitor.alert_rules import rules_file, rules_object  # noqa: PLC0415 -- as above
    from monitor.alert_rules.inhibitions import alertmanager_config  # noqa: PLC0415 -- as above

    match format_:
        case RuleFormat.PROMETHEUS:
            return rules_file(options=options)
        case RuleFormat.PROMETHEUSRULE:
            return rules_object(options)
        case RuleFormat.ALERTMANAGERCONFIG:
            return alertmanager_config(options.cluster_label)
