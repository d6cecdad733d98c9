"""The command line: what a person types, what it prints, and the code it ends with.

Exit codes: 0 success, also when SIGTERM or Ctrl-C ended run, collect or demo; 1 the job failed while running; 2 the
settings, the address, a permission, a port or the machine is not as it must be, or (explain, what-if and others) the
job or file gives no answer or the names are wrong, reported in one sentence; 130 another command was interrupted.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from contextlib import redirect_stdout
from enum import StrEnum
from io import StringIO
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from typer.completion import shell_complete

from monitor.checks.command import add_check_config
from monitor.cli.backtest import add_backtest
from monitor.cli.commands import add_commands
from monitor.cli.dashboards import add_dashboards
from monitor.cli.doctor import add_doctor
from monitor.cli.lists import add_lists
from monitor.cli.log_lines import LogFormat, LogLevel, log_to_terminal
from monitor.cli.manual import add_manuals
from monitor.cli.mcp import add_mcp
from monitor.cli.report import add_report
from monitor.cli.rules import add_rules
from monitor.cli.slo import add_slo
from monitor.cli.usage import Commands
from monitor.cli.verify import add_verify
from monitor.model.escaping import escaped_lines

app = typer.Typer(
    cls=Commands,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["--help", "-h"]},
)

console = Console(stderr=True)

CANNOT_START_CODE = 2

Verbose = Annotated[bool, typer.Option(help="Log more: the same as --log-level debug.")]
Level = Annotated[LogLevel, typer.Option(help="The least level that is logged.")]
Format = Annotated[
    LogFormat, typer.Option(help="What a line of the log is: text, or a JSON object with time, level and cluster.")
]


def _least_level(level: LogLevel, *, verbose: bool) -> LogLevel:
    return LogLevel.DEBUG if verbose else level


def _tell_version(wanted: bool) -> None:
    if wanted:
        from monitor.metrics.version import installed_version  # noqa: PLC0415 -- --help must be quick

        typer.echo(f"groupwatch {installed_version()}")
        raise typer.Exit


@app.callback()
def groupwatch(
    version: Annotated[
        bool, typer.Option("--version", "-V", callback=_tell_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Show who should own each partition of a consumer group, who owns it now, and the lag."""
    del version  # its callback has printed it


@app.command()
def run(  # noqa: PLR0913, PLR0917 -- they are the options of the command
    config: Annotated[
        Path | None, typer.Option(help="The configuration file (TOML). GROUPWATCH_* variables override it.")
    ] = None,
    rebuild: Annotated[
        bool,
        typer.Option("--rebuild", help="Move the state of every cluster aside, and read the logs from the beginning."),
    ] = False,
    shard: Annotated[
        str | None,
        typer.Option(help="This job's share of the groups: 1/3 for the first of three jobs that share them."),
    ] = None,
    compat: Annotated[
        str | None,
        typer.Option(help="Also expose lags under another exporter's metric names: kafka_exporter (docs/metrics.md)."),
    ] = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit if any cluster does not answer, instead of starting with those that do."),
    ] = False,
    verbose: Verbose = False,
    log_level: Level = LogLevel.INFO,
    log_format: Format = LogFormat.TEXT,
) -> None:
    """Watch the configured clusters until stopped."""
    log_to_terminal(_least_level(log_level, verbose=verbose), log_format)
    from streaming_jobs.jobs.main import run_job  # noqa: PLC0415 -- Spark loads slowly, and --help must not wait for it

    _exit_with(lambda: run_job(config, rebuild=rebuild, shard=shard, compat=compat, strict=strict))


@app.command()
def collect(  # noqa: PLR0913, PLR0917 -- as above
    config: Annotated[
        Path | None, typer.Option(help="The configuration file (TOML). GROUPWATCH_* variables override it.")
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(help="Run only these collectors: kafka, rocketmq, zookeeper, spark. Repeatable."),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port of the metrics; overrides the configuration.")
    ] = None,
    verbose: Verbose = False,
    log_level: Level = LogLevel.INFO,
    log_format: Format = LogFormat.TEXT,
) -> None:
    """Run only the collectors, for a job that runs elsewhere; needs neither Spark nor Java."""
    log_to_terminal(_least_level(log_level, verbose=verbose), log_format)
    from streaming_jobs.jobs.collect import CANNOT_COLLECT, run_collect  # noqa: PLC0415 -- as above

    _end_with(lambda: run_collect(config, only or (), port), CANNOT_COLLECT)


@app.command()
def prepare(
    config: Annotated[
        Path | None, typer.Option(help="The configuration of the jobs; its jars are fetched, and spark.conf is used.")
    ] = None,
    all_jars: Annotated[
        bool, typer.Option("--all-jars", help="Fetch also what only recordings and log-ins to AWS need.")
    ] = False,
    verbose: Verbose = False,
) -> None:
    """Fetch the jars and archive Java's classes once per machine; later starts are a second or two faster."""
    log_to_terminal(_least_level(LogLevel.INFO, verbose=verbose))
    from streaming_jobs.jobs.prepare import run_prepare  # noqa: PLC0415 -- as above

    _exit_with(lambda: run_prepare(config, all_jars=all_jars))


def _seconds(given: float | None) -> float | None:
    if given is not None and not 0 < given < math.inf:
        raise typer.BadParameter("a time in seconds must be greater than 0")
    return given


def _file_to_write(given: Path | None) -> Path | None:
    """Report a file that cannot be written before the demo runs."""
    if given is not None and not _can_be_written(given):
        raise typer.BadParameter(f"{given} cannot be written")
    return given


def _can_be_written(file: Path) -> bool:
    try:
        there = file.exists()
        return not file.is_dir() and file.parent.is_dir() and os.access(file if there else file.parent, os.W_OK)
    except OSError:  # such a long name
        return False


@app.command()
def demo(
    port: Annotated[
        int, typer.Option(min=0, max=65535, help="Port of the page and the metrics; 0 takes a free one.")
    ] = 9464,
    duration: Annotated[
        float | None,
        typer.Option(callback=_seconds, help="Exit this many seconds after groupwatch is ready."),
    ] = None,
    json_summary: Annotated[
        Path | None, typer.Option(callback=_file_to_write, help="Write a summary to this file at the end.")
    ] = None,
    with_: Annotated[
        str,
        typer.Option(
            "--with",
            help="What to start besides, separated by commas: rocketmq, zookeeper (a Kafka 0.10), metaq; share, "
            "streams, connect (further kinds of groups of the same Kafka); loss (retention overtakes a consumer); and "
            "prometheus for alerts.",
        ),
    ] = "",
    verbose: Verbose = False,
) -> None:
    """Start a real Kafka, real consumers with several faults, and groupwatch to detect them."""
    log_to_terminal(_least_level(LogLevel.INFO, verbose=verbose))
    from monitor.demo.workload.systems import DemoSystem  # noqa: PLC0415 -- as above
    from streaming_jobs.jobs.demo.alerting import PROMETHEUS  # noqa: PLC0415 -- as above
    from streaming_jobs.jobs.demo.demo import DemoOptions, run_demo  # noqa: PLC0415 -- as above

    names = {name.strip() for name in with_.split(",") if name.strip()}
    if unknown := sorted(names - {*DemoSystem, PROMETHEUS}):
        known = ", ".join([*DemoSystem, PROMETHEUS])
        raise typer.BadParameter(f"no such system: {', '.join(unknown)}; there are {known}", param_hint="--with")
    systems = frozenset(map(DemoSystem, names - {PROMETHEUS}))
    rules = _rules_of_the_demo() if PROMETHEUS in names else None
    options = DemoOptions(port=port, duration_s=duration, json_summary=json_summary, systems=systems, rules=rules)
    _exit_with(lambda: run_demo(options, console))


add_lists(app)
add_commands(app)
add_backtest(app)
add_report(app)
add_rules(app)
add_slo(app)
add_verify(app)
add_dashboards(app)
add_doctor(app)
add_mcp(app)
add_check_config(app)


class Shell(StrEnum):
    """The shells that can complete commands and options."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@app.command()
def completion(context: typer.Context, shell: Annotated[Shell, typer.Argument(help="The shell.")]) -> None:
    """Print the shell script for tab completion of groupwatch's commands and options."""
    script = StringIO()
    with redirect_stdout(script):
        shell_complete(context.find_root().command, {}, "groupwatch", "_GROUPWATCH_COMPLETE", f"source_{shell}")
    typer.echo(script.getvalue().strip())  # zsh looks for its mark in the first line


add_manuals(app)


def _rules_of_the_demo() -> str:
    from monitor.alert_rules import DEMO, rules_file  # noqa: PLC0415 -- no other command needs it

    return rules_file(DEMO)


def _exit_with(action: Callable[[], None]) -> None:
    """Run a command's work; an error that a person can mend is one sentence, not a stack trace."""
    from streaming_jobs.jobs.main import CANNOT_START  # noqa: PLC0415 -- as above
    from streaming_jobs.runtime.lifetime import JobFailed  # noqa: PLC0415 -- as above

    try:
        _end_with(action, CANNOT_START)
    except JobFailed as error:
        typer.echo(f"groupwatch stopped: {escaped_lines(str(error))}", err=True)
        raise typer.Exit(1) from None


def _end_with(action: Callable[[], None], cannot_start: tuple[type[Exception], ...]) -> None:
    """Run a command's work; of these errors it prints the text, and nothing else."""
    try:
        action()
    except cannot_start as error:
        for line in escaped_lines(str(error)).splitlines():  # each mistake, in the form of all errors
            typer.echo(f"groupwatch cannot start: {line}", err=True)
        raise typer.Exit(CANNOT_START_CODE) from None
    except KeyboardInterrupt:
        raise typer.Exit(130) from None
