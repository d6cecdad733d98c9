"""A job without a collector says whether another one's passes come."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from monitor.collectors.kafka.catalog import KafkaCatalogCollector
from monitor.collectors.remote_collector import RemoteCollector
from monitor.config import ClusterSettings
from monitor.demo.servers.ports import free_ports
from tests.support.job_process import eventually
from tests.support.threads import working

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [pytest.mark.broker, pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")]


@dataclass
class Scene:
    """The one that waits, by a clock that the test sets, and the collector that it waits for."""

    cluster: ClusterSettings
    now_s: float = 1000.0

    def __post_init__(self) -> None:
        self.passes = RemoteCollector(self.cluster, lambda: self.now_s)
        self.collector = KafkaCatalogCollector(self.cluster)

    def look(self, after_s: float = 0.0) -> str | None:
        self.now_s += after_s
        self.passes.attempt()
        return self.passes.problem


@pytest.fixture
def scene(cluster):
    made = Scene(cluster)
    yield made
    made.collector.close()


def test_a_topic_that_is_not_there_is_awaited_and_not_created(scene):
    topic = scene.cluster.events_topic
    for _ in range(2):
        assert scene.look() == f"Cluster prod: there is no {topic} yet; the job of the first shard creates it."
    assert scene.passes.last_success_ms is None
    scene.collector.collect()
    assert scene.look() is None
    assert scene.passes.last_success_ms is not None


def test_a_topic_that_grows_no_more_is_a_problem_until_it_grows_again(scene):
    scene.collector.collect()
    assert scene.look() is None
    assert scene.look(60) is None
    assert scene.look(1) == (
        f"Cluster prod: nothing was written to {scene.cluster.events_topic} for 61 s;"
        " the job of the first shard, which lists the topics, does not seem to run."
    )
    scene.collector.collect()
    assert scene.look() is None


def test_rare_passes_are_awaited_longer(cluster):
    scene = Scene(cluster.model_copy(update={"collect_interval_s": 100.0}))
    scene.collector.collect()
    scene.collector.close()
    assert scene.look() is None
    assert scene.look(300) is None
    assert scene.look(1) is not None


def test_a_cluster_that_does_not_answer_is_a_problem():
    nobody = ClusterSettings(name="prod", bootstrap_servers=f"127.0.0.1:{free_ports(1)[0]}")
    passes = RemoteCollector(nobody, connect_limit_s=1.0)
    passes.attempt()
    assert passes.problem is not None
    assert passes.problem.startswith("Cluster prod: ")
    assert passes.last_success_ms is None


def test_it_looks_until_it_is_stopped(scene):
    with working(scene.passes.run):
        eventually(lambda: scene.passes.problem, "a first look")
