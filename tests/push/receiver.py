"""An OpenTelemetry collector of a test's own, made from OpenTelemetry's protobufs: OTLP by gRPC and by HTTP.

It keeps what it was sent. Told to fail, it refuses everything.
"""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import grpc
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import (
    ExportMetricsServiceRequest,
    ExportMetricsServiceResponse,
)
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2_grpc import (
    MetricsServiceServicer,
    add_MetricsServiceServicer_to_server,
)
from opentelemetry.proto.common.v1.common_pb2 import KeyValue
from opentelemetry.proto.metrics.v1.metrics_pb2 import Metric

Pairs = frozenset[tuple[str, str]]
PATIENCE_S = 20.0


@dataclass
class Received:
    """What came, for all threads; ``fails`` makes the server refuse, with that text, in which headers are filled in."""

    fails: bool = False
    refusal: str = "the token\nis old"
    status: int = 403
    body: bytes = b""
    requests: list[ExportMetricsServiceRequest] = field(default_factory=list)
    headers: list[Mapping[str, str]] = field(default_factory=list)
    refused: int = 0
    changed: threading.Condition = field(default_factory=threading.Condition)

    def take(self, body: bytes, headers: Mapping[str, str]) -> bool:
        """Whether the request is accepted."""
        with self.changed:
            self.headers.append({name.lower(): value for name, value in headers.items()})
            if self.fails:
                self.refused += 1
            else:
                self.requests.append(ExportMetricsServiceRequest.FromString(body))
            self.changed.notify_all()
            return not self.fails

    def wait_for(self, requests: int) -> None:
        """Return when so many requests were accepted."""
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.requests) >= requests, PATIENCE_S)

    def wait_for_refusal(self) -> None:
        """Return when a request was refused."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.refused > 0, PATIENCE_S)

    def metrics(self) -> list[Metric]:
        """The metrics of all requests; one that was split comes several times."""
        return [
            metric
            for request in self.requests
            for resource in request.resource_metrics
            for scope in resource.scope_metrics
            for metric in scope.metrics
        ]

    def samples(self) -> dict[tuple[str, Pairs], float]:
        """Each value by the name and labels that Prometheus' text format gives it."""
        found: dict[tuple[str, Pairs], float] = {}
        for metric in self.metrics():
            for key, value in _samples(metric):
                assert key not in found, f"{key} came twice"
                found[key] = value
        return found


def pairs(attributes: object) -> Pairs:
    return frozenset(_pair(each) for each in attributes)  # type: ignore[attr-defined]


def _pair(attribute: KeyValue) -> tuple[str, str]:
    assert attribute.value.WhichOneof("value") == "string_value"
    return attribute.key, attribute.value.string_value


def _samples(metric: Metric) -> Iterator[tuple[tuple[str, Pairs], float]]:
    kind = metric.WhichOneof("data")
    for point in getattr(metric, kind).data_points:
        own = pairs(point.attributes)
        if kind != "histogram":
            yield (metric.name, own), getattr(point, point.WhichOneof("value"))
            continue
        assert sum(point.bucket_counts) == point.count
        yield (f"{metric.name}_sum", own), point.sum
        yield (f"{metric.name}_count", own), point.count
        total = 0
        for bound, count in zip([*point.explicit_bounds, float("inf")], point.bucket_counts, strict=True):
            total += count
            yield (f"{metric.name}_bucket", own | {("le", repr(bound))}), total


class _Service(MetricsServiceServicer):
    def __init__(self, received: Received) -> None:
        self._received = received

    def Export(self, request, context):  # noqa: N802 -- gRPC's name
        headers = dict(context.invocation_metadata())
        if not self._received.take(request.SerializeToString(), headers):
            context.abort(grpc.StatusCode.PERMISSION_DENIED, self._received.refusal.format(**headers))
        return ExportMetricsServiceResponse()


@contextmanager
def grpc_receiver(received: Received, certificate: tuple[Path, Path] | None = None) -> Iterator[str]:
    """The address of a gRPC server: host and port."""
    server = grpc.server(ThreadPoolExecutor(2))
    add_MetricsServiceServicer_to_server(_Service(received), server)
    if certificate is None:
        port = server.add_insecure_port("127.0.0.1:0")
    else:
        file, key = (each.read_bytes() for each in certificate)
        port = server.add_secure_port("127.0.0.1:0", grpc.ssl_server_credentials([(key, file)]))
    server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        server.stop(None).wait()


@contextmanager
def http_receiver(received: Received) -> Iterator[str]:
    """The address of an HTTP server that takes protobuf at /v1/metrics: host and port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            unpacked = gzip.decompress(body) if self.headers["Content-Encoding"] == "gzip" else body
            is_ours = (
                self.path in ("/v1/metrics", "/tiger-path") and self.headers["Content-Type"] == "application/x-protobuf"
            )
            is_accepted = is_ours and received.take(unpacked, dict(self.headers))
            reason = received.refusal.replace("\n", " ").format(**{k.lower(): v for k, v in self.headers.items()})
            self.send_response(200 if is_accepted else received.status, None if is_accepted else reason)
            self.send_header("Location", "/elsewhere")
            self.send_header("Content-Length", str(len(received.body)))
            self.end_headers()
            with suppress(ConnectionError):
                self.wfile.write(received.body)

        def log_message(self, format: str, *args: object) -> None:
            """Quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
