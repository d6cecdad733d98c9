"""How a group goes on in a partition where records wait: its latest commits beside the ends of the log.

Both are kept as points in time: the commits by the broker's clock, the ends by the collector's, about 20 s apart. What
lies between two points is interpolated linearly. This is read for every partition in which records wait, in every
micro-batch, so the points stand in columns.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Final

from monitor.detection.moment import Moment
from monitor.detection.thresholds.burrow import INTERVALS, BurrowSettings, BurrowWindow, status_of
from monitor.model import CommittedOffset, EndOffsetAt, LagStatus, Pace, PartitionState, PartitionVerdict, Value
from monitor.model.commit_history import columns_of

PACE_MS: Final = 300_000
"""A pace is that of the last five minutes before the newest observed end."""

SHORTEST_MS: Final = 60_000
"""A shorter history shows no pace: clients commit every 5 s or more rarely, and ends are seen about every 20 s."""

MOST: Final = 0.9
"""Of so much of what waits for a group the paces have to be known: then their sum is told as that of the group."""

LATELY_MS: Final = INTERVALS * 20_000
"""How far the ends reach back from the newest one that Burrow's rules look at."""

_SEEN: Final = attrgetter("at_ms")
_OK: Final = LagStatus.OK  # to look up a member of an enumeration takes as long as to compare ten numbers
_STOP: Final = LagStatus.STOP


class Progress(Value, gc=False):
    """Commits in the order of the log, when and of which offset, and the ends that were observed, the oldest first."""

    committed_ms: tuple[int, ...]
    committed: tuple[int, ...]
    ends: tuple[EndOffsetAt, ...]


def progress_of(commit: CommittedOffset, partition: PartitionState) -> Progress:
    """The progress that the states of a partition show.

    Commits from before the topic was deleted and created anew are left out. The last offset is the one that counts:
    where the broker's own answer differs from the log, it is the broker's.
    """
    times, offsets = columns_of(commit.history)
    if partition.former_ms:
        kept = [index for index, at_ms in enumerate(times) if at_ms > partition.former_ms]
        times, offsets = tuple([times[index] for index in kept]), tuple([offsets[index] for index in kept])
    if not offsets:
        times, offsets = (commit.committed_ms,), (commit.offset,)
    elif offsets[-1] != commit.offset:
        offsets = (*offsets[:-1], commit.offset)
    return Progress(times, offsets, partition.ends)


def burrow_window(progress: Progress, lag: int) -> BurrowWindow:
    """What Burrow would look at: the newest commits and ends, and ``lag`` now, in records.

    Burrow's own ends are 10 s apart by default, ours 20 s, and fewer while the end stands still: so it is those of the
    time that ten of them span. It can leave out commits that are close together (``min-distance``, off by default);
    here every commit counts.
    """
    times, offsets, ends = progress.committed_ms[-INTERVALS:], progress.committed[-INTERVALS:], progress.ends
    horizon_ms = ends[-1].at_ms - LATELY_MS if ends else 0
    lately = tuple([end.offset for end in ends[-INTERVALS:] if end.at_ms > horizon_ms])
    return BurrowWindow(offsets, times, _lags(times, offsets, ends), lag, lately)


def _lags(times: Sequence[int], offsets: Sequence[int], ends: Sequence[EndOffsetAt]) -> tuple[int | None, ...]:
    """The lag at each commit, against the newest end that was observed not later; None if none is that old.

    Walked backward, as the newest commits are made close to the newest ends. An end that is too late for a commit is
    so for those before it in the log, whatever their times say.
    """
    earlier = reversed(ends)
    end = next(earlier, None)
    lags: list[int | None] = []
    for at_ms, offset in zip(reversed(times), reversed(offsets), strict=True):
        while end is not None and end.at_ms > at_ms:
            end = next(earlier, None)
        lags.append(None if end is None else end.offset - offset if end.offset > offset else 0)
    return tuple(lags[::-1])


def lag_status(progress: Progress, lag: int, moment: Moment, settings: BurrowSettings) -> LagStatus:
    """The same as ``status_of(burrow_window(progress, lag), moment.now_ms, settings)``, without making the window.

    This is asked for every partition in which records wait. Most statuses are known before all lags are, and the ends
    of a history only grow, so the oldest that counts is the least.
    """
    times, offsets, allowed = progress.committed_ms, progress.committed, settings.allowed_lag
    if len(times) > INTERVALS:
        times, offsets = times[-INTERVALS:], offsets[-INTERVALS:]
    is_enough = not settings.minimum_complete or len(offsets) / settings.intervals >= settings.minimum_complete
    if lag <= allowed or not is_enough:
        return _OK
    newest_ms, newest = times[-1], offsets[-1]
    stopped_ms = (2 * newest_ms - times[0]) // 1000 * 1000 + 1000  # Burrow's clock has whole seconds
    if moment.has_come(stopped_ms) and not _caught_up_lately(progress.ends, newest):
        return _STOP
    if len(offsets) > 1 and sorted(offsets) != list(offsets):
        return status_of(burrow_window(progress, lag), moment.now_ms, settings)
    known = _lags_backward(times, offsets, progress.ends, allowed)
    if known is None:
        return _OK
    if offsets[0] == newest:
        return LagStatus.STALL
    return LagStatus.WARN if sorted(known, reverse=True) == known else _OK


def _caught_up_lately(ends: Sequence[EndOffsetAt], offset: int) -> bool:
    """Whether the oldest of the latest ends was not beyond the offset."""
    lately = ends[-INTERVALS:]
    for end in lately:
        if end.at_ms > lately[-1].at_ms - LATELY_MS:
            return end.offset <= offset
    return False


def _lags_backward(
    times: Sequence[int], offsets: Sequence[int], ends: Sequence[EndOffsetAt], allowed: int
) -> list[int] | None:
    """The known lags of :func:`_lags`, the newest first; None as soon as one is not more than what is allowed."""
    index = len(ends)
    known: list[int] = []
    for place in range(len(times) - 1, -1, -1):
        at_ms = times[place]
        while index and ends[index - 1].at_ms > at_ms:
            index -= 1
        if not index:
            break
        lag = ends[index - 1].offset - offsets[place]
        if lag <= allowed:
            return None
        known.append(lag)
    return known


def pace_of(progress: Progress) -> Pace | None:
    """How fast the partition was read and written, over the same time; None if less than a minute of it is known.

    A commit of a lower offset counts nothing, and what is committed again after it counts again: the group reads it.
    A reset to a later offset cannot be told from reading.
    """
    ends = progress.ends
    if not ends:
        return None
    until_ms = ends[-1].at_ms
    since_ms = max(until_ms - PACE_MS, ends[0].at_ms, progress.committed_ms[0])
    span_ms = until_ms - since_ms
    if span_ms < SHORTEST_MS:
        return None
    after = bisect_right(ends, since_ms, key=_SEEN)
    began = ends[after - 1]
    produced: float = ends[-1].offset - began.offset
    if after < len(ends) and since_ms > began.at_ms:
        share = (since_ms - began.at_ms) / (ends[after].at_ms - began.at_ms)
        produced -= share * (ends[after].offset - began.offset)
    return Pace(1000 * read_between(progress, since_ms, until_ms) / span_ms, 1000 * max(0.0, produced) / span_ms)


def read_between(progress: Progress, since_ms: int, until_ms: int) -> float:
    """By how many records the commits went forward from one instant to another, falls left out."""
    times, offsets = progress.committed_ms, progress.committed
    first, after = bisect_right(times, since_ms), bisect_right(times, until_ms)
    start, stop = _at(times, offsets, since_ms, first), _at(times, offsets, until_ms, after)
    path = [start, *offsets[first:after], stop]
    if path == sorted(path):
        return stop - start
    return sum([max(0.0, later - earlier) for earlier, later in pairwise(path)])


def paced_rows(waiting: Sequence[PartitionVerdict]) -> Sequence[PartitionVerdict]:
    """The rows whose pace is known, if MOST of what waits (records) waits there, else none.

    A pace is not known in the first minute of a partition or of its commits. One that is new hides nothing of a group
    of a thousand; where much waits without a pace, a part of the sum would be taken for it.
    """
    known = [row for row in waiting if row.pace is not None]
    if len(known) == len(waiting):
        return waiting
    return known if sum([row.lag or 0 for row in known]) >= MOST * sum([row.lag or 0 for row in waiting]) else ()


def total_pace(paces: Iterable[Pace | None]) -> Pace | None:
    """The sum; None if there is none, or if one of them is not known: a part of a sum is no sum."""
    known = list(paces)
    if not known or None in known:
        return None
    return Pace(
        round(sum([pace.consumed_per_s for pace in known if pace]), 3),
        round(sum([pace.produced_per_s for pace in known if pace]), 3),
    )


def catch_up_ms(lag: int | None, pace: Pace | None) -> int | None:
    """How long until a partition has no lag, at this pace; None if that is not known or never.

    >>> catch_up_ms(300, Pace(15.0, 5.0)), catch_up_ms(300, Pace(5.0, 5.0)), catch_up_ms(0, None)
    (30000, None, 0)
    """
    if not lag:
        return lag
    if pace is None or pace.consumed_per_s <= pace.produced_per_s:
        return None
    return round(1000 * lag / (pace.consumed_per_s - pace.produced_per_s))


def last_catch_up_ms(paced: Iterable[PartitionVerdict]) -> int | None:
    """How long until none of these partitions has lag: as long as the slowest takes; None if that is never.

    The sum of lags over the sum of paces would let a fast partition work off the lag of a slow one, which no consumer
    does.
    """
    times = [catch_up_ms(row.lag, row.pace) for row in paced]
    known = [time_ms for time_ms in times if time_ms is not None]
    return max(known) if known and len(known) == len(times) else None


def committed_by(progress: Progress, instant_ms: int) -> int:
    """The newest of the known commits at an instant; the first of them before it.

    >>> committed_by(Progress((10, 30), (100, 200), ()), 29)
    100
    """
    return progress.committed[max(0, bisect_right(progress.committed_ms, instant_ms) - 1)]


def position_at(progress: Progress, instant_ms: int) -> float:
    """The offset at an instant, between two commits by the time that has passed.

    >>> position_at(Progress((10, 30), (100, 200), ()), 20)
    150.0
    """
    times = progress.committed_ms
    return _at(times, progress.committed, instant_ms, bisect_right(times, instant_ms))


def _at(times_ms: Sequence[int], offsets: Sequence[int], instant_ms: int, after: int) -> float:
    """The offset at an instant, which lies before the point ``after`` and not before the one in front of it."""
    if after == 0:
        return offsets[0]
    if after == len(offsets):
        return offsets[-1]
    began_ms, length_ms = times_ms[after - 1], times_ms[after] - times_ms[after - 1]
    if length_ms <= 0:  # the order of a log is not always that of its times
        return offsets[after]
    share = min(1.0, max(0.0, (instant_ms - began_ms) / length_ms))
    return offsets[after - 1] + share * (offsets[after] - offsets[after - 1])
