"""What a run of a load costs and what it is worth: sums over its samples, and groupwatch beside KEDA. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

MOST_REBALANCES: Final = 0.5
MOST_CONSUMER_TIME: Final = 1.05
"""groupwatch is to need at most so much of what KEDA's best variant needs."""


@dataclass(frozen=True)
class Sample:
    """A deployment at a moment; one a second.

    ``at_s``: seconds since the start of the run. ``age_s``: of the oldest unread record. ``wanted``: the replicas that
    the metric stands for. ``owners``: members that own partitions. None: not known.
    """

    at_s: float
    replicas: int
    owners: int
    wanted: float | None
    age_s: float
    lag: int
    generation: int | None
    deaths: int
    hold: str
    reason: str
    status: int | None
    produced_per_s: float


@dataclass(frozen=True)
class Cost:
    """Of a variant in a load."""

    above_target_s: float
    """How long the oldest unread record was older than the target."""
    rebalances: int
    """By how much the group's generation (KIP-848: its epoch) has grown."""
    consumer_s: float
    """The replicas, summed over all seconds."""
    changes: int
    """How often the number of replicas was changed."""
    oldest_s: float
    deaths: int
    holds_s: float
    unknown_s: float
    """How long the signal had no number."""


def cost(samples: Sequence[Sample], target_s: float) -> Cost:
    """The sums; a sample counts until the next one."""
    spans = [(each, after.at_s - each.at_s) for each, after in pairwise(samples)]
    generations = [each.generation for each in samples if each.generation is not None]
    return Cost(
        above_target_s=round(sum(span for each, span in spans if each.age_s > target_s), 1),
        rebalances=max(generations, default=0) - min(generations, default=0),
        consumer_s=round(sum(each.replicas * span for each, span in spans), 1),
        changes=sum(before.replicas != after.replicas for before, after in pairwise(samples)),
        oldest_s=round(max((each.age_s for each in samples), default=0.0), 1),
        deaths=max((each.deaths for each in samples), default=0),
        holds_s=round(sum(span for each, span in spans if each.hold), 1),
        unknown_s=round(sum(span for each, span in spans if each.wanted is None), 1),
    )


@dataclass(frozen=True)
class Comparison:
    """groupwatch beside KEDA's best, which is the variant with the least time above the target, then the cheapest."""

    best: str
    time_is_no_longer: bool
    rebalances_are_half: bool
    consumers_are_no_more: bool

    @property
    def is_won(self) -> bool:
        """Whether all three are true."""
        return self.time_is_no_longer and self.rebalances_are_half and self.consumers_are_no_more


def best_of(costs: dict[str, Cost]) -> str:
    """The name of the best of them."""
    return min(costs, key=lambda name: (costs[name].above_target_s, costs[name].consumer_s))


def compared(groupwatch: Cost, keda: dict[str, Cost]) -> Comparison:
    """By the three measures of the issue."""
    name = best_of(keda)
    best = keda[name]
    return Comparison(
        best=name,
        time_is_no_longer=groupwatch.above_target_s <= best.above_target_s,
        rebalances_are_half=groupwatch.rebalances <= MOST_REBALANCES * best.rebalances,
        consumers_are_no_more=groupwatch.consumer_s <= MOST_CONSUMER_TIME * best.consumer_s,
    )
