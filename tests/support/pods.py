"""Consumers as Kubernetes runs them: whoever dies is started again, until all are ended."""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from monitor.demo.servers.guarded import end, start_guarded, stops
from tests.support.background import Background
from tests.support.crowd import NEEDED
from tests.support.java_program import jars_of_kafka, java_command

_PROGRAM: Final = Path(__file__).parent / "FrailConsumer.java"
_OPTIONS: Final = ("-Xmx64m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")


def java_consumer(bootstrap: str, topic: str, client: str, protocol: str) -> list[str]:
    """The command of a consumer of Java's client in the group that is called like the topic.

    ``protocol`` is ``classic`` or ``consumer``.
    """
    return java_command(_PROGRAM, bootstrap, topic, client, protocol, options=_OPTIONS, jars=jars_of_kafka(NEEDED))


class Pods(Background):
    """Processes each of which is started again so long after its death. They die with this process."""

    join_s = 60.0

    def __init__(self, commands: Sequence[list[str]], restart_s: float, log_file: Path) -> None:
        super().__init__()
        self.deaths = 0
        """How many have died so far."""
        self._commands, self._restart_s, self._log_file = commands, restart_s, log_file

    def _run(self) -> None:
        running = [start_guarded(command, self._log_file) for command in self._commands]
        due_s: dict[int, float] = {}
        while not self._stopping.wait(0.1):
            for number, process in enumerate(running):
                if process.poll() is None:
                    continue
                if number not in due_s:
                    end(process)
                    self.deaths += 1
                    due_s[number] = time.monotonic() + self._restart_s
                elif time.monotonic() >= due_s[number]:
                    del due_s[number]
                    running[number] = start_guarded(self._commands[number], self._log_file)
        for process in running:
            stops(process)
            end(process)
