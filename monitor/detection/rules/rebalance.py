"""Rebalances that last too long, and too many of them: while a group rebalances, part of it or all of it stands still.

That a classic group rebalances is known by samples of its state (monitor.collectors.kafka.rebalance_sampler); of the
other kinds the log tells it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final

from monitor.detection.client_libraries.known_defects import fatal_defect
from monitor.detection.moment import Moment
from monitor.detection.offsets_topic import fault_of
from monitor.detection.ownership.context import Facts
from monitor.detection.rules.rule import Rule
from monitor.findings.observation import Observation
from monitor.findings.rebalances import FailingLeader, LongRebalance, RebalanceStorm
from monitor.model import (
    CONSEQUENTIAL_CAUSES,
    KINDS,
    SAMPLE_LIFETIME_MS,
    Assigner,
    FindingKind,
    GroupState,
    MemberState,
    Phase,
    Rebalance,
    RebalanceCause,
)

CONNECT_GENERATIONS: Final = 2
"""A change of a Connect cluster takes two generations: one revokes, the next one assigns."""

_UNDER_WAY: Final = frozenset({Phase.ASSIGNING, Phase.RECONCILING})


def rebalancing_since_ms(group: GroupState, moment: Moment) -> int | None:
    """Since when the group is known to rebalance; None if it is not known to, which is no proof for a classic group."""
    if KINDS[group.kind].assigns is not Assigner.LEADER:
        return group.under_way.started_ms if group.under_way and group.phase in _UNDER_WAY else None
    seen = group.sampled
    if seen is None or seen.over or moment.has_passed(seen.last_ms + SAMPLE_LIFETIME_MS):
        return None
    return seen.first_ms


def find_long_rebalance(facts: Facts) -> Iterable[Observation]:
    """The rebalance that is under way lasts longer than ``rebalance_long_ms``; it has been too long since then.

    None ends while the offsets topic takes no records: that time does not count.
    """
    since_ms = rebalancing_since_ms(facts.group, facts.moment)
    limit_ms = facts.settings.rebalance_long_ms
    if since_ms is None or not facts.has_come(since_ms + limit_ms):
        return
    fault = fault_of(facts.group, facts.catalog)
    if fault is not None and (fault.before_ms is None or since_ms + limit_ms > fault.before_ms):
        if fault.ended_ms is None or not facts.has_come(fault.ended_ms + limit_ms):
            return
        since_ms = max(since_ms, fault.ended_ms)
    awaited = _awaited(facts.group)
    yield Observation(
        kind=FindingKind.REBALANCE,
        reason="long",
        since_ms=since_ms + limit_ms,
        evidence=LongRebalance(limit_ms),
        members=awaited,
    )


def _awaited(group: GroupState) -> tuple[str, ...]:
    """The members of a KIP-848 group that have yet to give partitions back; of a classic group they are not known."""
    standings = ((member.member_id, member.reconciliation) for member in group.members)
    return tuple(name for name, now in standings if now and now.state is MemberState.UNREVOKED_PARTITIONS)


def find_storm(facts: Facts) -> Iterable[Observation]:
    """At least ``storm_rebalances`` within ``storm_window_ms``, now or at any instant of the last ``storm_window_ms``.

    So it is over after as long a calm as it takes to count one, and a group that goes on at just that rate is told of
    once. Which rebalances there were is remembered for long enough to tell (monitor.tracking.rebalances.history): the
    newest 40 with all there is to say of them, 1,000 older ones with their end, if there was no hour without one
    between. A storm that outlasts them seems to begin where they begin.
    """
    enough, window_ms = facts.settings.storm_rebalances, facts.settings.storm_window_ms
    if facts.traits.runs_connectors:
        enough *= CONNECT_GENERATIONS
    history = facts.group.history
    if len(history) < enough or facts.has_come((history[-enough].ended_ms or 0) + 2 * window_ms):
        return  # nearly every group: this rule is asked of all of them
    counted = [each for each in history if not CONSEQUENTIAL_CAUSES.issuperset(each.causes)]
    ends = sorted([*facts.group.earlier_ms, *[each.ended_ms for each in counted if each.ended_ms is not None]])
    since_ms = storm_since_ms(ends, enough, window_ms, facts.moment)
    if since_ms is not None:
        yield Observation(
            kind=FindingKind.REBALANCE,
            reason="storm",
            since_ms=facts.not_later_than_now(since_ms),
            evidence=RebalanceStorm(enough, window_ms, _causes(counted[-enough:]), _failing_leader(facts, enough)),
        )


def storm_since_ms(ends: Sequence[int], enough: int, window_ms: int, moment: Moment) -> int | None:
    """Since when there has been a storm; None if there is none now.

    The window before an instant holds enough of the ends (sorted) from the last of so many on, until the first of them
    is as old as the window. The storm is over when that has been false for as long as the window again.

    >>> storm_since_ms([0, 10, 20, 24], enough=3, window_ms=25, moment=Moment(30))
    20
    >>> storm_since_ms([0, 10, 20, 71], enough=3, window_ms=25, moment=Moment(49))
    20
    >>> storm_since_ms([0, 10, 20, 71], enough=3, window_ms=25, moment=Moment(50)) is None
    True
    """
    since_ms = until_ms = None
    for first_ms, last_ms in zip(ends, ends[enough - 1 :], strict=False):
        if last_ms - first_ms < window_ms:
            if until_ms is None or last_ms > until_ms:
                since_ms = last_ms
            until_ms = first_ms + 2 * window_ms
    return since_ms if until_ms is not None and not moment.has_come(until_ms) else None


def _causes(rebalances: Iterable[Rebalance]) -> tuple[RebalanceCause, ...]:
    found = {cause for rebalance in rebalances for cause in rebalance.causes} - CONSEQUENTIAL_CAUSES
    return tuple(cause for cause in RebalanceCause if cause in found)


def _failing_leader(facts: Facts, enough: int) -> FailingLeader | None:
    """Why leaders fail before they assign, where most of the newest generations follow on one that nobody assigned.

    The log has no record of such a generation, but the numbers of the others leave it out.
    """
    group, newest = facts.group, facts.group.history[-enough:]
    left_out = sum(after.generation > before.generation + 1 for before, after in pairwise(newest))
    if KINDS[group.kind].assigns is not Assigner.LEADER or 2 * left_out < len(newest):
        return None
    present = fatal_defect(group, {member.member_id: member.library for member in facts.members})
    return None if present is None else FailingLeader(present.library, present.defect)


RULES: Final = (
    Rule(find_long_rebalance, of_owners=False),
    Rule(find_storm, of_owners=False),
)
