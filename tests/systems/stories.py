"""Stories of real consumers that the tests tell: all are left alone first, then everything happens at once.

Most of a story is waiting, so all groups of a system share one, and two stories run side by side.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import ExitStack
from types import MappingProxyType
from typing import Final

from monitor.collectors.rocketmq.reader import RocketMQReader
from monitor.collectors.snapshot import SnapshotReader
from monitor.collectors.zookeeper.readers import KafkaZooKeeperReader, MetaQReader
from monitor.config.systems import RocketMQSettings, ZooKeeperSettings
from monitor.demo.java.clients import JavaClients, kafka010_clients, metaq_clients, rocketmq_clients
from monitor.demo.servers.kafka010 import EmbeddedKafka010
from monitor.demo.servers.rocketmq import EmbeddedRocketMQ
from monitor.demo.servers.zookeeper import EmbeddedZooKeeper
from monitor.detection import DetectionSettings
from monitor.model import FindingKind, GroupVerdict
from tests.paused import pause, resume
from tests.systems.watching import CLUSTER, Found, Watch, now_ms

SETTINGS = DetectionSettings(commit_silence_ms=40_000, connection_expiry_ms=20_000)
"""Quicker than the defaults in how long to wait for bad news, so that it comes before a RocketMQ broker gives up a hung
client's connection (103-130 s); but not so quick that a client is told as silent whose JVM got no processor for 20 s,
as happens where the suite runs beside. What is waited until members have shared out anew is as it is."""

SESSION_MS = 6_000
"""After which ZooKeeper forgets a consumer that is gone or paused."""

Kinds = set[tuple[FindingKind, str]]


class Story(ABC):
    """What was told while the groups were left alone (``alone``, ``before``), and after it happened (``after``).

    The JVM ``victim`` is killed; ``sleeper`` is paused; of ``second`` the consumer of the group ``stuck`` takes nothing
    any more, and one joins the group ``joined``. All consumers are called GROUP-JVM.
    """

    settling_s: float
    """How long nothing is said after a change."""
    awaited: tuple[str, ...] = ("stuck",)
    """The groups of which something has to be found."""
    takes_over_from_paused: bool
    """Whether the group notices that a client hangs."""

    def __init__(self) -> None:
        self.before: dict[str, GroupVerdict] = {}

    def run(self) -> Story:
        """From the start of the clients to their end."""
        with ExitStack() as running:
            self.jvms = {
                name: running.enter_context(self.clients())
                for name in ("producer", "first", "second", "victim", "sleeper")
            }
            self.start_consumers()
            self.watch = running.enter_context(Watch(self.reader(), settings=SETTINGS))
            self._leave_alone()
            self._let_it_happen()
            self._put_it_right()
        return self

    @abstractmethod
    def clients(self) -> JavaClients:
        """A JVM."""

    @abstractmethod
    def reader(self) -> SnapshotReader:
        """What reads the system."""

    @abstractmethod
    def start_consumers(self) -> None:
        """Create the topics, write to them, and start the consumers."""

    @abstractmethod
    def join(self) -> None:
        """A consumer of ``second`` joins the group ``joined``."""

    @abstractmethod
    def member(self, group: str, jvm: str) -> tuple[str, ...]:
        """The ends of the ids of that consumer's members."""

    @property
    @abstractmethod
    def shared(self) -> dict[str, tuple[str, ...]]:
        """Of the groups that are set up well, the JVMs with their consumers."""

    def _leave_alone(self) -> None:
        for group, jvms in self.shared.items():
            self._until_shared(group, *jvms)
        self.watch.pass_time(self.settling_s + 10)
        self.alone = self.watch.found()
        self.before = self.watch.verdicts()

    def _let_it_happen(self) -> None:
        self.happened_ms = now_ms()
        pause(self.jvms["sleeper"])
        self.jvms["second"].hang("stuck-second")
        self.jvms["victim"].kill()
        self.join()
        self._until_shared("killed", "first")
        self._until_shared("joined", "first", "second")
        if self.takes_over_from_paused:
            self._until_shared("paused", "first")
        for group in self.awaited:
            self.watch.until(lambda group=group: self.watch.now(group), f"what is wrong with {group}", 90)
        self.watch.pass_time(max(0.0, self.settling_s + 5 - (now_ms() - self.happened_ms) / 1000))
        self.after = self.watch.found(since_ms=self.happened_ms)

    def _put_it_right(self) -> None:
        resume(self.jvms["sleeper"])
        self.jvms["second"].resume("stuck-second")
        for group in self.awaited:
            self.watch.until(lambda group=group: not self.watch.now(group), f"{group}, which goes on", 60)
        self._until_shared("paused", "first", "sleeper")

    def _until_shared(self, group: str, *jvms: str) -> None:
        self.watch.until_shared(group, *(member for jvm in jvms for member in self.member(group, jvm)))


class RocketMQStory(Story):
    """Also two groups that are set up wrongly, and one whose members have the same id."""

    QUEUES = 4
    """Of each topic at each of the two brokers."""

    settling_s = SETTINGS.rocketmq_settling_ms / 1000
    awaited = ("stuck", "paused")
    takes_over_from_paused = False
    healthy = ("calm", "circle", "ordered", "everyone", "killed", "joined", "paused", "alike")

    tagged = ("tagged", "alike")
    """Topics of which all records have the tag ``one``."""

    def __init__(self, servers: EmbeddedRocketMQ) -> None:
        super().__init__()
        self._servers = servers

    def clients(self) -> JavaClients:
        return rocketmq_clients(self._servers)

    def reader(self) -> SnapshotReader:
        return RocketMQReader(RocketMQSettings(name=CLUSTER, name_servers=self._servers.name_servers))

    def start_consumers(self) -> None:
        for topic in (*self.healthy, "stuck", "mixed", "one", "other", "twin", "tagged", "narrow", "failing"):
            self.jvms["producer"].create_topic(topic, self.QUEUES)
            self.jvms["producer"].produce(f"{topic}=one" if topic in self.tagged else topic, 2 * self.QUEUES)
        for group, other in {"calm": "second", "killed": "victim", "paused": "sleeper", "stuck": "second"}.items():
            self._consume("first", group)
            self._consume(other, group)
        self._consume("first", "joined")
        for jvm in ("first", "second"):
            self._consume(jvm, "circle", strategy="AveragelyByCircle")
            self._consume(jvm, "ordered", how="orderly")
            self._consume(jvm, "everyone", how="broadcasting")
            self.jvms[jvm].consume("twin", "twin", "twin", strategy="Averagely", how="concurrently")
        self._consume("first", "mixed")
        self._consume("second", "mixed", strategy="AveragelyByCircle")
        self._consume("first", "split", "one")
        self._consume("second", "split", "other")
        self.jvms["producer"].change_queues("narrow", read=2, write=self.QUEUES)
        self._consume("first", "narrow")
        self._consume("second", "failing", how="failing 1")
        for tag, jvm in {"one": "first", "two": "second"}.items():
            self._consume(jvm, "tagged", f"tagged={tag}")
        for tags, jvm in {"one || two": "first", "two||one": "second"}.items():
            self._consume(jvm, "alike", f"alike={tags}")

    def join(self) -> None:
        self._consume("second", "joined")

    def member(self, group: str, jvm: str) -> tuple[str, ...]:
        return (f"@{group}-{jvm}",)

    @property
    def shared(self) -> dict[str, tuple[str, ...]]:
        both = dict.fromkeys(("calm", "circle", "ordered", "stuck"), ("first", "second"))
        return both | {"killed": ("first", "victim"), "paused": ("first", "sleeper"), "joined": ("first",)}

    def _consume(
        self, jvm: str, group: str, topic: str = "", strategy: str = "Averagely", how: str = "concurrently"
    ) -> None:
        self.jvms[jvm].consume(f"{group}-{jvm}", group, topic or group, strategy=strategy, how=how)


class KafkaStory(Story):
    """High-level consumers of Kafka 0.10."""

    PARTITIONS = 5

    settling_s = SETTINGS.zookeeper_settling_ms / 1000
    takes_over_from_paused = True
    healthy = ("calm", "turns", "white", "killed", "joined", "paused")
    threads: Final = MappingProxyType({"calm-first": 2, "turns-first": 2, "turns-second": 2})
    """How many threads a consumer has; the others have one."""

    def __init__(self, zookeeper: EmbeddedZooKeeper, broker: EmbeddedKafka010) -> None:
        super().__init__()
        self._zookeeper, self._broker = zookeeper, broker

    def clients(self) -> JavaClients:
        return kafka010_clients(self._broker, SESSION_MS)

    def reader(self) -> SnapshotReader:
        settings = ZooKeeperSettings(name=CLUSTER, hosts=self._zookeeper.hosts, system="kafka", root="/kafka")
        return KafkaZooKeeperReader(settings)

    def start_consumers(self) -> None:
        for topic in (*self.healthy, "stuck"):
            self.jvms["producer"].create_topic(topic, self.PARTITIONS)
            self.jvms["producer"].produce(topic, self.PARTITIONS)
        for group, jvms in self.shared.items():
            for jvm in jvms:
                self._consume(jvm, group)

    def join(self) -> None:
        self._consume("second", "joined")

    def member(self, group: str, jvm: str) -> tuple[str, ...]:
        name = f"{group}-{jvm}"
        return tuple(f"_{name}-{thread}" for thread in range(self.threads.get(name, 1)))

    @property
    def shared(self) -> dict[str, tuple[str, ...]]:
        both = dict.fromkeys(("calm", "turns", "white", "stuck"), ("first", "second"))
        return both | {"killed": ("first", "victim"), "paused": ("first", "sleeper"), "joined": ("first",)}

    def _consume(self, jvm: str, group: str) -> None:
        name = f"{group}-{jvm}"
        threads = str(self.threads.get(name, 1))
        strategy = "roundrobin" if group == "turns" else "range"
        topic, how = ("white|calm", f"white {threads}") if group == "white" else (group, threads)
        self.jvms[jvm].consume(name, group, topic, strategy=strategy, how=how)


class MetaQStory(Story):
    """Consumers of two MetaQ brokers."""

    settling_s = SETTINGS.zookeeper_settling_ms / 1000
    takes_over_from_paused = True
    healthy = ("calm", "wide", "killed", "joined", "paused")

    def __init__(self, zookeeper: EmbeddedZooKeeper, topics: dict[str, int]) -> None:
        super().__init__()
        self._zookeeper, self._topics = zookeeper, topics

    def clients(self) -> JavaClients:
        return metaq_clients(self._zookeeper, SESSION_MS)

    def reader(self) -> SnapshotReader:
        settings = ZooKeeperSettings(name=CLUSTER, hosts=self._zookeeper.hosts, system="metaq", root="/meta")
        return MetaQReader(settings)

    def start_consumers(self) -> None:
        for topic, partitions in self._topics.items():
            self.jvms["producer"].produce(topic, 2 * partitions)
        for group, jvms in self.shared.items():
            for jvm in jvms:
                self._consume(jvm, group)

    def join(self) -> None:
        self._consume("second", "joined")

    def member(self, group: str, jvm: str) -> tuple[str, ...]:
        return (f"_{group}-{jvm}",)

    @property
    def shared(self) -> dict[str, tuple[str, ...]]:
        both = dict.fromkeys(("calm", "wide", "hashed", "stuck"), ("first", "second"))
        return both | {"killed": ("first", "victim"), "paused": ("first", "sleeper"), "joined": ("first",)}

    def _consume(self, jvm: str, group: str) -> None:
        topic, strategy = ("wide", "CONSIST") if group == "hashed" else (group, "DEFAULT")
        self.jvms[jvm].consume(f"{group}-{jvm}", group, topic, strategy=strategy, how="")


def kinds(found: tuple[Found, ...], *groups: str) -> Kinds:
    """What kinds of findings there are of these groups (none named: of all)."""
    return {(each.kind, each.reason) for each in found if not groups or each.group in groups}
