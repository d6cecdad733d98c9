"""The job on a Spark standalone cluster: it shows what one machine shows, outlives a worker, and can be submitted.

The tests tell one story in their order: one cluster, one Kafka, one checkpoint of the cluster's.
"""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from kafka import OffsetAndMetadata, TopicPartition

from monitor.checks.spark_properties import SECRET
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.support.clients import admin, commit, create_topic, member, produce
from tests.support.health_checks import asked_of, is_well
from tests.support.job_process import JobProcess, Samples, eventually, processes_of, running
from tests.support.spark_cluster import ROOT, SPARK_HOME, StandaloneCluster, spark_environment

pytestmark = [
    pytest.mark.broker,
    pytest.mark.spark,
    pytest.mark.long,  # four JVMs of Spark beside the broker's: 150 s of CPU
    pytest.mark.timeout(600),
]

TOPIC = "read"
SILENT = [f"committed-{number}" for number in range(6)]
"""Groups that only commit. With two shuffle partitions, each executor has some of them."""
TWICE = "joined-twice"
HELD = "held"

REBALANCES = "groupwatch_group_rebalances_total"
OF_THE_HOUR = ("_seconds", "_per_second", "groupwatch_group_status")


@dataclass(frozen=True)
class Shown:
    """What a job publishes of its groups, without what depends on when it looked."""

    overview: object
    verdicts: dict[str, object]
    samples: list[str]


@dataclass(frozen=True)
class Prepared:
    """A Kafka and what was done in it."""

    servers: str
    generations_of_twice: int
    """A member that joined before it knew the topic joins again: how many there were, the member itself was told."""


@pytest.fixture(scope="module")
def prepared() -> Iterator[Prepared]:
    with EmbeddedKafka(BrokerSettings(offsets_topic_partitions=4)) as kafka, ExitStack() as members:
        servers = kafka.bootstrap_servers
        create_topic(servers, TOPIC, 3)
        produce(servers, TOPIC, {0: 5, 1: 7})
        for number, group in enumerate(SILENT):
            commit(servers, group, TOPIC, {0: number % 5, 1: 7 - number, 2: 0})
        for _ in range(2):
            with member(servers, TWICE, TOPIC) as last:
                generation = last.group_metadata().generation_id
        held = members.enter_context(member(servers, HELD, TOPIC, silence_limit_s=3600))
        held.commit({TopicPartition(TOPIC, 0): OffsetAndMetadata(2, "", -1)})
        yield Prepared(servers, generation + 1)  # the last one has no member


@pytest.fixture(scope="module")
def bootstrap(prepared: Prepared) -> str:
    return prepared.servers


@pytest.fixture(scope="module")
def spark_cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StandaloneCluster]:
    with StandaloneCluster(tmp_path_factory.mktemp("spark")) as cluster:
        yield cluster


@pytest.fixture(scope="module")
def shown_by_one_machine(bootstrap: str, tmp_path_factory: pytest.TempPathFactory) -> Shown:
    with running(job_process(tmp_path_factory.mktemp("one-machine"), bootstrap)) as job:
        return shown(job)


@pytest.fixture(scope="module")
def job(
    shown_by_one_machine: Shown,  # first, so that the two never run at once
    spark_cluster: StandaloneCluster,
    bootstrap: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[JobProcess]:
    job = job_process(tmp_path_factory.mktemp("cluster"), bootstrap, {SECRET: spark_cluster.secret})
    job.environment = spark_environment() | {"GROUPWATCH_SPARK__MASTER": spark_cluster.url}
    with running(job):
        yield job


def job_process(folder: Path, bootstrap: str, conf: dict[str, str] | None = None) -> JobProcess:
    """The same configuration wherever it runs: local[2] and two shuffle partitions; no finding by mere silence."""
    clusters = {"test": {"bootstrap_servers": bootstrap, "collect_interval_s": 0.5}}
    job = JobProcess(
        folder, clusters, spark={"shuffle_partitions": 2, "conf": conf or {}}, detection={"commit_silence_s": 86_400.0}
    )
    job.environment = spark_environment()
    return job


def shown(job: JobProcess) -> Shown:
    overview = json.loads(job.get("/api/v1/groups"))
    lines = job.metrics().text.splitlines()
    return Shown(
        overview=timeless(overview),
        verdicts={group["group"]: timeless(job.group("test", group["group"])) for group in overview},
        samples=sorted(line for line in lines if 'group="' in line and not any(name in line for name in OF_THE_HOUR)),
    )


def timeless(value: Any) -> Any:
    """JSON without the members that are times or ages (their names end with the unit ms), or follow from them."""
    if isinstance(value, dict):
        kept = (key for key in value if not key.endswith("_ms") and key not in ("status", "pace", "paced_lag"))
        return {key: timeless(value[key]) for key in kept}
    return [timeless(inner) for inner in value] if isinstance(value, list) else value


def truth(bootstrap: str) -> dict[tuple[str, str], float]:
    """What the admin client says was committed: the offset by group and partition."""
    with admin(bootstrap) as client:
        found = client.list_group_offsets(dict.fromkeys([*SILENT, TWICE, HELD]))
    return {(g, str(at.partition)): at_offset.offset for g, of in found.items() for at, at_offset in of.items()}


def committed(samples: Samples) -> dict[tuple[str, str], float]:
    found = samples.all("groupwatch_partition_committed_offset", topic=TOPIC)
    return {(sample.labels["group"], sample.labels["partition"]): sample.value for sample in found}


def counters(samples: Samples) -> dict[str, float]:
    return {sample.labels["group"]: sample.value for sample in samples.all(REBALANCES)}


def await_truth(job: JobProcess, bootstrap: str) -> Samples:
    """The first reading that agrees with Kafka in every committed offset of every group."""
    wanted = truth(bootstrap)

    def look() -> Samples | None:
        samples = job.metrics()
        return samples if committed(samples) == wanted else None

    return eventually(look, f"every committed offset; the log ends:\n{job.log()[-3000:]}")


def test_a_cluster_shows_what_one_machine_shows(
    shown_by_one_machine: Shown, job: JobProcess, spark_cluster: StandaloneCluster, bootstrap: str
):
    here = shown(job)
    assert here.verdicts.keys() == {*SILENT, TWICE, HELD}
    assert here == shown_by_one_machine
    assert committed(job.metrics()) == truth(bootstrap)
    # Not the driver did the work, but both executors.
    assert [worker.tasks_run() > 0 for worker in spark_cluster.workers] == [True, True]


def test_without_the_secret_of_the_cluster_nothing_starts(
    spark_cluster: StandaloneCluster, bootstrap: str, tmp_path: Path
):
    unasked = job_process(tmp_path, bootstrap)
    unasked.environment = spark_environment() | {"GROUPWATCH_SPARK__MASTER": spark_cluster.url}
    unasked.start()
    assert unasked.wait() == 2
    assert f"spark.master {spark_cluster.url} is a cluster, and its ports need a secret" in unasked.log()
    assert "Traceback" not in unasked.log()


def test_the_health_checks_of_the_compose_file_find_master_and_worker_well(spark_cluster: StandaloneCluster):
    worker = urlsplit(spark_cluster.state()["workers"][0]["webuiaddress"]).port
    assert worker is not None
    assert is_well(asked_of("spark-master", spark_cluster.web_port, 8080))
    assert is_well(asked_of("spark-worker", worker, 8081))
    assert not is_well(asked_of("spark-worker", spark_cluster.web_port, 8081))


def test_a_killed_worker_costs_no_group_and_no_count(
    job: JobProcess, spark_cluster: StandaloneCluster, prepared: Prepared
):
    bootstrap = prepared.servers
    before = job.metrics()
    assert counters(before)[TWICE] == prepared.generations_of_twice
    lost, left = spark_cluster.workers
    lost.kill_9()
    for number, group in enumerate(SILENT):
        commit(bootstrap, group, TOPIC, {0: 5, 2: number})
    produce(bootstrap, TOPIC, {2: 9})

    after = await_truth(job, bootstrap)
    assert counters(after) == counters(before)
    done = left.tasks_run()
    eventually(lambda: left.tasks_run() > done, "tasks of the worker that is left")
    job.await_metric("groupwatch_group_lag", 9 - 5 + 7 - 2, group=SILENT[5])
    assert {group["group"] for group in json.loads(job.get("/api/v1/groups"))} == {*SILENT, TWICE, HELD}
    assert job.status("/readyz") == 200


def test_spark_submit_goes_on_where_the_job_stopped(job: JobProcess, spark_cluster: StandaloneCluster, bootstrap: str):
    """The same file; the master is spark-submit's. What is told to end is spark-submit, and nothing stays behind."""
    before = job.metrics()
    worker = spark_cluster.workers[-1]
    tasks = worker.tasks_run()
    assert job.stop() == 0
    commit(bootstrap, SILENT[0], TOPIC, {0: 1})  # while nobody watches
    job.environment = spark_environment()
    job.command = [
        *[str(SPARK_HOME / "bin" / "spark-submit"), "--master", spark_cluster.url],
        *[str(ROOT / "streaming_jobs" / "submit.py"), "--config", str(job.config)],
    ]
    job.start()
    job.await_ready()
    assert counters(await_truth(job, bootstrap)) == counters(before)
    assert worker.tasks_run() > tasks
    assert job.stop() == 128 + signal.SIGTERM  # what Spark ends with when it is told to
    eventually(lambda: not processes_of(job.session), "the end of the Python process of spark-submit")
