"""What the embedded servers of all systems have in common: a process, most often of Java, a folder, a log and an end.

The process runs under the guard, so that it dies with this one, however that ends. What is said about a server by its
class: which command starts it, and when it is ready.
"""

from __future__ import annotations

import os
import secrets
import shutil
import tempfile
import time
from abc import abstractmethod
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from monitor.demo.servers.guarded import Process, end, start_guarded, stops
from monitor.java_runtime.errors import ServerFailed
from monitor.java_runtime.find_java import find_java
from monitor.java_runtime.jars import Progress, quiet
from monitor.lifecycle import Lifecycle

START_LIMIT_S: Final = 90
"""When a start is given up; it takes 1-4 s here, several times that on a machine that does other things."""

JVM: Final = ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-XX:-UsePerfData", "-Djava.awt.headless=true")
"""Little CPU for a short life: only the quick compiler, and a collector without threads of its own."""

ADD_OPENS: Final = (
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
)
"""What programs that are older than Java's modules reach into."""

LOOK_S: Final = 0.05


class EmbeddedServer(Lifecycle):
    """A server for the time of a ``with`` block, or between ``start()`` and ``close()``.

    It serves on ports that it had before its first start. After ``stop()`` or ``kill()`` it can be started again, on
    the same ports and the same data.
    """

    def __init__(self, name: str, data_dir: Path | None = None, progress: Progress = quiet) -> None:
        """Prepare a server; nothing starts yet.

        Args:
            name: What messages call it; also the beginning of its temporary folder's name.
            data_dir: Its folder, kept afterwards; None: a temporary one, deleted by ``close()``.
            progress: Is told what goes on, a line now and then.
        """
        self._name = name
        self._temporary = data_dir is None
        self.data_dir = data_dir or Path(tempfile.gettempdir()) / (
            f"groupwatch-{name.replace(' ', '-')}-{secrets.token_hex(6)}"
        )
        self._progress = progress
        self._process: Process | None = None
        self._log_begin = 0

    @property
    def log_file(self) -> Path:
        """What the server wrote to its standard output and error output, of all its starts."""
        return self.data_dir / "server.log"

    @property
    def running(self) -> bool:
        """Whether its process lives."""
        return self._process is not None and self._process.poll() is None

    @property
    def process_group(self) -> int | None:
        """The number of its group of processes, which has it and its guard; None: it was not started."""
        return None if self._process is None else self._process.pid

    def start(self) -> None:
        """Start and wait until it is ready; fetch the jars first if need be. Harmless if it runs.

        Raises:
            ServerFailed: It ended or was not ready in time. Its folder stays, for its log.
            JarsNotResolved: The jars could not be fetched.
            JavaNotFound, ProgramNotFound: There is no usable Java, or not the program that is to run.
        """
        if self.running:
            return
        self.kill()  # what is left of a process that ended by itself
        program = self._program()  # first: where it is not installed, no folder is left behind
        self.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
        command = [*program, *self._command()]
        self._progress(f"starting the {self._name}")
        self._log_begin = self.log_file.stat().st_size if self.log_file.exists() else 0
        self._process = start_guarded(command, self.log_file, self.data_dir, self._environment())
        try:
            self._await_ready(time.monotonic() + START_LIMIT_S)
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Stop in good order, after 15 s by force; the data stay. Harmless if not running."""
        if self._process is not None:
            if not stops(self._process):
                self._progress(f"the {self._name} does not stop: killing it")
            self.kill()

    def kill(self) -> None:
        """End its process at once, as kill -9 does, and wait until it is gone. The data stay as they are."""
        process, self._process = self._process, None
        if process is not None:
            end(process)

    def close(self) -> None:
        """Stop; if the folder is a temporary one, at once, and delete it. After a failed start, it stays: its log."""
        if self._temporary:
            self.kill()
            shutil.rmtree(self.data_dir, ignore_errors=True)
        else:
            self.stop()

    def _program(self) -> list[str]:
        """What is run, with the options that all such programs have: for most, a JVM of few threads."""
        return [find_java().executable, *JVM]

    @abstractmethod
    def _command(self) -> list[str]:
        """The arguments after those of ``_program``; what they name is in the folder then."""

    @abstractmethod
    def _is_ready(self) -> bool:
        """Whether it serves; asked again and again after its start."""

    def _environment(self) -> Mapping[str, str]:
        """Variables that it needs besides those of this process."""
        return {}

    def _said(self, words: str) -> bool:
        """Whether these words are in what it has written since its last start."""
        with self.log_file.open("rb") as log:
            log.seek(self._log_begin)
            return words.encode() in log.read()

    def _await_ready(self, deadline: float) -> None:
        while not self._is_ready():
            if not self.running:
                raise ServerFailed(f"the {self._name} ended while starting", self.log_file)
            if time.monotonic() > deadline:
                raise ServerFailed(f"the {self._name} was not ready within {START_LIMIT_S} s", self.log_file)
            time.sleep(LOOK_S)


def class_path(jars: Iterable[Path]) -> str:
    """The class path with these jars."""
    return os.pathsep.join(map(str, jars))


def properties_text(properties: Mapping[str, str]) -> str:
    """The text of a file of Java properties; the values have neither backslashes nor line ends."""
    return "".join(f"{key}={value}\n" for key, value in properties.items())
