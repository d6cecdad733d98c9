"""Real consumers and producers of Java's client libraries: a JVM that obeys orders.

The orders are those of ``programs/Orders.java``. What belongs to a system, its jars and the arguments of its program,
is in the functions that start one.
"""

from __future__ import annotations

import contextlib
import os
import select
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Final, Self

from monitor.demo.servers.kafka010 import EmbeddedKafka010, kafka010_jars
from monitor.demo.servers.kafka_applications import client_jars
from monitor.demo.servers.log4j import log4j1_properties
from monitor.demo.servers.metaq import ROOT, metaq_jars
from monitor.demo.servers.rocketmq import EmbeddedRocketMQ, rocketmq_jars
from monitor.demo.servers.server import ADD_OPENS, JVM, class_path
from monitor.demo.servers.zookeeper import EmbeddedZooKeeper
from monitor.java_runtime.errors import ClientsFailed
from monitor.java_runtime.find_java import find_java
from monitor.java_runtime.jars import Progress, pyspark_jar, quiet
from monitor.model import Value

PROGRAMS: Final = Path(__file__).parent / "programs"

_START: Final = PROGRAMS / "Start.java"


def java_command(source: Path, *arguments: str, options: Iterable[str], jars: Iterable[Path]) -> list[str]:
    """The command that compiles a program, with the other sources of its folder, and runs it.

    Args:
        source: the file of the class with ``main``.
        arguments: what ``main`` is given.
        options: of the JVM.
        jars: what the program needs beside Janino.

    Raises:
        JavaNotFound: There is no usable Java.
    """
    return [find_java().executable, *options, *program_arguments(source, *arguments, jars=jars)]


def program_arguments(source: Path, *arguments: str, jars: Iterable[Path]) -> list[str]:
    """What Java is given for that, after the options of the JVM; the parameters are those of ``java_command``."""
    return [
        *("-cp", class_path([pyspark_jar("janino"), pyspark_jar("commons-compiler"), *jars])),
        "org.codehaus.janino.SimpleCompiler",
        *(str(_START), "Start", str(source.parent), source.stem, *arguments),
    ]


ANSWER_LIMIT_S: Final = 60
"""When an order is given up; to start a consumer takes 1-2 s here."""

SESSION_MS: Final = 6_000
"""After so long without a sign of life ZooKeeper forgets a consumer. Their clients' own default is 6 s or 30 s."""


class Held(Value):
    """What a consumer says that it holds: a partition of a topic, by its name."""

    topic: str
    partition: str


class JavaClients:
    """A JVM with consumers and producers, for the time of a ``with`` block. It dies with this process.

    For one thread. An order returns when it is done.
    """

    def __init__(self, program: str, arguments: Sequence[str], jars: Iterable[Path]) -> None:
        """Start the JVM.

        Args:
            program: The name of the class in ``programs/``.
            arguments: What it is given.
            jars: What it needs.

        Raises:
            ClientsFailed: It did not start.
            JavaNotFound: There is no usable Java.
        """
        self.folder = Path(tempfile.mkdtemp(prefix=f"groupwatch-{program}-"))
        logging = self.folder / "log4j.properties"
        logging.write_text(log4j1_properties("WARN"), encoding="utf-8")
        options = ("-Xmx192m", *JVM, *ADD_OPENS, f"-Duser.home={self.folder}", f"-Dlog4j.configuration=file:{logging}")
        command = java_command(PROGRAMS / f"{program}.java", *arguments, options=options, jars=jars)
        with self.log_file.open("ab") as log:
            self._jvm = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self.folder,
                start_new_session=True,
            )
        self._unread = b""
        try:
            self._answer("start")
        except BaseException:
            self.kill()
            raise

    @property
    def log_file(self) -> Path:
        """What its clients log, and the stack traces of failed orders."""
        return self.folder / "clients.log"

    @property
    def pid(self) -> int:
        """The number of its process."""
        return self._jvm.pid

    @property
    def running(self) -> bool:
        """Whether its process lives; also when it is paused."""
        return self._jvm.poll() is None

    def __enter__(self) -> Self:
        """Give itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """End it."""
        self.close()

    def consume(self, name: str, group: str, *topics: str, strategy: str, how: str) -> None:
        """Start a consumer; what ``strategy`` and ``how`` may be is said in the program."""
        self._order("consume", name, group, ",".join(topics), strategy, how)

    def holds(self, name: str) -> frozenset[Held]:
        """What the consumer holds, by its own word."""
        return frozenset(
            Held(topic=topic, partition=partition)
            for topic, _, partition in (word.rpartition(" ") for word in self._order("holds", name))
        )

    def hang(self, name: str) -> None:
        """Let a consumer take no more records, but stay and be alive."""
        self._order("hang", name)

    def resume(self, name: str) -> None:
        """Let a hanging consumer go on."""
        self._order("resume", name)

    def leave(self, name: str) -> None:
        """Let a consumer leave its group in good order."""
        self._order("close", name)

    def create_topic(self, topic: str, partitions: int) -> None:
        """Create a topic."""
        self._order("topic", topic, str(partitions))

    def send(self, topic: str, count: int) -> None:
        """Send so many records, to the topic's partitions in turn, and wait until the brokers have them."""
        self._order("send", topic, str(count))

    def change_queues(self, topic: str, *, read: int, write: int, permission: int = 6) -> None:
        """Change how many queues of a topic of RocketMQ may be read and written at each broker; 4 reads, 2 writes."""
        self._order("queues", topic, str(read), str(write), str(permission))

    def taken_records(self, name: str) -> int:
        """How many records a consumer of RocketMQ was given so far."""
        return int(self._order("taken", name)[0])

    def produce(self, topic: str, per_second: int) -> None:
        """Send so many records a second from now on."""
        self._order("produce", topic, str(per_second))

    def close(self) -> None:
        """End the process and delete its folder. Its consumers do not say goodbye: ``leave`` is for that."""
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def kill(self) -> None:
        """End the process as kill -9 does, with all its consumers, also a paused one. Harmless if it has ended."""
        with contextlib.suppress(ProcessLookupError):
            self._jvm.kill()
        self._jvm.wait()
        for pipe in (self._jvm.stdin, self._jvm.stdout):
            if pipe is not None:
                with contextlib.suppress(BrokenPipeError):
                    pipe.close()

    def _order(self, *words: str) -> list[str]:
        if any(forbidden in word for word in words for forbidden in "\t\n"):
            raise ValueError(f"an order's words have neither tabs nor line ends: {words}")
        if self._jvm.stdin is None or not self.running:
            raise ClientsFailed("the clients have ended", self.log_file)
        try:
            self._jvm.stdin.write("\t".join(words).encode() + b"\n")
            self._jvm.stdin.flush()
        except BrokenPipeError:
            raise ClientsFailed("the clients have ended", self.log_file) from None
        return self._answer(" ".join(words))

    def _answer(self, order: str) -> list[str]:
        deadline = time.monotonic() + ANSWER_LIMIT_S
        while b"\n" not in self._unread:
            self._unread += self._read(order, deadline)
        line, _, self._unread = self._unread.partition(b"\n")
        verdict, *words = line.decode().split("\t")
        if verdict != "ok":
            raise ClientsFailed(f"the order {order!r} failed: {' '.join(words)}", self.log_file)
        return words

    def _read(self, order: str, deadline: float) -> bytes:
        output = self._jvm.stdout
        if output is None:
            raise ClientsFailed("the clients have ended", self.log_file)
        readable, _, _ = select.select([output], [], [], max(0.0, deadline - time.monotonic()))
        if not readable:
            raise ClientsFailed(f"no answer to the order {order!r} within {ANSWER_LIMIT_S} s", self.log_file)
        read = os.read(output.fileno(), 65_536)
        if not read:
            raise ClientsFailed(f"the clients ended before they answered the order {order!r}", self.log_file)
        return read


def rocketmq_clients(servers: EmbeddedRocketMQ, progress: Progress = quiet) -> JavaClients:
    """Clients of RocketMQ, of the servers' version; see ``RocketMQClients.java``.

    Raises:
        ClientsFailed, JarsNotResolved, JavaNotFound: They did not start.
    """
    masters = [broker.address for broker in servers.brokers]
    jars = rocketmq_jars(servers.version, progress)
    return JavaClients("RocketMQClients", [servers.name_servers, *masters], jars)


def kafka_clients(bootstrap_servers: str, progress: Progress = quiet) -> JavaClients:
    """Consumers of Kafka's own client; see ``KafkaConsumers.java``.

    Raises:
        ClientsFailed, JarsNotResolved, JavaNotFound: They did not start.
    """
    return JavaClients("KafkaConsumers", [bootstrap_servers], client_jars(progress=progress))


def kafka010_clients(broker: EmbeddedKafka010, session_ms: int = SESSION_MS, progress: Progress = quiet) -> JavaClients:
    """High-level consumers of Kafka 0.10; see ``KafkaZooKeeperClients.java``.

    Raises:
        ClientsFailed, JarsNotResolved, JavaNotFound: They did not start.
    """
    arguments = [broker.zookeeper_hosts, broker.bootstrap_servers, str(session_ms)]
    return JavaClients("KafkaZooKeeperClients", arguments, kafka010_jars(progress))


def metaq_clients(
    zookeeper: EmbeddedZooKeeper, session_ms: int = SESSION_MS, root: str = ROOT, progress: Progress = quiet
) -> JavaClients:
    """Clients of MetaQ; see ``MetaQClients.java``.

    Raises:
        ClientsFailed, JarsNotResolved, JavaNotFound: They did not start.
    """
    return JavaClients("MetaQClients", [zookeeper.hosts, root, str(session_ms)], metaq_jars(progress))
