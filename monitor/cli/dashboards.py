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
    from monitor.grafana.owner import Owner


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
    force: Annotated[
        bool,
        typer.Option("--force", help="Also overwrite files of --out that are not dashboards of this deployment."),
    ] = False,
) -> None:
    """Write the dashboards for Grafana, as the configuration chooses them."""

    def write() -> None:
        settings = _settings(config)
        texts = _texts(format_, settings)
        if out is None:
            write_text(_one_text(format_, texts))
            return
        files = _files(out, format_, texts, settings.dashboards.name)
        if not force:
            _require_own(files)
        _write(out, files)

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


def _files(folder: Path, format_: DashboardFormat, texts: Mapping[str, str], name: str | None) -> Mapping[Path, str]:
    """The text of each file. Those of two named deployments have different names."""
    from monitor.model.dashboard_uids import deployment_uid  # noqa: PLC0415 -- as above

    ending = "json" if format_ is DashboardFormat.JSON else "yaml"
    return {folder / f"{deployment_uid(board, name)}.{ending}": text for board, text in texts.items()}


def _require_own(files: Mapping[Path, str]) -> None:
    """Return if none of the files is there, or each is this deployment's: of another version, say.

    Raises:
        SourceError: one is not.
    """
    from monitor.grafana.owner import owner_of  # noqa: PLC0415 -- as above

    for file, text in files.items():
        if not file.exists():
            continue
        there, own = owner_of(_file_text(file)), owner_of(text)
        if there is None:
            raise SourceError(
                f"{file} is no dashboard of groupwatch. Choose another folder, or overwrite it by --force."
            )
        if own is not None and there != own:
            raise SourceError(_refusal(file, there, own))


def _refusal(file: Path, there: Owner, own: Owner) -> str:
    """Why a dashboard is kept. With the same uid, it may be of another deployment or of this one's old settings."""
    if there.uid != own.uid:
        return (
            f"{file} is of another deployment ({there}; this one: {own}). "
            "Set a name in [dashboards], choose another folder, or overwrite it by --force."
        )
    return (
        f"{file} has other settings ({there.difference(own)}). If it is yours, use --force. "
        "Otherwise set a name in [dashboards], or choose another folder."
    )


def _file_text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise SourceError(f"{file} cannot be read ({error.strerror}).") from None


def _write(folder: Path, files: Mapping[Path, str]) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for file, text in files.items():
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SourceError(f"{error.filename or folder} cannot be written ({error.strerror}).") from None
