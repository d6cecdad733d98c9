"""The embedded servers are real ones: they start, serve real clients, keep their data, and never outlive us."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from monitor.demo.java.clients import JavaClients, kafka010_clients, metaq_clients, rocketmq_clients
from monitor.demo.servers.kafka010 import EmbeddedKafka010
from monitor.demo.servers.ports import listening
from monitor.demo.servers.zookeeper import EmbeddedZooKeeper
from monitor.java_runtime.errors import ServerFailed
from tests.paused import pause, resume
from tests.support.job_process import eventually
from tests.systems.conftest import METAQ_TOPICS, VERSIONS

pytestmark = pytest.mark.systems

SESSION_MS = 3_000
"""So that a killed consumer of ZooKeeper is forgotten soon."""


class Crew:
    """JVMs with one consumer each, all of one group of a system, named a, b, ..."""

    def __init__(self, start: Callable[[], JavaClients], topic: str, strategy: str, how: str) -> None:
        self._stack = ExitStack()
        self._start, self._topic, self._strategy, self._how = start, topic, strategy, how
        self.jvms: dict[str, JavaClients] = {}

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def join(self, name: str) -> JavaClients:
        jvm = self.jvms[name] = self._stack.enter_context(self._start())
        jvm.consume(name, f"crew-{self._topic}", self._topic, strategy=self._strategy, how=self._how)
        return jvm

    def kill(self, name: str) -> None:
        self.jvms.pop(name).kill()

    def shares(self) -> list[int]:
        """How many partitions each holds, in the order of their names, if nobody shares one with another."""
        held = [jvm.holds(name) for name, jvm in sorted(self.jvms.items())]
        return [len(each) for each in held] if sum(map(len, held)) == len(frozenset().union(*held)) else []


def a_first_and_a_second_share_and_take_over(members: Crew, partitions: int) -> None:
    members.join("a")
    eventually(lambda: members.shares() == [partitions], "all at the first", 120)
    members.join("b")
    eventually(lambda: members.shares() == [partitions // 2] * 2, "half of them each", 120)
    members.kill("a")
    eventually(lambda: members.shares() == [partitions], "all at the one that is left", 120)
    members.join("a")
    eventually(lambda: members.shares() == [partitions // 2] * 2, "half of them each, again", 120)
    members.jvms["b"].leave("b")
    members.kill("b")
    eventually(lambda: members.shares() == [partitions], "all at the one that did not leave", 120)


@pytest.mark.long  # the stories of the other files kill members, too
def test_consumers_of_kafka_010_share_and_take_over_from_a_killed_one(kafka010):
    with kafka010_clients(kafka010) as admin:
        admin.create_topic("crew", 8)
        admin.send("crew", 8)
        with Crew(lambda: kafka010_clients(kafka010, SESSION_MS), "crew", "range", "1") as crew:
            a_first_and_a_second_share_and_take_over(crew, 8)


@pytest.mark.long  # the stories of the other files kill members, too
def test_consumers_of_metaq_share_and_take_over_from_a_killed_one(zookeeper, metaq):
    with Crew(lambda: metaq_clients(zookeeper, SESSION_MS), "crew", "DEFAULT", "") as crew:
        a_first_and_a_second_share_and_take_over(crew, 2 * METAQ_TOPICS["crew"])


@pytest.mark.long
@pytest.mark.parametrize("version", VERSIONS)
def test_consumers_of_rocketmq_share_and_take_over_from_a_killed_one(version, rocketmq):
    with rocketmq_clients(rocketmq) as admin:
        admin.create_topic("crew", 4)  # on each of the two brokers
        admin.send("crew", 8)
        with Crew(lambda: rocketmq_clients(rocketmq), "crew", "Averagely", "concurrently") as crew:
            a_first_and_a_second_share_and_take_over(crew, 8)


def test_a_paused_client_neither_answers_nor_ends_and_goes_on_later(zookeeper, kafka010):
    with kafka010_clients(kafka010) as clients:
        clients.create_topic("resting", 1)
        pause(clients)
        assert clients.running
        resume(clients)
        clients.send("resting", 3)
        pause(clients)
    assert not clients.running


def test_zookeeper_keeps_its_data_over_kill_9_and_a_stop():
    with EmbeddedZooKeeper() as server:
        folder, port = server.data_dir, server.port
        server.kill()
        assert not listening(port)
        server.start()
        assert server.port == port
        server.stop()
        assert (folder / "data" / "version-2").is_dir()
        server.start()
        assert listening(port)
    assert not listening(port)
    assert not folder.exists()


def test_a_server_that_cannot_start_names_its_log(tmp_path: Path, zookeeper, kafka010):
    twin = EmbeddedKafka010(zookeeper, chroot="/twin", data_dir=tmp_path)
    twin.port = kafka010.port
    with pytest.raises(ServerFailed, match="Address already in use") as caught:
        twin.start()
    assert str(twin.log_file) in str(caught.value)
    assert not twin.running


def test_the_death_of_the_parent_kills_the_server(tmp_path: Path):
    program = (
        "import sys, time; from pathlib import Path; from monitor.demo.servers.zookeeper import EmbeddedZooKeeper\n"
        "server = EmbeddedZooKeeper(data_dir=Path(sys.argv[1])); server.start(); print(server.port, flush=True)\n"
        "time.sleep(600)"
    )
    with subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        port = int(parent.stdout.readline())
        assert listening(port)
        parent.kill()
    eventually(lambda: not listening(port), "the end of the server", 20)
