"""A real RocketMQ, as child processes: a name server and one broker or more, on 127.0.0.1 as far as they can."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Final

from monitor.demo.servers.ports import free_ports, listening
from monitor.demo.servers.server import ADD_OPENS, EmbeddedServer, class_path, properties_text
from monitor.java_runtime.jars import Coordinate, Progress, cache_dir, quiet, resolve
from monitor.lifecycle import Lifecycle
from monitor.model import Value

NEWEST: Final = "5.5.0"
"""The newest version of its line of which all modules can be fetched; of 5.3.2 and 5.3.4 some are missing."""

_READY: Final = "boot success"

_SMALL: Final = {
    "mappedFileSizeCommitLog": str(16 * 1024 * 1024),
    "mappedFileSizeConsumeQueue": "200000",
    "maxHashSlotNum": "10000",
    "maxIndexNum": "40000",
    "diskMaxUsedSpaceRatio": "95",
    "autoCreateTopicEnable": "true",
    "autoCreateSubscriptionGroup": "true",
    "defaultTopicQueueNums": "8",
    "timerWheelEnable": "false",
}
"""What keeps a broker small: 4 MB on disk after its start. POP consumers and the proxy need the timer wheel."""

_NO_LOGS: Final = '<configuration><root level="OFF"/></configuration>\n'


class RocketMQNameServer(EmbeddedServer):
    """A name server."""

    def __init__(self, version: str = NEWEST, *, data_dir: Path | None = None, progress: Progress = quiet) -> None:
        """Prepare a name server of that version; the other arguments are those of every server."""
        super().__init__("RocketMQ name server", data_dir, progress)
        self.version = version
        self.port = free_ports(1)[0]

    @property
    def address(self) -> str:
        """Where it serves, as "host:port"."""
        return f"127.0.0.1:{self.port}"

    def _command(self) -> list[str]:
        properties = {"listenPort": str(self.port), "bindAddress": "127.0.0.1"}
        main = "org.apache.rocketmq.namesrv.NamesrvStartup"
        return ["-Xmx128m", *_start(self.data_dir, self.version, main, properties, self._progress)]

    def _environment(self) -> Mapping[str, str]:
        return _home(self.data_dir)

    def _is_ready(self) -> bool:
        return self._said(_READY)


class BrokerSetup(Value):
    """How a broker is to be: its version, more properties, which win over those set here, and more options of Java."""

    version: str = NEWEST
    properties: Mapping[str, str] = {}
    java_options: tuple[str, ...] = ()


class RocketMQBroker(EmbeddedServer):
    """A broker, master of its name.

    It listens on ``port``, on ``port`` - 2 for clients that come by the fast channel, and on ``port`` + 1 for slaves.
    Version 4 listens on the addresses of all interfaces, version 5 with the last one only.
    """

    def __init__(
        self,
        name: str,
        name_servers: str,
        setup: BrokerSetup | None = None,
        *,
        data_dir: Path | None = None,
        progress: Progress = quiet,
    ) -> None:
        """Prepare a broker; nothing starts yet.

        Args:
            name: The broker's name in the cluster.
            name_servers: Where it registers, as "host:port;host:port".
            setup: How it is to be.
            data_dir: As for every server; also its ROCKETMQ_HOME, where ``conf/plain_acl.yml`` may lie.
            progress: As for every server.
        """
        super().__init__(f"RocketMQ {name}", data_dir, progress)
        self.name = name
        self.setup = setup or BrokerSetup()
        self.port = _broker_port()
        self._name_servers = name_servers

    @property
    def address(self) -> str:
        """Where it serves clients, as "host:port"."""
        return f"127.0.0.1:{self.port}"

    def _command(self) -> list[str]:
        properties = {
            "brokerClusterName": "embedded",
            "brokerName": self.name,
            "brokerId": "0",
            "namesrvAddr": self._name_servers,
            "brokerIP1": "127.0.0.1",
            "brokerIP2": "127.0.0.1",
            "bindAddress": "127.0.0.1",
            "listenPort": str(self.port),
            "haListenPort": str(self.port + 1),
            "storePathRootDir": str(self.data_dir / "store"),
            "storePathCommitLog": str(self.data_dir / "store" / "commitlog"),
            **_SMALL,
            **self.setup.properties,
        }
        memory = ("-Xms128m", "-Xmx512m", "-XX:MaxDirectMemorySize=256m")
        main = "org.apache.rocketmq.broker.BrokerStartup"
        start = _start(self.data_dir, self.setup.version, main, properties, self._progress)
        return [*memory, *self.setup.java_options, *start]

    def _environment(self) -> Mapping[str, str]:
        return _home(self.data_dir)

    def _is_ready(self) -> bool:
        return self._said(_READY)


class EmbeddedRocketMQ(Lifecycle):
    """A name server and its brokers (``broker-a``, ``broker-b``, ...) for the time of a ``with`` block."""

    def __init__(
        self,
        version: str = NEWEST,
        *,
        brokers: int = 1,
        setup: BrokerSetup | None = None,
        progress: Progress = quiet,
    ) -> None:
        """Prepare them; nothing starts yet.

        Args:
            version: Of all of them, if ``setup`` is None.
            brokers: How many, at most 26.
            setup: How the brokers are to be.
            progress: Is told what goes on, a line now and then.
        """
        chosen = setup or BrokerSetup(version=version)
        self.version = chosen.version
        self.name_server = RocketMQNameServer(self.version, progress=progress)
        self.brokers = tuple(
            RocketMQBroker(f"broker-{chr(ord('a') + number)}", self.name_servers, chosen, progress=progress)
            for number in range(brokers)
        )
        self._running = ExitStack()

    @property
    def name_servers(self) -> str:
        """What clients are configured with, as "host:port"."""
        return self.name_server.address

    @property
    def broker(self) -> RocketMQBroker:
        """The first broker."""
        return self.brokers[0]

    def start(self) -> None:
        """Start all of them, the name server first.

        Raises:
            ServerFailed: One did not start; none runs then.
            JarsNotResolved: The jars could not be fetched.
            JavaNotFound: There is no usable Java.
        """
        with ExitStack() as starting:
            for server in (self.name_server, *self.brokers):
                starting.enter_context(server)
            self._running = starting.pop_all()

    def stop(self) -> None:
        """Stop all of them."""
        self._running.close()


def rocketmq_jars(version: str = NEWEST, progress: Progress = quiet) -> list[Path]:
    """The jars of RocketMQ's servers and clients, fetched if this user does not have them yet.

    Raises:
        JarsNotResolved: Ivy failed.
        JavaNotFound: There is no Java to run Ivy.
    """
    broker, *others = (
        Coordinate(organisation="org.apache.rocketmq", artifact=f"rocketmq-{part}", version=version)
        for part in ("broker", "namesrv", "client", "tools")
    )
    return resolve(broker, cache_dir() / f"rocketmq-{version}", progress, beside=tuple(others))


def _start(folder: Path, version: str, main: str, properties: Mapping[str, str], progress: Progress) -> list[str]:
    """The end of the command of a server; its configuration is in its folder then."""
    logging = folder / "conf"
    logging.mkdir(exist_ok=True)
    for name in ("logback_namesrv.xml", "logback_broker.xml"):
        (logging / name).write_text(_NO_LOGS, encoding="utf-8")
    configuration = folder / "server.properties"
    configuration.write_text(properties_text(properties), encoding="utf-8")
    home = f"-Duser.home={folder}"  # the logs go there
    return [*ADD_OPENS, home, "-cp", class_path(rocketmq_jars(version, progress)), main, "-c", str(configuration)]


def _home(folder: Path) -> Mapping[str, str]:
    return {"ROCKETMQ_HOME": str(folder)}


def _broker_port() -> int:
    """A free port in whose place all that a broker listens on is free, too."""
    while True:
        (port,) = free_ports(1)
        if not any(listening(port + distance) for distance in (-2, 1)):
            return port
