"""A real MetaQ 1.4 broker (Metamorphosis), as a child process. It listens on the addresses of all interfaces."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from monitor.demo.servers.log4j import log4j1_properties
from monitor.demo.servers.ports import free_ports, listening
from monitor.demo.servers.server import ADD_OPENS, EmbeddedServer, class_path
from monitor.demo.servers.zookeeper import EmbeddedZooKeeper
from monitor.java_runtime.jars import Coordinate, Progress, cache_dir, quiet, resolve

METAQ: Final = Coordinate(organisation="com.taobao.metamorphosis", artifact="metamorphosis-server", version="1.4.6.2")
_CLIENT: Final = Coordinate(organisation="com.taobao.metamorphosis", artifact="metamorphosis-client", version="1.4.6.2")

ROOT: Final = "/meta"
"""The node below which brokers and clients agree, unless they are configured otherwise."""


class EmbeddedMetaQ(EmbeddedServer):
    """A MetaQ broker that registers in a ZooKeeper, which must run; see :class:`EmbeddedServer` for its life."""

    def __init__(
        self,
        zookeeper: EmbeddedZooKeeper,
        topics: Mapping[str, int],
        *,
        broker_id: int = 0,
        data_dir: Path | None = None,
        progress: Progress = quiet,
    ) -> None:
        """Prepare a broker; nothing starts yet.

        Args:
            zookeeper: Where it registers.
            topics: How many partitions it has of each topic. It takes no others.
            broker_id: Its number, of which two brokers must not have the same.
            data_dir: As for every server.
            progress: As for every server.
        """
        super().__init__(f"MetaQ broker {broker_id}", data_dir, progress)
        self.broker_id = broker_id
        self.port = free_ports(1)[0]
        self._zookeeper = zookeeper
        self._topics = dict(topics)

    @property
    def address(self) -> str:
        """Where it serves, as "host:port"."""
        return f"127.0.0.1:{self.port}"

    def _command(self) -> list[str]:
        jars = metaq_jars(self._progress)
        configuration, logging = self.data_dir / "server.ini", self.data_dir / "log4j.properties"
        logging.write_text(log4j1_properties("INFO"), encoding="utf-8")
        configuration.write_text(self._ini(), encoding="utf-8")
        options = ["-Xmx128m", *ADD_OPENS, f"-Dlog4j.configuration=file:{logging}", f"-Duser.home={self.data_dir}"]
        main = "com.taobao.metamorphosis.server.MetamorphosisStartup"
        return [*options, "-cp", class_path(jars), main, "-f", str(configuration)]

    def _ini(self) -> str:
        system = {
            "brokerId": str(self.broker_id),
            "hostName": "127.0.0.1",
            "numPartitions": "1",
            "serverPort": str(self.port),
            "dataPath": str(self.data_dir / "data"),
            "dataLogPath": str(self.data_dir / "data"),
            "unflushThreshold": "1",
            "unflushInterval": "1000",
            "maxSegmentSize": str(1024 * 1024),
            "maxTransferSize": str(1024 * 1024),
            "maxCheckpoints": "3",
            "checkpointInterval": "60000",
            "maxTxTimeoutTimerCapacity": "3000",
            "maxTxTimeoutInSeconds": "60",
            "flushTxLogAtCommit": "1",
            "deletePolicy": "delete,168",
            "deleteWhen": "0 0 6,18 * * ?",
        }
        zookeeper = {
            "zk.zkConnect": self._zookeeper.hosts,
            "zk.zkRoot": ROOT,
            "zk.zkSessionTimeoutMs": "6000",
            "zk.zkConnectionTimeoutMs": "10000",
            "zk.zkSyncTimeMs": "5000",
        }
        sections = {"system": system, "zookeeper": zookeeper}
        sections |= {f"topic={name}": {"numPartitions": str(count)} for name, count in self._topics.items()}
        return "".join(
            f"[{name}]\n" + "".join(f"{key}={value}\n" for key, value in section.items())
            for name, section in sections.items()
        )

    def _is_ready(self) -> bool:
        return self._said("Start metamorphosis server successfully") and listening(self.port)


def metaq_jars(progress: Progress = quiet) -> list[Path]:
    """The jars of the broker and its clients, fetched if this user does not have them yet.

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    return resolve(METAQ, cache_dir() / f"metaq-{METAQ.version}", progress, beside=(_CLIENT,))
