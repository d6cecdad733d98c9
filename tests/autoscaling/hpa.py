"""The Horizontal Pod Autoscaler of Kubernetes, for one external metric with an AverageValue target. Pure.

Source: pkg/controller/podautoscaler of kubernetes/kubernetes, ``replica_calculator.go`` (the ratio and its tolerance)
and ``horizontal.go`` (windows and policies), and ``pkg/apis/autoscaling/v2/defaults.go`` (the defaults). Each function
names the one that it follows. All times are seconds of the caller's clock.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

SYNC_S: Final = 15.0
"""``--horizontal-pod-autoscaler-sync-period``: how often the controller looks at an autoscaler."""

DOWN_WINDOW_S: Final = 300.0
"""``--horizontal-pod-autoscaler-downscale-stabilization``, the window of a behavior that has none for scaling down."""

TOLERANCE: Final = 0.1
"""``--horizontal-pod-autoscaler-tolerance``: a ratio so near to 1 changes nothing."""


class Unit(StrEnum):
    """What a policy's value counts: ``type`` of HPAScalingPolicy."""

    PODS = "Pods"
    PERCENT = "Percent"


class Select(StrEnum):
    """Which policy of several counts: ``selectPolicy`` of HPAScalingRules, for the change that each allows."""

    MAX = "Max"
    MIN = "Min"
    DISABLED = "Disabled"


@dataclass(frozen=True)
class Policy:
    """At most so many pods, or percent of the pods, may come or go in a period."""

    unit: Unit
    value: int
    period_s: float


@dataclass(frozen=True)
class Rules:
    """HPAScalingRules: of one direction."""

    window_s: float
    policies: tuple[Policy, ...]
    select: Select = Select.MAX
    tolerance: float = TOLERANCE

    def faster(self, factor: float) -> Rules:
        """The same rules where time passes so many times as fast."""
        policies = tuple(replace(each, period_s=each.period_s / factor) for each in self.policies)
        return replace(self, window_s=self.window_s / factor, policies=policies)


DEFAULT_UP: Final = Rules(0.0, (Policy(Unit.PODS, 4, 15.0), Policy(Unit.PERCENT, 100, 15.0)))
DEFAULT_DOWN: Final = Rules(DOWN_WINDOW_S, (Policy(Unit.PERCENT, 100, 15.0),))


@dataclass(frozen=True)
class HpaSpec:
    """An autoscaler: the target for each replica in the metric's unit, the limits, and its behavior."""

    target: float
    min_replicas: int = 1
    max_replicas: int = 10
    up: Rules = DEFAULT_UP
    down: Rules = DEFAULT_DOWN

    def faster(self, factor: float) -> HpaSpec:
        """The same where time passes so many times as fast."""
        return replace(self, up=self.up.faster(factor), down=self.down.faster(factor))


@dataclass(frozen=True)
class At:
    """A number of replicas (or of a change of them), and when."""

    at_s: float
    replicas: int


@dataclass
class Hpa:
    """The state of the controller for one autoscaler: what it proposed before windows, and how it has scaled."""

    spec: HpaSpec
    _proposed: list[At] = field(default_factory=list)
    _added: list[At] = field(default_factory=list)
    _removed: list[At] = field(default_factory=list)

    def replicas(self, now_s: float, current: int, metric: float | None) -> int:
        """How many replicas there are to be, of ``current``; called once each sync period (``reconcileAutoscaler``).

        Args:
            now_s: When, later than the last time.
            current: The replicas of the deployment. 0 with a minimum above it: autoscaling is off, and stays so.
            metric: Its value, over all replicas. None: it could not be had, and nothing is scaled.
        """
        spec = self.spec
        if not self._proposed:
            self._proposed.append(At(now_s, current))  # recordInitialRecommendation
        if current == 0 and spec.min_replicas:
            return 0
        if not spec.min_replicas <= current <= spec.max_replicas:
            return self._scaled(now_s, current, min(max(current, spec.min_replicas), spec.max_replicas))
        if metric is None:
            return current
        steady = self._stabilized(now_s, current, proposal(metric, current, spec))
        return self._scaled(now_s, current, self._limited(now_s, current, steady))

    def _stabilized(self, now_s: float, current: int, proposed: int) -> int:
        """Between the lowest proposal of one window and the highest of the other.

        Source: ``stabilizeRecommendationWithBehaviors``. A proposal exactly as old as its window counts no more.
        """
        up_s, down_s = now_s - self.spec.up.window_s, now_s - self.spec.down.window_s
        lowest = min([proposed, *(each.replicas for each in self._proposed if each.at_s > up_s)])
        highest = max([proposed, *(each.replicas for each in self._proposed if each.at_s > down_s)])
        kept = [each for each in self._proposed if each.at_s >= min(up_s, down_s)]
        self._proposed = [*kept, At(now_s, proposed)]
        return min(max(current, lowest), highest)

    def _limited(self, now_s: float, current: int, wanted: int) -> int:
        """What policies and limits leave of a change (``convertDesiredReplicasWithBehaviorRate``)."""
        spec = self.spec
        if wanted > current:
            limit = max(current, self._most(now_s, current))
            return min(wanted, limit, spec.max_replicas)
        if wanted < current:
            limit = min(current, self._least(now_s, current))
            return max(wanted, limit, spec.min_replicas)
        return wanted

    def _most(self, now_s: float, current: int) -> int:
        """``calculateScaleUpLimitWithScalingRules``: a percentage is rounded up, so that one pod can become two."""
        rules = self.spec.up
        if rules.select is Select.DISABLED:
            return current
        limits = []
        for policy in rules.policies:
            before = self._replicas_before(now_s - policy.period_s, current)
            grown = math.ceil(before * (1 + policy.value / 100))
            limits.append(before + policy.value if policy.unit is Unit.PODS else grown)
        return min(limits) if rules.select is Select.MIN else max(limits)

    def _least(self, now_s: float, current: int) -> int:
        """``calculateScaleDownLimitWithBehaviors``: a percentage is rounded towards 0."""
        rules = self.spec.down
        if rules.select is Select.DISABLED:
            return current
        limits = []
        for policy in rules.policies:
            before = self._replicas_before(now_s - policy.period_s, current)
            shrunk = int(before * (1 - policy.value / 100))
            limits.append(before - policy.value if policy.unit is Unit.PODS else shrunk)
        return max(limits) if rules.select is Select.MIN else min(limits)

    def _replicas_before(self, since_s: float, current: int) -> int:
        """The replicas at the start of a period (``getReplicasChangePerPeriod``)."""
        return current - _sum_after(self._added, since_s) + _sum_after(self._removed, since_s)

    def _scaled(self, now_s: float, current: int, new: int) -> int:
        """The new number, which is remembered for the policies (``storeScaleEvent``)."""
        if new > current:
            self._added.append(At(now_s, new - current))
        elif new < current:
            self._removed.append(At(now_s, current - new))
        return new


def _sum_after(changes: Sequence[At], since_s: float) -> int:
    return sum(each.replicas for each in changes if each.at_s > since_s)


def proposal(metric: float, current: int, spec: HpaSpec) -> int:
    """The replicas for a metric before windows and policies (``GetExternalPerPodMetricReplicas``).

    The metric's API has thousandths. The tolerance of the direction decides whether the ratio changes anything.

    >>> proposal(250.0, 2, HpaSpec(target=100.0)), proposal(210.0, 2, HpaSpec(target=100.0))
    (3, 2)
    """
    ratio = metric / (spec.target * current) if current else math.inf
    if 1 - spec.down.tolerance <= ratio <= 1 + spec.up.tolerance:
        return current
    return math.ceil(round(metric * 1000) / round(spec.target * 1000))
