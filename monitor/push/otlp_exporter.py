"""OpenTelemetry's own exporters, fed with the families of /metrics. It needs the extra ``otlp``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

import grpc
from opentelemetry.exporter.otlp.proto.grpc.metric_exporter import OTLPMetricExporter as GrpcExporter
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter as HttpExporter
from opentelemetry.sdk.metrics.export import (
    AggregationTemporality,
    Gauge,
    Histogram,
    HistogramDataPoint,
    Metric,
    MetricExporter,
    MetricExportResult,
    MetricsData,
    NumberDataPoint,
    ResourceMetrics,
    ScopeMetrics,
    Sum,
)
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.util.instrumentation import InstrumentationScope

from monitor.config.otlp import GRPC, USUAL_PATH, OtlpSettings
from monitor.push.collector_session import collector_session
from monitor.push.export_log import environment_headers, export_reasons
from monitor.push.families import Family, HistogramPoint, NumberPoint

TIMEOUT_S: Final = 10.0
"""OpenTelemetry's default: so long the exporter tries to send one portion."""

UNITS: Final = (("_seconds", "s"), ("_bytes", "By"), ("_ratio", "1"))
"""What the end of a name says of its unit, as OpenTelemetry writes it (UCUM)."""

_UNKNOWN_START: Final = 0
"""Counters continue after a restart, so their start is not that of the process."""


class PushFailed(Exception):  # noqa: N818 -- says what happened; a caller reads it as a sentence
    """The collector did not accept a portion; the text is the exporter's reason, without a secret."""


class OtlpExporter:
    """Sends families by one of the two protocols. Not for several threads at once, but for ``close``."""

    def __init__(self, settings: OtlpSettings, headers: Mapping[str, str], resource: Mapping[str, str]) -> None:
        """Prepare the exporter; nothing is sent yet.

        ``headers`` are those of the settings, with their references looked up. ``resource`` describes this process, in
        OpenTelemetry's names; OTEL_RESOURCE_ATTRIBUTES adds to it.
        """
        self._resource = Resource.create(resource)
        self._scope = InstrumentationScope("groupwatch", resource.get("service.version"))
        self._exporter = _create_exporter(settings, dict(headers))
        self._secrets = (*headers.values(), *environment_headers(), *_secret_paths(settings))

    def send(self, families: list[Family], now_ns: int) -> None:
        """Send one portion, with that time as the time of all its points (ns since the epoch).

        Raises:
            PushFailed: the exporter gave up.
        """
        metrics = [_metric(family, now_ns) for family in families]
        scope = ScopeMetrics(scope=self._scope, metrics=metrics, schema_url="")
        data = MetricsData([ResourceMetrics(resource=self._resource, scope_metrics=[scope], schema_url="")])
        with export_reasons(self._secrets) as reasons:
            result = self._exporter.export(data, TIMEOUT_S * 1000)
        if result is not MetricExportResult.SUCCESS:
            raise PushFailed(reasons[0] if reasons else "the exporter gave no reason")

    def close(self) -> None:
        """End a wait for a retry, and close the connection."""
        self._exporter.shutdown()


def _create_exporter(settings: OtlpSettings, headers: dict[str, str]) -> MetricExporter:
    ca_file: Path | None = settings.ca_file
    if settings.protocol == GRPC:
        roots = None if ca_file is None else ca_file.read_bytes()
        is_plain = settings.url.startswith("http://")
        return GrpcExporter(
            endpoint=settings.url,
            insecure=is_plain,
            credentials=None if is_plain else grpc.ssl_channel_credentials(roots),
            headers=headers,
            timeout=TIMEOUT_S,
            compression=grpc.Compression.Gzip,
        )
    return HttpExporter(
        endpoint=settings.url,
        certificate_file=None if ca_file is None else str(ca_file),
        headers=headers,
        timeout=TIMEOUT_S,
        compression=Compression.Gzip,
        session=collector_session(),
    )


def _secret_paths(settings: OtlpSettings) -> tuple[str, ...]:
    """The path of the endpoint, which may be a secret, as errors show it."""
    path = urlsplit(settings.endpoint or "").path.rstrip("/")
    return () if path in ("", USUAL_PATH) else (path, path.strip("/"))


def _metric(family: Family, now_ns: int) -> Metric:
    """A family as OpenTelemetry has it. Its name stays, so that queries of both worlds agree."""
    unit = next((unit for end, unit in UNITS if family.name.removesuffix("_total").endswith(end)), "")
    return Metric(name=family.name, description=family.help, unit=unit, data=_data(family, now_ns))


def _data(family: Family, now_ns: int) -> Gauge | Sum | Histogram:
    numbers = [_number(each, now_ns) for each in family.points if isinstance(each, NumberPoint)]
    if family.kind == "histogram":
        counted = [_histogram(each, now_ns) for each in family.points if isinstance(each, HistogramPoint)]
        return Histogram(data_points=counted, aggregation_temporality=AggregationTemporality.CUMULATIVE)
    if family.kind == "counter":
        return Sum(numbers, aggregation_temporality=AggregationTemporality.CUMULATIVE, is_monotonic=True)
    return Gauge(data_points=numbers)


def _number(point: NumberPoint, now_ns: int) -> NumberDataPoint:
    return NumberDataPoint(dict(point.labels), _UNKNOWN_START, now_ns, point.value)


def _histogram(point: HistogramPoint, now_ns: int) -> HistogramDataPoint:
    return HistogramDataPoint(
        attributes=dict(point.labels),
        start_time_unix_nano=_UNKNOWN_START,
        time_unix_nano=now_ns,
        count=point.observations,
        sum=point.total,
        bucket_counts=point.counts,
        explicit_bounds=point.bounds,
        min=None,  # type: ignore[arg-type] # the protocol has it optional, and the encoder takes None
        max=None,  # type: ignore[arg-type] # as above
    )
