"""Members that restarted one at a time: a departure, a return, and what followed, as one thing that happened."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Final, TypeVar

from monitor.history.report.facts import Departure, IncidentReport, MemberLeft, RebalanceThen, Unowned
from monitor.model import Value

Fact = TypeVar("Fact", RebalanceThen, Unowned)

MAX_RESTART_MS: Final = 600_000
"""A member that is back later has not restarted: it was away."""

SETTLED_MS: Final = 30_000
"""So long after the last member is back, rebalances and partitions without an owner follow from its return."""

FEWEST_FOLDED: Final = 3
"""Fewer restarts are listed with all that followed from each."""


class Restart(Value):
    """A member went and was back; ``rebalances`` and ``unowned`` followed before the next one went."""

    left: MemberLeft
    back_ms: int
    rebalances: tuple[RebalanceThen, ...] = ()
    unowned: tuple[Unowned, ...] = ()


def restart_departures(report: IncidentReport) -> tuple[MemberLeft, ...]:
    """All departures, if every member was back soon; else none. Static members need no rebalance and are left out."""
    left = tuple(each for each in report.left if each.departure is not Departure.REPLACED)
    is_back = all(each.back_ms is not None and each.back_ms - each.at_ms <= MAX_RESTART_MS for each in left)
    return left if is_back else ()


def is_one_at_a_time(left: Sequence[MemberLeft]) -> bool:
    """Whether each was back before the next one went."""
    pairs = pairwise(left)
    return all(each.back_ms is not None and each.back_ms <= following.at_ms for each, following in pairs)


def folded_restarts(report: IncidentReport) -> tuple[Restart, ...]:
    """Restarts that a timeline lists in a row each: three or more, one at a time."""
    left = restart_departures(report)
    if len(left) < FEWEST_FOLDED or not is_one_at_a_time(left):
        return ()
    ends = [each.at_ms for each in left[1:]] + [(left[-1].back_ms or left[-1].at_ms) + SETTLED_MS]
    following = _Following(report)
    return tuple(following.restart(each, end_ms) for each, end_ms in zip(left, ends, strict=True))


class _Following:
    """What followed from a restart: rebalances and partitions without an owner, by the order of their times."""

    def __init__(self, report: IncidentReport) -> None:
        others = {each.at_ms for each in report.joined if not each.is_back}
        known = [each for each in report.rebalances if each.joined + each.left <= 1 and each.at_ms not in others]
        self._rebalances = sorted(known, key=_REBALANCE_MS)
        self._unowned = sorted([each for each in report.unowned if each.is_over], key=_UNOWNED_MS)

    def restart(self, left: MemberLeft, end_ms: int) -> Restart:
        """A restart with what followed before an instant."""
        unowned = _between(self._unowned, left.at_ms, end_ms + 1, _UNOWNED_MS)
        return Restart(
            left=left,
            back_ms=left.back_ms or left.at_ms,
            rebalances=tuple(_between(self._rebalances, left.at_ms, end_ms, _REBALANCE_MS)),
            unowned=tuple(each for each in unowned if each.until_ms <= end_ms),
        )


_REBALANCE_MS: Final[Callable[[RebalanceThen], int]] = attrgetter("at_ms")
_UNOWNED_MS: Final[Callable[[Unowned], int]] = attrgetter("from_ms")


def _between(found: Sequence[Fact], since_ms: int, until_ms: int, at_ms: Callable[[Fact], int]) -> Sequence[Fact]:
    """Those from an instant on, before another one."""
    return found[bisect_left(found, since_ms, key=at_ms) : bisect_left(found, until_ms, key=at_ms)]
