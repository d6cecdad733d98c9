"""A groupwatch job as the process that a deployment runs, for tests and benchmarks: started, asked, killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, Self, TypeVar

from prometheus_client.parser import text_string_to_metric_families

from monitor.demo.servers.ports import free_ports

Answer = TypeVar("Answer")

BRIEF_JVM: Final = "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=128m -XX:+UseSerialGC -XX:-UsePerfData"
"""For a JVM of a short life: a job costs 22 s of CPU until it is ready, and not 32.

With one compiler the code has 48 MB by default. A job of four clusters fills them, and Spark's page fails then.
"""

DRIVER_JVM: Final = "spark.driver.extraJavaOptions"
"""The property of Spark that says how a driver's JVM is to be."""

PATIENCE_S = 150
"""When a test gives up on a machine that has cores to spare: of a busy one, see Patience."""

MOST_CROWDED: Final = 6.0
"""A second of patience takes no more seconds than this: what hangs must be told in the end."""


def crowding() -> float:
    """How many processes have wanted each core in the last minute, at least 1: so many times longer takes all work."""
    return min(max(os.getloadavg()[0] / (os.cpu_count() or 1), 1.0), MOST_CROWDED)


class Patience:
    """Seconds that pass as slowly as work is done: where three processes want each core, a second takes three."""

    def __init__(
        self,
        seconds: float,
        crowding: Callable[[], float] = crowding,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._left = seconds
        self._crowding = crowding
        self._clock = clock
        self._since = clock()

    def is_left(self) -> bool:
        """Whether some of it is left; asked again and again, with short pauses."""
        now = self._clock()
        self._left -= (now - self._since) / self._crowding()
        self._since = now
        return self._left > 0


def eventually(
    look: Callable[[], Answer | None], what: str, seconds: float = PATIENCE_S, *, pause_s: float = 0.1
) -> Answer:
    """Ask again and again until the answer is true; fail with what was awaited. A busy machine has longer.

    Give a longer pause where a look costs much, or writes something: a job then has work with all of it.
    """
    patience, since = Patience(seconds), time.monotonic()
    while patience.is_left():
        answer = look()
        if answer:
            return answer
        time.sleep(pause_s)
    waited = round(time.monotonic() - since)
    raise AssertionError(f"not seen within {seconds} s, which took {waited} s here: {what}")


def await_end(process: subprocess.Popen[Any], what: str, seconds: float = PATIENCE_S) -> int:
    """The exit code of a process, once it has ended."""
    eventually(lambda: process.poll() is not None, f"the end of {what}", seconds)
    return int(process.returncode)


class Samples:
    """One reading of /metrics."""

    def __init__(self, text: str) -> None:
        self.text = text

    def all(self, name: str, /, **labels: str) -> list[Any]:
        """The samples of this name that have these labels."""
        # To parse all of them costs much, and is what most tests do ten times a second. Names may have ends of lines of
        # Unicode's: str.splitlines would divide them.
        lines = "\n".join(line for line in self.text.split("\n") if line.startswith((f"{name}{{", f"{name} ")))
        samples = (sample for family in text_string_to_metric_families(f"{lines}\n") for sample in family.samples)
        return [sample for sample in samples if labels.items() <= sample.labels.items()]

    def value(self, name: str, /, **labels: str) -> float | None:
        """The value of the only such sample; None if there is none."""
        found = self.all(name, **labels)
        assert len(found) < 2, f"{name}{labels} is not one series: {found}"
        return found[0].value if found else None


class JobProcess:
    """``groupwatch run`` on loopback. Its checkpoint outlives it, so it can be started again.

    ``jvm``: the options of its JVM. None: those that groupwatch chooses, for what is measured.
    """

    def __init__(
        self,
        folder: Path,
        clusters: dict[str, dict[str, Any]],
        *,
        jvm: str | None = BRIEF_JVM,
        **sections: dict[str, Any],
    ) -> None:
        self.folder = folder
        self.port = free_ports(1)[0]
        self.url = f"http://127.0.0.1:{self.port}"
        self.log_file = folder / "groupwatch.log"
        self.config = folder / "groupwatch.toml"
        spark = {"master": "local[2]", "buckets": 4, "trigger_s": 1.0, "checkpoint": str(folder / "checkpoint")}
        spark |= sections.pop("spark", {})
        conf = {} if jvm is None else {DRIVER_JVM: jvm}
        tables: dict[str, Any] = {
            "clusters": clusters,
            "http": {"port": self.port},
            "spark": spark | {"conf": conf | spark.get("conf", {})},
            **sections,
        }
        self.config.write_text("\n".join(_toml(tables)), encoding="utf-8")
        self.command = [sys.executable, "-m", "monitor.cli", "run", "--config", str(self.config)]
        self.environment: Mapping[str, str] = os.environ
        self._process: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    @property
    def pid(self) -> int:
        """Of the driver."""
        assert self._process is not None
        return self._process.pid

    def start(self, *options: str) -> None:
        """Start the process, with further options of the command; nothing is awaited."""
        with self.log_file.open("ab") as log:
            self._process = subprocess.Popen(
                [*self.command, *options],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )

    @property
    def session(self) -> int:
        """The session of the process and of all that it starts."""
        assert self._process is not None
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Whether it was started and its driver lives no more."""
        return self._process is not None and self._process.poll() is not None

    def stop(self) -> int:
        """Ask it to end as an init system does; its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        return await_end(self._process, "a job that was asked to end", 60)

    def wait(self, seconds: float = PATIENCE_S) -> int:
        """Its exit code, once it ends by itself."""
        assert self._process is not None
        return await_end(self._process, "a job by itself", seconds)

    def kill_9(self) -> None:
        """End the driver without a chance to say goodbye; the JVM follows by itself."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(30)
        eventually(lambda: not processes_of(self.session), "the end of the JVM after its driver's death", 60)

    def kill_all(self) -> None:
        """End it with all that it has started, also what has been stopped."""
        for pid in processes_of(self.session):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        assert self._process is not None
        self._process.wait(30)

    def await_ready(self, seconds: float = PATIENCE_S) -> None:
        """Return when /readyz says 200; fail with the log if the process ended."""
        eventually(self._is_ready, f"readiness; see {self.log_file}:\n{self.log()[-3000:]}", seconds)

    def _is_ready(self) -> bool:
        assert self._process is not None
        code = self._process.poll()
        assert code is None, f"groupwatch ended with {code}:\n{self.log()[-3000:]}"
        return self.status("/readyz") == 200

    def status(self, path: str) -> int | None:
        """The HTTP status of a path; None if nobody listens."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as response:
                return int(response.status)
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except OSError:
            return None

    def get(self, path: str) -> str:
        """The body of a path."""
        with urllib.request.urlopen(self.url + path, timeout=10) as response:
            return str(response.read().decode())

    def get_any(self, path: str) -> str:
        """The body of a path, whatever its status."""
        try:
            return self.get(path)
        except urllib.error.HTTPError as error:
            with error:
                return str(error.read().decode())

    def metrics(self) -> Samples:
        """One reading of /metrics."""
        return Samples(self.get("/metrics"))

    def await_metric(self, name: str, wanted: float, /, **labels: str) -> Samples:
        """The first reading in which this series has this value."""

        def look() -> Samples | None:
            samples = self.metrics()
            return samples if samples.value(name, **labels) == wanted else None

        return eventually(look, f"{name}{labels} == {wanted}")

    def group(self, cluster: str, group: str) -> dict[str, Any]:
        """What the API says of a group."""
        answer: dict[str, Any] = json.loads(self.get(f"/api/v1/groups/{cluster}/{group}"))
        return answer

    def alike_groups(self, field: str, wanted: str) -> int:
        """How many groups the lines of alike groups with this reason or pattern have together; it has one cluster."""
        (own,) = json.loads(self.get_any("/api/v1/clusters"))
        return sum(each["groups"] for each in own.get("alike", ()) if each[field] == wanted)

    def log(self) -> str:
        """Everything it wrote."""
        return self.log_file.read_text(encoding="utf-8", errors="replace")


@contextmanager
def running(job: JobProcess) -> Iterator[JobProcess]:
    """The job, started and ready; stopped at the end."""
    with job:
        job.await_ready()
        yield job


def processes_of(session: int) -> list[int]:
    """The processes of a session that have not ended (the JVM and its Python workers share the driver's session)."""
    return [pid for pid, of, state in _processes() if of == session and state != "Z"]


def _processes() -> Iterator[tuple[int, int, str]]:
    """Every process with its session and its state; a zombie (Z) has ended."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        fields = process_fields(stat)
        if fields:
            yield int(stat.parent.name), int(fields[3]), fields[0]


def process_fields(stat: Path) -> list[str]:
    """The fields of a process's stat file from the state on; none if it has ended."""
    try:
        return stat.read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
    except OSError:
        return []


def _toml(tables: dict[str, Any], prefix: str = "") -> Iterator[str]:
    """Tables, and lists of tables of plain values."""
    arrays = {key: value for key, value in tables.items() if isinstance(value, list) and value and _are_tables(value)}
    plain = {key: value for key, value in tables.items() if not isinstance(value, dict) and key not in arrays}
    for key, value in plain.items():
        yield f"{json.dumps(key)} = {json.dumps(value)}"
    for key, rows in arrays.items():
        for row in rows:
            yield f"[[{prefix}{json.dumps(key)}]]"
            yield from _toml(row)
    for key, value in tables.items():
        if isinstance(value, dict):
            name = f"{prefix}{json.dumps(key)}"
            yield f"[{name}]"
            yield from _toml(value, f"{name}.")


def _are_tables(rows: list[Any]) -> bool:
    return all(isinstance(row, dict) for row in rows)


def alive(pid: int) -> bool:
    """Whether a process lives."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
