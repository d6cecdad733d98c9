"""The demo's further kinds of groups on its own Kafka: a share group, a Kafka Streams application, Kafka Connect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Final

from kafka.admin import ConfigResource, ConfigResourceType, KafkaAdminClient

from monitor.demo.java.share_clients import ShareClients
from monitor.demo.java.streams_instance import StreamsApplication, StreamsInstance
from monitor.demo.servers.connect import SINK_TO_FILE, ConnectCluster, ConnectWorker
from monitor.demo.servers.kafka_applications import client_jars, connect_jars, streams_jars
from monitor.demo.workload.scene import SceneStep
from monitor.demo.workload.script import PAYMENTS, SHIPPING
from monitor.java_runtime.jars import Progress

SHARE_GROUP: Final = "labels"
"""A share group, and its topic."""

LOCK_MS: Final = 7_500
"""For so long a member of it may hold a record; Kafka's default is 30 s."""

HELD_MS: Final = 5_000
"""For so long a member holds the poison record before it releases it. So the last attempt can be seen to come."""

STREAMS: Final = StreamsApplication(
    name="payment-counts",
    topic=PAYMENTS.name,
    settings={"group.protocol": "streams", "commit.interval.ms": "1000", "num.stream.threads": "1"},
)

STREAMS_SESSION_S: Final = 45
"""For so long the tasks of a killed instance stand still: Kafka's default, and the least that a broker allows."""

CONNECT: Final = ConnectCluster(group="connect-cluster", properties={"consumer.session.timeout.ms": "10000"})

CONNECTOR: Final = "archive"

SINK_TASKS: Final = 4

BROKER_LIMITS: Final = {"group.share.min.record.lock.duration.ms": str(LOCK_MS)}
"""What a broker has to allow for that."""


class ShareScene:
    """Two members of ``labels`` give a poison record up. Later they poll no more for a while."""

    def __init__(self, bootstrap_servers: str, progress: Progress) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._progress = progress
        self._clients: ShareClients

    def start(self, running: ExitStack) -> None:
        """Start a JVM with two members and a producer."""
        client_jars(progress=self._progress)
        self._progress("starting the members of a share group")
        configs = {"share.auto.offset.reset": "earliest", "share.record.lock.duration.ms": str(LOCK_MS)}
        _configure_group(self._bootstrap_servers, SHARE_GROUP, configs)
        self._clients = running.enter_context(ShareClients(self._bootstrap_servers))
        self._clients.create_topic(SHARE_GROUP, 4)
        for name in self._names():
            self._clients.consume(name, SHARE_GROUP, SHARE_GROUP, strategy="", how=str(HELD_MS))
        self._clients.produce(SHARE_GROUP, 8)

    def steps(self) -> Sequence[SceneStep]:
        """A record that every delivery releases; then the members do not poll for 55 s."""
        return (
            SceneStep(10, SHARE_GROUP, "labels gets a record that its members release each time", self._poison),
            SceneStep(45, SHARE_GROUP, "the members of labels stop polling but stay", self._hang),
            SceneStep(100, SHARE_GROUP, "the members of labels poll again", self._resume),
        )

    @staticmethod
    def _names() -> list[str]:
        return [f"{SHARE_GROUP}-worker-{number}" for number in (0, 1)]

    def _poison(self) -> None:
        self._clients.send_poison(SHARE_GROUP)

    def _hang(self) -> None:
        for name in self._names():
            self._clients.hang(name)

    def _resume(self) -> None:
        for name in self._names():
            self._clients.resume(name)


class StreamsScene:
    """One of the two instances of ``payment-counts`` is killed and comes back. They have standby tasks."""

    def __init__(self, bootstrap_servers: str, progress: Progress) -> None:
        self._bootstrap_servers = bootstrap_servers
        self._progress = progress
        self._victim = StreamsInstance(bootstrap_servers, STREAMS)

    def start(self, running: ExitStack) -> None:
        """Start two instances."""
        streams_jars(self._progress)
        self._progress("starting two instances of a Kafka Streams application")
        _configure_group(self._bootstrap_servers, STREAMS.name, {"streams.num.standby.replicas": "1"})
        running.enter_context(StreamsInstance(self._bootstrap_servers, STREAMS))
        running.enter_context(self._victim)

    def steps(self) -> Sequence[SceneStep]:
        """An instance is killed, and started again after its session has ended."""
        return (
            SceneStep(15, STREAMS.name, "an instance of payment-counts (Kafka Streams) is killed", self._victim.kill),
            SceneStep(80, STREAMS.name, "the instance of payment-counts returns", self._victim.start),
        )


class ConnectScene:
    """One of two workers with the sink ``archive`` is killed and comes back."""

    def __init__(self, bootstrap_servers: str, progress: Progress) -> None:
        self._progress = progress
        self._first, self._victim = (ConnectWorker(bootstrap_servers, CONNECT) for _ in range(2))

    def start(self, running: ExitStack) -> None:
        """Start two workers and their connector. The first one to join is the leader, and it stays."""
        connect_jars(self._progress)
        self._progress("starting two workers of Kafka Connect")
        running.enter_context(self._first)
        running.enter_context(self._victim)
        config = {
            "connector.class": SINK_TO_FILE,
            "tasks.max": str(SINK_TASKS),
            "topics": SHIPPING.name,
            "file": str(self._first.data_dir / "archive.txt"),
        }
        self._first.configure(CONNECTOR, config)

    def steps(self) -> Sequence[SceneStep]:
        """A worker is killed, and started again after others have been given its tasks."""
        return (
            SceneStep(30, CONNECT.group, "a worker of connect-cluster (Kafka Connect) is killed", self._victim.kill),
            SceneStep(85, CONNECT.group, "the worker of connect-cluster returns", self._victim.start),
        )


def _configure_group(bootstrap_servers: str, group: str, configs: Mapping[str, str]) -> None:
    with KafkaAdminClient(bootstrap_servers=bootstrap_servers) as admin:
        admin.alter_configs([ConfigResource(ConfigResourceType.GROUP, group, dict(configs))])
