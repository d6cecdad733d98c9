"""No micro-batch leaves anything behind in a process of the job.

With PySpark 4.2.0 each task of the stateful stage left a socket in the JVM (SPARK-58932), until there were none left.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

from monitor.demo.servers.broker import EmbeddedKafka
from tests.endurance.census import Role, census
from tests.endurance.growth import Allowance, Census, grown
from tests.endurance.load import Commits
from tests.support.clients import commit, create_topic
from tests.support.job_process import JobProcess, eventually

pytestmark = [pytest.mark.broker, pytest.mark.spark, pytest.mark.long]  # 110 s of CPU, and twice as many at a load

CLUSTERS: Final = 2
"""Each has a query. Alone a query makes one micro-batch a second, together they use the machine."""
WARM: Final = 40
"""After so many micro-batches the JVM's pools of threads and the caches of the workers are full."""
BATCHES: Final = 110
COUNTS: Final = 5
"""So many counts make up each of the two that are compared, a micro-batch apart."""
GROUPS: Final = 8
COMMIT_EVERY_S: Final = 0.1
PATIENCE_S: Final = 600
"""All of them take 60 s of CPU. On a busy machine that is long."""

ENDED: Final = re.compile(r"^groupwatch_micro_batch_seconds_count\{.*\} (\S+)$", re.MULTILINE)

ALLOWED: Final = {
    # Py4J keeps the connections that threads have used at once: in two hours there were 4 more than after a minute.
    Role.DRIVER: Allowance(descriptors=16, sockets=16, threads=10, memory_mb=15),
    # Its heap may fill: it is bounded, and this is no leak of 70 micro-batches.
    Role.JVM: Allowance(descriptors=40, sockets=20, threads=60, memory_mb=200),
    Role.WORKERS_PARENT: Allowance(descriptors=2, sockets=2, threads=1, memory_mb=10),
    Role.WORKER: Allowance(descriptors=2, sockets=2, threads=1, memory_mb=15, processes=1),
}
"""A leak of one in each micro-batch would be 70. ``make test-long`` counts for two hours."""


@pytest.mark.timeout(2400)
def test_after_110_micro_batches_no_process_has_more_than_after_40(
    broker: EmbeddedKafka, group_name: str, tmp_path: Path
):
    bootstrap = broker.bootstrap_servers
    create_topic(bootstrap, group_name, 1)
    commit(bootstrap, group_name, group_name, {0: 0})
    clusters = {f"c{number}": {"bootstrap_servers": bootstrap} for number in range(CLUSTERS)}
    # One task for each stage: the least work for a micro-batch.
    spark = {"trigger_s": 0.0, "buckets": 1, "shuffle_partitions": 1}
    groups = [f"{group_name}-{number}" for number in range(GROUPS)]
    with JobProcess(tmp_path, clusters, spark=spark) as job, Commits(bootstrap, group_name, groups, COMMIT_EVERY_S):
        job.await_ready(PATIENCE_S)
        warm = counts_from(job, WARM)
        last = counts_from(job, BATCHES)
    assert {each.role for counts in last for each in counts} == {*Role}
    assert grown(warm, last, ALLOWED) == []


def counts_from(job: JobProcess, batches: int) -> list[Census]:
    """What the processes have once so many micro-batches have ended, and after each of the next few."""
    return [_count_after(job, batches + number) for number in range(COUNTS)]


def _count_after(job: JobProcess, batches: int) -> Census:
    eventually(lambda: _batches(job) >= batches, f"{batches} micro-batches", PATIENCE_S)
    return census(job.session)


def _batches(job: JobProcess) -> float:
    """Of all clusters. To parse all of /metrics takes long."""
    return sum(map(float, ENDED.findall(job.get("/metrics"))))
