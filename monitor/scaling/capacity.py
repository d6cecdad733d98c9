"""How fast a member reads: measured while one of its partitions had lag all the time, as then nothing else held it up.

A member that has read all there is waits for producers, and its rate is theirs. So a rate counts from the first of the
commits on since when the end was beyond each of them, in one partition that moved on. That is the end as the poll
before a commit saw it: with bursts, an end between two polls would be a guess. Offsets that are passed unread do not
count.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from statistics import median
from typing import Final

from monitor.detection.lag.throughput import Progress, read_between
from monitor.model import EndOffsetAt, Value
from monitor.model.scaling import MemberRate

WINDOW_MS: Final = 60_000
"""A rate is that of the last minute."""
SHORTEST_MS: Final = 30_000
"""Of half a minute at least: commits are 5 s apart by default, and polls of ends 20 s."""
APART_MS: Final = 30_000
"""So far apart are two rates of one member."""
MOST_RATES: Final = 60
"""So many of the newest rates of a group are kept."""
USUAL: Final = 0.9
"""The capacity is the rate that this share of the measurements did not exceed: the best, without a stray one."""
DIFFERENT: Final = 1.5
"""Hosts differ if the fastest reads so many times what the slowest reads."""
SURE: Final = 5
"""Of fewer measurements, the capacity is the median: the best of a few is a stray one."""
OLDEST_MS: Final = 7 * 86_400_000
"""An older measurement counts no more."""
FEWEST: Final = 3
"""With fewer measurements, a host counts as all others."""

_SEEN: Final = attrgetter("at_ms")


class Capacity(Value):
    """How fast members read (records a second): all of them, and by host where hosts differ.

    ``samples`` is how many rates were measured.
    """

    per_s: float
    samples: int
    by_host: Mapping[str, float] = {}

    def on_host(self, host: str) -> float:
        """That of a member on this host; of one that is not known, the least of all hosts.

        >>> Capacity(200.0, 9, {"a": 200.0, "b": 90.0}).on_host("new")
        90.0
        """
        if not self.by_host:
            return self.per_s
        return self.by_host.get(host, min(self.by_host.values()))


class OwnedProgress(Value):
    """A member with the partitions that are its alone: how it went on in each, and since when it has had them (ms).

    ``jumped_ms`` is when one of them passed offsets last that it cannot have read (0: it has not).
    """

    member_id: str
    host: str
    since_ms: int
    progress: tuple[Progress, ...]
    jumped_ms: int = 0


def is_behind_for_long(progress: Progress) -> bool:
    """Whether a partition has had lag for long enough to measure its owner."""
    until_ms = _last_known_ms((progress,))
    return until_ms - _lagging_since_ms(progress, until_ms) >= SHORTEST_MS


def saturated_rates(members: Iterable[OwnedProgress]) -> Iterator[MemberRate]:
    """The rates of those members that have had lag for long enough, until the newest poll of the ends."""
    for member in members:
        until_ms = _last_known_ms(member.progress)
        since_ms = max(until_ms - WINDOW_MS, member.since_ms, _busy_since_ms(member.progress, until_ms))
        if until_ms - since_ms >= SHORTEST_MS and member.jumped_ms < since_ms:
            per_s = _steady_rate(member.progress, since_ms, until_ms)
            if per_s:
                yield MemberRate(until_ms, member.member_id, member.host, round(per_s, 3))


def _steady_rate(progress: Sequence[Progress], since_ms: int, until_ms: int) -> float:
    """Records a second; 0 if one half of the time had less than half of the other: the member stood still in it."""
    middle_ms = (since_ms + until_ms) // 2
    halves = [
        sum([read_between(each, begin_ms, end_ms) for each in progress])
        for begin_ms, end_ms in ((since_ms, middle_ms), (middle_ms, until_ms))
    ]
    return 1000 * sum(halves) / (until_ms - since_ms) if 2 * min(halves) >= max(halves) else 0.0


def _last_known_ms(progress: Sequence[Progress]) -> int:
    """Until when commits and ends are known of a member; 0: they are not."""
    commits = [each.committed_ms[-1] for each in progress]
    ends = [each.ends[-1].at_ms for each in progress if each.ends]
    return min(max(commits), *ends) if commits and ends else 0


def _busy_since_ms(progress: Sequence[Progress], until_ms: int) -> int:
    """Since when one partition has had lag at each of its commits and moved on; ``until_ms``: none has."""
    return min([_lagging_since_ms(each, until_ms) for each in progress], default=until_ms)


def _lagging_since_ms(progress: Progress, until_ms: int) -> int:
    """Since when a partition has had lag at each of its commits; ``until_ms``: it has not, or it does not move on."""
    since_ms, first, last = until_ms, 0, None
    for at_ms, offset in zip(reversed(progress.committed_ms), reversed(progress.committed), strict=True):
        if at_ms > until_ms:
            continue
        if until_ms - at_ms > 2 * WINDOW_MS or not _is_behind(progress.ends, at_ms, offset):
            break
        since_ms, first, last = at_ms, offset, offset if last is None else last
    return since_ms if last is not None and last > first else until_ms


def _is_behind(ends: Sequence[EndOffsetAt], at_ms: int, offset: int) -> bool:
    """Whether a commit is behind the end as the poll before it saw it. What came since may have come just now."""
    after = bisect_right(ends, at_ms, key=_SEEN)
    return after > 0 and offset < ends[after - 1].offset


def with_rates(known: tuple[MemberRate, ...], found: Iterable[MemberRate], now_ms: int) -> tuple[MemberRate, ...]:
    """The rates with those that are measured long enough after the last one of their member; the newest of them."""
    last = {each.member_id: each.at_ms for each in known}
    new = [each for each in found if each.at_ms - last.get(each.member_id, -APART_MS) >= APART_MS]
    kept = known if not known or known[0].at_ms >= now_ms - OLDEST_MS else _recent(known, now_ms)
    return (*kept, *new)[-MOST_RATES:] if new else kept


def _recent(rates: tuple[MemberRate, ...], now_ms: int) -> tuple[MemberRate, ...]:
    return tuple([each for each in rates if each.at_ms >= now_ms - OLDEST_MS])


def capacity_of(rates: Sequence[MemberRate]) -> Capacity | None:
    """What these rates show; None: nothing was measured.

    >>> capacity_of([MemberRate(1, "m", "a", 90.0), MemberRate(2, "m", "a", 100.0)]).per_s
    95.0
    """
    if not rates:
        return None
    by_host: dict[str, list[float]] = {}
    for each in rates:
        by_host.setdefault(each.host, []).append(each.per_s)
    usual = {host: median(own) for host, own in by_host.items() if len(own) >= FEWEST}
    differ = len(usual) > 1 and max(usual.values()) >= DIFFERENT * min(usual.values())
    return Capacity(
        per_s=_best([each.per_s for each in rates]),
        samples=len(rates),
        by_host={host: _best(by_host[host]) for host in usual} if differ else {},
    )


def _best(rates: Sequence[float]) -> float:
    """The sustained best of some rates.

    >>> _best([1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0, 9.0, 90.0]), _best([5.0, 5.0, 90.0])
    (9.0, 5.0)
    """
    if len(rates) < SURE:
        return median(rates)
    ordered = sorted(rates)
    return ordered[max(0, round(USUAL * len(ordered)) - 1)]
