"""A broker, the JVM of the pods, the writer of records, an admin client, and a job of groupwatch that watches them."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.settings import BrokerSettings
from tests.autoscaling.consumers import Assignor, Deployment, Fleet
from tests.autoscaling.offsets import OffsetsReader
from tests.autoscaling.records import Rates, Writer
from tests.autoscaling.times import CAPACITY, COLLECT_S, DOWN_AFTER_S, TARGET_S
from tests.support.brokers import SOON_BACK
from tests.support.clients import commit, create_topic
from tests.support.job_process import JobProcess, eventually
from tests.support.without_spark import JobWithoutSpark

CLUSTER: Final = "main"
"""Whether this groupwatch has ``[[scale]]``. Before it has, a job is started without it, and the API answers 404."""


BUSY_S: Final = 100.0
"""Pods are measured that read for half a minute while as much waits as they read in another one. Of commits that are a
second apart, only one in each full minute is known besides the last ten (decision 0102)."""
MOST_BACKLOGS: Final = 4
TARGET_SHARE: Final = 0.75
"""Lag is known some seconds late, and new pods take some to join: so much of the target is left to the members."""
HEADROOM: Final = 0.95
"""The entry of a run, chosen as the thresholds of KEDA are: by trying some."""


def scale_row(groups: str, most: int, **more: Any) -> dict[str, Any]:
    """An entry of ``[[scale]]`` for groups of one member in each replica, with the times of a run."""
    row = {
        "groups": groups,
        "target_s": TARGET_SHARE * TARGET_S,
        "headroom": HEADROOM,
        "max": most,
        "members_per_replica": 1,
        "down_after_s": DOWN_AFTER_S,
    }
    return {**row, **more}


@dataclass(frozen=True)
class World:
    """What a run has."""

    kafka: EmbeddedKafka
    fleet: Fleet
    writer: Writer
    offsets: OffsetsReader
    job: JobProcess | None
    collector: JobProcess | None = None
    """The job's own, unless the world is made with one apart."""

    def deploy(
        self,
        group: str,
        partitions: int,
        replicas: int,
        rates: Rates,
        assignor: Assignor = Assignor.STICKY,
        *,
        backlog_s: float = 0.0,
    ) -> Deployment:
        """A new topic that is called like its group, which gets records from now on, and its pods.

        Before them, it gets what these pods read in ``backlog_s``. The group has committed before, as any but a new one
        has: a client commits a partition once it has read of it, and reads one after the other.
        """
        create_topic(self.kafka.bootstrap_servers, group, partitions)
        commit(self.kafka.bootstrap_servers, group, group, dict.fromkeys(range(partitions), 0))
        self.offsets.add(group, group, partitions)
        self.writer.add(group, partitions, rates)
        self.writer.burst(group, backlog(backlog_s, replicas, partitions))
        self.writer.flush()
        deployment = Deployment(self.fleet, group, group, assignor)
        deployment.scale(replicas)
        return deployment

    def show_capacity(self, deployment: Deployment, is_known: Callable[[], bool], rates: Rates) -> None:
        """Let its pods read what waits, for BUSY_S, until it is known how fast they read; then these rates go on.

        Not each of such times shows it: where the turns of minutes and of partitions are, is chance.
        """
        partitions = self.writer.ledgers[deployment.topic].partitions
        self.writer.change(deployment.topic, nothing)
        for _ in range(MOST_BACKLOGS):
            if is_known():
                break
            self.writer.burst(deployment.topic, backlog(BUSY_S, deployment.replicas, partitions))
            self.writer.flush()
            self.go_on([deployment], nothing)
        self.writer.change(deployment.topic, rates)

    def go_on(self, deployments: Sequence[Deployment], rates: Rates) -> None:
        """Await that their pods have read all there is; then these rates come."""
        for each in deployments:
            eventually(partial(self._has_caught_up, each.group), f"no lag of {each.group}", 3 * BUSY_S)
            self.writer.change(each.topic, rates)

    def start_job(self) -> None:
        """Start it, and await that it is ready."""
        if self.job is not None:
            self.job.start()
            self.job.await_ready()

    def _has_caught_up(self, group: str) -> bool:
        return self.lag(group) == 0

    def retire(self, deployment: Deployment) -> None:
        """Its pods stop, and its topic gets nothing more."""
        deployment.scale(0)
        self.writer.change(deployment.topic, nothing)

    def check(self) -> None:
        """Raise what has ended a thread, if anything did."""
        for each in (self.writer, self.offsets):
            each.check()

    def lag(self, group: str) -> int:
        """How many records its group has not committed, by the newest offsets; all before it has any."""
        known = self.offsets.newest(group)
        return self.writer.ledgers[group].lag(known.committed if known else {})


def backlog(seconds: float, replicas: int, partitions: int) -> list[int]:
    """What so many pods read in this time, as records of each partition."""
    return [int(seconds * CAPACITY * replicas / partitions)] * partitions


def nothing(_: float) -> tuple[float, ...]:
    """The rates of a topic that gets no records."""
    return ()


class Collector(JobProcess):
    """``groupwatch collect``: the poll of topics and their ends, as a process of its own."""

    def __init__(self, folder: Path, clusters: dict[str, dict[str, Any]]) -> None:
        super().__init__(folder, clusters)
        self.command = [sys.executable, "-m", "monitor.cli", "collect", "--config", str(self.config), "--only", "kafka"]


@contextmanager
def world(
    folder: Path,
    scale: Sequence[dict[str, Any]],
    *,
    with_job: bool = True,
    collects_apart: bool = False,
    starts_job: bool = True,
) -> Iterator[World]:
    """All of it, ready; the groups come later. ``scale``: the entries of the job."""
    settings = BrokerSettings(heap_mb=512, properties=SOON_BACK)
    with ExitStack() as stack:
        kafka = stack.enter_context(EmbeddedKafka(settings, data_dir=folder / "kafka"))
        bootstrap = kafka.bootstrap_servers
        create_topic(bootstrap, "first", 1)
        commit(bootstrap, "first", "first", {0: 0})  # there is no offsets topic before the first commit
        fleet = stack.enter_context(Fleet(bootstrap))
        writer = stack.enter_context(Writer(bootstrap))
        offsets = stack.enter_context(OffsetsReader(bootstrap, {}))
        collector = new_collector(folder / "collector", bootstrap) if collects_apart else None
        job = new_job(folder, bootstrap, scale, collect=not collects_apart) if with_job else None
        for process in (collector, job):
            if process is not None:
                stack.callback(process.kill_all)
        if collector is not None:
            collector.start()
        made = World(kafka, fleet, writer, offsets, job, collector)
        if starts_job:
            made.start_job()
        yield made


def new_job(folder: Path, bootstrap: str, scale: Sequence[dict[str, Any]], *, collect: bool) -> JobProcess:
    """A job that is not started. Its collectors, if it has any, poll each COLLECT_S."""
    rows: Any = {"scale": list(scale)}
    return JobWithoutSpark(folder, _clusters(bootstrap) if collect else _clusters(bootstrap, collect=False), **rows)


def new_collector(folder: Path, bootstrap: str) -> JobProcess:
    """A collector that is not started."""
    folder.mkdir()
    return Collector(folder, _clusters(bootstrap))


def _clusters(bootstrap: str, **more: Any) -> dict[str, dict[str, Any]]:
    return {CLUSTER: {"bootstrap_servers": bootstrap, "collect_interval_s": COLLECT_S, **more}}


def pause(processes: Sequence[int]) -> None:
    """These processes stand still."""
    for pid in processes:
        os.kill(pid, signal.SIGSTOP)


def go_on(processes: Sequence[int]) -> None:
    """They run again."""
    for pid in processes:
        os.kill(pid, signal.SIGCONT)
