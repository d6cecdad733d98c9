"""For how long expectations are met, as counters that are read for each scrape."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily
from prometheus_client.registry import Collector

from monitor.expectations.met_time import MetTime
from monitor.metrics import specs
from monitor.metrics.spec_types import unit_of
from monitor.model.cluster_label import CLUSTER_LABEL
from monitor.model.expectations import Met

Shown = Callable[[], Mapping[str, MetTime]]
"""The time of each entry now, by its expression."""


class MetSeconds(Collector):
    """The family of all clusters that count. ``label`` names the cluster."""

    def __init__(self, label: str = CLUSTER_LABEL) -> None:
        self._label = label
        self._shown: dict[str, Shown] = {}

    def watch(self, cluster: str, shown: Shown) -> None:
        """Read the time of a cluster's entries here from now on."""
        self._shown = {**self._shown, cluster: shown}

    def collect(self) -> Iterator[Metric]:
        """The family, if a cluster counts."""
        spec = specs.EXPECTATION_SECONDS_TOTAL
        names = [self._label if name == CLUSTER_LABEL else name for name in spec.labels]
        family = CounterMetricFamily(spec.name, spec.help, labels=names, unit=unit_of(spec).value)
        for cluster, shown in self._shown.items():
            for expression, time in shown().items():
                for met, passed_ms in ((Met.YES, time.yes_ms), (Met.NO, time.no_ms), (Met.UNKNOWN, time.unknown_ms)):
                    family.add_metric([cluster, expression, met.value], passed_ms / 1_000)
        if family.samples:
            yield family
