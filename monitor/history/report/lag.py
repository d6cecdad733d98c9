"""How the lag of a group went in an incident: what it was before, how far it rose, and whether that is made up for."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Final

from monitor.history.chronicle.values import Chronicle, GroupPoint
from monitor.history.report.facts import LagCourse

CALM_MS: Final = 300_000
"""What the lag was before the incident: the most of so long before it."""

SLICE_MS: Final = 30_000
"""The minutes before are compared in slices of that length: each has a lag just before a commit."""

BEYOND: Final = 5
"""The lowest quarter of the slices is calm, whatever came before: an incident like this one, for example. With commits
that are minutes apart, a slice has up to four times the lag of these. More than so many times as much, and as old,
belongs to something else."""

LIVE_MS: Final = 5_000
"""Records that wait for so long at most are no incident: by default, Kafka's Java client commits every 5 s."""


def lag_course(chronicle: Chronicle, began_ms: int | None) -> LagCourse:
    """How the lag went, and how it was before an instant (None: nothing happened, the first point counts).

    What it was before is the most of the calm part of the minutes before.
    """
    worst = [] if chronicle.peak is None else [chronicle.peak]
    known = {point.at_ms: point for point in (*chronicle.points, *worst) if point.lag is not None}
    points = [known[at_ms] for at_ms in sorted(known)]
    if not points:
        return LagCourse()
    start_ms = points[0].at_ms if began_ms is None else began_ms
    calm = _calm_part([point for point in points if start_ms - CALM_MS <= point.at_ms < start_ms]) or points[:1]
    since = [point for point in points if point.at_ms >= start_ms] or points[-1:]
    before, usual_ms = max(map(_lag, calm)), max([LIVE_MS, *(point.lag_ms or 0 for point in calm)])
    late = [point for point in since if not _is_as_before(point, before + before // 2, usual_ms)]
    peak = max(late or since, key=_lag)
    oldest = max(late or since, key=lambda point: point.lag_ms or 0)
    again = (point for point in since if point.at_ms > peak.at_ms and _is_as_before(point, before, usual_ms))
    caught_up = next(again, None) if late else None
    between = [point.at_ms for point in since if late and late[0].at_ms < point.at_ms < peak.at_ms]
    recovered = (at_ms for at_ms in between if _is_as_before(known[at_ms], before, usual_ms))
    return LagCourse(
        before=before,
        peak=_lag(peak),
        peak_ms=peak.at_ms,
        peak_oldest_ms=peak.lag_ms,
        oldest_ms=oldest.lag_ms,
        oldest_at_ms=oldest.at_ms,
        last=_lag(points[-1]),
        last_ms=points[-1].at_ms,
        caught_up_ms=None if caught_up is None else caught_up.at_ms,
        caught_up_lag=None if caught_up is None else caught_up.lag,
        caught_up_oldest_ms=None if caught_up is None else caught_up.lag_ms,
        rose=bool(late),
        rose_ms=late[0].at_ms if late else None,
        recovered_ms=next(recovered, None),
        rose_again=caught_up is not None and late[-1] is points[-1],
    )


def _calm_part(points: Sequence[GroupPoint]) -> list[GroupPoint]:
    """The points without those of an earlier incident, which would pass off one like it as usual."""
    slices = [list(own) for _, own in groupby(points, lambda point: point.at_ms // SLICE_MS)]
    low = len(slices) // 4
    most = BEYOND * sorted(max(map(_lag, own)) for own in slices)[low] if slices else 0
    oldest_ms = BEYOND * sorted(max(map(_age_ms, own)) for own in slices)[low] if slices else 0
    is_calm = [all(_is_as_before(point, most, max(LIVE_MS, oldest_ms)) for point in own) for own in slices]
    return [point for own, calm in zip(slices, is_calm, strict=True) if calm for point in own]


def _is_as_before(point: GroupPoint, before: int, usual_ms: int) -> bool:
    """Whether no more records wait than before, or none for longer than usual."""
    return _lag(point) <= before or (point.lag_ms is not None and point.lag_ms <= usual_ms)


def _lag(point: GroupPoint) -> int:
    return point.lag or 0


def _age_ms(point: GroupPoint) -> int:
    return point.lag_ms or 0
