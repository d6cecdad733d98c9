"""The lists of a job as a person reads them: the state of the clusters first, then the rows.

A cluster whose groups are not known, are stale or partly unknown has a line that says so, before any row.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from monitor.cli.answering import now_ms
from monitor.cli.render_answer import MOST_ROWS, plain_table
from monitor.cli.severities import SEVERITY_WIDTH, STYLES, row_with_label
from monitor.cli.sources.job_lists import JobFindings, JobStatus, JobTopics, JobUnused
from monitor.findings.alerts import Lasting, settling_until_ms, worst_first
from monitor.findings.alike import AlikeGroups, alike_by
from monitor.findings.table import spec_of
from monitor.messages.formatting import age, counted, grouped, rate, unknown_rate, until, visible
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.messages.units import unit_of
from monitor.model import GroupSummary
from monitor.model.cluster_findings import ClusterFinding
from monitor.model.escaping import escaped
from monitor.model.findings import Finding, Severity
from monitor.topics.unused import UNUSED_MS, Unused
from monitor.web.api.types import ClusterCondition, OpenFinding
from monitor.web.views.overview import lag_age
from monitor.web.views.status import writing_sentence

MAX_GROUPS: Final = 50
"""How many lines of groups the overview has, as on the page."""

READ_GROUPS: Final = 1_000
"""So many of the worst groups are requested for these lines, as alike groups share one."""

_UNKNOWN: Final = "bold red"


class _Line(NamedTuple):
    """A line of the overview: a group, or several that are alike."""

    first: GroupSummary
    alike: AlikeGroups | None

    @property
    def groups(self) -> int:
        return 1 if self.alike is None else self.alike.groups


# --- the clusters -----------------------------------------------------------------------------------------------------


def _clusters(clusters: Sequence[ClusterCondition]) -> Iterator[RenderableType]:
    if not clusters:
        yield Text("No cluster is watched.", style=_UNKNOWN)
    for each in clusters:
        name = visible(shown(each.cluster))
        yield Text(f"{name}: {escaped(each.sentence)}{_known_groups(each)}", style=_style(each))
        if each.warning is not None:
            yield Text(f"{name}: {escaped(each.warning)}", style=STYLES[Severity.WARNING])
        if each.carrier is not None:
            yield Text(f"{name}: {writing_sentence(each.carrier)}", style="dim")


def _style(cluster: ClusterCondition) -> str:
    """The colour of a cluster, as on the page."""
    if not cluster.ready or cluster.stale or cluster.problem is not None:
        return _UNKNOWN
    return STYLES[Severity.WARNING] if cluster.late else ""


def _known_groups(cluster: ClusterCondition) -> str:
    """What is known of the groups of a cluster, and as of when."""
    if cluster.groups is None:
        return " Its groups are not known yet."
    of_groups = f" {counted(cluster.groups, 'group')}"
    when = "at an unknown time" if cluster.age_ms is None else f"{age(cluster.age_ms)} ago"
    is_told = cluster.ready and cluster.problem is None  # then the sentence has the word
    word = " Stale:" if cluster.stale and not is_told else ""
    return f"{word}{of_groups}, as evaluated {when}." if cluster.stale else f"{of_groups}, evaluated {when}."


def _doubts(clusters: Iterable[ClusterCondition]) -> str:
    """Why findings may be missing; "" if none may."""
    unknown = sum(each.groups is None for each in clusters)
    stale = sum(each.groups is not None and (each.stale or each.problem is not None) for each in clusters)
    doubts = [f"{counted(unknown, 'cluster')} not known yet"] if unknown else []
    return "; ".join([*doubts, *([f"{counted(stale, 'cluster')} stale"] if stale else [])])


def _cluster_findings(clusters: Iterable[ClusterCondition], *, with_advice: bool) -> Iterator[RenderableType]:
    """The findings of clusters themselves."""
    for cluster in clusters:
        for each in cluster.findings:
            yield row_with_label(each.severity.value, _cluster_text(cluster, each), STYLES[each.severity])
            if with_advice:
                yield _advice(each.advice)


def _cluster_text(cluster: ClusterCondition, finding: ClusterFinding) -> str:
    since = _since((cluster.evaluated_ms or finding.since_ms) - finding.since_ms, finding.since_ms)
    return f"Cluster {visible(shown(cluster.cluster))}: {escaped(finding.sentence)}{since}"


def _since(lasted_ms: int, since_ms: int) -> str:
    return f" This has lasted {age(lasted_ms)}, since {utc(since_ms)}."


def _advice(advice: str | None) -> RenderableType:
    text = f"What to do: {escaped(advice)}" if advice else "There is no general advice."
    return Padding(Text(text, style="dim", overflow="fold"), (0, 0, 0, SEVERITY_WIDTH))


# --- status -----------------------------------------------------------------------------------------------------------


def status_shown(status: JobStatus) -> RenderableType:
    """The overview: clusters, findings of the worst groups, and these groups in numbers."""
    lines = _lines(status)
    several = len(status.clusters) > 1
    table: list[RenderableType] = [Text(""), _groups(lines, several=several)] if lines else []
    hidden = status.matching - sum(line.groups for line in lines)
    more = [Text(f"and {counted(hidden, 'more group')}; use --json for all.")] if hidden > 0 else []
    return Group(
        *_problem(status),
        *_clusters(status.clusters),
        Text(_headline(status), style="bold"),
        *_cluster_findings(status.clusters, with_advice=False),
        *(part for line in lines for part in _line_findings(line, several=several)),
        *table,
        *more,
    )


def _problem(status: JobStatus) -> Iterator[RenderableType]:
    if status.problem is not None:
        yield Text(f"{escaped(status.problem)} The rest is of {utc(status.answered_ms)}.", style=_UNKNOWN)


def _headline(status: JobStatus) -> str:
    known = [each for each in status.clusters if each.groups is not None]
    groups = sum(each.groups or 0 for each in known)
    troubled = sum(each.groups_with_findings or 0 for each in known)
    doubts = _doubts(status.clusters)
    note = f" Findings may be missing: {doubts}." if doubts else ""
    if not known:
        return f"No group is known.{note}"
    if not troubled:
        return f"{counted(groups, 'group')}, no findings{' so far' if doubts else ''}.{note}"
    return f"{grouped(troubled)} of {counted(groups, 'group')} {'has' if troubled == 1 else 'have'} findings.{note}"


def _lines(status: JobStatus) -> list[_Line]:
    """The worst groups; those that are alike share a line, as on the page."""
    alike = {(each.cluster, own.reason, own.pattern): own for each in status.clusters for own in each.alike}
    lines: list[_Line] = []
    seen: set[tuple[str, str, str]] = set()
    for summary in status.groups:
        common = alike_by(summary) if summary.findings else None
        key = None if common is None else (summary.cluster, *common)
        if key is None or key not in alike:
            lines.append(_Line(summary, None))
        elif key not in seen:
            seen.add(key)
            lines.append(_Line(summary, alike[key]))
        if len(lines) == MAX_GROUPS:
            break
    return lines


def _line_findings(line: _Line, *, several: bool) -> Iterator[RenderableType]:
    summary = line.first
    name = _name(summary.cluster, summary.group, several=several)
    if line.alike is not None:
        since = _since(summary.evaluated_ms - line.alike.since_ms, line.alike.since_ms)
        where = f"{visible(shown(summary.cluster))}: " if several else ""
        yield row_with_label(
            line.alike.severity.value, f"{where}{escaped(line.alike.sentence)}{since}", STYLES[line.alike.severity]
        )
        return
    if summary.unjudged is not None:
        previous = "There is no previous result" if summary.is_unknown else "groupwatch shows the previous result"
        yield row_with_label("unknown", f"{name}: Not evaluated: {escaped(summary.unjudged)}. {previous}.", _UNKNOWN)
    for each in worst_first(summary.findings, summary.evaluated_ms):
        yield _finding_row(name, each, spec_of(each.kind, each.reason).severity, summary.evaluated_ms)


def _finding_row(name: str, finding: Finding | OpenFinding, severity: Severity, at_ms: int) -> RenderableType:
    """A finding of a group; one that settles is quiet, and says until when."""
    told = f"{name}: {escaped(finding.sentence)}{_since(at_ms - finding.since_ms, finding.since_ms)}"
    until_ms = settling_until_ms(finding, at_ms)
    if until_ms is None:
        return row_with_label(severity.value, told, STYLES[severity])
    waits = f"It is settling: {severity.value} in {until(until_ms - at_ms)}."
    return row_with_label("settling", f"{told} {waits}", STYLES[Severity.INFO])


def _name(cluster: str, group: str, *, several: bool) -> str:
    """The group as a command takes it: with its cluster if there are several."""
    name = visible(shown(group))
    return f"{visible(shown(cluster))} {name}" if several else name


def _groups(lines: Sequence[_Line], *, several: bool) -> Table:
    table = plain_table(*_first("group", several=several), "state", "members", "lag", "age of lag", "findings")
    for column in table.columns[-4:-1]:
        column.justify = "right"
    for line in lines:
        summary = line.first
        name = visible(shown(summary.group)) if line.alike is None else _alike_name(line.alike)
        cells = ([visible(shown(summary.cluster))] if several else []) + [
            name,
            summary.state.value.replace("_", " "),
            "-" if line.alike else _number(summary.members),
            _lag(line),
            "-" if line.alike else _lag_age(summary),
            _kinds(line),
        ]
        table.add_row(*map(Text, cells))
    return table


def _first(word: str, *, several: bool) -> tuple[str, ...]:
    return ("cluster", word) if several else (word,)


def _alike_name(alike: AlikeGroups) -> str:
    return " ".join([counted(alike.groups, "group"), *([shown(alike.pattern)] if alike.pattern else [])])


def _number(value: int | None) -> str:
    return "unknown" if value is None else grouped(value)


def _lag(line: _Line) -> str:
    summary = line.first
    if line.alike is not None:
        return grouped(line.alike.lag)
    if summary.is_connect:  # the groups of its sinks have a lag
        return "-"
    if summary.lag is not None:
        return f"{grouped(summary.lag)}{' bytes' if unit_of(summary.kind) == 'byte' else ''}"
    return f"at least {grouped(summary.lag_at_least)}" if summary.lag_at_least else "unknown"


def _lag_age(summary: GroupSummary) -> str:
    """The age of the oldest record of the lag, or how old it is at least."""
    if summary.lag == 0 or summary.is_connect:
        return "-"
    return lag_age(summary) or "unknown"


def _kinds(line: _Line) -> str:
    """The findings in short, worst first and by urgency; the words are those of ``groupwatch findings``."""
    summary = line.first
    by_urgency: dict[str, list[str]] = {}
    for each in worst_first(summary.findings, summary.evaluated_ms):
        by_urgency.setdefault(_urgency(each, summary.evaluated_ms), []).append(each.kind.value)
    found = [f"{', '.join(dict.fromkeys(kinds))} ({urgency})" for urgency, kinds in by_urgency.items()]
    doubt = ["not evaluated"] if summary.unjudged is not None else []
    follows = ["follows from the cluster's finding"] if summary.subordinate else []
    return ", ".join(dict.fromkeys([*doubt, *found, *follows])) or "none"


def _urgency(finding: Lasting, at_ms: int) -> str:
    is_settled = settling_until_ms(finding, at_ms) is None
    return spec_of(finding.kind, finding.reason).severity.value if is_settled else "settling"


# --- findings ---------------------------------------------------------------------------------------------------------


def findings_shown(answer: JobFindings) -> RenderableType:
    """The findings, worst first, each with what to do."""
    several = len(answer.clusters) > 1
    hidden = answer.matching - len(answer.findings[:MOST_ROWS])
    more = [Text(f"and {counted(hidden, 'more finding')}; use --json for all.")] if hidden > 0 else []
    has_own = any(each.findings for each in answer.clusters)
    doubts = _doubts(answer.clusters)
    none = "No findings so far: " + doubts + "." if doubts else "No findings."
    return Group(
        *_clusters(answer.clusters),
        *_cluster_findings(answer.clusters, with_advice=True),
        *(part for each in answer.findings[:MOST_ROWS] for part in _finding(each, several=several)),
        *more,
        *([] if answer.findings or has_own else [Text(none, style="bold")]),
    )


def _finding(finding: OpenFinding, *, several: bool) -> Iterator[RenderableType]:
    name = _name(finding.cluster, finding.group, several=several)
    yield _finding_row(name, finding, finding.severity, finding.evaluated_ms)
    yield _advice(finding.advice)


# --- topics and what could be deleted ---------------------------------------------------------------------------------


def topics_shown(answer: JobTopics, *, unread: bool) -> RenderableType:
    """The topics by name, with what comes in and how many groups read them."""
    several = len(answer.clusters) > 1
    table = plain_table(*_first("topic", several=several), "partitions", "groups reading", "in per second", "skew")
    for column in table.columns[-4:]:
        column.justify = "right"
    for each in answer.topics[:MOST_ROWS]:
        others = each.groups - each.readers
        reading = f"{grouped(each.readers)}{f' ({grouped(others)} more with offsets)' if others > 0 else ''}"
        why = unknown_rate(each.rate_known_ms, each.rate_polled_ms, each.rate_unpolled, now_ms())
        incoming = why if each.per_second is None else rate(each.per_second)
        skew = "-" if each.skew is None else f"{each.skew:.3g}"
        names = [visible(shown(each.cluster))] if several else []
        table.add_row(
            *map(Text, [*names, visible(shown(each.topic)), grouped(each.partitions), reading, incoming, skew])
        )
    none = "A group reads every topic." if unread else "There is no topic."
    return Group(
        *_clusters(answer.clusters),
        *([table] if answer.topics else [Text(_so_far(none, answer.clusters), style="bold")]),
        *_more(answer.matching, len(answer.topics), "topic"),
    )


def unused_shown(answer: JobUnused) -> RenderableType:
    """What could be deleted, each with the reason and the command."""
    none = _so_far("Nothing could be deleted.", answer.clusters)
    head = [
        Text(
            f"These groups and offsets have had no commit for {age(UNUSED_MS)} or longer. groupwatch deletes nothing: "
            "run the command yourself, with the address of a broker."
        ),
        Text(
            "Before you run one, make sure that nobody needs these offsets. A consumer without them starts where its "
            "auto.offset.reset says.",
            style="dim",
        ),
    ]
    several = len(answer.clusters) > 1
    rows = [part for each in answer.unused[:MOST_ROWS] for part in _unused_row(each, several=several)]
    return Group(
        *_clusters(answer.clusters),
        *([*head, *rows] if rows else [Text(none, style="bold")]),
        *_more(answer.matching, len(answer.unused), "row"),
    )


def _unused_row(unused: Unused, *, several: bool) -> Iterator[RenderableType]:
    name = _name(unused.cluster, unused.group, several=several)
    what = "the whole group" if unused.topic is None else f"its offsets in {visible(shown(unused.topic))}"
    yield Text(f"{name}: {what}, {counted(unused.partitions, 'partition')}. {escaped(unused.sentence)}")
    command = "No command can name it." if unused.command is None else escaped(unused.command)
    yield Padding(Text(command, overflow="fold", style="bold"), (0, 0, 0, 2))


def _so_far(sentence: str, clusters: Iterable[ClusterCondition]) -> str:
    away = sum(not each.ready for each in clusters)
    return f"{sentence} {counted(away, 'cluster')} not known yet: there may be some." if away else sentence


def _more(matching: int, shown_rows: int, word: str) -> Iterator[RenderableType]:
    hidden = matching - min(shown_rows, MOST_ROWS)
    if hidden > 0:
        yield Text(f"and {counted(hidden, f'more {word}')}; use --json for all.")
