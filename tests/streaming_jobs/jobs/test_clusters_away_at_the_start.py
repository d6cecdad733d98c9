"""Five clusters of which two are away at the start; one comes, one goes. Each is told rightly, and the job goes on."""

from __future__ import annotations

import json
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.ports import free_ports
from monitor.demo.servers.settings import BrokerSettings
from tests.support.brokers import SOON_BACK
from tests.support.clients import commit, create_topic
from tests.support.job_process import JobProcess, running
from tests.support.without_spark import JobWithoutSpark

pytestmark = [
    pytest.mark.broker,
    pytest.mark.jobs,
    pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning"),  # kafka-python leaves those of failed connections
]

UP: Final = "groupwatch_up"
READY: Final = "groupwatch_ready"
COMMITTED: Final = "groupwatch_partition_committed_offset"
SETTINGS: Final = BrokerSettings(heap_mb=256, offsets_topic_partitions=1, properties=SOON_BACK)
BRIEF: Final = {"buckets": 1, "shuffle_partitions": 1}


@pytest.fixture
def stays() -> Iterator[EmbeddedKafka]:
    """A broker that serves two of the clusters."""
    with EmbeddedKafka(SETTINGS) as kafka:
        begin(kafka)
        yield kafka


@pytest.fixture
def goes() -> Iterator[EmbeddedKafka]:
    """One that a test kills."""
    with EmbeddedKafka(SETTINGS) as kafka:
        begin(kafka)
        yield kafka


@pytest.fixture
def comes() -> Iterator[EmbeddedKafka]:
    """One that has not been started."""
    kafka = EmbeddedKafka(SETTINGS)
    yield kafka
    kafka.stop()


def begin(kafka: EmbeddedKafka) -> None:
    """Its first group."""
    create_topic(kafka.bootstrap_servers, "read", 1)
    commit(kafka.bootstrap_servers, "reads", "read", {0: 1})


def values(job: JobProcess, name: str) -> dict[str, int]:
    """Of a metric, by cluster."""
    return {each.labels["cluster"]: int(each.value) for each in job.metrics().all(name)}


def listed(job: JobProcess) -> tuple[list[str], str | None]:
    """The clusters whose groups the API lists, and those that it names as not ready."""
    with urllib.request.urlopen(f"{job.url}/api/v1/groups", timeout=10) as response:
        return [each["cluster"] for each in json.load(response)], response.headers["X-Not-Ready"]


def sentence(name: str, address: str) -> str:
    """That nobody answers."""
    return f"Cluster {name}: no broker answers at {address} (tried for 10 s). Check bootstrap_servers."


def cluster(name: str, address: str) -> dict[str, Any]:
    """Its settings; clusters of one broker differ by their events topics."""
    return {"bootstrap_servers": address, "collect_interval_s": 0.5, "events_topic": f"events.{name}"}


def test_of_five_clusters_two_are_away_at_the_start_one_comes_one_goes_and_the_job_goes_on(
    stays: EmbeddedKafka, goes: EmbeddedKafka, comes: EmbeddedKafka, tmp_path: Path
):
    never = f"127.0.0.1:{free_ports(1)[0]}"
    addresses = {"near": stays.bootstrap_servers, "twin": stays.bootstrap_servers, "goes": goes.bootstrap_servers}
    addresses |= {"comes": comes.bootstrap_servers, "never": never}
    clusters = {name: cluster(name, address) for name, address in addresses.items()}
    absent = f"never: {sentence('never', never)}\n"
    with running(JobWithoutSpark(tmp_path, clusters, spark=BRIEF)) as job:
        assert job.get("/readyz") == f"ready\ncomes: {sentence('comes', comes.bootstrap_servers)}\n{absent}"
        assert values(job, UP) == values(job, READY) == {"near": 1, "twin": 1, "goes": 1, "comes": 0, "never": 0}
        assert listed(job) == (["goes", "near", "twin"], "comes, never")
        assert sentence("never", never) in job.get("/")

        comes.start()
        begin(comes)
        job.await_metric(COMMITTED, 1, cluster="comes", group="reads")
        assert job.get("/readyz") == f"ready\n{absent}"
        assert values(job, UP) == values(job, READY) == {"near": 1, "twin": 1, "goes": 1, "comes": 1, "never": 0}

        goes.kill()
        job.await_metric(UP, 0, cluster="goes")
        assert [line.partition(": ")[0] for line in job.get_any("/readyz").splitlines()][-2:] == ["goes", "never"]
        assert listed(job) == (["comes", "goes", "near", "twin"], "never")
        commit(stays.bootstrap_servers, "reads", "read", {0: 2})
        for name in ("near", "twin"):
            job.await_metric(COMMITTED, 2, cluster=name, group="reads")
        for name in ("comes", "never"):
            assert job.log().count(f"Cluster {name}: no broker answers") == 1, "it is said once"
        job.kill_all()  # an orderly end waits for the collectors, who wait for brokers


@pytest.mark.long  # that a job starts is tested above, and a checkpoint is claimed before its cluster answers
def test_a_cluster_of_the_checkpoint_that_is_away_at_a_restart_is_shown_as_before_and_read_once_it_is_back(
    stays: EmbeddedKafka, goes: EmbeddedKafka, tmp_path: Path
):
    addresses = {"near": stays.bootstrap_servers, "goes": goes.bootstrap_servers}
    clusters = {name: cluster(name, address) for name, address in addresses.items()}
    with running(JobProcess(tmp_path, clusters, spark=BRIEF)) as job:
        job.await_metric(COMMITTED, 1, cluster="goes", group="reads")
        assert job.stop() == 0
        goes.kill()
        job.start("--strict")
        assert job.wait() == 2
        assert job.log().endswith(f"groupwatch cannot start: {sentence('goes', goes.bootstrap_servers)}\n")
        job.start()
        job.await_ready()
        assert job.get("/readyz") == f"ready\ngoes: {sentence('goes', goes.bootstrap_servers)}\n"
        assert values(job, UP) == values(job, READY) == {"near": 1, "goes": 0}
        assert listed(job) == (["goes", "near"], None), "as it was evaluated before the restart"
        goes.start()
        commit(goes.bootstrap_servers, "reads", "read", {0: 2})
        job.await_metric(COMMITTED, 2, cluster="goes", group="reads")
        assert job.get("/readyz") == "ready\n"
        assert job.stop() == 0
