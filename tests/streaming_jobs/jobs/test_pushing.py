"""The job's metrics are pushed while it runs, if an endpoint is set; no Spark is needed for that."""

from __future__ import annotations

import threading
from contextlib import nullcontext

from monitor.config import ClusterSettings, OtlpSettings, RocketMQSettings, Settings, WebhookSettings
from monitor.metrics.process_metrics import ProcessMetrics
from monitor.model import FindingRecord
from streaming_jobs.driver import findings_webhook
from streaming_jobs.driver.findings_webhook import FindingsOf, FindingsWebhook, stop_all
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.jobs.collect import Collectors
from streaming_jobs.jobs.pushing import carried_findings, metrics_push, text_push
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


def test_attributes_have_the_names_of_opentelemetry_and_the_system_of_each_cluster_if_asked_for():
    received = Received()
    queue = RocketMQSettings.model_validate({"name": "mq", "name_servers": "n:9876"})
    text = '# TYPE a gauge\na{cluster="prod",group="g"} 1\na{cluster="mq",group="g"} 2\n'
    with grpc_receiver(received) as address:
        otlp = OtlpSettings(endpoint=f"http://{address}", attributes="messaging")
        settings = Settings(clusters=CLUSTERS, rocketmq={"mq": queue}, otlp=otlp)
        with text_push(lambda: text, ProcessMetrics(), settings):
            received.wait_for(1)
    named = {value: dict(pairs) for (name, pairs), value in received.samples().items() if name == "a"}
    of_group = {"messaging.consumer.group.name": "g"}
    assert named[1] == {"cluster": "prod", "messaging.system": "kafka", **of_group}
    assert named[2] == {"cluster": "mq", "messaging.system": "rocketmq", **of_group}


def test_without_an_endpoint_nothing_starts():
    assert isinstance(metrics_push(SnapshotStore(["prod"]), Settings(clusters=CLUSTERS)), nullcontext)


def test_the_topic_of_a_cluster_has_its_findings_and_those_of_what_it_carries():
    clusters = {name: ClusterSettings(name=name, bootstrap_servers=f"{name}:9092") for name in ("dev", "prod")}
    systems = {
        name: RocketMQSettings.model_validate({"name": name, "name_servers": "n:9876", "via": via})
        for name, via in (("orders", "prod"), ("tests", "dev"))
    }
    settings = Settings(clusters=clusters, rocketmq=systems)
    assert carried_findings(clusters["prod"], settings) == FindingsOf("prod", ("orders",))
    clusters["guarded"] = ClusterSettings(name="guarded", bootstrap_servers="guarded:9092", via="prod")
    settings = Settings(clusters=clusters, rocketmq=systems)
    assert carried_findings(clusters["prod"], settings) == FindingsOf("prod", ("guarded", "orders"))
    assert carried_findings(clusters["dev"], settings) == FindingsOf("dev", ("tests",))


class EndsAfter:
    """A feed that is read until another one is closed."""

    def __init__(self, other: threading.Event) -> None:
        self._other = other
        self.closed = threading.Event()
        self.began = threading.Event()
        self.waited = False

    def read(self, wait_ms: int) -> list[FindingRecord]:
        self.began.set()
        self.waited = self._other.wait(20)
        return []

    def commit(self) -> None:
        """Nothing is kept."""

    def renew(self) -> None:
        """As before."""

    def close(self) -> None:
        self.closed.set()


def test_all_webhooks_end_at_the_same_time(monkeypatch):
    """One after the other, ten clusters whose receiver is silent would take longer than a pod has for its end."""
    monkeypatch.setattr(findings_webhook, "END_LIMIT_S", 30)
    last = EndsAfter(threading.Event())
    last._other.set()
    first = EndsAfter(last.closed)
    webhooks = [
        FindingsWebhook(FindingsOf("prod"), WebhookSettings(url="http://receiver:1"), feed, ProcessMetrics())
        for feed in (first, last)
    ]
    for webhook in webhooks:
        webhook.start()
    assert first.began.wait(20)
    stop_all(webhooks)
    assert first.waited
    assert first.closed.is_set()
