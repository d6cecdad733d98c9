"""The readers of ZooKeeper on real brokers with real consumers: what is read is what the consumers say they hold."""

from __future__ import annotations

import time
from contextlib import ExitStack
from pathlib import Path

import pytest
from kafka import KafkaProducer

from monitor.collectors.zookeeper.readers import KafkaZooKeeperReader, MetaQReader
from monitor.config.systems import ZooKeeperSettings
from monitor.demo.java.clients import Held, kafka010_clients, metaq_clients
from monitor.demo.servers import kafka010
from monitor.demo.servers.kafka010 import EmbeddedKafka010
from monitor.demo.servers.ports import listening
from monitor.java_runtime.jars import Coordinate, cache_dir, resolve
from tests.collectors.zookeeper.zookeepers import client
from tests.support.garbage import collect_sockets
from tests.support.job_process import eventually
from tests.systems.conftest import METAQ_TOPICS

# kafka-python leaves the sockets of failed connections to the garbage collector.
pytestmark = [pytest.mark.systems, pytest.mark.filterwarnings("ignore:unclosed <:ResourceWarning")]

SESSION_MS = 3_000


GROUP = "reading"


class Reading:
    """The newest reading of the group, and all its states so far, as sets of what is held."""

    def __init__(self, reader):
        self._reader = reader
        self.states = []

    def now(self):
        reading = self._reader.read(time.time_ns() // 1_000_000)
        assert (reading.complete, reading.problems) == (True, ())
        self.topics = {topic.topic: topic.partitions for topic in reading.topics}
        (self.group,) = [each for each in reading.groups if each.group == GROUP] or [None]
        if self.group is not None:
            state = self.held()
            if not self.states or self.states[-1] != state:
                self.states.append(state)
        return self

    def held(self):
        """What is held, by the consumer's id."""
        held = {member.client_id: set() for member in self.group.members}
        for member in self.group.members:
            for each in member.assigned:
                held[member.client_id] |= {Held(each.topic, str(partition)) for partition in each.partitions}
        return held


class Crew:
    """JVMs with one consumer each, all of the group "reading"."""

    def __init__(self, jvms, start, *order, **how):
        self._jvms, self._start, self._order, self._how = jvms, start, order, how
        self.consumers = {}

    def join(self, name):
        jvm = self.consumers[name] = self._jvms.enter_context(self._start())
        jvm.consume(name, GROUP, *self._order, **self._how)

    def shares(self):
        """What each says that it holds, by its id."""
        return {f"{GROUP}_{name}": set(jvm.holds(name)) for name, jvm in self.consumers.items()}


@pytest.fixture(autouse=True)
def _collect_sockets():
    yield
    collect_sockets()


@pytest.fixture
def jvms():
    with ExitStack() as stack:
        yield stack


def join_kill_and_compare(reading, crew, partitions):
    """Three consumers join one after the other, and one is killed. Nothing is read but what they say in between."""

    def agree():
        told = {} if reading.now().group is None else reading.held()
        return told == crew.shares() and sum(map(len, told.values())) == partitions

    for name in ("a", "b", "c"):
        crew.join(name)
        eventually(agree, f"{name} has its share", 90)
    crew.consumers.pop("b").kill()
    eventually(agree, "b's share went to others", 90)
    whole = set().union(*reading.held().values())
    assert all(set().union(*state.values()) == whole for state in reading.states), "a partition without owner was told"
    assert [len(state) for state in reading.states] == [1, 2, 3, 2]


@pytest.mark.long  # the stories of the other files have the same readers
def test_consumers_of_kafka_010(zookeeper, kafka010, jvms):
    """Two threads each, of a topic with seven partitions, as range gives them to threads; read to their ends."""
    with kafka010_clients(kafka010) as producer:
        producer.create_topic("read", 7)
        producer.send("read", 70)
        settings = ZooKeeperSettings(
            name="old", hosts=zookeeper.hosts, system="kafka", root="/kafka", strategies={"reading": "range"}
        )
        reader = KafkaZooKeeperReader(settings)
        jvms.callback(reader.close)
        reading = Reading(reader)
        crew = Crew(jvms, lambda: kafka010_clients(kafka010, SESSION_MS), "read", strategy="range", how="2")
        join_kill_and_compare(reading, crew, 7)
        assert [member.member_id for member in reading.group.members] == [
            "reading_a-0", "reading_a-1", "reading_c-0", "reading_c-1"
        ]  # fmt: skip
        assert [len(m.assigned[0].partitions) for m in reading.group.members] == [2, 2, 2, 1]
        assert [(p.partition, p.earliest, p.end) for p in reading.topics["read"]] == [(n, 0, 10) for n in range(7)]
        eventually(lambda: [each.offset for each in reading.now().group.offsets] == [10] * 7, "all committed", 60)
        producer.send("read", 7)
        eventually(lambda: [p.end for p in reading.now().topics["read"]] == [11] * 7, "new ends", 60)


@pytest.mark.long  # the stories of the other files have the same readers
def test_consumers_of_metaq(zookeeper, metaq, jvms):
    with metaq_clients(zookeeper) as producer:
        producer.send("wide", 50)
        reader = MetaQReader(ZooKeeperSettings(name="mq", hosts=zookeeper.hosts, system="metaq"))
        jvms.callback(reader.close)
        reading = Reading(reader)
        crew = Crew(jvms, lambda: metaq_clients(zookeeper, SESSION_MS), "wide", strategy="DEFAULT", how="")
        join_kill_and_compare(reading, crew, 2 * METAQ_TOPICS["wide"])
        text_order = [str(n) for n in (0, 1, 10, 11, 2, 3, 4, 5, 6, 7, 8, 9)]
        assert [p.partition for p in reading.topics["wide"]] == [f"{b}-{n}" for b in "01" for n in text_order]
        ends = {p.partition: p.end for p in reading.topics["wide"]}
        assert None not in ends.values()
        assert sum(ends.values()) > 50
        written = {partition: end for partition, end in ends.items() if end}

        def committed():
            return {each.partition: each.offset for each in reading.now().group.offsets if each.offset}

        eventually(lambda: committed() == written, "all committed", 60)


class OlderKafka(EmbeddedKafka010):
    """A broker of 0.8 or 0.9, which knows fewer settings."""

    def _command(self):
        command = super()._command()
        configuration = Path(command[-1])
        lines = configuration.read_text().splitlines()
        known = [line for line in lines if not line.startswith("listeners")]
        configuration.write_text("\n".join([*known, f"port={self.port}", "host.name=127.0.0.1", ""]))
        return command

    def _is_ready(self):
        return listening(self.port)


@pytest.mark.parametrize("release", ["0.8.2.2", pytest.param("0.9.0.1", marks=pytest.mark.long)])
def test_the_ends_of_older_brokers(release, zookeeper, jvms, monkeypatch):
    """They cannot be asked for their release, and answer questions for offsets in an older form."""
    coordinate = Coordinate(organisation="org.apache.kafka", artifact="kafka_2.11", version=release)
    jars = resolve(coordinate, cache_dir() / f"kafka-{release}", beside=kafka010._BESIDE)
    monkeypatch.setattr(kafka010, "kafka010_jars", lambda _progress: jars)
    root = f"/kafka-{release}"
    with client(zookeeper.hosts) as owner:
        owner.create(f"{root}/brokers/topics/t", b'{"version":1,"partitions":{"0":[0],"1":[0]}}', makepath=True)
    with OlderKafka(zookeeper, chroot=root) as broker:
        reader = KafkaZooKeeperReader(ZooKeeperSettings(name="old", hosts=zookeeper.hosts, system="kafka", root=root))
        jvms.callback(reader.close)
        eventually(lambda: ends(reader) == {0: (0, 0), 1: (0, 0)}, "both partitions have their leader", 60)
        numbers = tuple(int(number) for number in release.split("."))[:3]
        producer = KafkaProducer(
            bootstrap_servers=broker.bootstrap_servers, api_version=numbers, enable_idempotence=False
        )
        for _ in range(3):
            producer.send("t", b"x", partition=1).get(30)
        producer.close()
        assert ends(reader) == {0: (0, 0), 1: (0, 3)}


def ends(reader):
    (topic,) = reader.read(time.time_ns() // 1_000_000).topics
    return {each.partition: (each.earliest, each.end) for each in topic.partitions}
