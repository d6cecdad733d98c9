"""The command report. It ends as the other commands that answer: with 0, or with 2 and one sentence on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from monitor.cli.answering import write_bytes
from monitor.cli.commands import Since, Until
from monitor.cli.completion import complete_names
from monitor.cli.progress import wait_for
from monitor.cli.source_options import SourceOptions, source_command

if TYPE_CHECKING:  # loaded when a report is written: --help must be quick
    from monitor.history.report.cluster import ClusterReport
    from monitor.history.report.facts import IncidentReport


class Format(StrEnum):
    """What a report can be written as."""

    MARKDOWN = "md"
    HTML = "html"
    JSON = "json"


def add_report(app: typer.Typer) -> None:
    """Give the app this command."""
    app.command()(report)


@source_command("tz", "history")
def report(
    options: SourceOptions,
    names: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[CLUSTER] [GROUP]",
            autocompletion=complete_names,
            help="The group; not set: all groups of the cluster. Name the cluster if there are several.",
        ),
    ] = None,
    since: Since = "-1h",
    until: Until = "now",
    format_: Annotated[
        Format, typer.Option("--format", help="Markdown, HTML in one file with diagrams, or JSON.")
    ] = Format.MARKDOWN,
) -> None:
    """Write a report on an incident: what happened to which members, what it did, and how it ended."""
    from monitor.cli.names import cluster_and_group  # noqa: PLC0415 -- --help must be quick
    from monitor.cli.sources.source import Span  # noqa: PLC0415 -- as above

    source = options.past_source
    cluster, group = cluster_and_group(source, names or [])
    span = Span(options.instant(since), options.instant(until))
    if group is None:
        found = source.report(cluster, group, span, _progress())
    else:
        found = wait_for(lambda: source.report(cluster, group, span, None), options.source_name)
    page = None if format_ is Format.JSON else source.page_url(cluster, group or "")
    write_bytes(report_bytes(found, format_, page))


def report_bytes(report: IncidentReport | ClusterReport, format_: Format, page: str | None = None) -> bytes:
    """The report in a format; ``page`` is the address of the page of its group or cluster, if it is known."""
    from monitor.history.report.document import document_of  # noqa: PLC0415 -- as above
    from monitor.history.report.markdown import write_markdown  # noqa: PLC0415 -- as above
    from monitor.history.report_html import write_html  # noqa: PLC0415 -- as above

    if format_ is Format.JSON:
        return msgspec.json.format(msgspec.json.encode(report)) + b"\n"
    document = document_of(report, page)
    return (write_markdown(document) if format_ is Format.MARKDOWN else write_html(document)).encode()


def _progress() -> Callable[[int, int], None] | None:
    return _show_progress if sys.stderr.isatty() else None


def _show_progress(done: int, groups: int) -> None:
    """One line on the terminal, which goes away with the last group."""
    sys.stderr.write("\r\x1b[K" if done >= groups else f"\r\x1b[K{done} of {groups} groups")
    sys.stderr.flush()
