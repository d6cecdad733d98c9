"""A diagnosis as a person reads it: findings, worst first, with what to do; then what a look cannot know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from monitor.doctor.diagnosis import Diagnosis, GroupFinding, NotJudged
from monitor.messages.formatting import age, counted, visible
from monitor.messages.names import LISTED, shown
from monitor.messages.notification import utc
from monitor.model.escaping import escaped
from monitor.model.findings import Severity

MAX_FINDINGS: Final = 50
"""Longer lists are cut; --json has all."""

_LABEL_WIDTH: Final = 10
_STYLES: Final = {Severity.CRITICAL: "bold red", Severity.WARNING: "bold yellow", Severity.INFO: "bold"}


def render_diagnosis(diagnosis: Diagnosis) -> RenderableType:
    """The whole diagnosis."""
    return Group(
        Text(_headline(diagnosis)),
        *(Text(note, style="bold") for note in diagnosis.notes),
        *_findings(diagnosis),
        *_absence(diagnosis),
        *_groups_without_verdict(diagnosis.not_judged),
        *(Text(f"Not read: {escaped(problem)}", style="bold red") for problem in diagnosis.problems),
        Text(""),
        Text(f"What {'one look' if diagnosis.readings <= 2 else 'such a look'} cannot know:", style="dim"),
        *(Text(f"- {limit}", style="dim") for limit in diagnosis.limits),
        Text("groupwatch run watches the cluster, and knows these.", style="dim"),
    )


def _headline(diagnosis: Diagnosis) -> str:
    groups = {finding.group for finding in diagnosis.findings}
    found = f"{counted(len(diagnosis.findings), 'finding')} in {counted(len(groups), 'group')}"
    uncertain = sum(finding.opens_in_ms > 0 for finding in diagnosis.findings)
    later = f", {uncertain} of them only if nothing changes" if uncertain else ""
    return (
        f"{shown(diagnosis.cluster)} at {utc(diagnosis.read_ms)}: {counted(diagnosis.judged, 'group')} judged,"
        f" {found + later if groups else 'no finding'}."
    )


def _findings(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    for finding in diagnosis.findings[:MAX_FINDINGS]:
        yield Text("")
        yield _row_with_label(finding.severity.value, _sentence(finding, diagnosis), _STYLES[finding.severity])
        if finding.advice:
            yield Padding(Text(f"What to do: {finding.advice}", overflow="fold"), (0, 0, 0, _LABEL_WIDTH))
    if len(diagnosis.findings) > MAX_FINDINGS:
        more = counted(len(diagnosis.findings) - MAX_FINDINGS, "more finding")
        yield Text(f"\nand {more}; use --json for all, or --group for one group.")


def _sentence(finding: GroupFinding, diagnosis: Diagnosis) -> str:
    seen_ms = diagnosis.read_ms - finding.since_ms
    seen = f" Seen for {age(seen_ms)}." if diagnosis.readings > 2 and seen_ms >= 1000 else ""
    condition = f"If nothing changes for {age(finding.opens_in_ms)}: " if finding.opens_in_ms else ""
    return f"{visible(shown(finding.group))}: {condition}{finding.sentence}{seen}"


def _absence(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    if not diagnosis.judged and not diagnosis.not_judged:
        yield Text("The cluster has no group, or the user may not describe any.")


def _groups_without_verdict(groups: Sequence[NotJudged]) -> Iterator[RenderableType]:
    if groups:
        yield Text("\nNot judged:")
    for each in groups[:LISTED]:
        yield Text(f"- {visible(shown(each.group))}: {escaped(each.reason)}.", overflow="fold")
    if len(groups) > LISTED:
        yield Text(f"and {counted(len(groups) - LISTED, 'more group')}; use --json for all.")


def _row_with_label(label: str, text: str, style: str) -> RenderableType:
    grid = Table.grid(padding=0)
    grid.add_column(min_width=_LABEL_WIDTH, no_wrap=True)
    grid.add_column(overflow="fold")
    grid.add_row(Text(f"{label} ", style=style), Text(text, overflow="fold"))
    return grid
