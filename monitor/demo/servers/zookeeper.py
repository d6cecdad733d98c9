"""A real ZooKeeper, as a child process: one node, on 127.0.0.1."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path
from typing import Final

from monitor.demo.servers.ports import free_ports
from monitor.demo.servers.server import EmbeddedServer, class_path, properties_text
from monitor.java_runtime.jars import Coordinate, Progress, cache_dir, quiet, resolve

ZOOKEEPER: Final = Coordinate(organisation="org.apache.zookeeper", artifact="zookeeper", version="3.9.3")

_PROVIDED: Final = (
    Coordinate(organisation="io.dropwizard.metrics", artifact="metrics-core", version="4.1.12.1"),
    Coordinate(organisation="org.xerial.snappy", artifact="snappy-java", version="1.1.10.5"),
)
"""ZooKeeper's own distribution brings them; its pom says that somebody else does."""

TICK_MS: Final = 500
"""The unit of session times: a client may ask for a session limit of 2 to 20 ticks, and gets at least 1 s."""


class EmbeddedZooKeeper(EmbeddedServer):
    """A ZooKeeper server; see :class:`EmbeddedServer` for its life.

    Sessions may be between 1 s and 60 s long.
    """

    def __init__(self, *, data_dir: Path | None = None, progress: Progress = quiet) -> None:
        """Prepare a server; nothing starts yet. The arguments are those of every server."""
        super().__init__("ZooKeeper", data_dir, progress)
        self.port = free_ports(1)[0]

    @property
    def hosts(self) -> str:
        """What clients connect to, as "host:port"."""
        return f"127.0.0.1:{self.port}"

    def _command(self) -> list[str]:
        jars = zookeeper_jars(self._progress)
        configuration = self.data_dir / "zoo.cfg"
        configuration.write_text(
            properties_text(
                {
                    "tickTime": str(TICK_MS),
                    "maxSessionTimeout": "60000",
                    "dataDir": str(self.data_dir / "data"),
                    "clientPort": str(self.port),
                    "clientPortAddress": "127.0.0.1",
                    "maxClientCnxns": "0",
                    "admin.enableServer": "false",
                    "4lw.commands.whitelist": "srvr,stat,cons,ruok,mntr",
                }
            ),
            encoding="utf-8",
        )
        main = "org.apache.zookeeper.server.ZooKeeperServerMain"
        return ["-Xmx128m", "-cp", class_path(jars), main, str(configuration)]

    def _is_ready(self) -> bool:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 2) as connection:
            connection.settimeout(2)
            connection.sendall(b"srvr")
            return connection.recv(4096).startswith(b"Zookeeper version")
        return False


def zookeeper_jars(progress: Progress = quiet) -> list[Path]:
    """The jars of the server, fetched if this user does not have them yet.

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    return resolve(ZOOKEEPER, cache_dir() / f"zookeeper-{ZOOKEEPER.version}", progress, beside=_PROVIDED)
