r"""A report as Markdown that GitHub renders. Names from clusters are escaped, so that they start no markup and no link.

GitHub's Markdown makes links of addresses, mail addresses, mentions and numbers of issues, whether punctuation is
escaped or not; an empty comment in them keeps it from that and is not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from monitor.history.chronicle import GroupPoint
from monitor.history.report.facts import IncidentReport, OffsetsThen
from monitor.history.report.member_table import HEADINGS, MemberRow, member_rows
from monitor.history.report.notes import notes
from monitor.messages.formatting import grouped
from monitor.messages.names import owner, shown
from monitor.messages.notification import utc
from monitor.model import KINDS
from monitor.model.escaping import escaped

_MARKUP: Final = re.compile(r"([\\`*_{}\[\]<>()#|~!&$^=])")
_LINKED: Final = re.compile(
    r"(?<=:)(?=//)|(?<=www)(?=\.)|(?<=@)(?=[\w-])|(?<=\\#)(?=\d)|(?<=:)(?=[a-z+-][\w+-]*:)", re.IGNORECASE
)
_FIRST: Final = re.compile(r"^(\s*)([-+]|\d+(?=[.)]))")
_NOTHING: Final = "<!-- -->"

BARS: Final = "▁▂▃▄▅▆▇█"
MOST_BARS: Final = 60


def markdown_text(text: str) -> str:
    r"""A text as Markdown shows it, whatever is in it.

    >>> print(markdown_text("a_b [x](http://y) @all #12 | c"))
    a\_b \[x\]\(http:<!-- -->//y\) @<!-- -->all \#<!-- -->12 \| c
    >>> print(markdown_text("- no list"), markdown_text("1. nor this"))
    \- no list 1\. nor this
    """
    safe = _LINKED.sub(_NOTHING, _MARKUP.sub(r"\\\1", text))
    return _FIRST.sub(_unlisted, safe)


def _unlisted(found: re.Match[str]) -> str:
    """What would begin a list, as text."""
    space, sign = found.groups()
    return f"{space}\\{sign}" if not sign.isdigit() else f"{space}{sign}\\"


def markdown_report(report: IncidentReport) -> str:
    """The report on a group."""
    blocks = [
        *_head(report),
        *_timeline(report),
        *_members(report),
        *_lag(report),
        *_evidence(report),
        *_notes(report),
    ]
    return "\n\n".join(blocks) + "\n"


def _head(report: IncidentReport) -> Iterator[str]:
    group, cluster = markdown_text(shown(report.group)), markdown_text(shown(report.cluster))
    yield f"# Incident report: group {group} of cluster {cluster}"
    yield f"{utc(report.since_ms)} to {utc(report.until_ms)}"
    yield "\n".join(f"- {markdown_text(sentence)}" for sentence in report.summary)


def _timeline(report: IncidentReport) -> Iterator[str]:
    yield "## Timeline"
    rows = [(utc(line.at_ms), line.sentence) for line in report.timeline]
    yield table(("time", "event"), rows) if rows else "Nothing happened."


def _members(report: IncidentReport) -> Iterator[str]:
    rows = list(member_rows(report))
    if rows:
        yield "## Members"
        yield table(HEADINGS, map(_cells, rows))


def _cells(row: MemberRow) -> Sequence[str]:
    return row.event, row.member_id, row.client_id, row.host, row.instance_id, row.library, row.partitions


def _lag(report: IncidentReport) -> Iterator[str]:
    bars = lag_bars(report.points)
    if bars:
        most = max((point.lag or 0) for point in report.points)
        yield "## Lag"
        yield (
            f"From {utc(report.points[0].at_ms)} to {utc(report.points[-1].at_ms)}; the highest bar is "
            f"{grouped(most)} {report.unit}s, a blank is unknown:"
        )
        yield f"```\n{bars}\n```"


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


def _evidence(report: IncidentReport) -> Iterator[str]:
    yield "## Evidence"
    era, (first, last) = KINDS[report.kind].era.value, report.generations
    if KINDS[report.kind].is_self_assigned:
        yield f"The assignment changed {len(report.rebalances):,} times."
    else:
        yield f"The {era} was {first} at the start and {last} at the end."
    yield from _offsets(report)
    if report.findings:
        yield "Findings, as groupwatch opened and closed them:"
        yield table(
            ("finding", "true since", "opened", "closed", "sentence"),
            [
                (
                    f"{each.kind}/{each.reason}",
                    utc(each.since_ms),
                    utc(each.opened_ms),
                    utc(each.until_ms) if each.is_over else "still open",
                    each.sentence,
                )
                for each in report.findings
            ],
        )


def _offsets(report: IncidentReport) -> Iterator[str]:
    if not report.offsets:
        return
    yield "Offsets at the start, at the peak of the lag, and at the end:"
    yield table(
        ("partition", "time", "committed", "end of the log", "lag", "owner"), map(_offset_cells, report.offsets)
    )
    if report.more_offsets:
        yield f"{report.more_offsets:,} more partitions are not listed."


def _offset_cells(row: OffsetsThen) -> Sequence[str]:
    numbers = ["unknown" if each is None else grouped(each) for each in (row.committed, row.end, row.lag)]
    place = f"{shown(row.topic)} {shown(str(row.partition))}"
    return place, utc(row.at_ms), *numbers, owner(() if row.owner is None else (row.owner,))


def _notes(report: IncidentReport) -> Iterator[str]:
    yield "## Accuracy"
    yield "\n".join(f"- {markdown_text(note)}" for note in notes(report))


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; its cells are texts that are to be escaped."""
    lines = [f"| {' | '.join(headings)} |", f"|{'---|' * len(headings)}"]
    lines += [f"| {' | '.join(map(_cell, row))} |" for row in rows]
    return "\n".join(lines)


def _cell(text: str) -> str:
    return markdown_text(escaped(text))
