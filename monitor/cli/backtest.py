"""The command backtest. It ends as the other commands that answer: with 0, or with 2 and one sentence on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from monitor.cli.answering import exit_with, now_ms, tell_answer
from monitor.cli.commands import FROM_HERE, Until
from monitor.cli.source_options import AsJson, TimeZone
from monitor.messages.names import shown

if TYPE_CHECKING:  # loaded when something is tried: --help must be quick
    from monitor.history.backtest.cluster import Progress


def add_backtest(app: typer.Typer) -> None:
    """Give the app this command."""
    app.command()(backtest)


def backtest(  # noqa: PLR0913, PLR0917 -- each is an option
    config: Annotated[
        Path,
        typer.Option(help="The configuration (TOML) with the thresholds to try. GROUPWATCH_* variables override it."),
    ],
    since: Annotated[str, typer.Option(metavar="INSTANT", help=FROM_HERE)] = "-7d",
    until: Until = "now",
    cluster: Annotated[str | None, typer.Option(help="Only this cluster; not set: all that are recorded.")] = None,
    group: Annotated[
        str | None,
        typer.Option(metavar="PATTERN", help="Only these groups: a regular expression (RE2) for the whole name."),
    ] = None,
    history: Annotated[
        str | None,
        typer.Option(
            metavar="FOLDER", help="The folder of the recording; not set: history.folder of the configuration."
        ),
    ] = None,
    tz: TimeZone = None,
    as_json: AsJson = False,
) -> None:
    """Try other thresholds on a recording: which findings and alerts would have come, beside those that did."""

    def answer() -> None:
        from monitor.cli.backtest_source import Chosen, Span, backtests  # noqa: PLC0415 -- --help must be quick
        from monitor.cli.render_backtest import backtests_shown  # noqa: PLC0415 -- as above
        from monitor.cli.zones import instant_in_zone  # noqa: PLC0415 -- as above

        span = Span(instant_in_zone(since, tz), instant_in_zone(until, tz), now_ms())
        with _progress_line() as tell:
            found = backtests(config, history, span, Chosen(cluster, group), tell)
        tell_answer(found, as_json, lambda: backtests_shown(found))

    exit_with(answer)


@contextmanager
def _progress_line() -> Iterator[Callable[[Progress], None]]:
    """On a terminal, a line that shows the progress, and goes away in the end."""

    def write(line: str) -> None:
        if sys.stderr.isatty():
            sys.stderr.write(f"\r\x1b[K{line}")
            sys.stderr.flush()

    try:
        yield lambda progress: write(f"{shown(progress.cluster)}: {progress.done} of {progress.all} parts")
    finally:
        write("")
