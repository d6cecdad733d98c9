"""Rebalances that last too long, and too many of them: while a group rebalances, part of it or all of it stands still.

That a classic group rebalances is known by samples of its state (monitor.collectors.group_states); of the other kinds
the log tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

from monitor.detection.facts import Facts
from monitor.detection.sentences import rebalance_storm, rebalancing_long
from monitor.model import (
    SAMPLE_HOLDS_MS,
    Finding,
    FindingKind,
    GroupKind,
    GroupState,
    MemberState,
    Phase,
    Rebalance,
    RebalanceCause,
)

_UNDER_WAY: Final = frozenset({Phase.ASSIGNING, Phase.RECONCILING})
_FOLLOWS_OF_ITSELF: Final = frozenset({RebalanceCause.HANDOVER, RebalanceCause.STATIC_RESTART})
"""Not counted for a storm: the second half of a rebalance that is, and what nobody had to stop for."""


def rebalancing_since_ms(group: GroupState, now_ms: int) -> int | None:
    """Since when the group is known to rebalance; None if it is not known to, which is no proof for a classic group."""
    if group.kind is not GroupKind.CLASSIC:
        return group.under_way.started_ms if group.under_way and group.phase in _UNDER_WAY else None
    seen = group.sampled
    if seen is None or seen.over or now_ms - seen.last_ms > SAMPLE_HOLDS_MS:
        return None
    return seen.first_ms


def find_long_rebalance(facts: Facts) -> Iterable[Finding]:
    """The rebalance that is under way lasts longer than ``rebalance_long_ms``; it has been too long since then."""
    since_ms = rebalancing_since_ms(facts.group, facts.now_ms)
    limit_ms = facts.settings.rebalance_long_ms
    if since_ms is None or facts.now_ms - since_ms < limit_ms:
        return
    awaited = _awaited(facts.group)
    yield Finding(
        kind=FindingKind.REBALANCE,
        reason="long",
        since_ms=since_ms + limit_ms,
        sentence=rebalancing_long(facts.group, limit_ms, awaited),
        members=awaited,
    )


def _awaited(group: GroupState) -> tuple[str, ...]:
    """The members of a KIP-848 group that have yet to give partitions back; of a classic group they are not known."""
    standings = ((member.member_id, member.reconciliation) for member in group.members)
    return tuple(name for name, now in standings if now and now.state is MemberState.UNREVOKED_PARTITIONS)


def find_storm(facts: Facts) -> Iterable[Finding]:
    """At least ``storm_rebalances`` within ``storm_window_ms``; since they have been that many.

    The history is bounded: a storm that has lasted for longer than it reaches back begins within it.
    """
    enough, window_ms = facts.settings.storm_rebalances, facts.settings.storm_window_ms
    history, begin_ms = facts.group.history, facts.now_ms - window_ms
    if len(history) < enough or (history[-enough].ended_ms or 0) <= begin_ms:
        return  # nearly every group: this rule is asked of all of them
    counted = [each for each in history if not _FOLLOWS_OF_ITSELF.issuperset(each.causes)]
    ends = sorted(each.ended_ms for each in counted if each.ended_ms is not None)
    since_ms = storm_since_ms(ends, enough, window_ms, facts.now_ms)
    if since_ms is not None:
        yield Finding(
            kind=FindingKind.REBALANCE,
            reason="storm",
            since_ms=facts.not_later_than_now(since_ms),
            sentence=rebalance_storm(enough, window_ms, _causes(counted[-enough:])),
        )


def storm_since_ms(ends: Sequence[int], enough: int, window_ms: int, now_ms: int) -> int | None:
    """Since when the window before every instant has held enough of the ends (sorted); None if that of now does not.

    >>> storm_since_ms([0, 10, 20, 24], enough=3, window_ms=25, now_ms=30)
    20
    >>> storm_since_ms([0, 10, 20, 30], enough=3, window_ms=25, now_ms=34)
    30
    >>> storm_since_ms([0, 10, 20, 30], enough=3, window_ms=25, now_ms=35) is None
    True
    """
    if len(ends) < enough or ends[-enough] <= now_ms - window_ms:
        return None
    first = len(ends) - 1
    while first >= enough and ends[first] - ends[first - enough] <= window_ms:
        first -= 1  # before this one came, the window still held enough
    return ends[first]


def _causes(rebalances: Iterable[Rebalance]) -> tuple[RebalanceCause, ...]:
    found = {cause for rebalance in rebalances for cause in rebalance.causes} - _FOLLOWS_OF_ITSELF
    return tuple(cause for cause in RebalanceCause if cause in found)
