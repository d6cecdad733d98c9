"""What the process says of itself by prometheus_client: its CPU, memory and Python, and how long its work takes.

It tells of the descriptors and threads of its JVM, too (monitor.metrics.jvm_process).

A registry of ours, not the library's own. The library counts; the text is written here, as generate_latest takes two
to four times as long (docs/decisions/0006).
"""

from __future__ import annotations

from typing import Final

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    Metric,
    PlatformCollector,
    ProcessCollector,
    disable_created_metrics,
)

from monitor.metrics import specs
from monitor.metrics.exposition_format import labels, number
from monitor.metrics.jvm_process import JvmProcess
from monitor.metrics.met_seconds import MetSeconds
from monitor.metrics.spec_types import HistogramMetric, MetricSpec, unit_of
from monitor.model import CollectorHealth
from monitor.model.cluster_label import CLUSTER_LABEL

_TOTAL: Final = "_total"


class ProcessMetrics:
    """One for each process that serves metrics. Any thread may observe, and any may ask for the text."""

    def __init__(self, label: str = CLUSTER_LABEL) -> None:
        """Nothing has been observed. The series ``_created`` are switched off for the whole process.

        ``label`` names the cluster.
        """
        disable_created_metrics()  # type: ignore[no-untyped-call] # the library does not type it
        self._label = label
        self.reads = 0
        """How often the metrics were read: scrapes and pushes."""
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        PlatformCollector(registry=self._registry)
        GCCollector(registry=self._registry)
        self._jvm = JvmProcess()
        self._registry.register(self._jvm)
        self.met: Final = MetSeconds(label)
        """For how long expectations are met."""
        self._registry.register(self.met)
        self._micro_batch = self._histogram(specs.MICRO_BATCH_SECONDS)
        self._scrape = self._histogram(specs.SCRAPE_SECONDS)
        self._collector_pass = self._histogram(specs.COLLECTOR_PASS_SECONDS)
        self._otlp_push = self._histogram(specs.OTLP_PUSH_SECONDS)
        self._webhook_delivery = self._histogram(specs.WEBHOOK_DELIVERY_SECONDS)
        skipped = specs.WEBHOOK_SKIPPED_RECORDS_TOTAL
        self._webhook_skipped = Counter(skipped.name, skipped.help, self._labels(skipped), registry=self._registry)

    def watch_jvm(self, pid: int) -> None:
        """Tell of this process as the driver's JVM from now on."""
        self._jvm.pid = pid

    def observe_micro_batch(self, cluster: str, duration_ms: int) -> None:
        """Count a completed micro-batch."""
        self._micro_batch.labels(cluster).observe(duration_ms / 1000)

    def observe_pass(self, health: CollectorHealth) -> None:
        """Count the newest pass of a collector; nothing, if none has ended."""
        if health.pass_ms is not None:
            self._collector_pass.labels(health.cluster, health.collector, health.name).observe(health.pass_ms / 1000)

    def observe_scrape(self, duration_s: float) -> None:
        """Count an answer to a scrape. The text of the next one tells of it."""
        self.reads += 1
        self._scrape.observe(duration_s)

    def observe_push(self, duration_s: float, *, is_success: bool) -> None:
        """Count a push to the OpenTelemetry collector."""
        self.reads += 1
        self._otlp_push.labels("success" if is_success else "failure").observe(duration_s)

    def observe_delivery(self, cluster: str, result: str, duration_s: float) -> None:
        """Count an attempt to deliver a finding to the webhook."""
        self._webhook_delivery.labels(cluster, result).observe(duration_s)

    def count_skipped(self, cluster: str, reason: str, records: int = 1) -> None:
        """Count records of the findings topic that are not sent to the webhook. With 0 there is a series of them."""
        self._webhook_skipped.labels(cluster, reason).inc(records)

    def text(self, *, openmetrics: bool = False) -> str:
        """All of it as it is now, to stand before the other families: without the end of OpenMetrics."""
        head = _openmetrics_header if openmetrics else _header
        return "".join([head(metric) + _samples(metric) for metric in self._registry.collect()])

    def _histogram(self, spec: HistogramMetric) -> Histogram:
        unit = unit_of(spec).value
        own = self._labels(spec)
        return Histogram(spec.name, spec.help, own, unit=unit, registry=self._registry, buckets=spec.buckets)

    def _labels(self, spec: MetricSpec) -> list[str]:
        return [self._label if name == CLUSTER_LABEL else name for name in spec.labels]


def _header(metric: Metric) -> str:
    name = f"{metric.name}{_TOTAL}" if metric.type == "counter" else metric.name
    return f"# HELP {name} {metric.documentation}\n# TYPE {name} {metric.type}\n"


def _openmetrics_header(metric: Metric) -> str:
    """The library names a counter without ``_total``, as OpenMetrics does."""
    unit = f"# UNIT {metric.name} {metric.unit}\n" if metric.unit else ""
    return f"# TYPE {metric.name} {metric.type}\n{unit}# HELP {metric.name} {metric.documentation}\n"


def _samples(metric: Metric) -> str:
    lines = [(each.name, labels(**each.labels), number(each.value)) for each in metric.samples]
    return "".join([f"{name}{{{pairs}}} {value}\n" if pairs else f"{name} {value}\n" for name, pairs, value in lines])
