"""The command check-config. It ends with 0 if a job could start with the file, else with 2."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:  # loaded when a file is checked: --help must be quick
    from monitor.checks.report import ConfigReport

CANNOT_START_CODE = 2


def add_check_config(app: typer.Typer) -> None:
    """Give the app this command."""
    app.command("check-config")(check_config)


def _limit(given: float) -> float:
    if not 0.1 <= given <= 3600:  # "nan" is refused, too
        raise typer.BadParameter("a time limit must be 0.1 to 3600 seconds")
    return given


def check_config(
    file: Annotated[
        Path | None,
        typer.Argument(help="A configuration (TOML). GROUPWATCH_* variables override it.", metavar="FILE"),
    ] = None,
    connect: Annotated[
        bool, typer.Option("--connect", help="Check that every cluster answers and grants the permissions.")
    ] = False,
    connect_limit: Annotated[
        float, typer.Option(callback=_limit, help="With --connect: timeout for each cluster, in seconds.")
    ] = 10.0,
    collect: Annotated[
        bool,
        typer.Option("--collect", help="Check the file for groupwatch collect, which needs no checkpoint and no Java."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """Tell what a configuration would watch, with secrets hidden, and what of it will not work. Nothing is started."""
    report = _report(file, for_job=not collect, limit_s=connect_limit if connect else None)
    if as_json:
        import msgspec  # noqa: PLC0415 -- --help must be quick

        sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(report)) + b"\n")
        sys.stdout.buffer.flush()
    else:
        from monitor.checks.render_report import tell  # noqa: PLC0415 -- as above

        tell(report)
    raise typer.Exit(0 if report.can_start else CANNOT_START_CODE)


def _report(file: Path | None, *, for_job: bool, limit_s: float | None) -> ConfigReport:
    from monitor.checks.config_checks import mistakes, problems, warnings  # noqa: PLC0415 -- as above
    from monitor.checks.connectivity import connections  # noqa: PLC0415 -- --help must be quick
    from monitor.checks.report import ConfigReport  # noqa: PLC0415 -- as above
    from monitor.checks.targets import general, watched  # noqa: PLC0415 -- as above
    from monitor.config import ConfigError, load  # noqa: PLC0415 -- as above

    named, command = str(file or "the environment"), "run" if for_job else "collect"
    try:
        settings = load(file)
    except ConfigError as error:
        return ConfigReport(file=named, command=command, problems=mistakes(error, for_job=for_job))
    return ConfigReport(
        file=named,
        command=command,
        watched=watched(settings),
        settings=general(settings, with_job=for_job),
        problems=problems(settings, for_job=for_job),
        warnings=warnings(settings, file, for_job=for_job),
        connections=None if limit_s is None else connections(settings, for_job=for_job, limit_s=limit_s),
    )
