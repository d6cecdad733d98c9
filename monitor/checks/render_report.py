"""The report on a configuration as a person reads it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import typer

from monitor.checks.report import ConfigReport, Watched
from monitor.model.escaping import escaped

LABEL_WIDTH: Final = 12
"""The longest label and two spaces."""


def tell(report: ConfigReport) -> None:
    """Print it, a fact a line; what is wrong stands at the end, where a person looks first."""
    for line in lines(report):
        typer.echo(line)


def lines(report: ConfigReport) -> Iterator[str]:
    """The lines of the report."""
    for watched in report.watched:
        yield from _watched(watched)
    for setting in report.settings:
        yield _line("setting", f"{setting.name} = {setting.value}")
    for connection in report.connections or ():
        yield _line("reached" if connection.is_fine else "NOT REACHED", f"{connection.place}: {connection.sentence}")
    for warning in report.warnings:
        yield _line("warning", warning)
    for problem in report.problems:
        yield _line("PROBLEM", problem)
    yield _line("result", _result(report))


def _watched(watched: Watched) -> Iterator[str]:
    yield _line("watches", f"{watched.place}: {watched.kind} at {', '.join(watched.addresses)}; {watched.how}")
    for each in watched.properties:
        yield _line("", f"{each.name} = {each.value}")


def _result(report: ConfigReport) -> str:
    asked = "" if report.connections is not None else " Clusters were not contacted: add --connect."
    able = f"groupwatch {report.command} can start with {report.file}"
    if report.can_start:
        return f"{able}.{asked}"
    refusing = sum(not each.is_fine for each in report.connections or ())
    counts = [f"{len(report.problems)} to fix"] * bool(report.problems) + [f"{refusing} not reached"] * bool(refusing)
    return f"groupwatch {report.command} cannot start with {report.file}: {', '.join(counts)}."


def _line(label: str, text: str) -> str:
    return f"{label:<{LABEL_WIDTH}}{escaped(text)}".rstrip()
