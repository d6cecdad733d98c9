"""Real groups whose members have tasks: Kafka Streams (KIP-1071), and a Connect worker with its sinks.

Some of them have nothing wrong; what becomes wrong with the others stays as it is until the end.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from kafka.admin import ConfigResource, ConfigResourceType

from monitor.demo.java.streams_instance import StreamsApplication, StreamsInstance
from monitor.demo.servers.connect import SINK_TO_FILE, ConnectCluster, ConnectWorker
from tests.kind_churn.connect import request
from tests.paused import paused
from tests.scenarios.settings import SESSION_S
from tests.support.clients import admin
from tests.support.job_process import eventually

STREAMS_FINE, STREAMS_HUNG, STREAMS_WITHOUT_SOURCE = "streams-fine", "streams-hung", "streams-without-source"
WORKERS: Final = ConnectCluster("workers", session_ms=SESSION_S * 1000)
SINK_FINE, SINK_FAILED, SINK_PAUSED = "connect-fine", "connect-failed", "connect-paused"
"""The consumer groups of the sinks, by Connect's rule for their names."""

HOUR_MS: Final = 3_600_000
BROKER: Final = {
    "group.streams.initial.rebalance.delay.ms": "0",
    "group.streams.heartbeat.interval.ms": "1000",
    "group.streams.min.heartbeat.interval.ms": "1000",
    "group.streams.max.heartbeat.interval.ms": str(HOUR_MS),
    "group.streams.session.timeout.ms": str(2 * HOUR_MS),
    "group.streams.max.session.timeout.ms": str(2 * HOUR_MS),
}
"""An instance that hangs is not missed before the end of a test."""

STREAMS: Final = {"group.protocol": "streams", "commit.interval.ms": "500"}
RARE_HEARTBEATS: Final = {"streams.heartbeat.interval.ms": str(HOUR_MS)}
"""An instance whose source topic does not exist ends after two intervals of heartbeats."""

NOT_JSON: Final = {"value.converter": "org.apache.kafka.connect.json.JsonConverter"}
"""A sink with it fails at the first record of these tests."""


class TaskGroups:
    """The clients of these groups; see :func:`running_task_groups`."""

    def __init__(self, servers: str, topic: str, folder: Path) -> None:
        self._servers = servers
        self._topic = topic
        self._folder = folder
        self._stack = ExitStack()
        self.worker = ConnectWorker(servers, WORKERS)
        self.fine, self.hung = (self._instance(name, topic) for name in (STREAMS_FINE, STREAMS_HUNG))
        self.without_source = self._instance(STREAMS_WITHOUT_SOURCE, "missing", gets_tasks=False)

    def start(self) -> None:
        """Start all of them. The sink that fails has yet to see its first record."""
        with admin(self._servers) as client:
            client.alter_configs([ConfigResource(ConfigResourceType.GROUP, STREAMS_WITHOUT_SOURCE, RARE_HEARTBEATS)])
        servers = (self.worker, self.fine, self.hung, self.without_source)
        with ThreadPoolExecutor(len(servers)) as threads:
            list(threads.map(self._stack.enter_context, servers))
        for group, more in ((SINK_FINE, {}), (SINK_FAILED, NOT_JSON), (SINK_PAUSED, {})):
            self._configure(group, more)
        self._await_state(STREAMS_WITHOUT_SOURCE, "NotReady")

    def hang_and_pause(self) -> None:
        """Let an instance hang, and pause a sink."""
        self._stack.enter_context(paused(self.hung))
        request(self.worker, "PUT", f"connectors/{connector(SINK_PAUSED)}/pause")
        eventually(lambda: self._states_of(SINK_PAUSED) == ["PAUSED"], "a paused task")

    def await_failure(self) -> None:
        """Until the sink has failed at a record, and its consumer has left the group."""
        eventually(lambda: self._states_of(SINK_FAILED) == ["FAILED"], "a failed task")
        self._await_state(SINK_FAILED, "Empty")

    def end_workers(self) -> None:
        """End the Connect worker and the instance without a source topic, and wait until their groups are empty."""
        self.worker.stop()
        self.without_source.stop()
        for group in (WORKERS.group, STREAMS_WITHOUT_SOURCE):
            self._await_state(group, "Empty")

    def close(self) -> None:
        """End all clients."""
        self._stack.close()

    def _instance(self, name: str, topic: str, *, gets_tasks: bool = True) -> StreamsInstance:
        return StreamsInstance(self._servers, StreamsApplication(name, topic, STREAMS), gets_tasks=gets_tasks)

    def _configure(self, group: str, more: dict[str, str]) -> None:
        file = self._folder / f"{group}.txt"
        config = {"connector.class": SINK_TO_FILE, "tasks.max": "1", "topics": self._topic, "file": str(file)}
        self.worker.configure(connector(group), config | more)

    def _states_of(self, group: str) -> list[str]:
        response = self.worker.response(f"connectors/{connector(group)}/status")
        return [task["state"] for task in json.loads(response or b"{}").get("tasks", ())]

    def _await_state(self, group: str, state: str) -> None:
        eventually(lambda: group_states(self._servers).get(group) == state, f"{group} in the state {state}")


@contextmanager
def running_task_groups(servers: str, topic: str, folder: Path) -> Iterator[TaskGroups]:
    """The groups, all of which consume this topic; they run until the end of the block."""
    groups = TaskGroups(servers, topic, folder)
    try:
        groups.start()
        yield groups
    finally:
        groups.close()


def connector(group: str) -> str:
    """The sink with this consumer group."""
    return group.removeprefix("connect-")


def group_states(servers: str) -> dict[str, str]:
    """The state of each group, as the broker lists it."""
    with admin(servers) as client:
        return {group["group_id"]: group["group_state"] for group in client.list_groups()}
