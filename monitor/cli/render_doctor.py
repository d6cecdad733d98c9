"""A diagnosis as a person reads it: findings, worst first, with what to do; then what a look cannot know."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from monitor.cli.render_answer import plain_table
from monitor.cli.severities import SEVERITY_WIDTH, STYLES, row_with_label
from monitor.doctor.diagnosis import Diagnosis, GroupFinding, NotJudged
from monitor.doctor.group_rows import GroupRow
from monitor.findings.alerts import alert_age_ms, settling_until_ms
from monitor.messages.client_defects import DEFECTS
from monitor.messages.formatting import age, counted, grouped, visible
from monitor.messages.names import LISTED, few, shown
from monitor.messages.notification import utc
from monitor.model.escaping import escaped

MAX_FINDINGS: Final = 50
"""Longer lists are cut; --json has all."""

MAX_ROWS: Final = 50
"""Longer tables are cut, too."""


def render_diagnosis(diagnosis: Diagnosis) -> RenderableType:
    """The whole diagnosis."""
    return Group(
        Text(_headline(diagnosis)),
        *(Text(note, style="bold") for note in diagnosis.notes),
        *_findings(diagnosis),
        *_expectations(diagnosis),
        *_table(diagnosis),
        *_libraries(diagnosis),
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
        f" {found + later if groups else 'no finding'}.{_unconfirmed_note(diagnosis)}"
    )


def _unconfirmed_note(diagnosis: Diagnosis) -> str:
    """What one poll alone has: it is counted, but not reported as a finding."""
    if not diagnosis.unconfirmed:
        return ""
    looked = "Another look" if diagnosis.readings > 1 else "A second look"
    return f" {looked} must confirm {counted(diagnosis.unconfirmed, 'more finding')}."


def _table(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """The groups in numbers, those with the largest lag first."""
    if not diagnosis.groups:
        return
    table = plain_table("group", "kind", "state", "members", "partitions", "lag", "age")
    for column in table.columns[3:]:
        column.justify = "right"
    for row in diagnosis.groups[:MAX_ROWS]:
        words = (visible(shown(row.group)), row.kind or "unknown", row.state, _number(row.members))
        table.add_row(*map(Text, (*words, _number(row.partitions), _lag(row), _age(row))))
    yield Text("")
    yield table
    if len(diagnosis.groups) > MAX_ROWS:
        yield Text(f"and {counted(len(diagnosis.groups) - MAX_ROWS, 'more group')}; use --json for all.")


def _expectations(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """Whether the groups are as a file of expectations says, as verify shows it."""
    if diagnosis.expectations is None:
        return
    from monitor.cli.render_verify import outcome_shown  # noqa: PLC0415 -- it loads what queries a job

    yield Text("")
    yield outcome_shown(diagnosis.expectations)


def _libraries(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    """A line for each client library, and one for each known defect that can show in its groups."""
    if diagnosis.libraries:
        yield Text("\nClient libraries, as far as the members' bytes and client ids show them:")
    for each in diagnosis.libraries[:LISTED]:
        yield Text(f"- {each.library}: {counted(each.members, 'member')} in {few(each.groups)}")
        for defect in each.defects:
            text = DEFECTS[defect]
            yield Padding(Text(f"Known defect ({text.releases}): {text.effect}", overflow="fold"), (0, 0, 0, 2))
    if len(diagnosis.libraries) > LISTED:
        yield Text(f"and {len(diagnosis.libraries) - LISTED} more; use --json for all.")


def _number(value: int | None) -> str:
    return "unknown" if value is None else grouped(value)


def _lag(row: GroupRow) -> str:
    """The lag; a group without partitions, such as the workers of Connect, has none."""
    if row.partitions == 0:
        return "-"
    return f"at least {grouped(row.lag_at_least)}" if row.lag_at_least else _number(row.lag)


def _age(row: GroupRow) -> str:
    """The age of the lag, or how old it is at least: an end is known from the first reading on."""
    if not row.lag:
        return "-" if row.lag == 0 or row.partitions == 0 else "unknown"
    if row.lag_ms is not None:
        return age(row.lag_ms)
    at_least_ms = row.lag_at_least_ms or 0
    return f"over {age(at_least_ms)}" if at_least_ms >= 1000 else "unknown"


def _findings(diagnosis: Diagnosis) -> Iterator[RenderableType]:
    for finding in diagnosis.findings[:MAX_FINDINGS]:
        yield Text("")
        yield row_with_label(finding.severity.value, _sentence(finding, diagnosis), STYLES[finding.severity])
        if finding.advice:
            yield Padding(Text(f"What to do: {finding.advice}", overflow="fold"), (0, 0, 0, SEVERITY_WIDTH))
    if len(diagnosis.findings) > MAX_FINDINGS:
        more = counted(len(diagnosis.findings) - MAX_FINDINGS, "more finding")
        yield Text(f"\nand {more}; use --json for all, or --group for one group.")


def _sentence(finding: GroupFinding, diagnosis: Diagnosis) -> str:
    seen_ms = diagnosis.read_ms - finding.since_ms
    seen = f" Seen for {age(seen_ms)}." if diagnosis.readings > 2 and seen_ms >= 1000 else ""
    condition = f"If nothing changes for {age(finding.opens_in_ms)}: " if finding.opens_in_ms else ""
    return f"{visible(shown(finding.group))}: {condition}{finding.sentence}{seen}{_alert_condition(finding, diagnosis)}"


def _alert_condition(finding: GroupFinding, diagnosis: Diagnosis) -> str:
    """How long it has to last for its alert, where this look has not seen it for so long."""
    if settling_until_ms(finding, diagnosis.read_ms) is None:
        return ""
    age_ms = alert_age_ms(finding.kind, finding.reason, finding.alert_age_s)
    return f" Its alert fires once it has lasted for {age(age_ms)}."


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
