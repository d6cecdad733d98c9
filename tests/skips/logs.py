"""The processes with consumers, what these have noted, and what a job tells meanwhile."""

from __future__ import annotations

import json
import re
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, Self

from tests.clients.libraries import CLIENT
from tests.clients.toolchain import available_clients
from tests.skips.oracle import Told
from tests.support.background import Background
from tests.support.consumers import Consumers, Event
from tests.support.crowd import NEEDED
from tests.support.findings_reader import FindingsReader
from tests.support.java_program import jars_of_kafka, java_command
from tests.support.job_process import JobProcess

CLIENTS: Final = ("java", "java-848", "librdkafka", "kafka-python")
"""Java's client with both protocols; the other two with the classic one."""
_TIMES: Final = re.compile(r"^groupwatch_(catalog|last_evaluation)_timestamp_seconds\{[^}]*\} (\S+)$", re.MULTILINE)
_PROGRAMS: Final = Path(__file__).parent / "programs"


class Process(Consumers):
    """A process with consumers; what it tells is kept by the names of its consumers."""

    def __init__(self, bootstrap: str, command: list[str]) -> None:
        self._by_name: dict[str, list[Event]] = defaultdict(list)
        super().__init__(bootstrap, command)

    def of(self, name: str) -> list[Event]:
        """What a consumer has told until now."""
        with self._told:
            return list(self._by_name[name])

    def note(self, name: str, event: Event) -> None:
        """Add what somebody else has done to the log of a consumer."""
        with self._told:
            self._by_name[name].append(event)

    def _read(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            event = json.loads(line)
            with self._told:
                self._by_name[event.get("name", f"{event.get('topic')}/{event.get('partition')}")].append(event)


def _python_with(client: str) -> str:
    """A Python that has the library; librdkafka is built once for each user (tests.clients.toolchain)."""
    if client == "kafka-python":
        return sys.executable
    programs, missing = available_clients([CLIENT[client]])
    assert not missing, missing
    program = programs[CLIENT[client]]
    assert program is not None
    return program.command[0]


class Fleet:
    """A process for each library. Java's also writes the records."""

    def __init__(self, bootstrap: str, clients: Sequence[str]) -> None:
        self._running = ExitStack()
        options = ("-Xmx1g", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC")
        jvm = java_command(_PROGRAMS / "Readers.java", options=options, jars=jars_of_kafka(NEEDED))
        self.java = self._running.enter_context(Process(bootstrap, jvm))
        program = _PROGRAMS / "readers.py"
        self._others = {
            client: self._running.enter_context(Process(bootstrap, [_python_with(client), str(program)]))
            for client in clients
            if not client.startswith("java")
        }

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def process(self, client: str) -> Process:
        """That of a client."""
        return self._others.get(client, self.java)


class Passes(Background):
    """A thread that looks how far apart the passes of the collector and the evaluations of a job are."""

    def __init__(self, job: JobProcess) -> None:
        super().__init__()
        self._job = job
        self._seen: dict[str, list[float]] = {"catalog": [], "last_evaluation": []}

    def longest_s(self, what: str) -> float:
        """The longest time from one to the next."""
        return max((after - before for before, after in pairwise(self._seen[what])), default=0.0)

    def _run(self) -> None:
        while not self._stopping.wait(0.5):
            with suppress(OSError):
                for what, at_s in _TIMES.findall(self._job.get("/metrics")):
                    if float(at_s) not in self._seen[what][-1:]:
                        self._seen[what].append(float(at_s))


class Hearing(FindingsReader):
    """A thread that reads the findings topic: what is opened about skipped records, by group."""

    def __init__(self, bootstrap: str) -> None:
        super().__init__(bootstrap, wait_ms=500)
        self._heard: dict[str, list[Told]] = defaultdict(list)
        self._listening = threading.Lock()

    def of(self, group: str) -> list[Told]:
        """What was told of a group until now."""
        with self._listening:
            return list(self._heard[group])

    def _note(self, record: dict[str, Any]) -> None:
        if record["kind"] != "skipped" or record["event"] == "closed":
            return
        partitions = tuple(number for each in record["partitions"] for number in each["partitions"])
        with self._listening:
            self._heard[record["group"]].append(Told(record["reason"], partitions, int(time.time() * 1000)))
