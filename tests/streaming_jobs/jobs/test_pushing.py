"""The job's metrics are pushed while it runs, if an endpoint is set; no Spark is needed for that."""

from __future__ import annotations

from contextlib import nullcontext

from monitor.config import ClusterSettings, OtlpSettings, Settings
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.jobs.collect import Collectors
from streaming_jobs.jobs.pushing import metrics_push, text_push
from tests.push.receiver import Received, grpc_receiver

CLUSTERS = {"prod": ClusterSettings(name="prod", bootstrap_servers="broker1:9092")}


def test_a_collector_gets_what_the_store_has_at_the_start():
    received = Received()
    with grpc_receiver(received) as address:
        settings = Settings(clusters=CLUSTERS, otlp=OtlpSettings(endpoint=f"http://{address}"))
        with metrics_push(SnapshotStore(["prod"]), settings):
            received.wait_for(1)
    samples = received.samples()
    assert samples["groupwatch_ready", frozenset({("cluster", "prod")})] == 0
    assert any(name == "process_cpu_seconds_total" for name, _ in samples)


def test_a_process_that_only_collects_pushes_what_it_serves():
    received = Received()
    with grpc_receiver(received) as address:
        settings = Settings(clusters=CLUSTERS, otlp=OtlpSettings(endpoint=f"http://{address}"))
        collecting = Collectors(settings, ["kafka"])  # they connect when they run
        with text_push(collecting.text, collecting.process, settings):
            received.wait_for(1)
    labels = frozenset({("cluster", "prod"), ("collector", "kafka"), ("name", "prod"), ("result", "complete")})
    assert received.samples()["groupwatch_collector_passes_total", labels] == 0


def test_without_an_endpoint_nothing_starts():
    assert isinstance(metrics_push(SnapshotStore(["prod"]), Settings(clusters=CLUSTERS)), nullcontext)
