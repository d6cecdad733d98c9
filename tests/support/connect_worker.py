"""A real distributed worker of Kafka Connect, as a process of its own."""

from __future__ import annotations

import json
import signal
import subprocess
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any, Final, Self

from monitor.demo.servers.ports import free_ports
from monitor.demo.servers.server import class_path
from monitor.java_runtime.find_java import find_java
from tests.support.java_program import jars_of_connect
from tests.support.job_process import BRIEF_JVM, eventually

DELAY_MS: Final = 25_000
"""For how long the leader waits for a worker that is gone; Connect's own default is five minutes."""

SESSION_MS: Final = 6_000

GROUP: Final = "live-connect"
CONFIGS: Final = "live-connect-configs"


class ConnectWorker:
    """A worker of the cluster GROUP. It listens at the same port again when it is started again."""

    def __init__(self, folder: Path, name: str, bootstrap_servers: str) -> None:
        self.port = free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}/"
        self.log_file = folder / f"{name}.log"
        self._properties = folder / f"{name}.properties"
        self._properties.write_text(
            "\n".join(f"{key}={value}" for key, value in _properties(bootstrap_servers, self.port).items())
        )
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill_9()

    def start(self) -> None:
        """Start it, and return once its REST interface answers for the cluster."""
        main = "org.apache.kafka.connect.cli.ConnectDistributed"
        jvm = (*BRIEF_JVM.split(), "-Xmx256m", "-cp", class_path(jars_of_connect()))
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [find_java().executable, *jvm, main, str(self._properties)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        eventually(lambda: self.ask("/connectors") is not None, f"a worker that answers; see {self.log_file}")

    def kill_9(self) -> None:
        """End it without a word to its group."""
        assert self._process is not None
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGKILL)
            self._process.wait(30)

    def ask(self, path: str) -> Any:
        """What its REST interface answers; None: it does not yet."""
        assert self._process is not None
        assert self._process.poll() is None, self.log_file.read_text(errors="replace")[-3000:]
        try:
            with urllib.request.urlopen(self.url.rstrip("/") + path, timeout=10) as response:
                return json.load(response)
        except OSError:
            return None

    def configure(self, connector: str, config: dict[str, str]) -> None:
        """Create a connector, or change it."""
        request = urllib.request.Request(
            f"{self.url}connectors/{connector}/config",
            data=json.dumps(config).encode(),
            headers={"Content-Type": "application/json"},
            method="PUT",
        )

        def is_taken() -> bool:
            """While the group rebalances, it answers that this is to be tried again (409)."""
            try:
                with urllib.request.urlopen(request, timeout=60) as response:
                    return response.status in (200, 201)
            except urllib.error.HTTPError as error:
                error.close()
                return False

        eventually(is_taken, f"that {connector} is configured")


def _properties(bootstrap_servers: str, port: int) -> dict[str, str]:
    text = "org.apache.kafka.connect.storage.StringConverter"
    storage = {
        f"{kind}.storage.{key}": value
        for kind in ("config", "offset", "status")
        for key, value in (("topic", f"{GROUP}-{kind}s"), ("replication.factor", "1"), ("partitions", "1"))
        if (kind, key) != ("config", "partitions")
    }
    return {
        "bootstrap.servers": bootstrap_servers,
        "group.id": GROUP,
        **storage,
        "key.converter": text,
        "value.converter": text,
        "listeners": f"HTTP://127.0.0.1:{port}",
        "rest.advertised.host.name": "127.0.0.1",
        "scheduled.rebalance.max.delay.ms": str(DELAY_MS),
        "session.timeout.ms": str(SESSION_MS),
        "heartbeat.interval.ms": "1500",
        "offset.flush.interval.ms": "1000",
    }
