"""Two real workers of Connect with a sink: who runs what, one killed and back, one hung, whose consumer group it is.

What is configured is read from their topic of configurations, which holds a password: it is nowhere to be found.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kafka import KafkaProducer
from kafka.admin import KafkaAdminClient, NewTopic

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.connect import SINK_TO_FILE, ConnectCluster, ConnectWorker
from monitor.demo.servers.settings import BrokerSettings
from tests.paused import paused
from tests.support.job_process import JobProcess, eventually, running
from tests.support.without_spark import JobWithoutSpark

pytestmark = [pytest.mark.broker]

PASSWORD = "correct-horse-battery-staple"
CLUSTER = "live"
GROUP = "live-connect"
CONFIGS = "live-connect-configs"
DELAY_MS = 25_000
"""For how long the leader waits for a worker that is gone."""

SINK = "connect-files"
TASKS = 4


@pytest.fixture(scope="module")
def kafka() -> Iterator[EmbeddedKafka]:
    """A topic of four partitions with some records."""
    with EmbeddedKafka(BrokerSettings()) as broker:
        client = KafkaAdminClient(**broker.client_settings())
        client.create_topics([NewTopic("orders", TASKS, 1)])
        client.wait_for_topics(["orders"])
        client.close()
        producer = KafkaProducer(**broker.client_settings())
        for number in range(40):
            producer.send("orders", b"x", partition=number % TASKS)
        producer.close(timeout=30)
        yield broker


@pytest.fixture(scope="module")
def workers(kafka: EmbeddedKafka, tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[ConnectWorker]]:
    """Two of them, and a sink of four tasks."""
    folder = tmp_path_factory.mktemp("connect")
    cluster = ConnectCluster(group=GROUP, delay_ms=DELAY_MS)
    with (
        ConnectWorker(kafka.bootstrap_servers, cluster) as one,
        ConnectWorker(kafka.bootstrap_servers, cluster) as two,
    ):
        config = {
            "connector.class": SINK_TO_FILE,
            "tasks.max": str(TASKS),
            "topics": "orders",
            "file": str(folder / "sink.txt"),
            "connection.password": PASSWORD,
        }
        one.configure("files", config)
        yield [one, two]


@pytest.fixture(scope="module")
def job(
    kafka: EmbeddedKafka, workers: list[ConnectWorker], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[JobProcess]:
    table = {
        "bootstrap_servers": kafka.bootstrap_servers,
        "collect_interval_s": 2.0,
        "connect_configs": {GROUP: CONFIGS},
    }
    with running(JobWithoutSpark(tmp_path_factory.mktemp("job"), {CLUSTER: table})) as process:
        yield process


def runs(verdict: dict[str, Any]) -> dict[str, int]:
    """How many tasks each worker runs, by its URL."""
    return {load["process"]: load.get("active", 0) for load in verdict.get("processes", ())}


def settled(job: JobProcess, workers: list[ConnectWorker]) -> dict[str, Any]:
    """The verdict once each worker runs two of the four tasks, and nothing is wrong."""

    def look() -> dict[str, Any] | None:
        verdict = job.group(CLUSTER, GROUP)
        is_even = runs(verdict) == {worker.url: TASKS // 2 for worker in workers}
        return verdict if is_even and not verdict.get("findings") else None

    return eventually(look, "four tasks on two workers, and no finding")


def run_where(workers: list[ConnectWorker]) -> dict[int, str]:
    """The URL of the worker that runs each task, as the REST interface says: it reads that from a topic, so later."""
    status = json.loads(workers[0].response("connectors/files/status") or b"{}")
    return {task["id"]: f"http://{task['worker_id']}/" for task in status.get("tasks", ())}


def test_what_each_worker_runs_is_what_rest_says(job: JobProcess, workers: list[ConnectWorker]):
    def told() -> dict[int, str]:
        verdict = settled(job, workers)
        loads = {load["members"][0]: load["process"] for load in verdict["processes"]}
        return {task["number"]: loads[task["owners"][0]] for task in verdict["tasks"] if task["number"] is not None}

    eventually(lambda: told() == run_where(workers), "that REST says the same of each task")

    def connectors() -> list[tuple[object, ...]]:
        names = ("connector", "tasks", "running", "sink_group")
        known = (job.group(CLUSTER, GROUP).get("connect") or {}).get("connectors", ())
        return [tuple(connector.get(name) for name in names) for connector in known]

    eventually(lambda: connectors() == [("files", TASKS, TASKS, SINK)], "the connector, whose tasks all run")
    tasks = "groupwatch_group_connect_tasks"
    eventually(lambda: job.metrics().value(tasks, group=GROUP) == TASKS + 1, "the tasks and the connector as a number")


def test_the_sinks_group_and_the_cluster_name_one_another(job: JobProcess, workers: list[ConnectWorker]):
    def sinks() -> set[tuple[str, int]]:
        return {(sink["connector"], sink["task"]) for sink in job.group(CLUSTER, SINK).get("sinks", ())}

    eventually(lambda: sinks() == {("files", number) for number in range(TASKS)}, "the tasks in the sink's group")
    assert f'<a href="/groups/{CLUSTER}/{SINK}">' in job.get(f"/groups/{CLUSTER}/{GROUP}")
    assert f'<a href="/groups/{CLUSTER}/{GROUP}">' in job.get(f"/groups/{CLUSTER}/{SINK}")


def test_a_killed_worker_is_told_with_until_when_connect_waits_and_its_return_ends_it(
    job: JobProcess, workers: list[ConnectWorker]
):
    settled(job, workers)
    gone = workers[1]
    gone.kill()

    def delayed() -> dict[str, Any] | None:
        found = job.group(CLUSTER, GROUP).get("findings", ())
        return next((each for each in found if (each["kind"], each["reason"]) == ("orphaned", "delay")), None)

    finding = eventually(delayed, "that Connect waits for the worker")
    seen_ms = time.time() * 1000
    assert seen_ms - finding["since_ms"] < 8_000, "from the generation without it"
    assert gone.url in finding["sentence"]
    assert "Connect waits until" in finding["sentence"]
    assert len(finding["tasks"]) == TASKS // 2
    idle = [task for task in job.group(CLUSTER, GROUP)["tasks"] if task.get("orphan") == "delay"]
    assert {task["until_ms"] - task["since_ms"] for task in idle} == {DELAY_MS}
    assert "Connect waits until" in job.get(f"/groups/{CLUSTER}/{GROUP}")
    gone.start()
    settled(job, workers)


def test_the_password_in_the_configuration_is_nowhere(job: JobProcess, workers: list[ConnectWorker]):
    assert PASSWORD in str(workers[0].response("connectors/files/config")), "it is in the topic"
    answers = ["/metrics", "/", "/api/v1/findings", "/api/v1/groups", "/api/v1/snapshot"]
    answers += [f"{prefix}{CLUSTER}/{name}" for prefix in ("/groups/", "/api/v1/groups/") for name in (GROUP, SINK)]
    shown = [path for path in answers if PASSWORD in job.get_any(path)]
    assert shown == []
    assert PASSWORD not in job.log()
    stored = [
        Path(folder, name)
        for folder, _, names in os.walk(job.folder)
        for name in names
        if PASSWORD.encode() in Path(folder, name).read_bytes()
    ]
    assert stored == []


def test_a_worker_that_hung_and_goes_on_ran_its_tasks_beside_the_other_one(
    job: JobProcess, workers: list[ConnectWorker]
):
    """It is the last test: what has passed is told for ten minutes."""
    settled(job, workers)
    other, hung = workers
    with paused(hung):
        eventually(lambda: runs(job.group(CLUSTER, GROUP)) == {other.url: TASKS}, "the other worker runs all tasks")
        taken_over_ms = job.group(CLUSTER, GROUP)["generation_ms"]

    def twice() -> dict[str, Any] | None:
        found = job.group(CLUSTER, GROUP).get("findings", ())
        return next((each for each in found if (each["kind"], each["reason"]) == ("double_owned", "run_twice")), None)

    finding = eventually(twice, "that tasks ran twice")
    assert time.time() * 1000 - job.group(CLUSTER, GROUP)["generation_ms"] < 8_000, "from the generation with both"
    assert finding["since_ms"] == taken_over_ms
    assert len(finding["tasks"]) == TASKS // 2
    assert all(worker.url in finding["sentence"] for worker in workers)
    eventually(
        lambda: runs(job.group(CLUSTER, GROUP)) == dict.fromkeys((other.url, hung.url), TASKS // 2), "all is even"
    )
