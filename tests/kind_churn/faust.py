"""A real Faust application: each partition of its table's changelog is assigned to a worker that only keeps a copy."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Final

from monitor.demo.servers.server import EmbeddedServer
from tests.clients.toolchain import python_with
from tests.kind_churn.healthy_groups import GroupOfServers
from tests.support.progress import say

REQUIREMENTS: Final = Path(__file__).parent / "faust-requirements.txt"
GROUP, TOPIC = "faust-counting", "faust.events"
PARTITIONS: Final = 4
MOST_WORKERS: Final = 3
PATIENCE_S: Final = 150

APPLICATION: Final = f"""
import os

import faust

app = faust.App(
    "{GROUP}",
    broker=f"kafka://{{os.environ['BOOTSTRAP']}}",
    store="memory://",
    web_enabled=False,
    topic_partitions={PARTITIONS},
    topic_replication_factor=1,
    broker_commit_interval=1.0,
    table_standby_replicas=1,
)
source = app.topic("{TOPIC}", value_type=bytes, value_serializer="raw", key_type=bytes, key_serializer="raw")
counts = app.Table("counts", default=int, partitions={PARTITIONS})


@app.agent(source)
async def count(stream):
    async for event in stream.events():
        counts[str(event.message.partition)] += 1
"""


class FaustWorker(EmbeddedServer):
    """A worker of an application that counts the records of a topic in a table, in a process of its own."""

    def __init__(self, bootstrap: str, python: Path, data_dir: Path) -> None:
        super().__init__("Faust worker", data_dir)
        self._bootstrap = bootstrap
        self._python = python

    def _program(self) -> list[str]:
        return [str(self._python), "-m", "faust"]

    def _command(self) -> list[str]:
        (self.data_dir / "counting.py").write_text(APPLICATION, encoding="utf-8")
        data = str(self.data_dir / "data")
        return ["-A", "counting", "--datadir", data, "worker", "--loglevel", "info", "--without-web"]

    def _environment(self) -> Mapping[str, str]:
        return {"BOOTSTRAP": self._bootstrap, "PYTHONPATH": str(self.data_dir)}

    def _is_ready(self) -> bool:
        return self._said("Worker ready")

    def _await_ready(self, deadline: float) -> None:
        """Two workers that start on a busy machine took two minutes."""
        super()._await_ready(deadline + PATIENCE_S)


class FaustGroup(GroupOfServers):
    """One to three workers."""

    pause_s = (6.0, 15.0)

    def __init__(self, bootstrap: str, folder: Path) -> None:
        python = python_with(REQUIREMENTS, say)
        folders = [folder / f"faust-{number}" for number in range(MOST_WORKERS)]
        super().__init__("faust", {TOPIC: PARTITIONS}, [FaustWorker(bootstrap, python, each) for each in folders])
