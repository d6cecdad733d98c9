"""The command dashboards. It ends with 0, or with 2 and a sentence for what is wrong."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.answering import exit_with, write_text
from monitor.cli.errors import SourceError

if TYPE_CHECKING:  # loaded when dashboards are written: --help must be quick
    from monitor.config import Settings


class DashboardFormat(StrEnum):
    """What dashboards can be written as."""

    JSON = "json"
    GRAFANADASHBOARD = "grafanadashboard"
    CONFIGMAP = "configmap"


def add_dashboards(app: typer.Typer) -> None:
    """Give the app this command."""
    app.command()(dashboards)


def dashboards(
    config: Annotated[
        Path | None,
        typer.Option(help="The configuration (TOML): its table dashboards, the page, the label of the cluster."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder for a file of each dashboard. By default all are written to standard output."),
    ] = None,
    format_: Annotated[
        DashboardFormat,
        typer.Option(
            "--format",
            help="JSON for Grafana's import and its provisioning, or objects of Kubernetes: GrafanaDashboards of "
            "grafana-operator, or ConfigMaps for Grafana's sidecar.",
        ),
    ] = DashboardFormat.JSON,
) -> None:
    """Write the dashboards for Grafana, as the configuration chooses them."""

    def write() -> None:
        texts = _texts(format_, _settings(config))
        if out is None:
            write_text(_one_text(format_, texts))
        else:
            _write(out, format_, texts)

    exit_with(write)


def _settings(config: Path | None) -> Settings:
    from monitor.config import ConfigError, load  # noqa: PLC0415 -- --help must be quick

    try:
        return load(config)
    except ConfigError as error:
        raise SourceError(str(error)) from None


def _texts(format_: DashboardFormat, settings: Settings) -> Mapping[str, str]:
    from monitor.grafana.boards import configured_boards  # noqa: PLC0415 -- as above
    from monitor.grafana.configured import board_options, object_options  # noqa: PLC0415 -- as above
    from monitor.grafana.objects import config_maps, grafana_dashboards  # noqa: PLC0415 -- as above

    boards = configured_boards(board_options(settings))
    match format_:
        case DashboardFormat.JSON:
            return boards
        case DashboardFormat.GRAFANADASHBOARD:
            return grafana_dashboards(boards, object_options(settings))
        case DashboardFormat.CONFIGMAP:
            return config_maps(boards, object_options(settings))


def _one_text(format_: DashboardFormat, texts: Mapping[str, str]) -> str:
    """All of them as one text: JSON with a dashboard in each line, or YAML with several documents."""
    if format_ is DashboardFormat.JSON:
        return "".join(f"{json.dumps(json.loads(text), separators=(',', ':'))}\n" for text in texts.values())
    return "---\n".join(texts.values())


def _write(folder: Path, format_: DashboardFormat, texts: Mapping[str, str]) -> None:
    ending = "json" if format_ is DashboardFormat.JSON else "yaml"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name, text in texts.items():
            (folder / f"{name}.{ending}").write_text(text, encoding="utf-8")
    except OSError as error:
        raise SourceError(f"{error.filename or folder} cannot be written ({error.strerror}).") from None
