"""The loop of an autoscaler over one deployment: a metric, KEDA's fallback, the HPA, and pods."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from tests.autoscaling.consumers import Assignor, Deployment
from tests.autoscaling.hpa import Hpa, HpaSpec
from tests.autoscaling.keda import Fallback, MetricWithFallback
from tests.autoscaling.keda_kafka import KafkaTrigger
from tests.autoscaling.loads import PARTITIONS
from tests.autoscaling.sources import MetricSource, Signal
from tests.autoscaling.times import FASTER, RUN_POLLING_S, RUN_SYNC_S

GROUPWATCH: Final = "groupwatch"
DEFAULT_KEDA_LAG: Final = 500
_FLAGS: Final = {
    "even": {"ensure_even_distribution": True},
    "withlag": {"limit_to_partitions_with_lag": True},
    "persistent": {"exclude_persistent_lag": True},
    "idle": {"allow_idle_consumers": True},
}


@dataclass(frozen=True)
class Variant:
    """One way to scale. ``trigger`` None: by groupwatch."""

    name: str
    trigger: KafkaTrigger | None
    down_window_s: float | None = None
    """The window downwards in a cluster, where it is not the default of 300 s."""
    fallback: Fallback | None = None
    assignor: Assignor = Assignor.STICKY
    down_after_s: float | None = None
    """``down_after_s`` of groupwatch in a cluster, where it is not the default."""

    def spec(self, target: float) -> HpaSpec:
        """The autoscaler, with all its times as fast as the run."""
        spec = HpaSpec(target, min_replicas=1, max_replicas=PARTITIONS)
        if self.down_window_s is not None:
            spec = replace(spec, down=replace(spec.down, window_s=self.down_window_s))
        return spec.faster(FASTER)


def variant_of(name: str) -> Variant:
    """A variant by its name: ``groupwatch``, ``groupwatch-window``, ``groupwatch-SECONDS``, ``keda-LAG-FLAG...`` or
    ``keda-FLAG``.

    LAG is ``lagThreshold`` in records of the run. FLAG is one of even (``ensureEvenDistributionOfPartitions``), withlag
    (``limitToPartitionsWithLag``), persistent (``excludePersistentLag``) and idle (``allowIdleConsumers``).

    groupwatch waits itself before its number falls (``down_after_s``, or SECONDS), so its autoscaler has no window of
    its own, but with ``groupwatch-window``.

    >>> variant_of("groupwatch-300").down_after_s
    300.0
    >>> variant_of("keda-100-even").trigger.lag_threshold, variant_of("keda-even").trigger.ensure_even_distribution
    (100, True)

    Raises:
        ValueError: There is no such variant.
    """
    if name in (GROUPWATCH, f"{GROUPWATCH}-window"):
        return Variant(name, None, down_window_s=0.0 if name == GROUPWATCH else None)
    system, *words = name.split("-")
    if system == GROUPWATCH and len(words) == 1 and words[0].isdigit():
        return Variant(name, None, down_window_s=0.0, down_after_s=float(words[0]))
    if system != "keda" or not words:
        raise ValueError(f"no such variant: {name}")
    lag = int(words.pop(0)) if words[0].isdigit() else DEFAULT_KEDA_LAG
    unknown = [each for each in words if each not in _FLAGS]
    if unknown:
        raise ValueError(f"KEDA has no flag {unknown[0]}: {', '.join(_FLAGS)}")
    flags = {flag: value for each in words for flag, value in _FLAGS[each].items()}
    return Variant(name, KafkaTrigger(lag, **flags))  # type: ignore[arg-type] # all flags are truth values


@dataclass
class Loop:
    """A deployment that follows a signal. Times are seconds since the start of the run."""

    variant: Variant
    source: MetricSource
    deployment: Deployment
    signal: Signal = field(default_factory=lambda: Signal(None, reason="not asked yet"))
    """The newest."""
    _sync_s: float = 0.0
    _poll_s: float = RUN_POLLING_S / 4
    """KEDA's own polling is not in step with the autoscaler's."""

    def __post_init__(self) -> None:
        self._hpa = Hpa(self.variant.spec(self.source.target))
        self._metric = MetricWithFallback(self.source.target, self.variant.fallback)

    def tick(self, now_s: float) -> None:
        """Poll and sync where they are due."""
        if now_s >= self._poll_s:
            self._poll_s += RUN_POLLING_S
            if self.variant.trigger is not None:  # its state is what counts here: excludePersistentLag, failures
                self._metric.value(self.source.signal().metric, self.deployment.replicas)
        if now_s >= self._sync_s:
            self._sync_s += RUN_SYNC_S
            self._sync(now_s)

    def _sync(self, now_s: float) -> None:
        current = self.deployment.replicas
        self.signal = self.source.signal()
        metric = self._metric.value(self.signal.metric, current)
        replicas = self._hpa.replicas(now_s, current, metric)
        if replicas != current:
            self.deployment.scale(replicas)

    @property
    def wanted(self) -> float | None:
        """How many replicas the newest metric stands for, before the autoscaler's tolerance, windows and policies."""
        return None if self.signal.metric is None else self.signal.metric / self.source.target
