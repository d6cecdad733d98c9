"""A real Kafka broker, as a child process: a cluster of its own, or one more of another's."""

from __future__ import annotations

import os
import secrets
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Final

from kafka.admin import KafkaAdminClient
from kafka.errors import KafkaError

from monitor.demo.servers.guarded import STOP_LIMIT_S, Process, end, start_guarded, stops
from monitor.demo.servers.ports import free_ports, listening
from monitor.demo.servers.server import JVM
from monitor.demo.servers.settings import INTERNAL_USER, BrokerSettings, Place, log4j2_xml, server_properties
from monitor.java_runtime.errors import BrokerFailed
from monitor.java_runtime.find_java import find_java
from monitor.java_runtime.jars import Progress, kafka_jars, pyspark_jar, quiet
from monitor.lifecycle import Lifecycle

START_LIMIT_S: Final = 90
"""When a start is given up; it takes 3-5 s here, several times that on a machine that does other things."""

CLASSES_VARIABLE: Final = "GROUPWATCH_KAFKA_CLASSES"
"""An archive of Java's classes with which brokers start: for tests, which start many."""

_LOGGING = ("slf4j-api", "log4j-slf4j2-impl", "log4j-api", "log4j-core")
"""Kafka's jars on their own have no binding between slf4j and log4j, and would log nothing: PySpark's have one."""


class EmbeddedKafka(Lifecycle):
    """A Kafka broker for the time of a ``with`` block, or between ``start()`` and ``stop()``.

    It serves on 127.0.0.1 and dies with this process, however that ends. After ``kill()`` or ``stop()`` it can be
    started again: on the same port, and on the same data unless they were temporary and ``stop()`` deleted them.
    """

    def __init__(
        self,
        settings: BrokerSettings | None = None,
        *,
        data_dir: Path | None = None,
        progress: Progress = quiet,
        beside: EmbeddedKafka | None = None,
    ) -> None:
        """Prepare a broker; nothing starts yet.

        Args:
            settings: How it is to be.
            data_dir: Its folder, kept afterwards; None: a temporary one, deleted by ``stop()``.
            progress: Is told what goes on, a line now and then.
            beside: The first broker of the cluster that it joins, started before it; None: it is the first one itself.
        """
        self._first = beside or self
        self._nodes = 0
        self._first._nodes += 1
        self.settings = settings or BrokerSettings()
        self._temporary = data_dir is None
        self._progress = progress
        ports = free_ports(2 + len(self.settings.listeners))
        self._place: Place = Place(
            port=self.settings.port or ports[0],
            controller_port=ports[1] if beside is None else beside._place.controller_port,
            data_dir=data_dir or Path(tempfile.gettempdir()) / f"groupwatch-kafka-{secrets.token_hex(6)}",
            internal_password=secrets.token_hex(16) if beside is None else beside._place.internal_password,
            node_id=self._first._nodes,
            listener_ports=dict(zip(self.settings.listeners, ports[2:], strict=True)),
        )
        self._process: Process | None = None

    @property
    def port(self) -> int:
        """The port that clients connect to."""
        return self._place.port

    @property
    def node_id(self) -> int:
        """Its number in the cluster; the first broker's is 1."""
        return self._place.node_id

    @property
    def bootstrap_servers(self) -> str:
        """What clients connect to, as "host:port"."""
        return f"127.0.0.1:{self.port}"

    def address(self, listener: str) -> str:
        """Where a further listener serves, as "host:port"."""
        return f"127.0.0.1:{self._place.listener_ports[listener]}"

    @property
    def data_dir(self) -> Path:
        """The folder with its data, configuration and log."""
        return self._place.data_dir

    @property
    def log_file(self) -> Path:
        """The broker's log."""
        return self.data_dir / "broker.log"

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def process_group(self) -> int | None:
        """The number of its group of processes, which has it and its guard; None: it does not run."""
        return None if self._process is None else self._process.pid

    def client_settings(self, user: str | None = None) -> dict[str, str]:
        """The keyword arguments with which a kafka-python client connects, as that user if there are users."""
        passwords = {**self.settings.sasl_users, INTERNAL_USER: self._place.internal_password}
        return {"bootstrap_servers": self.bootstrap_servers} | (
            {}
            if user is None
            else {
                "security_protocol": "SASL_PLAINTEXT",
                "sasl_mechanism": "PLAIN",
                "sasl_plain_username": user,
                "sasl_plain_password": passwords[user],
            }
        )

    def start(self) -> None:
        """Start and wait until it answers; fetch the jars and format the folder first if need be.

        Raises:
            BrokerFailed: It ended or did not answer in time. Its folder stays, for its log.
            JarsNotResolved: The jars could not be fetched.
            JavaNotFound: There is no usable Java.
        """
        if self.running:
            return
        self.kill()  # what is left of a process that ended by itself
        java = find_java()
        jars = kafka_jars(self._progress)
        self._write_configuration()
        command = [java.executable, *JVM, *self._options(), "-cp", _classpath(jars)]
        if not (self.data_dir / "log" / "meta.properties").exists():
            self._format(command)
        self._progress("starting the broker")
        self._process = start_guarded(
            [*command, "kafka.Kafka", str(self.data_dir / "server.properties")], self.log_file
        )
        try:
            self._await_ready(time.monotonic() + START_LIMIT_S)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Stop in good order, after 15 s by force; delete the data if they were temporary. Harmless if not running."""
        if self._process is not None:
            if not stops(self._process):
                self._progress("the broker does not stop: killing it")
            self.kill()
        if self._temporary:
            shutil.rmtree(self.data_dir, ignore_errors=True)

    def kill(self) -> None:
        """End its process at once, as kill -9 does, and wait until it is gone. The data stay as they are."""
        process, self._process = self._process, None
        if process is not None and end(process):
            self._await_free_port()

    def _await_free_port(self) -> None:
        """Wait for the end of a broker that nobody reaps for us, as its guard was killed."""
        deadline = time.monotonic() + STOP_LIMIT_S
        while listening(self.port) and time.monotonic() < deadline:
            time.sleep(0.05)

    def _write_configuration(self) -> None:
        text = server_properties(self.settings, self._place)
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        properties = self.data_dir / "server.properties"
        properties.touch(mode=0o600)  # there may be passwords in it
        properties.write_text(text, encoding="utf-8")
        (self.data_dir / "log4j2.xml").write_text(log4j2_xml(self.log_file), encoding="utf-8")

    def _options(self) -> list[str]:
        logging = f"-Dlog4j2.configurationFile={self.data_dir / 'log4j2.xml'}"
        classes = os.environ.get(CLASSES_VARIABLE)
        archive = [f"-XX:SharedArchiveFile={classes}"] if classes else []
        return [f"-Xmx{self.settings.heap_mb}m", logging, *archive, *self.settings.jvm_options]

    def _format(self, command: list[str]) -> None:
        """Give the folder its identity, as KRaft demands before the first start."""
        configuration = str(self.data_dir / "server.properties")
        # 16 random bytes in base64: the form of Kafka's Uuid, which refuses a leading dash on the command line
        cluster_id = "A" + secrets.token_urlsafe(16)[1:] if self._first is self else self._first._cluster_id()
        tool = [*command, "kafka.tools.StorageTool", "format", "--cluster-id", cluster_id, "--config", configuration]
        with self.log_file.open("ab") as log:
            code = subprocess.run(
                tool, stdin=subprocess.DEVNULL, stdout=log, stderr=log, timeout=START_LIMIT_S, check=False
            ).returncode
        if code != 0:
            raise BrokerFailed(f"the broker's folder could not be formatted (exit code {code})", self.log_file)

    def _await_ready(self, deadline: float) -> None:
        while not (listening(self.port) and self._answers()):
            if not self.running:
                raise BrokerFailed("the broker ended while starting", self.log_file)
            if time.monotonic() > deadline:
                raise BrokerFailed(f"the broker did not answer within {START_LIMIT_S} s", self.log_file)
            time.sleep(0.1)

    def _answers(self) -> bool:
        """Whether a real client gets an answer of this cluster (on a port that is taken, another one answers).

        It must be in the answer itself: the controller may not have let it in yet.
        """
        user = INTERNAL_USER if self.settings.sasl_users else None
        try:
            with KafkaAdminClient(**self.client_settings(user), bootstrap_timeout_ms=2000) as admin:
                manager = admin._manager  # describe_cluster() of kafka-python 3.0.12 fails before Kafka 3.7
                manager.run(manager.cluster.refresh_metadata)
        except KafkaError:
            return False
        is_in = any(broker.node_id == self.node_id for broker in manager.cluster.brokers())
        return is_in and bool(manager.cluster.cluster_id == self._cluster_id())

    def _cluster_id(self) -> str:
        lines = (self.data_dir / "log" / "meta.properties").read_text(encoding="utf-8").splitlines()
        return next(line.removeprefix("cluster.id=") for line in lines if line.startswith("cluster.id="))


def _classpath(jars: list[Path]) -> str:
    return os.pathsep.join(str(jar) for jar in [*map(pyspark_jar, _LOGGING), *jars])
