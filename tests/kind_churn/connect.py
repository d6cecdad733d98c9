"""A Connect cluster of two workers: its connectors are created, changed, paused and deleted, a worker restarts."""

from __future__ import annotations

import random
import urllib.error
import urllib.request
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

from monitor.demo.servers.connect import SINK_TO_FILE, ConnectCluster, ConnectWorker
from tests.kind_churn.healthy_groups import Action, HealthyGroups
from tests.support.clients import admin
from tests.support.job_process import eventually

TOPIC: Final = "orders"
MOST_CONNECTORS: Final = 4
CLUSTER: Final = ConnectCluster("live-connect", delay_ms=25_000)


def request(worker: ConnectWorker, method: str, path: str) -> None:
    """Send a request until the worker takes it: while the group rebalances it answers that it cannot (409)."""
    asked = urllib.request.Request(worker.url + path, method=method)

    def is_taken() -> bool:
        try:
            with urllib.request.urlopen(asked, timeout=60) as response:
                return response.status in (202, 204)
        except urllib.error.HTTPError as error:
            error.close()
            return False

    eventually(is_taken, f"that {method} {path} is taken")


class ConnectGroups(HealthyGroups):
    """Two workers and up to four sinks. Requests go to the first worker, while both run."""

    kind = "connect"
    pause_s = (3.0, 9.0)

    def __init__(self, bootstrap: str, folder: Path) -> None:
        self.topics = {TOPIC: 4}
        self._bootstrap = bootstrap
        self._folder = folder
        self._workers = [ConnectWorker(bootstrap, CLUSTER, data_dir=folder / f"worker-{number}") for number in (1, 2)]
        self._sinks: list[str] = []
        self._held: list[str] = []
        self._created = 0

    def set_up(self) -> None:
        """Both workers and two sinks."""
        with ThreadPoolExecutor(2) as threads:
            for started in [threads.submit(worker.start) for worker in self._workers]:
                started.result()
        for _ in range(2):
            self._create()

    def end(self) -> None:
        for worker in self._workers:
            worker.kill()

    def actions(self, chance: random.Random) -> Sequence[Action]:
        self._chance = chance
        often = [self._create, self._change, self._pause, self._stop, self._resume, self._delete]
        return [*often, *often, self._restart_worker]

    def _create(self) -> bool:
        if len(self._sinks) >= MOST_CONNECTORS:
            return False
        self._created += 1
        self._sinks.append(f"sink-{self._created}")
        self._configure(self._sinks[-1], tasks=2)
        return True

    def _change(self) -> bool:
        if not self._sinks:
            return False
        self._configure(self._chance.choice(self._sinks), tasks=self._chance.randint(1, 4))
        return True

    def _pause(self) -> bool:
        return self._hold("pause")

    def _stop(self) -> bool:
        return self._hold("stop")

    def _hold(self, how: str) -> bool:
        running = [sink for sink in self._sinks if sink not in self._held]
        if not running:
            return False
        self._held.append(self._chance.choice(running))
        request(self._workers[0], "PUT", f"connectors/{self._held[-1]}/{how}")
        return True

    def _resume(self) -> bool:
        if not self._held:
            return False
        request(self._workers[0], "PUT", f"connectors/{self._held.pop(0)}/resume")
        return True

    def _delete(self) -> bool:
        """With its consumer group, of which Connect leaves the offsets."""
        if len(self._sinks) < 2:
            return False
        sink = self._sinks.pop(self._chance.randrange(len(self._sinks)))
        self._held = [held for held in self._held if held != sink]
        request(self._workers[0], "DELETE", f"connectors/{sink}")
        eventually(lambda: self._is_deleted(f"connect-{sink}"), f"that the group of {sink} is deleted")
        return True

    def _is_deleted(self, group: str) -> bool:
        """Brokers refuse it while the group has members; there is none if no task of the sink ever ran."""
        with admin(self._bootstrap) as client:
            return client.delete_groups([group])[group] in ("OK", "GroupIdNotFoundError")

    def _restart_worker(self) -> bool:
        """The leader as well as the other one."""
        worker = self._chance.choice(self._workers)
        worker.stop()
        worker.start()
        return True

    def _configure(self, sink: str, tasks: int) -> None:
        config = {
            "connector.class": SINK_TO_FILE,
            "tasks.max": str(tasks),
            "topics": TOPIC,
            "file": str(self._folder / f"{sink}.txt"),
        }
        self._workers[0].configure(sink, config)
