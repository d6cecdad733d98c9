"""A Spark standalone cluster of real processes on loopback, from what pip's PySpark ships."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import sys
import urllib.request
from pathlib import Path
from typing import Any, Self

from monitor.demo.servers.guarded import start_guarded
from monitor.demo.servers.ports import free_ports
from monitor.java_runtime.find_java import find_java
from monitor.java_runtime.jars import pyspark_jars_dir
from tests.support.job_process import BRIEF_JVM, eventually, processes_of

ROOT = Path(__file__).parents[2]
SPARK_HOME = pyspark_jars_dir().parent


def spark_environment() -> dict[str, str]:
    """What every process of a cluster needs: the same Python, the same groupwatch, the same Java; loopback only."""
    return os.environ | {
        "SPARK_HOME": str(SPARK_HOME),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_TOOL_OPTIONS": BRIEF_JVM,
        "SPARK_DAEMON_MEMORY": "256m",
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": str(ROOT),  # absolute: an executor works in a folder of its own
        "JAVA_HOME": str(find_java().home),
    }


class SparkDaemon:
    """A master or a worker with all that it starts: killed with its guard, so it never outlives the tests."""

    def __init__(self, folder: Path, name: str, main_class: str, *arguments: str) -> None:
        self.log_file = folder / f"{name}.log"
        self._work = folder / name
        command = [str(SPARK_HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{main_class}", *arguments]
        self._process = start_guarded(command, self.log_file, environment=spark_environment())

    def tasks_run(self) -> int:
        """How many tasks its executors have begun."""
        logs = self._work.glob("app-*/*/stderr")
        return sum(log.read_text(encoding="utf-8", errors="replace").count(": Running task") for log in logs)

    @property
    def session(self) -> int:
        """The session that it, its executors and their Python processes share."""
        return self._process.pid

    def kill_9(self) -> None:
        """End it, its executors and their Python processes at once."""
        for pid in processes_of(self.session):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(30)
        eventually(lambda: not processes_of(self.session), f"the end of all that {self.log_file} is of", 30)


class StandaloneCluster:
    """One master and workers of one core and 1 GiB each, for the time of a ``with`` block."""

    def __init__(self, folder: Path, workers: int = 2) -> None:
        self._folder = folder
        self._count = workers
        self.secret = secrets.token_hex(16)
        self._port, self._web_port = free_ports(2)
        self._master: SparkDaemon | None = None
        self.workers: list[SparkDaemon] = []

    @property
    def url(self) -> str:
        """The master URL that a job is given."""
        return f"spark://127.0.0.1:{self._port}"

    @property
    def web_port(self) -> int:
        """Where the master serves its page."""
        return self._web_port

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def _properties(self) -> list[str]:
        """As docs/access.md tells it to an administrator: the secret in a file that nobody else can read."""
        file = self._folder / "spark.conf"
        if not file.exists():
            file.touch(mode=0o600)
            text = (
                f"spark.authenticate true\nspark.network.crypto.enabled true\nspark.authenticate.secret {self.secret}\n"
            )
            file.write_text(text, encoding="utf-8")
        return ["--properties-file", str(file)]

    def _start(self) -> None:
        place = ["--host", "127.0.0.1", "--port", str(self._port), "--webui-port", str(self._web_port)]
        self._master = SparkDaemon(self._folder, "master", "master.Master", *place, *self._properties)
        for _ in range(self._count):
            self.add_worker()
        self.await_workers(self._count)

    def add_worker(self) -> SparkDaemon:
        """Start a worker; that it is registered is not awaited."""
        name = f"worker-{len(self.workers)}"
        place = ["--host", "127.0.0.1", "--webui-port", "0", "-d", str(self._folder / name)]
        worker = SparkDaemon(
            self._folder, name, "worker.Worker", "-c", "1", "-m", "1g", *place, *self._properties, self.url
        )
        self.workers.append(worker)
        return worker

    def stop(self) -> None:
        """End all of it."""
        for daemon in (*self.workers, *([self._master] if self._master else [])):
            daemon.kill_9()

    def state(self) -> dict[str, Any]:
        """What the master says of its workers and applications; empty while it does not answer."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self._web_port}/json/", timeout=10) as response:
                answer: dict[str, Any] = json.load(response)
        except OSError:
            return {}
        return answer

    def await_workers(self, count: int) -> None:
        """Return when that many workers are registered and alive."""
        eventually(lambda: self.state().get("aliveworkers") == count, f"{count} workers; see {self._folder}")
