"""The processes with members: one for each client library."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Final, Self

from tests.clients.groups import Group, Place
from tests.clients.libraries import COOPERATIVE, RANGE, ROUNDROBIN, STICKY, Client
from tests.clients.toolchain import Program
from tests.support.consumers import Consumers, Event
from tests.support.crowd import Crowd

JAVA_ASSIGNORS: Final = {
    RANGE: "org.apache.kafka.clients.consumer.RangeAssignor",
    ROUNDROBIN: "org.apache.kafka.clients.consumer.RoundRobinAssignor",
    STICKY: "org.apache.kafka.clients.consumer.StickyAssignor",
    COOPERATIVE: "org.apache.kafka.clients.consumer.CooperativeStickyAssignor",
}

_PROPERTIES: Final = {
    "group": "group.id",
    "client_id": "client.id",
    "instance_id": "group.instance.id",
    "session_ms": "session.timeout.ms",
    "rebalance_ms": "max.poll.interval.ms",
}
"""What Java calls the settings of a command."""


class ProcessEndedError(Exception):
    """A process with members ended by itself."""

    def __init__(self, process: str, code: int, last_words: str) -> None:
        how = f"by signal {-code}" if code < 0 else f"with {code}"
        super().__init__(f"the process {process} ended {how}: {last_words[-500:]}")
        self.process = process


class Fleet:
    """Starts and closes members. Processes are started when they are needed."""

    def __init__(self, bootstrap: str, programs: Mapping[Client, Program | None]) -> None:
        self._bootstrap = bootstrap
        self._programs = programs
        self._running = ExitStack()
        self._processes: dict[str, Consumers] = {}
        self._process_of: dict[str, str] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def start(self, name: str, group: Group, place: Place) -> None:
        """Start a member. It joins its group by and by: see :meth:`await_assigned`.

        Raises:
            ProcessEndedError: The process for it has ended.
        """
        process = place.client.name
        self._process_of[name] = process
        started = self._process(process, place.client)
        if started.ended is not None:
            raise ProcessEndedError(process, started.ended, started.last_words())
        command = place.command(group)
        if self._programs[place.client] is None:
            started.tell("start", name=name, topics=command["topics"], props=java_properties(command))
        else:
            started.tell("start", name=name, **command)

    def await_assigned(self, name: str) -> None:
        """Return when the member has been given partitions for the first time.

        Raises:
            ProcessEndedError: Its process ended.
        """
        self._await(name, 0, "assigned")

    def close(self, name: str) -> None:
        """Close a member in good order. It leaves its group, unless it is a static one.

        Raises:
            ProcessEndedError: Its process ended, before or meanwhile.
        """
        process = self._processes[self._process_of[name]]
        since = process.seen()
        if process.ended is None:
            process.tell("close", name=name)
        self._await(name, since, "closed")

    def forget(self, process: str) -> set[str]:
        """The names of all members of a process that has ended. The next one of its kind gets a new process."""
        self._processes.pop(process)
        lost = {name for name, of in self._process_of.items() if of == process}
        self._process_of = {name: of for name, of in self._process_of.items() if of != process}
        return lost

    def events(self, *kinds: str) -> list[Event]:
        """What the processes that run now have told: see Consumers.events."""
        return [event for process in self._processes.values() for event in process.events(*kinds)]

    def _process(self, name: str, client: Client) -> Consumers:
        if name not in self._processes:
            program = self._programs[client]
            if program is None:
                started: Consumers = Crowd(self._bootstrap)
            else:
                started = Consumers(self._bootstrap, program.command, program.environment)
            self._processes[name] = self._running.enter_context(started)
        return self._processes[name]

    def _await(self, name: str, since: int, event: str) -> None:
        process = self._process_of[name]
        running = self._processes[process]
        try:
            running.await_event(since, event, name=name)
        except AssertionError:
            if running.ended is None:
                raise
            raise ProcessEndedError(process, running.ended, running.last_words()) from None


def java_properties(command: Mapping[str, Any]) -> dict[str, str]:
    """The properties of a Java consumer that is to be as a command says.

    >>> java_properties({"group": "g", "client_id": None, "session_ms": 10, "strategies": None})
    {'group.protocol': 'classic', 'client.id': '', 'group.id': 'g', 'session.timeout.ms': '10'}
    """
    chosen = {property_: str(command[key]) for key, property_ in _PROPERTIES.items() if command.get(key) is not None}
    if command["strategies"]:
        chosen["partition.assignment.strategy"] = ",".join(JAVA_ASSIGNORS[name] for name in command["strategies"])
    return {"group.protocol": "classic", "client.id": ""} | chosen  # with an empty client id, the library makes one
