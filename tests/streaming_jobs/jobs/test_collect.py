"""``groupwatch collect``: the collectors without a job, told how they go, ended at once."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from msgspec.structs import replace

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.passes.health import PassCounter
from monitor.collectors.snapshot import SourceSnapshot
from monitor.config import ClusterSettings, ConfigError, Settings, SparkQueriesSettings
from monitor.config.metrics import MetricsSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports
from monitor.metrics.collector_samples import collectors_exposition, collectors_text
from monitor.model import CollectorHealth, GroupKind, GroupObserved, PassCompleted, Source
from monitor.protocol.events_topic import decode_event
from monitor.web.collect_app import create_collect_app
from monitor.web.server import HttpServer
from streaming_jobs.jobs.collect import Collectors, chosen_kinds
from streaming_jobs.jobs.collector_log import CollectorLog
from tests.support.clients import values_of
from tests.support.job_process import JobProcess, eventually
from tests.support.listening import watched_listeners

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")

WELL = CollectorHealth("prod", "rocketmq", "orders", complete=3, incomplete=1, last_success_ms=5_000, pass_ms=1_250)
GOLDEN = """\
# HELP groupwatch_build_info 1, with the version of groupwatch.
# TYPE groupwatch_build_info gauge
groupwatch_build_info{version="1"} 1
# HELP groupwatch_collector_up 1 if the newest poll of the collector was complete, else 0.
# TYPE groupwatch_collector_up gauge
groupwatch_collector_up{cluster="prod",collector="rocketmq",name="orders"} 1
# HELP groupwatch_collector_last_success_timestamp_seconds Unix time at which the collector last wrote a complete poll.
# TYPE groupwatch_collector_last_success_timestamp_seconds gauge
groupwatch_collector_last_success_timestamp_seconds{cluster="prod",collector="rocketmq",name="orders"} 5
# HELP groupwatch_collector_passes_total Polls of the collector: complete, incomplete (a response is missing) or failed.
# TYPE groupwatch_collector_passes_total counter
groupwatch_collector_passes_total{cluster="prod",collector="rocketmq",name="orders",result="complete"} 3
groupwatch_collector_passes_total{cluster="prod",collector="rocketmq",name="orders",result="incomplete"} 1
groupwatch_collector_passes_total{cluster="prod",collector="rocketmq",name="orders",result="failed"} 0
# HELP groupwatch_collector_pass_duration_seconds Deprecated: see \
groupwatch_collector_pass_seconds. Duration of the newest poll.
# TYPE groupwatch_collector_pass_duration_seconds gauge
groupwatch_collector_pass_duration_seconds{cluster="prod",collector="rocketmq",name="orders"} 1.25
"""


def test_the_whole_text_of_one_collector():
    assert collectors_exposition([WELL], version="1") == GOLDEN


def test_a_collector_with_a_problem_is_down():
    text = collectors_exposition([replace(WELL, problem="Nobody answers.")], version="1")
    assert 'groupwatch_collector_up{cluster="prod",collector="rocketmq",name="orders"} 0\n' in text


def test_a_collector_with_a_warning_is_up_and_ready_and_says_it_in_the_log_once(caplog: pytest.LogCaptureFixture):
    warned = replace(WELL, warning="One node is out of date.")
    text = collectors_exposition([warned], version="1")
    assert 'groupwatch_collector_up{cluster="prod",collector="rocketmq",name="orders"} 1\n' in text
    assert collectors_text([warned]) == "ready\n"
    collector = AnyCollector("prod", "rocketmq", "orders")
    collector.warning = "One node is out of date."
    tell = CollectorLog(collector)
    with caplog.at_level("INFO"):
        tell()
        tell()
        collector.warning = None
        tell()
    assert [record.getMessage() for record in caplog.records] == [
        "One node is out of date.",
        "orders can be read again",
    ]


class AnyCollector(PassCounter):
    """Makes no passes."""

    def run(self, stop: threading.Event) -> None:
        """Nothing to do."""


def test_a_collector_that_has_not_ended_a_pass_is_neither_up_nor_down():
    text = collectors_exposition([CollectorHealth("prod", "kafka", "prod")], version="1")
    assert "collector_up{" not in text
    assert 'result="complete"} 0' in text


@pytest.mark.parametrize(
    ("health", "line"),
    [
        (WELL, "ready\n"),
        (CollectorHealth("prod", "kafka", "prod"), "prod: The first pass has not ended.\n"),
        (CollectorHealth("c", "spark", "etl", failed=1, problem="No such folder."), "etl: No such folder.\n"),
    ],
)
def test_what_is_not_well_has_a_line(health: CollectorHealth, line: str):
    assert collectors_text([health]) == line


def test_nothing_of_spark_is_loaded():
    code = (
        "import sys, streaming_jobs.jobs.collect; sys.exit(bool({'pyspark', 'pandas', 'pyarrow'} & sys.modules.keys()))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0


def test_kinds_are_words_or_lists_of_words():
    assert chosen_kinds([]) == ("kafka", "rocketmq", "zookeeper", "spark")
    assert chosen_kinds(["spark", "zookeeper, kafka"]) == ("kafka", "zookeeper", "spark")
    with pytest.raises(ConfigError, match="--only should be one of kafka, rocketmq, zookeeper, spark"):
        chosen_kinds(["rocketmq,metaq"])


class CollectProcess(JobProcess):
    """The command as a process of its own."""

    def __init__(self, folder: Path, clusters: dict[str, dict[str, Any]], *words: str, **sections: dict[str, Any]):
        super().__init__(folder, clusters, **sections)
        self.command = [sys.executable, "-m", "monitor.cli", "collect", "--config", str(self.config), *words]

    def refusal(self) -> str:
        """What it says if it does not start."""
        ended = subprocess.run(self.command, capture_output=True, text=True, timeout=60, check=False)
        assert (ended.returncode, ended.stdout) == (2, "")
        (line,) = ended.stderr.splitlines()
        return line.removeprefix("groupwatch cannot start: ")


def nobody() -> dict[str, dict[str, Any]]:
    return {"prod": {"bootstrap_servers": f"127.0.0.1:{free_ports(1)[0]}"}}


def test_what_keeps_it_from_starting_is_one_sentence(tmp_path: Path):
    assert CollectProcess(tmp_path, nobody(), "--only", "metaq").refusal().startswith("--only should be one of ")
    assert CollectProcess(tmp_path, nobody(), "--only", "rocketmq,spark").refusal() == (
        "Nothing to collect: the configuration has no rocketmq and no spark."
    )
    assert CollectProcess(tmp_path, nobody()).refusal().startswith("Cluster prod: no broker answers at 127.0.0.1:")


@pytest.mark.broker
def test_a_taken_port_is_one_sentence(broker: EmbeddedKafka, tmp_path: Path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        clusters = {"prod": {"bootstrap_servers": broker.bootstrap_servers}}
        assert CollectProcess(tmp_path, clusters, "--port", str(port)).refusal().startswith(f"Port {port} on ")


@pytest.mark.broker
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_writes_passes_and_tells_of_them_until_a_signal(
    broker: EmbeddedKafka, topic_name: str, tmp_path: Path, number: signal.Signals
):
    topic = f"events-{topic_name}"
    cluster = {"bootstrap_servers": broker.bootstrap_servers, "events_topic": topic, "collect_interval_s": 60}
    collecting = CollectProcess(tmp_path, {"prod": cluster}, "--only", "kafka")
    collecting.start()
    try:
        with watched_listeners(collecting.pid) as opened:
            eventually(lambda: collecting.status("/readyz") == 200, f"readiness:\n{collecting.log()}")
        assert {(listener.port, listener.is_open) for listener in opened} == {(collecting.port, False)}
        assert collecting.get("/readyz") == "ready\n"
        samples = collecting.metrics()
        labels = {"cluster": "prod", "collector": "kafka", "name": "prod"}
        assert samples.value("groupwatch_collector_up", **labels) == 1
        assert samples.value("groupwatch_collector_pass_seconds_count", **labels) == 1
        assert samples.value("groupwatch_collector_passes_total", result="complete", **labels) == 1
        events = [decode_event(value) for value in values_of(broker.bootstrap_servers, topic)]
        (completed,) = [event for event in events if isinstance(event, PassCompleted)]
        assert (completed.cluster, completed.topics) == ("prod", events.index(completed))
    finally:
        os.kill(collecting.pid, number)
        assert collecting.wait() == 0
    assert "Traceback" not in collecting.log()


class HungReader:
    """Waits for an answer that does not come."""

    def __init__(self) -> None:
        self.asked = threading.Event()
        self.let_go = threading.Event()

    def read(self, pass_ms: int) -> SourceSnapshot:
        self.asked.set()
        self.let_go.wait(60)
        raise ConnectionFailed("It did not answer.")

    def close(self) -> None:
        """Nothing is open."""


def settings_with_queries(bootstrap_servers: str, events_topic: str) -> Settings:
    prod = ClusterSettings(name="prod", bootstrap_servers=bootstrap_servers, events_topic=events_topic)
    queries = SparkQueriesSettings(name="etl", checkpoints={"q": "/c"})
    return Settings(clusters={"prod": prod}, spark_queries={"etl": queries})


def test_every_pass_is_counted_in_the_histogram():
    """The first pass fails when its reader is let go."""
    reader, stopping = HungReader(), threading.Event()
    reader.let_go.set()
    collecting = Collectors(settings_with_queries("localhost:1", "e"), ["spark"], lambda _: reader)
    running = threading.Thread(target=collecting.run, args=(stopping,))
    running.start()
    own = 'groupwatch_collector_pass_seconds_count{cluster="prod",collector="spark",name="etl"} 1\n'
    try:
        with HttpServer(create_collect_app(collecting.health, collecting.process), port=0) as server:
            eventually(lambda: own in httpx.get(f"{server.url}/metrics").text, "the pass")
    finally:
        stopping.set()
        running.join(30)


def test_the_cluster_has_the_label_that_the_settings_name():
    chosen = {"metrics": MetricsSettings(cluster_label="kafka_cluster")}
    settings = settings_with_queries("localhost:1", "e").model_copy(update=chosen)
    collecting = Collectors(settings, ["spark"], lambda _: HungReader())
    health = replace(collecting.health()[0], pass_ms=1_000)
    collecting.process.observe_pass(health)
    text = collecting.text()
    assert (
        'groupwatch_collector_passes_total{kafka_cluster="prod",collector="spark",name="etl",result="complete"}' in text
    )
    assert 'groupwatch_collector_pass_seconds_count{kafka_cluster="prod",collector="spark",name="etl"} 1' in text
    with HttpServer(create_collect_app(lambda: (health,), None, "kafka_cluster"), port=0) as server:
        served = httpx.get(f"{server.url}/metrics").text
    assert 'groupwatch_collector_pass_duration_seconds{kafka_cluster="prod",collector="spark",name="etl"} 1\n' in served


def test_one_that_waits_for_an_answer_does_not_hold_up_the_end():
    reader, stopping = HungReader(), threading.Event()
    collecting = Collectors(settings_with_queries("localhost:1", "e"), ["spark"], lambda _: reader)
    running = threading.Thread(target=collecting.run, args=(stopping,))
    running.start()
    assert reader.asked.wait(30)
    stopping.set()
    running.join(30)
    assert not running.is_alive()
    assert not reader.let_go.is_set()
    reader.let_go.set()


class SeenQuery:
    """Finds one query of Spark, and remembers whom it was made for."""

    def __init__(self, cluster: str) -> None:
        self.cluster = cluster

    def read(self, pass_ms: int) -> SourceSnapshot:
        group = GroupObserved(
            cluster=self.cluster,
            group="q",
            kind=GroupKind.SPARK,
            source=Source.CHECKPOINT,
            pass_ms=pass_ms,
            observed_ms=pass_ms,
        )
        return SourceSnapshot(
            source=Source.CHECKPOINT, groups=(group,), complete=False, problems=("One folder is empty.",)
        )

    def close(self) -> None:
        """Nothing is open."""


@pytest.mark.broker
def test_a_query_is_a_group_of_the_cluster_and_an_incomplete_pass_is_told(broker: EmbeddedKafka, topic_name: str):
    """The configuration names no cluster for it, so it is of the only one; the reader is told which that is."""
    settings = settings_with_queries(broker.bootstrap_servers, f"events-{topic_name}")
    stopping = threading.Event()
    collecting = Collectors(settings, ["spark"], lambda read: SeenQuery(read.cluster))
    running = threading.Thread(target=collecting.run, args=(stopping,))
    running.start()
    try:
        (health,) = eventually(
            lambda: tuple(each for each in collecting.health() if each.incomplete or each.failed), "a pass"
        )
    finally:
        stopping.set()
        running.join(30)
    assert (health.cluster, health.collector, health.name) == ("prod", "spark", "etl")
    assert (health.incomplete, health.failed, health.problem) == (1, 0, "One folder is empty.")
    assert health.last_success_ms is None
    (event,) = [decode_event(value) for value in values_of(broker.bootstrap_servers, f"events-{topic_name}")]
    assert isinstance(event, GroupObserved)
    assert (event.cluster, event.group) == ("prod", "q")


def test_the_app_has_no_page():
    assert [route.path for route in create_collect_app(tuple).routes] == ["/metrics", "/readyz", "/healthz"]
