"""A real Kafka 0.10.2 broker, as a child process: the last line whose consumers agree in ZooKeeper by default."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from monitor.demo.servers.log4j import log4j1_properties
from monitor.demo.servers.ports import free_ports, listening
from monitor.demo.servers.server import ADD_OPENS, EmbeddedServer, class_path, properties_text
from monitor.demo.servers.zookeeper import EmbeddedZooKeeper
from monitor.java_runtime.jars import Coordinate, Progress, cache_dir, quiet, resolve

KAFKA_010: Final = Coordinate(organisation="org.apache.kafka", artifact="kafka_2.11", version="0.10.2.2")

_BESIDE: Final = (Coordinate(organisation="javax.xml.bind", artifact="jaxb-api", version="2.3.1"),)
"""It was part of Java when this Kafka was written."""


class EmbeddedKafka010(EmbeddedServer):
    """A Kafka 0.10.2 broker that keeps its cluster in a ZooKeeper, which must run; see :class:`EmbeddedServer`."""

    def __init__(
        self,
        zookeeper: EmbeddedZooKeeper,
        *,
        chroot: str = "",
        data_dir: Path | None = None,
        progress: Progress = quiet,
    ) -> None:
        """Prepare a broker; nothing starts yet.

        Args:
            zookeeper: Where its cluster is kept.
            chroot: Below which node, as "/kafka"; "": at the root.
            data_dir: As for every server.
            progress: As for every server.
        """
        super().__init__("Kafka 0.10", data_dir, progress)
        self.port = free_ports(1)[0]
        self.zookeeper_hosts = zookeeper.hosts + chroot

    @property
    def bootstrap_servers(self) -> str:
        """What clients connect to, as "host:port"."""
        return f"127.0.0.1:{self.port}"

    def _command(self) -> list[str]:
        jars = kafka010_jars(self._progress)
        configuration, logging = self.data_dir / "server.properties", self.data_dir / "log4j.properties"
        logging.write_text(log4j1_properties("INFO", "kafka.server.KafkaConfig"), encoding="utf-8")
        configuration.write_text(
            properties_text(
                {
                    "broker.id": "0",
                    "listeners": f"PLAINTEXT://127.0.0.1:{self.port}",
                    "log.dirs": str(self.data_dir / "log"),
                    "zookeeper.connect": self.zookeeper_hosts,
                    "zookeeper.session.timeout.ms": "6000",
                    "num.network.threads": "2",
                    "num.io.threads": "2",
                    "offsets.topic.num.partitions": "1",
                    "offsets.topic.replication.factor": "1",
                    "log.cleaner.enable": "false",
                    "auto.create.topics.enable": "false",
                }
            ),
            encoding="utf-8",
        )
        options = ["-Xmx256m", *ADD_OPENS, f"-Dlog4j.configuration=file:{logging}"]
        return [*options, "-cp", class_path(jars), "kafka.Kafka", str(configuration)]

    def _is_ready(self) -> bool:
        return self._said("started (kafka.server.KafkaServer)") and listening(self.port)


def kafka010_jars(progress: Progress = quiet) -> list[Path]:
    """The jars of the broker and its clients, fetched if this user does not have them yet.

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    return resolve(KAFKA_010, cache_dir() / f"kafka-{KAFKA_010.version}", progress, beside=_BESIDE)
