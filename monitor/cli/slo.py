"""The command slo. It ends with 0, or with 2 and one sentence for each mistake of the file."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.answering import exit_with, write_text
from monitor.cli.errors import SourceError

if TYPE_CHECKING:  # loaded when objectives are written: --help must be quick
    from monitor.alert_rules.objectives.objective import ClusterObjective


class SloFormat(StrEnum):
    """What objectives can be written for."""

    PROMETHEUS = "prometheus"
    SLOTH = "sloth"
    PYRRA = "pyrra"
    OPENSLO = "openslo"


def add_slo(app: typer.Typer) -> None:
    """Give the app this command."""
    app.command()(slo)


def slo(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The expectations (TOML).")],
    format_: Annotated[
        SloFormat,
        typer.Option("--format", help="Alert rules of Prometheus, or a file for Sloth, Pyrra or OpenSLO."),
    ] = SloFormat.PROMETHEUS,
    config: Annotated[
        Path | None,
        typer.Option(help="The configuration (TOML): its clusters, and the label that metrics have them in."),
    ] = None,
    cluster: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A cluster for entries that name none; may be repeated.")
    ] = None,
) -> None:
    """Write the objectives of a file of expectations for a tool that alerts on error budgets."""
    exit_with(lambda: write_text(_text(format_, _objectives(file, config, cluster or []))))


def _objectives(file: Path, config: Path | None, clusters: list[str]) -> tuple[ClusterObjective, ...]:
    from monitor.alert_rules.objectives.objective import ObjectiveError, objectives_of  # noqa: PLC0415 -- as above
    from monitor.cli.expectations_file import read_expectations  # noqa: PLC0415 -- as above
    from monitor.config import ConfigError, load  # noqa: PLC0415 -- as above
    from monitor.model.cluster_label import CLUSTER_LABEL  # noqa: PLC0415 -- as above

    expectations = read_expectations(file)
    try:
        settings = None if config is None else load(config)
        known = clusters or ([] if settings is None else list(settings.watched_names))
        label = CLUSTER_LABEL if settings is None else settings.metrics.cluster_label
        return objectives_of(expectations, known, label)
    except (ConfigError, ObjectiveError) as error:
        raise SourceError(str(error)) from None


def _text(format_: SloFormat, objectives: tuple[ClusterObjective, ...]) -> str:
    from monitor.alert_rules.objectives.burn_rates import burn_rate_rules  # noqa: PLC0415 -- as above
    from monitor.alert_rules.objectives.objective import ObjectiveError  # noqa: PLC0415 -- as above
    from monitor.alert_rules.objectives.openslo import openslo_text  # noqa: PLC0415 -- as above
    from monitor.alert_rules.objectives.pyrra import pyrra_text  # noqa: PLC0415 -- as above
    from monitor.alert_rules.objectives.sloth import sloth_text  # noqa: PLC0415 -- as above

    write = {
        SloFormat.PROMETHEUS: burn_rate_rules,
        SloFormat.SLOTH: sloth_text,
        SloFormat.PYRRA: pyrra_text,
        SloFormat.OPENSLO: openslo_text,
    }[format_]
    try:
        return write(objectives)
    except ObjectiveError as error:
        raise SourceError(str(error)) from None
