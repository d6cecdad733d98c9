"""A real distributed worker of Kafka Connect, as a child process with a REST interface on 127.0.0.1."""

from __future__ import annotations

import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from monitor.demo.servers.kafka_applications import connect_jars
from monitor.demo.servers.ports import free_ports
from monitor.demo.servers.server import LOOK_S, START_LIMIT_S, EmbeddedServer, class_path, properties_text
from monitor.java_runtime.errors import ServerFailed
from monitor.java_runtime.jars import Progress, quiet
from monitor.model import Value

REQUEST_LIMIT_S: Final = 60
"""Connect itself gives a request up after 90 s; to configure a connector takes less than one here."""

SINK_TO_FILE: Final = "org.apache.kafka.connect.file.FileStreamSinkConnector"
"""The connector that writes each record as a line of its file."""


class ConnectCluster(Value):
    """The cluster of a worker: its ``group.id``, and for how long the group misses a worker and then waits for it.

    Connect's own defaults are a session of 10 s and a delay of 5 minutes.
    """

    group: str
    session_ms: int = 6_000
    delay_ms: int = 20_000
    properties: Mapping[str, str] = {}

    @property
    def configs_topic(self) -> str:
        """The topic of its configurations (``config.storage.topic``)."""
        return f"{self.group}-configs"


class ConnectWorker(EmbeddedServer):
    """A worker of a cluster; see :class:`EmbeddedServer` for its life. It has the same URL after each start."""

    def __init__(
        self,
        bootstrap_servers: str,
        cluster: ConnectCluster,
        *,
        data_dir: Path | None = None,
        progress: Progress = quiet,
    ) -> None:
        """Prepare a worker; nothing starts yet. ``data_dir`` and ``progress`` are those of every server."""
        super().__init__("Connect worker", data_dir, progress)
        self.port = free_ports(1)[0]
        self._cluster = cluster
        self._bootstrap_servers = bootstrap_servers

    @property
    def url(self) -> str:
        """Its URL, by which the group's records name it."""
        return f"http://127.0.0.1:{self.port}/"

    def response(self, path: str) -> bytes | None:
        """The response of its REST interface, as JSON; None: there is none yet."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as response:
                return bytes(response.read())
        except OSError:
            return None

    def configure(self, connector: str, config: Mapping[str, str]) -> None:
        """Create a connector, or change it.

        While the group rebalances, Connect refuses that or does not answer: it is tried again.

        Raises:
            ServerFailed: Connect has refused it for too long.
        """
        request = urllib.request.Request(
            f"{self.url}connectors/{connector}/config",
            data=json.dumps(config).encode(),
            headers={"Content-Type": "application/json"},
            method="PUT",
        )
        deadline = time.monotonic() + START_LIMIT_S
        while not _is_accepted(request):
            if time.monotonic() > deadline:
                raise ServerFailed(f"the connector {connector} was not accepted", self.log_file)
            time.sleep(LOOK_S)

    def _command(self) -> list[str]:
        properties = self.data_dir / "worker.properties"
        properties.write_text(properties_text(self._properties()), encoding="utf-8")
        jars = class_path(connect_jars(self._progress))
        return ["-Xmx256m", "-cp", jars, "org.apache.kafka.connect.cli.ConnectDistributed", str(properties)]

    def _properties(self) -> dict[str, str]:
        text = "org.apache.kafka.connect.storage.StringConverter"
        cluster = self._cluster
        return {
            "bootstrap.servers": self._bootstrap_servers,
            "group.id": cluster.group,
            "config.storage.topic": cluster.configs_topic,
            **_topic("offset", f"{cluster.group}-offsets"),
            **_topic("status", f"{cluster.group}-statuses"),
            "config.storage.replication.factor": "1",
            "key.converter": text,
            "value.converter": text,
            "listeners": f"HTTP://127.0.0.1:{self.port}",
            "rest.advertised.host.name": "127.0.0.1",
            "scheduled.rebalance.max.delay.ms": str(cluster.delay_ms),
            "session.timeout.ms": str(cluster.session_ms),
            "heartbeat.interval.ms": str(cluster.session_ms // 4),
            "offset.flush.interval.ms": "1000",
            "plugin.discovery": "service_load",  # by default it scans all jars, for seconds
            **cluster.properties,
        }

    def _is_ready(self) -> bool:
        return self.response("connectors") is not None


def _topic(kind: str, name: str) -> dict[str, str]:
    settings = {"topic": name, "replication.factor": "1", "partitions": "1"}
    return {f"{kind}.storage.{setting}": value for setting, value in settings.items()}


def _is_accepted(request: urllib.request.Request) -> bool:
    try:
        with urllib.request.urlopen(request, timeout=REQUEST_LIMIT_S) as response:
            return response.status in (200, 201)
    except urllib.error.HTTPError as error:
        error.close()
        return False
    except OSError:
        return False
