"""What charts are drawn from. Texts may hold any character: the charts escape them.

``href`` is where a link on the drawn piece leads, "" where it has no link. It is written as it is given.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from monitor.model import Value
from monitor.model.findings import Severity


class TimeRange(Value):
    """From one instant to a later one (ms since the epoch)."""

    since_ms: int
    until_ms: int

    def place(self, at_ms: int) -> float:
        """Where an instant is: 0 at the start, 1 at the end. What is outside is put at the nearer end.

        >>> TimeRange(1_000, 3_000).place(1_500), TimeRange(1_000, 3_000).place(9_000)
        (0.25, 1.0)
        """
        length = max(1, self.until_ms - self.since_ms)
        return min(1.0, max(0.0, (at_ms - self.since_ms) / length))

    def overlaps(self, from_ms: int, until_ms: int) -> bool:
        """Whether something that lasted from one instant to another was partly in the range."""
        return from_ms <= self.until_ms and until_ms >= self.since_ms


def missing_ranges(times_ms: Sequence[int], span: TimeRange, apart_ms: int) -> list[TimeRange]:
    """The parts of a range between points that are further apart than that; none if there is no point at all.

    ``apart_ms`` 0: only the part before the first point.

    >>> missing_ranges([400, 500, 900], TimeRange(0, 1_000), 200)
    [TimeRange(since_ms=0, until_ms=400), TimeRange(since_ms=500, until_ms=900)]
    >>> missing_ranges([400, 500, 900], TimeRange(0, 1_000), 0), missing_ranges([], TimeRange(0, 1_000), 200)
    ([TimeRange(since_ms=0, until_ms=400)], [])
    """
    if not times_ms:
        return []
    if not apart_ms:
        return [TimeRange(span.since_ms, times_ms[0])] if times_ms[0] > span.since_ms else []
    edges = [span.since_ms, *times_ms, span.until_ms]
    return [TimeRange(one, other) for one, other in pairwise(edges) if other - one > apart_ms]


class LagAt(Value):
    """The lag at an instant (records; of MetaQ bytes); None: unknown, and the line is interrupted."""

    at_ms: int
    lag: int | None
    href: str = ""


class Mark(Value):
    """Something that happened at an instant, such as a rebalance, in a sentence."""

    at_ms: int
    sentence: str
    href: str = ""


class Span(Value):
    """Something that lasted, such as a finding. Spans of the same ``label`` are drawn in one row."""

    from_ms: int
    until_ms: int
    severity: Severity
    label: str
    sentence: str
    href: str = ""
    times: str = ""
    """From when to when it lasted, also outside of the chart, in words; "": as it is drawn."""


class Zoom(Value):
    """A part of the time axis that is a link, for example to the same chart of that part."""

    from_ms: int
    until_ms: int
    label: str
    href: str


class LagChart(Value):
    """The lag of a group over time, and below it, on the same axis, its rebalances and findings.

    ``unit`` is what the lag counts. ``at_ms`` is an instant to be marked with a line; None: none. Points that are
    further apart than ``apart_ms`` have nothing recorded between them; 0: only the time before the first one has not.
    """

    range: TimeRange
    points: Sequence[LagAt] = ()
    marks: Sequence[Mark] = ()
    spans: Sequence[Span] = ()
    zooms: Sequence[Zoom] = ()
    unit: str = "record"
    at_ms: int | None = None
    apart_ms: int = 0


class OwnerSpan(Value):
    """The owners of a partition for some time; none of them: it had no owner.

    ``partition`` is its row, for example "orders 3". Time without a span is unknown and stays empty.
    """

    partition: str
    owners: tuple[str, ...]
    from_ms: int
    until_ms: int
    href: str = ""


class OwnersChart(Value):
    """The owners of partitions over time, a row for each partition in the order of their first spans."""

    range: TimeRange
    spans: Sequence[OwnerSpan] = ()
