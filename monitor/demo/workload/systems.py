"""What the demo shows on demand: real servers and real consumers, with something going wrong on a schedule."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Sequence
from contextlib import ExitStack
from enum import StrEnum
from itertools import count
from typing import Final

from monitor.demo.java.clients import JavaClients, kafka010_clients, metaq_clients, rocketmq_clients
from monitor.demo.servers.kafka010 import EmbeddedKafka010
from monitor.demo.servers.metaq import EmbeddedMetaQ
from monitor.demo.servers.rocketmq import EmbeddedRocketMQ
from monitor.demo.servers.zookeeper import EmbeddedZooKeeper
from monitor.demo.workload.kafka_scenes import BROKER_LIMITS, CONNECT, ConnectScene, ShareScene, StreamsScene
from monitor.demo.workload.libraries_scene import LibrariesScene
from monitor.demo.workload.loss_scene import LossScene
from monitor.demo.workload.performer import Happening
from monitor.demo.workload.scene import Scene, SceneStep
from monitor.java_runtime.errors import LoggedFailure
from monitor.java_runtime.jars import Progress, quiet
from monitor.lifecycle import Lifecycle

logger = logging.getLogger(__name__)

KAFKA_ROOT: Final = "/kafka"
"""The node of ZooKeeper below which the demo's Kafka 0.10 is."""

ROUND_S: Final = 180.0
"""After so long everything happens again."""

_PER_SECOND: Final = 8
"""Records of each topic."""


class DemoSystem(StrEnum):
    """What the demo can show beside its five groups: another system, or another kind of group of its Kafka."""

    ROCKETMQ = "rocketmq"
    ZOOKEEPER = "zookeeper"
    """A Kafka 0.10 whose consumers keep their group in ZooKeeper."""
    METAQ = "metaq"
    SHARE = "share"
    STREAMS = "streams"
    CONNECT = "connect"
    LOSS = "loss"
    """A slow consumer that retention overtakes."""


OF_ITS_KAFKA: Final = frozenset({DemoSystem.SHARE, DemoSystem.STREAMS, DemoSystem.CONNECT, DemoSystem.LOSS})
"""These are no cluster of their own: their groups are those of the demo's Kafka."""


def broker_properties(wanted: frozenset[DemoSystem]) -> dict[str, str]:
    """What the demo's Kafka has to be set to for what is wanted."""
    return dict(BROKER_LIMITS) if DemoSystem.SHARE in wanted else {}


class RocketMQScene:
    """``invoices`` is healthy, the members of ``emails`` share by two strategies, one of ``exports`` rests a while."""

    def __init__(self, progress: Progress) -> None:
        self.servers = EmbeddedRocketMQ(progress=progress)

    def start(self, running: ExitStack) -> None:
        """Start a name server, a broker and two JVMs with clients."""
        running.enter_context(self.servers)
        first, self._second = (running.enter_context(rocketmq_clients(self.servers)) for _ in range(2))
        for topic in ("invoices", "emails", "exports"):
            first.create_topic(topic, 8)
            first.produce(topic, _PER_SECOND)
        for group, strategy in {"invoices": "Averagely", "emails": "AveragelyByCircle", "exports": "Averagely"}.items():
            first.consume(f"{group}-1", group, group, strategy="Averagely", how="concurrently")
            self._second.consume(f"{group}-2", group, group, strategy=strategy, how="concurrently")

    def steps(self) -> Sequence[SceneStep]:
        """A consumer takes nothing for a minute."""
        return (
            SceneStep(20, "exports", "member 2 of exports (RocketMQ) stops consuming but stays", self._hang),
            SceneStep(80, "exports", "member 2 of exports continues", self._resume),
        )

    def _hang(self) -> None:
        self._second.hang("exports-2")

    def _resume(self) -> None:
        self._second.resume("exports-2")


class KafkaScene:
    """``clicks`` is healthy; a member of ``searches`` is killed and comes back."""

    def __init__(self, zookeeper: EmbeddedZooKeeper, progress: Progress) -> None:
        self.broker = EmbeddedKafka010(zookeeper, chroot=KAFKA_ROOT, progress=progress)
        self._victim: JavaClients | None = None

    def start(self, running: ExitStack) -> None:
        """Start a broker and two JVMs with clients."""
        running.enter_context(self.broker)
        first = running.enter_context(kafka010_clients(self.broker))
        for topic in ("clicks", "searches"):
            first.create_topic(topic, 6)
            first.produce(topic, _PER_SECOND)
        first.consume("clicks-1", "clicks", "clicks", strategy="range", how="2")
        first.consume("clicks-2", "clicks", "clicks", strategy="range", how="1")
        first.consume("searches-1", "searches", "searches", strategy="roundrobin", how="1")
        running.callback(self._end)
        self._join()

    def steps(self) -> Sequence[SceneStep]:
        """A JVM with a consumer is killed, and started again."""
        return (
            SceneStep(15, "searches", "member 2 of searches (Kafka 0.10, ZooKeeper) is killed", self._end),
            SceneStep(60, "searches", "member 2 of searches returns", self._join),
        )

    def _end(self) -> None:
        if self._victim is not None:
            self._victim.close()

    def _join(self) -> None:
        self._victim = kafka010_clients(self.broker)
        self._victim.consume("searches-2", "searches", "searches", strategy="roundrobin", how="1")


class MetaQScene:
    """``alerts`` is healthy; a member of ``audits`` takes nothing for a while."""

    def __init__(self, zookeeper: EmbeddedZooKeeper, progress: Progress) -> None:
        self._zookeeper = zookeeper
        self._broker = EmbeddedMetaQ(zookeeper, {"alerts": 6, "audits": 6}, progress=progress)
        self._clients: JavaClients

    def start(self, running: ExitStack) -> None:
        """Start a broker and a JVM with clients."""
        running.enter_context(self._broker)
        self._clients = running.enter_context(metaq_clients(self._zookeeper))
        for group in ("alerts", "audits"):
            self._clients.produce(group, _PER_SECOND)
            for number in (1, 2):
                self._clients.consume(f"{group}-{number}", group, group, strategy="DEFAULT", how="")

    def steps(self) -> Sequence[SceneStep]:
        """A consumer takes nothing for a minute."""
        return (
            SceneStep(25, "audits", "member 2 of audits (MetaQ) stops consuming but stays", self._hang),
            SceneStep(85, "audits", "member 2 of audits continues", self._resume),
        )

    def _hang(self) -> None:
        self._clients.hang("audits-2")

    def _resume(self) -> None:
        self._clients.resume("audits-2")


class DemoSystems(Lifecycle):
    """Consumers of Java and librdkafka, and the wanted systems, for the time of a ``with`` block.

    They are healthy, but for ``emails``, until ``begin()``.
    """

    def __init__(self, wanted: frozenset[DemoSystem], bootstrap_servers: str = "", progress: Progress = quiet) -> None:
        """Prepare them; nothing starts yet.

        Args:
            wanted: what to start.
            bootstrap_servers: of the demo's Kafka, which gets a group of two client libraries; "": there is none.
            progress: is told what goes on.
        """
        self._wanted = wanted
        self._progress = progress
        self._running = ExitStack()
        self._over = threading.Event()
        self._script: threading.Thread | None = None
        self._timeline: tuple[Happening, ...] = ()
        in_zookeeper = wanted & {DemoSystem.ZOOKEEPER, DemoSystem.METAQ}
        self._zookeeper = EmbeddedZooKeeper(progress=progress) if in_zookeeper else None
        self._rocketmq = RocketMQScene(progress) if DemoSystem.ROCKETMQ in wanted else None
        self._scenes: list[Scene] = [LibrariesScene(bootstrap_servers, progress)] if bootstrap_servers else []
        if self._rocketmq:
            self._scenes.append(self._rocketmq)
        if self._zookeeper and DemoSystem.ZOOKEEPER in wanted:
            self._scenes.append(KafkaScene(self._zookeeper, progress))
        if self._zookeeper and DemoSystem.METAQ in wanted:
            self._scenes.append(MetaQScene(self._zookeeper, progress))
        for system in (system for system in DemoSystem if system in wanted & OF_ITS_KAFKA):
            self._scenes.append(_kafka_scene(system, bootstrap_servers, progress))

    @property
    def rocketmq_name_servers(self) -> str | None:
        """Where RocketMQ's name server is; None: it is not wanted."""
        return self._rocketmq.servers.name_servers if self._rocketmq else None

    @property
    def zookeeper_hosts(self) -> str | None:
        """Where ZooKeeper is; None: nothing that needs it is wanted."""
        return self._zookeeper.hosts if self._zookeeper else None

    @property
    def connect_configs(self) -> dict[str, str]:
        """The topics of configurations of the demo's Connect clusters, by the workers' ``group.id``."""
        return {CONNECT.group: CONNECT.configs_topic} if DemoSystem.CONNECT in self._wanted else {}

    @property
    def timeline(self) -> tuple[Happening, ...]:
        """What happened until now, in order."""
        return self._timeline

    def start(self) -> None:
        """Start all servers and clients, one after the other: many JVMs that start at once hold each other up.

        Raises:
            ServerFailed, ClientsFailed, JarsNotResolved, JavaNotFound: something did not start; nothing runs then.
        """
        with ExitStack() as starting:
            if self._zookeeper:
                starting.enter_context(self._zookeeper)
            for scene in self._scenes:
                scene.start(starting)
            self._running = starting.pop_all()

    def stop(self) -> None:
        """End all of it."""
        self._over.set()
        if self._script is not None:
            self._script.join(90)  # an order takes a minute at most, a start as long as that
        self._running.close()

    def begin(self) -> None:
        """From now on things go wrong, on a thread of its own. To be called once."""
        steps = sorted((step for scene in self._scenes for step in scene.steps()), key=lambda step: step.at_s)
        if not steps:  # no system is wanted: going round nothing would never wait
            return
        self._script = threading.Thread(target=self._perform, args=(steps,), name="systems", daemon=True)
        self._script.start()

    def _perform(self, steps: Sequence[SceneStep]) -> None:
        begun = time.monotonic()
        for times in count():
            for step in steps:
                due = begun + times * ROUND_S + step.at_s
                if self._over.wait(max(0.0, due - time.monotonic())):
                    return
                self._do(step, begun)

    def _do(self, step: SceneStep, begun_s: float) -> None:
        try:
            step.do()
        except LoggedFailure as error:
            logger.warning("%s did not happen: %s", step.sentence, error)
            return
        self._timeline += (_happening(step, begun_s),)
        self._progress(step.sentence)


def _kafka_scene(system: DemoSystem, bootstrap_servers: str, progress: Progress) -> Scene:
    if system is DemoSystem.SHARE:
        return ShareScene(bootstrap_servers, progress)
    if system is DemoSystem.STREAMS:
        return StreamsScene(bootstrap_servers, progress)
    if system is DemoSystem.LOSS:
        return LossScene(bootstrap_servers, progress)
    return ConnectScene(bootstrap_servers, progress)


def _happening(step: SceneStep, begun_s: float) -> Happening:
    return Happening(
        what="systems",
        wall_ms=time.time_ns() // 1_000_000,
        at_ms=round((time.monotonic() - begun_s) * 1000),
        group=step.group,
        sentence=step.sentence,
    )
