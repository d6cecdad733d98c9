"""The demo: a real broker, real consumers that go wrong on a schedule, and groupwatch watching them, in one command."""

from __future__ import annotations

import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
from rich.console import Console

from monitor.config import Settings
from monitor.config.history import HistorySettings
from monitor.config.http import HttpSettings
from monitor.config.metrics import MetricsSettings
from monitor.config.settings import ClusterSettings, DetectionOptions, SparkSettings
from monitor.config.systems import RocketMQSettings, ZooKeeperSettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.servers.metaq import ROOT as METAQ_ROOT
from monitor.demo.servers.settings import BrokerSettings
from monitor.demo.workload.performer import Happening
from monitor.demo.workload.run import DemoWorkload
from monitor.demo.workload.systems import KAFKA_ROOT, OF_ITS_KAFKA, DemoSystem, DemoSystems, broker_properties
from monitor.java_runtime.find_java import find_java
from monitor.java_runtime.jars import job_jars, kafka_jars
from monitor.model import ALL_GROUPS, Value
from monitor.web.server import HttpServer
from monitor.web.views.status import unready_sentence
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.jobs.demo.alerting import DemoAlerting
from streaming_jobs.jobs.demo.past import RECORD_EVERY_S, PastCommands
from streaming_jobs.jobs.demo.transcript import GroupSeen, TranscriptRecorder
from streaming_jobs.jobs.job import Job
from streaming_jobs.jobs.serving import http_server
from streaming_jobs.runtime.lifetime import Lifetime
from streaming_jobs.runtime.run_folder import RunFolder, remove_abandoned
from streaming_jobs.runtime.session import kill_jvm

CLUSTER: Final = "demo"
POLL_S: Final = 0.5
HISTORY: Final = "history"
"""The folder of the recording, within that of the run: it goes with the demo."""
SYSTEM_INTERVAL_S: Final = 2.0
"""Between two readings of a system beside Kafka."""


class DemoOptions(Value):
    """What a person chose. ``duration_s`` None: until Ctrl-C; else seconds from the moment groupwatch is ready.

    ``systems`` are shown beside its five groups. ``rules`` are the alert rules for a Prometheus; None: there is none.
    """

    port: int
    duration_s: float | None = None
    json_summary: Path | None = None
    systems: frozenset[DemoSystem] = frozenset()
    rules: str | None = None


class DemoSummary(Value):
    """What an unattended demo saw, written as JSON. ``started_s``: from the command to the start of groupwatch."""

    ready: bool
    started_s: float
    ready_s: float | None
    watched_s: float
    evaluations: int
    url: str
    timeline: tuple[Happening, ...]
    groups: tuple[GroupSeen, ...]


@dataclass(frozen=True, slots=True)
class WatchedDemo:
    """What runs while the demo watches: the job, what it shows, and those whom it watches."""

    store: SnapshotStore
    job: Job
    workload: DemoWorkload
    systems: DemoSystems
    alerting: DemoAlerting
    past: PastCommands


class Demo:
    """One run of the demo. Everything it starts is ended by the exit stack, in reverse order, whatever happens."""

    def __init__(self, options: DemoOptions, console: Console) -> None:
        self._options = options
        self._console = console
        self._began = time.monotonic()
        self._observer = TranscriptRecorder()
        self._lifetime = Lifetime()
        self._started_s = 0.0
        self._server: HttpServer
        self._ready_s: float | None = None

    def run(self) -> None:
        """Start all of it, watch until the time is up or a stop, end all of it."""
        self._lifetime.run(self._run)

    def _run(self, lifetime: Lifetime) -> None:
        find_java()
        lifetime.at_cut_off(kill_jvm)
        with ExitStack() as running:
            remove_abandoned()
            own = running.enter_context(RunFolder())
            lifetime.at_cut_off(own.close)
            folder = own.path
            properties = broker_properties(self._options.systems)
            kafka = EmbeddedKafka(BrokerSettings(properties=properties), progress=self._tell, data_dir=folder / "kafka")
            systems = DemoSystems(self._options.systems, kafka.bootstrap_servers, self._tell)
            settings = settings_of(self._options, kafka.bootstrap_servers, folder, systems)
            store = SnapshotStore(settings.watched_names)
            # The port is taken first: a port that is not free is reported before anything slow begins.
            self._server = running.enter_context(http_server(store, settings.http, history=settings.history))
            kafka_jars(self._tell)
            jars = job_jars(self._tell, is_recorded=True)
            running.enter_context(kafka)
            self._tell(f"Kafka listens on {kafka.bootstrap_servers}; starting producers and consumers")
            workload = running.enter_context(DemoWorkload(kafka.bootstrap_servers, folder / "workload.log"))
            running.enter_context(systems)
            alerting = running.enter_context(self._alerting())
            self._started_s = time.monotonic() - self._began
            self._tell("Starting Spark")
            job = running.enter_context(Job(settings, store, jars, folder / "spark.log", lifetime=lifetime))
            past = PastCommands(self._server.url, folder / HISTORY)
            self._watch(WatchedDemo(store, job, workload, systems, alerting, past))
            self._summarise((*workload.timeline, *systems.timeline))
            self._print("Stopping")
        self._print("Everything has ended.")

    def _alerting(self) -> DemoAlerting:
        return DemoAlerting(self._server.url.removeprefix("http://"), self._options.rules, self._tell)

    def _watch(self, watched: WatchedDemo) -> None:
        line = ""
        while not self._lifetime.stopping.wait(POLL_S):
            watched.job.check()
            snapshot = watched.store.read()
            if self._ready_s is None:
                if snapshot.ready:
                    self._begin(watched)
                else:
                    cluster = next(cluster for cluster in snapshot.clusters if not cluster.ready)
                    line = self._print_once(unready_sentence(cluster), line)
                continue
            watched_s = self._watched_s()
            self._observer.take(snapshot, watched_s)
            self._show(watched.past.look(next(each for each in snapshot.clusters if each.cluster == CLUSTER)))
            if self._options.duration_s is not None and watched_s >= self._options.duration_s:
                return

    def _begin(self, watched: WatchedDemo) -> None:
        self._ready_s = time.monotonic() - self._began - self._started_s
        watched.workload.begin()
        watched.systems.begin()
        self._tell(
            f"Ready after {self._ready_s:.0f} s. In 15 s the topic orders gets new partitions,"
            " which have no owner for a while."
        )
        url = self._server.url
        places = [("Page", f"{url}/"), ("Metrics", f"{url}/metrics"), ("API", f"{url}/api/v1/groups")]
        lines = "".join(f"  {name:10}  {address}\n" for name, address in (*places, *watched.alerting.addresses))
        self._console.print(f"\n{lines}\n  Ctrl-C stops everything.\n", highlight=False)

    def _show(self, commands: tuple[str, ...]) -> None:
        """What to try now, if there is something."""
        if commands:
            self._tell("The recording has the first finding. Try in another terminal, while the demo runs:")
            lines = "".join(f"  {command}\n" for command in commands)
            self._console.print(f"\n{lines}", markup=False, highlight=False, soft_wrap=True)

    def _watched_s(self) -> float:
        return 0.0 if self._ready_s is None else time.monotonic() - self._began - self._started_s - self._ready_s

    def _summarise(self, timeline: tuple[Happening, ...]) -> None:
        if self._options.json_summary is None:
            return
        summary = DemoSummary(
            ready=self._ready_s is not None,
            started_s=round(self._started_s, 1),
            ready_s=None if self._ready_s is None else round(self._ready_s, 1),
            watched_s=round(self._watched_s(), 1),
            evaluations=self._observer.evaluations,
            url=self._server.url,
            timeline=timeline,
            groups=self._observer.groups(),
        )
        text = msgspec.json.format(msgspec.json.encode(summary), indent=2)
        self._options.json_summary.write_bytes(text + b"\n")
        self._print(f"Wrote {self._options.json_summary}")

    def _tell(self, line: str) -> None:
        """Print a step; raises Stopped if it is not to be taken any more."""
        self._lifetime.go_on()
        self._print(line)

    def _print(self, line: str) -> None:
        self._console.print(f"[dim]{time.monotonic() - self._began:6.1f} s[/]  ", end="")
        self._console.print(line, markup=False, highlight=False)

    def _print_once(self, line: str, before: str) -> str:
        if line != before:
            self._tell(line)
        return line


def run_demo(options: DemoOptions, console: Console) -> None:
    """Run the demo until it is over or stopped; see :class:`Demo` for what it raises: the errors of its parts."""
    Demo(options, console).run()


def settings_of(
    options: DemoOptions, bootstrap_servers: str, folder: Path, systems: DemoSystems | None = None
) -> Settings:
    """The settings of a small, quick job: short intervals, few buckets, a checkpoint that goes with the demo."""
    systems = systems or DemoSystems(options.systems, bootstrap_servers)
    kafka = ClusterSettings(
        name=CLUSTER,
        bootstrap_servers=bootstrap_servers,
        collect_interval_s=1.0,
        connect_configs=systems.connect_configs,
    )
    return Settings(
        shard=ALL_GROUPS,
        clusters={CLUSTER: kafka},
        rocketmq=_rocketmq(systems),
        zookeeper=_zookeeper(options.systems, systems),
        http=HttpSettings(port=options.port),
        history=HistorySettings(folder=str(folder / HISTORY), every_s=RECORD_EVERY_S),
        metrics=MetricsSettings(member_info=True, owner_info=True),  # few groups, and who owns what is the demo's story
        spark=SparkSettings(
            master="local[2]",
            checkpoint=str(folder / "checkpoint"),
            buckets=8,
            trigger_s=float(1 + len(options.systems - OF_ITS_KAFKA)),  # the others have a query each, on two cores
        ),
        detection=DetectionOptions(commit_silence_s=15.0),
    )


def _rocketmq(systems: DemoSystems) -> dict[str, RocketMQSettings]:
    if systems.rocketmq_name_servers is None:
        return {}
    name = "demo-rocketmq"
    return {name: RocketMQSettings(name=name, name_servers=systems.rocketmq_name_servers, interval_s=SYSTEM_INTERVAL_S)}


def _zookeeper(wanted: frozenset[DemoSystem], systems: DemoSystems) -> dict[str, ZooKeeperSettings]:
    hosts = systems.zookeeper_hosts
    if hosts is None:
        return {}
    kafka = ZooKeeperSettings(
        name="demo-kafka-0.10", hosts=hosts, system="kafka", root=KAFKA_ROOT, interval_s=SYSTEM_INTERVAL_S
    )
    metaq = ZooKeeperSettings(
        name="demo-metaq", hosts=hosts, system="metaq", root=METAQ_ROOT, interval_s=SYSTEM_INTERVAL_S
    )
    by_system = {DemoSystem.ZOOKEEPER: kafka, DemoSystem.METAQ: metaq}
    return {each.name: each for system, each in by_system.items() if system in wanted}
