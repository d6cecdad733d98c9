"""A job beside a fleet in which nobody commits, but for one real group: how the quiet benchmarks are set up."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from kafka import KafkaProducer

from tests.benchmarks.offsets_log import Crowd, broker_with_topics, fill, produce_everywhere
from tests.support.clients import commit, create_topic
from tests.support.job_process import JobProcess, eventually, running
from tests.support.spark_cluster import StandaloneCluster, spark_environment

REAL: Final = "freshness"
"""A group of a real client, and its topic."""

_EIGHTH: Final = 8
"""Groups whose commits would stand beside those of the real one are left out: one in eight."""


@dataclass(frozen=True)
class Fleet:
    """So many group-partitions in groups of 50, besides the real group; whether records wait in all of them.

    ``settle_s``: how long after it was ready a job is measured: the JVM compiles what it runs often.
    """

    name: str
    group_partitions: int
    lagging: bool
    settle_s: float = 45

    @property
    def crowd(self) -> Crowd:
        """The groups, a few more than are asked for."""
        groups = self.group_partitions // 50
        return Crowd(groups=groups + groups // (_EIGHTH - 1), partitions=50, beside=REAL)


LAGGING: Final = Fleet("lagging", 100_000, lagging=True)
CAUGHT_UP: Final = Fleet("caught_up", 100_000, lagging=False)
ALONE: Final = Fleet("one_group", 0, lagging=False)
SILENT: Final = Fleet("silent", 100_000, lagging=True, settle_s=600)
"""Each of its groups has a finding by then: it has not committed for ten minutes."""
STOPPED: Final = Fleet("stopped", 100_000, lagging=True, settle_s=150)
"""Each of its groups has had a finding for a minute."""
MILLION: Final = Fleet("million_lagging", 1_000_000, lagging=True)

FLEETS: Final = {fleet.name: fleet for fleet in (LAGGING, CAUGHT_UP, ALONE, STOPPED, SILENT, MILLION)}
USUAL: Final = (LAGGING, CAUGHT_UP, ALONE)


def chosen(names: list[str]) -> list[Fleet]:
    """The fleets of these names; the usual ones if there are none."""
    return [FLEETS[name] for name in names] or list(USUAL)


@contextmanager
def job_beside(fleet: Fleet, on: StandaloneCluster | None = None) -> Iterator[tuple[str, JobProcess]]:
    """The brokers' address and a job that is ready, on this machine alone or with a cluster's workers."""
    with broker_with_topics(fleet.crowd) as kafka, tempfile.TemporaryDirectory() as folder:
        if fleet.group_partitions:
            fill(kafka, fleet.crowd, 1)
        create_topic(kafka.bootstrap_servers, REAL, 1)
        commit(kafka.bootstrap_servers, REAL, REAL, {0: 0})
        clusters = {"bench": {"bootstrap_servers": kafka.bootstrap_servers}}
        secret = {} if on is None else {"conf": {"spark.authenticate.secret": on.secret}, "master": on.url}
        started = JobProcess(Path(folder), clusters, jvm=None, spark={"buckets": 8, **secret})
        if on is not None:
            started.environment = spark_environment()
        with running(started) as job:
            if fleet.lagging:  # the job has seen empty partitions, so it knows the age of each record
                with_records(kafka.bootstrap_servers, fleet.crowd)
                await_lag(job, fleet)
            yield kafka.bootstrap_servers, job


def with_records(bootstrap: str, crowd: Crowd, committed: int = 1) -> None:
    """One record more in every partition of the crowd's topics than all groups have committed."""
    producer = KafkaProducer(bootstrap_servers=bootstrap)
    for _ in range(committed + 1):
        produce_everywhere(producer, crowd)
    producer.close()


def await_lag(job: JobProcess, fleet: Fleet) -> None:
    """Until records wait in all of the fleet: what is measured of one that is caught up says nothing."""

    def lag() -> float:
        return sum(sample.value for sample in job.metrics().all("groupwatch_group_lag"))

    eventually(lambda: lag() >= fleet.group_partitions, "records that wait in all of the fleet", pause_s=5)
