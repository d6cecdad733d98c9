"""What KEDA adds between a scaler and the autoscaler of Kubernetes: fallback, null values, zero replicas. Pure.

Source: kedacore/keda, ``pkg/fallback/fallback.go``, ``pkg/scalers/prometheus_scaler.go`` (``ignoreNullValues``) and
``pkg/scaling/executor/scale_scaledobjects.go`` (from and to zero replicas). Times are seconds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

POLLING_S: Final = 30.0
"""``pollingInterval``: how often KEDA reads a scaler for zero replicas. The autoscaler reads it besides."""

COOLDOWN_S: Final = 300.0
"""``cooldownPeriod``: how long after the last activity the replicas become zero."""


class FallbackBehavior(StrEnum):
    """``fallback.behavior``."""

    STATIC = "static"
    CURRENT = "currentReplicas"
    CURRENT_IF_HIGHER = "currentReplicasIfHigher"
    CURRENT_IF_LOWER = "currentReplicasIfLower"


@dataclass(frozen=True)
class Fallback:
    """``fallback`` of a ScaledObject: after more failures than the threshold, so many replicas."""

    failure_threshold: int
    replicas: int
    behavior: FallbackBehavior = FallbackBehavior.STATIC

    def replicas_of(self, current: int) -> int:
        """How many replicas the metric then stands for (``doFallback``)."""
        match self.behavior:
            case FallbackBehavior.CURRENT:
                return current
            case FallbackBehavior.CURRENT_IF_HIGHER:
                return max(current, self.replicas)
            case FallbackBehavior.CURRENT_IF_LOWER:
                return min(current, self.replicas)
            case FallbackBehavior.STATIC:
                return self.replicas


@dataclass
class MetricWithFallback:
    """A metric as the autoscaler gets it: its value, that of the fallback, or none (``GetMetricsWithFallback``)."""

    target: float
    fallback: Fallback | None = None
    _failures: int = 0

    def value(self, reading: float | None, current: int) -> float | None:
        """For a scaler's reading (None: it failed), with so many replicas now. A success forgets all failures."""
        if reading is not None:
            self._failures = 0
            return reading
        if self.fallback is None:
            return None
        self._failures += 1
        if self._failures <= self.fallback.failure_threshold:
            return None
        return self.target * self.fallback.replicas_of(current)


def prometheus_value(samples: Sequence[float], *, ignore_null_values: bool = True) -> float | None:
    """What KEDA's Prometheus scaler makes of a query's result; None is an error. By default nothing is 0.

    >>> prometheus_value([]), prometheus_value([], ignore_null_values=False), prometheus_value([3.0])
    (0, None, 3.0)
    """
    if not samples:
        return 0 if ignore_null_values else None
    return samples[0] if len(samples) == 1 else None


@dataclass
class Activation:
    """From and to zero replicas, with ``minReplicaCount`` 0 (``RequestScale``); once each polling interval."""

    cooldown_s: float = COOLDOWN_S
    _active_s: float | None = None

    def replicas(self, now_s: float, current: int, *, is_active: bool | None) -> int:
        """How many replicas there are to be; ``is_active`` None: the scaler failed, and nothing is scaled to zero."""
        if is_active:
            self._active_s = now_s
            return max(current, 1)
        if is_active is None or current == 0:
            return current
        is_over = self._active_s is None or now_s > self._active_s + self.cooldown_s
        return 0 if is_over else current
