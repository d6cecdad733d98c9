"""A report as a document: a title, a summary and sections, whatever it is written as. Its texts are not escaped yet."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from monitor.findings.alerts import alert_age_ms
from monitor.findings.cluster import ROWS as CLUSTER_ROWS
from monitor.findings.table import FINDINGS, rank
from monitor.history.chronicle.values import GroupPoint
from monitor.history.report.charts import draw_lag, draw_owners
from monitor.history.report.cluster import ClusterFault, ClusterReport, GroupHit
from monitor.history.report.facts import FindingThen, IncidentReport, OffsetsInstant, OffsetsThen
from monitor.history.report.incidents import missing_parts
from monitor.history.report.member_table import HEADINGS, member_rows
from monitor.history.report.notes import notes
from monitor.history.report.people import People
from monitor.history.report.times import Clock
from monitor.messages.formatting import age, counted, grouped
from monitor.messages.kind_words import finding_words
from monitor.messages.names import shown, shown_group
from monitor.messages.units import unit_of
from monitor.model import KINDS, FindingKind, Value
from monitor.model.findings import Severity
from monitor.model.scaling import Scaling
from monitor.scaling.text import UNKNOWN, measured_text

BARS: Final = "▁▂▃▄▅▆▇█"
MOST_BARS: Final = 60

ARROW: Final = " → "
NOT_THERE: Final = "n/a"
"""A value of a partition at an instant at which the group did not have it."""

PAGE_NOW: Final = "The current state"
"""What a report calls the page that it links."""

MOST_NUMBERS: Final = 30
"""How many changes of the needed number of members are listed."""

MOST_ALIKE: Final = 3
"""How many findings of the same kind and reason are listed."""

CLUSTER_NOTES: Final = (
    "groupwatch report CLUSTER GROUP has the timeline and the evidence of one group.",
    "The leaders of Kafka's partitions are not recorded, so brokers are compared only where partitions are named by "
    "them (RocketMQ, MetaQ).",
)


class Section(Value):
    """A part of a report. ``chart`` is SVG; ``bars`` are there for what cannot show it.

    ``numbers`` are the columns of the table that have numbers, from 0.
    """

    heading: str
    text: str = ""
    chart: str = ""
    bars: str = ""
    headings: tuple[str, ...] = ()
    rows: tuple[tuple[str, ...], ...] = ()
    numbers: tuple[int, ...] = ()
    notes: tuple[str, ...] = ()


class Document(Value):
    """A report as it is read from top to bottom. ``page`` is the address of what it is about, as it is now."""

    title: str
    span: str
    summary: tuple[str, ...]
    sections: tuple[Section, ...]
    page: str | None = None


def document_of(report: IncidentReport | ClusterReport, page: str | None = None) -> Document:
    """The report on a group or on a cluster. ``page``: the address of its page; None: it is not known."""
    return cluster_document(report, page) if isinstance(report, ClusterReport) else report_document(report, page)


def report_document(report: IncidentReport, page: str | None = None) -> Document:
    """The report on a group."""
    return Document(
        title=f"Incident report: group {shown_group(report.group)} of cluster {shown(report.cluster)}",
        span=Clock(report.since_ms, report.until_ms).head(),
        summary=report.summary,
        sections=tuple(_sections(report)),
        page=page,
    )


def _sections(report: IncidentReport) -> Iterator[Section]:
    clock = Clock(report.since_ms, report.until_ms)
    yield _timeline(report, clock)
    yield from _charts(report, clock)
    yield _members(report)
    yield from _members_needed(report, clock)
    yield from _offsets(report, clock)
    yield _findings(report, clock)
    yield from _actions(report)
    yield Section("Accuracy", notes=tuple(notes(report)))


def _timeline(report: IncidentReport, clock: Clock) -> Section:
    rows = tuple((clock.at(line.at_ms), line.sentence) for line in report.timeline)
    nothing = "Nothing happened in what is recorded." if missing_parts(report) else "Nothing happened."
    return Section("Timeline", text="" if rows else nothing, headings=("time", "event"), rows=rows)


def _charts(report: IncidentReport, clock: Clock) -> Iterator[Section]:
    bars = lag_bars(report.points)
    if bars:
        most = max((point.lag or 0) for point in report.points)
        text = (
            f"From {clock.at(report.points[0].at_ms)} to {clock.at(report.points[-1].at_ms)}, at most "
            f"{counted(most, report.unit)} at these instants."
        )
        known_ms = _lag_known_ms(report)
        if known_ms > report.points[0].at_ms:
            text += f" Before {clock.at(known_ms)}, it is not known."
        yield Section("Lag", text=text, chart=draw_lag(report), bars=bars)
    owners = draw_owners(report)
    if owners:
        yield Section("Owners", chart=owners)


def lag_bars(points: Sequence[GroupPoint]) -> str:
    """The lag as bars, each the most of some points; "" if none is known.

    >>> from monitor.model import Phase
    >>> lag_bars([GroupPoint(n, Phase.STABLE, 1, 1, 1, 0, lag, None) for n, lag in enumerate((0, 4, None, 8))])
    '▁▅ █'
    """
    share = -(-len(points) // MOST_BARS) or 1
    parts = [[p.lag for p in points[n : n + share] if p.lag is not None] for n in range(0, len(points), share)]
    most = max((max(part) for part in parts if part), default=None)
    if most is None:
        return ""
    return "".join(BARS[round((len(BARS) - 1) * max(part) / max(1, most))] if part else " " for part in parts)


def _members(report: IncidentReport) -> Section:
    """How large the group is, and who left, joined or hung; empty columns are left out."""
    era, first, last = KINDS[report.kind].era.value, report.first_generation, report.last_generation
    size = f"{counted(report.first_members, 'member')} at the start and {report.last_members:,} at the end"
    moved = f"Its {era} was {first} throughout." if first == last else f"Its {era} rose from {first} to {last}."
    if KINDS[report.kind].is_self_assigned:
        moved = f"Its assignment changed {len(report.rebalances):,} times."
    rows = member_rows(report)
    used = [place for place in range(len(HEADINGS)) if any(row[place] for row in rows)]
    return Section(
        "Members",
        text=f"The group had {size}. {moved}",
        headings=tuple(HEADINGS[place] for place in used),
        rows=tuple(tuple(row[place] for place in used) for row in rows),
    )


def _members_needed(report: IncidentReport, clock: Clock) -> Iterator[Section]:
    """How many members it needed, where an entry asks for that: the last changes of the number."""
    if not report.needed:
        return
    shown, last = report.needed[-MOST_NUMBERS:], report.needed[-1]
    text = f"An entry [[scale]] asks that no record waits longer than {age(last.scaling.target_ms)}. "
    text += f"At {clock.at(last.from_ms)}: {measured_text(last.scaling)}"
    if len(shown) < len(report.needed):
        text += f" Earlier numbers ({len(report.needed) - len(shown):,}) are not listed."
    rows = tuple((clock.at(each.from_ms), f"{each.scaling.members:,}", *_number_cells(each.scaling)) for each in shown)
    yield Section("Members needed", text=text, headings=("time", "members", "needed", "why"), rows=rows, numbers=(1, 2))


def _number_cells(scaling: Scaling) -> tuple[str, str]:
    if scaling.wanted_members is None:
        return UNKNOWN, scaling.sentence
    held = "" if scaling.hold is None else "held at "
    return f"{held}{scaling.wanted_members:,}", scaling.sentence


# --- offsets ----------------------------------------------------------------------------------------------------------


def _offsets(report: IncidentReport, clock: Clock) -> Iterator[Section]:
    if not report.offsets:
        return
    people = People(report)
    instants = [each.at_ms for each in report.instants]
    yield Section(
        "Offsets",
        text=" ".join(_offsets_text(report, clock)),
        headings=("partition", "committed", "log end offset (last poll)", "lag", "owner"),
        rows=tuple(
            _offset_cells(list(rows), instants, people)
            for _, rows in groupby(report.offsets, lambda row: (row.topic, row.partition))
        ),
    )


def _offsets_text(report: IncidentReport, clock: Clock) -> Iterator[str]:
    """At which instants, how much lag there was, and what is left out of it."""
    peak = max(report.instants, key=lambda each: each.lag)
    names = {report.instants[0].at_ms: "at the start", report.instants[-1].at_ms: "at the end"}
    parts = [
        f"{names.get(each.at_ms, 'at the highest lag')} ({clock.at(each.at_ms)}, lag {_lag_text(report, each)})"
        for each in report.instants
    ]
    yield f"{_enumeration(parts)}." if len(parts) > 1 else f"{_capital(parts[0])}."
    if report.more_offsets:
        yield f"{counted(report.more_offsets, 'more partition')} had {counted(peak.more_lag, report.unit)} of the lag "
        yield f"at {clock.at(peak.at_ms)}."
    if report.calm:
        yield f"{counted(report.calm, 'partition')} without lag at these instants {_is(report.calm)} not listed."


def _lag_text(report: IncidentReport, instant: OffsetsInstant) -> str:
    is_unknown = not instant.lag and instant.at_ms < _lag_known_ms(report)
    return "unknown" if is_unknown else grouped(instant.lag)


def _lag_known_ms(report: IncidentReport) -> int:
    """From when on the lag is known: a recording may begin with what its job had not polled yet. 0: never."""
    return next((point.at_ms for point in report.points if point.lag is not None), 0)


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


def _capital(text: str) -> str:
    return f"{text[0].upper()}{text[1:]}"


def _enumeration(parts: Sequence[str]) -> str:
    return _capital(f"{', '.join(parts[:-1])} and {parts[-1]}")


def _offset_cells(rows: Sequence[OffsetsThen], instants: Sequence[int], people: People) -> tuple[str, ...]:
    """One partition: its values at each instant."""
    known = {row.at_ms: row for row in rows}
    found = [known.get(at_ms) for at_ms in instants]
    owners = [(NOT_THERE if row is None else people.label(row.owner) if row.owner else "none") for row in found]
    return (
        f"{shown(rows[0].topic)} {shown(str(rows[0].partition))}",
        ARROW.join(_number(None if row is None else row.committed, row) for row in found),
        ARROW.join(_number(None if row is None else row.end, row) for row in found),
        ARROW.join(_number(None if row is None else row.lag, row) for row in found),
        ARROW.join(name for name, _ in groupby(owners)),
    )


def _number(count: int | None, row: OffsetsThen | None) -> str:
    if row is None:
        return NOT_THERE
    return "unknown" if count is None else grouped(count)


# --- findings ---------------------------------------------------------------------------------------------------------


def _findings(report: IncidentReport, clock: Clock) -> Section:
    if not report.findings and not report.cluster_findings:
        return Section("Findings", text="None.")
    chosen, more = _longest_findings((*report.cluster_findings, *report.findings))
    text = (
        "True since: from when its condition held. Opened: when it had held for its threshold. The severity is that of "
        "a finding that lasts: alerts wait for that. A brief finding ended before its alert fired."
    )
    if any(each.kind == FindingKind.DEAD_MEMBER for each in chosen):
        text += (
            " A member that hangs stopped after its last commit (see the timeline). Its finding is true since that "
            "commit, its newest assignment or the first new record that polls show, whichever is latest."
        )
    if report.cluster_findings:
        text += " No owner is accused of what follows from a fault of the cluster."
    if more:
        text += f" {counted(more, 'shorter finding')} of the same kinds {_is(more)} not listed."
    return Section(
        "Findings",
        text=text,
        headings=("kind", "severity", "true since", "opened", "closed", "finding"),
        rows=tuple(_finding_cells(each, clock) for each in chosen),
    )


def _longest_findings(findings: Sequence[FindingThen]) -> tuple[list[FindingThen], int]:
    """The longest three of each kind and reason in the order of time, and how many others there are."""
    own: defaultdict[str, list[FindingThen]] = defaultdict(list)
    for each in sorted(findings, key=lambda each: -each.lasted_ms):
        own[each.name].append(each)
    chosen = [each for found in own.values() for each in found[:MOST_ALIKE]]
    ordered = sorted(chosen, key=lambda each: (each.opened_ms, each.name))
    return ordered, len(findings) - len(chosen)


def _finding_cells(each: FindingThen, clock: Clock) -> tuple[str, ...]:
    closed = clock.at(each.until_ms) if each.is_over else "still open"
    name = finding_words(each.name)
    return name, _severity(each), clock.at(each.since_ms), clock.at(each.opened_ms), closed, each.sentence


def _severity(each: FindingThen) -> str:
    is_brief = each.is_over and each.lasted_ms < alert_age_ms(each.kind, each.reason)
    return f"{each.severity.value}, brief" if is_brief and each.severity is not Severity.INFO else each.severity.value


def _actions(report: IncidentReport) -> Iterator[Section]:
    """What to do first, once for each kind of finding, the worst first."""
    is_open: dict[str, bool] = {}
    own = sorted(report.findings, key=lambda each: rank(each.kind, each.reason))
    for each in (*report.cluster_findings, *own):
        is_open[each.name] = is_open.get(each.name, False) or not each.is_over
    advice = {f"{spec.kind}/{spec.reason}": spec.advice for spec in CLUSTER_ROWS} | {
        f"{spec.kind}/{spec.reason}": spec.advice_for(report.kind, is_connect=report.is_connect) for spec in FINDINGS
    }
    rows = tuple(
        (finding_words(name), "open" if goes_on else "closed: if it recurs", text)
        for name, goes_on in is_open.items()
        if (text := advice.get(name))
    )
    if rows:
        yield Section("Recommended action", headings=("finding", "state", "action"), rows=rows)


# --- a whole cluster --------------------------------------------------------------------------------------------------


def cluster_document(report: ClusterReport, page: str | None = None) -> Document:
    """The report on a cluster."""
    return Document(
        title=f"Incident report: cluster {shown(report.cluster)}",
        span=Clock(report.since_ms, report.until_ms).head(),
        summary=tuple(_cluster_summary(report)),
        sections=tuple(_cluster_sections(report)),
        page=page,
    )


def _cluster_summary(report: ClusterReport) -> Iterator[str]:
    groups, clock = counted(report.groups, "group"), Clock(report.since_ms, report.until_ms)
    if not report.hit:
        yield f"Nothing happened to any of {groups} that the recording has."
        return
    began_ms = min(hit.began_ms for hit in report.hit)
    yield f"Something happened to {len(report.hit):,} of {groups}, the first time at {clock.at(began_ms)}."
    most = [each for each in report.common if 2 * each.hit > len(report.hit)]
    if most:
        yield (
            f"Most of them have the {most[0].what} {shown(most[0].name)} in common: {most[0].hit:,} of "
            f"{counted(most[0].groups, 'group')} that have it were hit."
        )
    rose = [hit for hit in report.hit if hit.lag is not None and not hit.is_deleted]
    late = [hit for hit in rose if hit.caught_up_ms is None]
    if rose:
        yield f"Of {counted(len(rose), 'group')} whose lag rose, {len(rose) - len(late):,} had caught up by the end."


def _cluster_sections(report: ClusterReport) -> Iterator[Section]:
    clock = Clock(report.since_ms, report.until_ms)
    if report.faults:
        yield Section(
            "Faults of the cluster",
            headings=("finding", "severity", "true since", "closed", "groups"),
            rows=tuple(_fault_cells(each, clock) for each in report.faults),
            numbers=(4,),
        )
    if report.hit:
        yield Section(
            "Groups, worst first",
            headings=("group", "since", "what happened", "worst finding", "peak lag", "caught up"),
            rows=tuple(_hit_cells(hit, clock) for hit in report.hit),
            numbers=(4,),
        )
    if report.common:
        yield Section(
            "In common",
            text="Hosts and client libraries of members that left or hung; topics and brokers of partitions that were "
            "hit.",
            headings=("what", "name", "groups hit", "groups that have it"),
            rows=tuple((c.what, shown(c.name), f"{c.hit:,}", f"{c.groups:,}") for c in report.common),
            numbers=(2, 3),
        )
    yield Section("Accuracy", notes=CLUSTER_NOTES)


def _fault_cells(each: ClusterFault, clock: Clock) -> tuple[str, ...]:
    closed = clock.at(each.until_ms) if each.is_over else "still open"
    return finding_words(each.name), each.severity.value, clock.at(each.since_ms), closed, f"{each.groups:,}"


def _hit_cells(hit: GroupHit, clock: Clock) -> tuple[str, ...]:
    lag = "" if hit.lag is None else counted(hit.lag, unit_of(hit.kind))
    return (
        shown_group(hit.group),
        clock.at(hit.began_ms),
        hit.sentence,
        finding_words(hit.finding) if hit.finding else "",
        lag,
        _end_text(hit, clock),
    )


def _end_text(hit: GroupHit, clock: Clock) -> str:
    if hit.is_deleted:
        return "the group was deleted"
    if hit.lag is None:
        return ""
    return "not yet" if hit.caught_up_ms is None else clock.at(hit.caught_up_ms)
