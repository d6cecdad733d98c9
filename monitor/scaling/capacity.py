"""How fast a member reads: measured while records waited for it all the time, as then nothing else held it up.

A member that has read all there is waits for producers, and its rate is theirs. So a rate counts only if more waited
for the member, at each instant, than it read until the next one. What waits is a lower bound: the end as the poll
before an instant saw it, less what was committed next after it, in the partitions that moved on. With bursts, an end or
an offset in between would be a guess. A client reads what it has fetched of one partition before that of the next, so
what counts is what waits in all of them. Offsets that are passed unread do not count.

A rate begins where it is known what was committed by then: within the newest commits, of which all are known, or at the
turn of a minute, as a history keeps the last commit of each. Between two other commits it is unknown when a partition
stood, and when it moved on. It ends within the newest commits.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from statistics import median
from typing import Final

from monitor.detection.lag.throughput import Progress, committed_by, position_at, read_between
from monitor.model import Value
from monitor.model.commit_history import RECENT, SLOT_MS
from monitor.model.jumps import Jump
from monitor.model.scaling import MemberRate
from monitor.scaling.loads import end_by

SHORTEST_MS: Final = 30_000
"""A rate is that of about half a minute, or more: commits are 5 s apart by default, and polls of ends 20 s."""
LEAST_MS: Final = 20_000
"""The commits that it lies between may be so close together."""
LONGEST_MS: Final = 120_000
"""And of two minutes at most, where commits are far apart."""
MOST_GAP_MS: Final = 15_000
"""Commits of a partition that are further apart show how fast a member reads only if all are made at once."""
AT_ONCE_MS: Final = 1_000
"""Such commits are."""
STEP_MS: Final = 5_000
"""So far apart are the instants at which something must wait: as commits are by default."""
APART_MS: Final = 30_000
"""So far apart are two rates of one member."""
MOST_AHEAD: Final = 2
"""One commit passes at most so many times what a member reads from one commit to the next."""
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

    ``removed_ms`` is when one of them had last committed less than what retention has left (0: none has). ``jumps`` are
    the commits that passed much more than the one before them in their partition.
    """

    member_id: str
    host: str
    since_ms: int
    progress: tuple[Progress, ...]
    removed_ms: int = 0
    jumps: tuple[Jump, ...] = ()


def saturated_rates(members: Iterable[OwnedProgress]) -> Iterator[MemberRate]:
    """The rates of those members that have been busy for long enough, until the newest poll of the ends."""
    for member in members:
        since_ms = max(member.since_ms, member.removed_ms + 1)
        for begin_ms, end_ms in _spans(member.progress):
            if since_ms <= begin_ms and _can_measure(member.progress, begin_ms, end_ms):
                per_s = _steady_rate(member, begin_ms, end_ms)
                if per_s:
                    yield MemberRate(end_ms, member.member_id, member.host, round(per_s, 3))
                break


def _spans(progress: Sequence[Progress]) -> Iterator[tuple[int, int]]:
    """From a commit to the newest one of which the ends are known: of half a minute, and from the turn of a minute."""
    ends = [each.ends[-1].at_ms for each in progress if each.ends]
    known_ms = min(ends, default=0)
    begin_ms, end_ms = known_ms - SHORTEST_MS, _newest_commit_ms(progress, known_ms)
    if all(each.committed_ms[-RECENT:][0] <= begin_ms for each in progress if len(each.committed_ms) > RECENT):
        yield _newest_commit_ms(progress, begin_ms), end_ms
    yield _newest_commit_ms(progress, begin_ms // SLOT_MS * SLOT_MS - 1), end_ms


def _can_measure(progress: Sequence[Progress], begin_ms: int, end_ms: int) -> bool:
    """Whether all is known from one instant to another, and there was always something to read."""
    return (
        LEAST_MS <= end_ms - begin_ms <= LONGEST_MS
        and all(_is_known(each, begin_ms, end_ms) for each in progress)
        and _is_exact(progress, begin_ms, end_ms)
        and _is_busy(progress, begin_ms, end_ms)
    )


def _newest_commit_ms(progress: Iterable[Progress], by_ms: int) -> int:
    """When a member last committed anything by then; 0: never, as far as is known."""
    after = [(each, bisect_right(each.committed_ms, by_ms)) for each in progress]
    return max([each.committed_ms[index - 1] for each, index in after if index], default=0)


def _is_known(progress: Progress, begin_ms: int, end_ms: int) -> bool:
    """Whether it is known what was committed by both instants, and nothing was committed again in between.

    Times that go back are those of two clocks: the group has another coordinator.
    """
    times, offsets = progress.committed_ms, progress.committed
    first, after = bisect_right(times, begin_ms), bisect_right(times, end_ms)
    if not first or (len(times) > RECENT and times[-RECENT] > end_ms):
        return False
    within = slice(first - 1, after)
    return all(sorted(each[within]) == list(each[within]) for each in (times, offsets))


def _is_exact(progress: Sequence[Progress], begin_ms: int, end_ms: int) -> bool:
    """Whether commits are close together, or those of all partitions are made at once.

    Else a rate would be one of more records in one partition than in another. A client that commits all at once leaves
    out what has not changed, which looks like one that commits each partition when it likes.
    """
    moved = [each for each in progress if committed_by(each, end_ms) != committed_by(each, begin_ms)]
    if all(_least_gap_ms(each) <= MOST_GAP_MS for each in moved):
        return True
    return all(
        any(abs(instant_ms - at_ms) <= AT_ONCE_MS for at_ms in each.committed_ms)
        for each in moved
        for instant_ms in (begin_ms, end_ms)
    )


def _least_gap_ms(progress: Progress) -> int:
    """How far apart the closest of the newest commits are: a partition that stood meanwhile has longer gaps, too."""
    newest = progress.committed_ms[-RECENT:]
    return min([later - earlier for earlier, later in pairwise(newest)], default=LONGEST_MS)


def _steady_rate(member: OwnedProgress, begin_ms: int, end_ms: int) -> float:
    """Records a second; 0 if the member stood still, as one half of the time had less than half of the other.

    Also if it left out records. A client reads what it has fetched of one partition before that of the next, so a jump
    in one of them is none of the member. It is one if the member takes MOST_AHEAD times as long, by its slower half.
    """
    middle_ms = (begin_ms + end_ms) // 2
    halves = [
        sum([read_between(each, since_ms, until_ms) for each in member.progress])
        for since_ms, until_ms in ((begin_ms, middle_ms), (middle_ms, end_ms))
    ]
    slower_per_ms = 2 * min(halves) / (end_ms - begin_ms)
    lately = [jump for jump in member.jumps if jump.at_ms >= begin_ms]
    if 2 * min(halves) < max(halves) or any(_is_left_out(jump, slower_per_ms) for jump in lately):
        return 0.0
    read = sum([committed_by(each, end_ms) - committed_by(each, begin_ms) for each in member.progress])
    return 1000 * read / (end_ms - begin_ms)


def _is_left_out(jump: Jump, per_ms: float) -> bool:
    """Whether a jump passes more than a member can have read by then, at this rate (records a ms)."""
    gap_ms = jump.at_ms - (jump.began_ms if jump.before_ms is None else jump.before_ms)
    return jump.distance > MOST_AHEAD * per_ms * max(gap_ms, STEP_MS)


def _is_busy(progress: Iterable[Progress], begin_ms: int, end_ms: int) -> bool:
    """Whether more waited for a member, at each instant, than it read until the next."""
    moved = [each for each in progress if position_at(each, end_ms) > position_at(each, begin_ms)]
    until_ms, position = end_ms, _position(moved, end_ms)
    while until_ms > begin_ms:
        since_ms = max(until_ms - STEP_MS, begin_ms)
        began = _position(moved, since_ms)
        if _waiting(moved, since_ms) <= position - began:
            return False
        until_ms, position = since_ms, began
    return True


def _position(progress: Iterable[Progress], at_ms: int) -> float:
    return sum([position_at(each, at_ms) for each in progress])


def _waiting(progress: Iterable[Progress], at_ms: int) -> int:
    """How many records waited at an instant, at least."""
    seen = [(each, end) for each in progress if (end := end_by(each.ends, at_ms)) is not None]
    return sum([max(0, end.offset - _committed_after(each, at_ms)) for each, end in seen])


def _committed_after(progress: Progress, at_ms: int) -> int:
    """The offset of the first commit from then on: no reader was further at that instant."""
    return progress.committed[min(bisect_left(progress.committed_ms, at_ms), len(progress.committed) - 1)]


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
