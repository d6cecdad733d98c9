"""A real instance of a Kafka Streams application, as a child process: see ``programs/StreamsApp.java``."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from monitor.demo.java.clients import PROGRAMS, program_arguments
from monitor.demo.servers.kafka_applications import streams_jars
from monitor.demo.servers.server import EmbeddedServer
from monitor.java_runtime.jars import Progress, quiet
from monitor.model import Value

_PROGRAM: Final = PROGRAMS / "StreamsApp.java"


class StreamsApplication(Value):
    """An application that counts the records of a topic by key. ``settings`` are those of each instance.

    ``name`` is its id, and so the name of its group. Counts are kept in a state: standby tasks make sense.
    """

    name: str
    topic: str
    settings: Mapping[str, str] = {}


class StreamsInstance(EmbeddedServer):
    """An instance of the application; see :class:`EmbeddedServer` for its life.

    It is ready once it has its tasks. Without ``gets_tasks`` it is ready at once: its group can assign none.
    """

    def __init__(
        self,
        bootstrap_servers: str,
        application: StreamsApplication,
        *,
        gets_tasks: bool = True,
        data_dir: Path | None = None,
        progress: Progress = quiet,
    ) -> None:
        """Prepare an instance; nothing starts yet. ``data_dir`` and ``progress`` are those of every server."""
        super().__init__("Kafka Streams instance", data_dir, progress)
        self._gets_tasks = gets_tasks
        self._bootstrap_servers = bootstrap_servers
        self._application = application

    def _command(self) -> list[str]:
        application = self._application
        settings = [f"{key}={value}" for key, value in application.settings.items()]
        places = (self._bootstrap_servers, application.name, application.topic, str(self.data_dir / "state"))
        return ["-Xmx128m", *program_arguments(_PROGRAM, *places, *settings, jars=streams_jars(self._progress))]

    def _is_ready(self) -> bool:
        return not self._gets_tasks or self._said("running")
