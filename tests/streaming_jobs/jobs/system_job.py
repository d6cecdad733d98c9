"""A job whose readers are the test's: what they read is in files, which the test writes.

Run as ``python -m tests.streaming_jobs.jobs.system_job CONFIG FOLDER``; the file of ``[rocketmq.orders]`` is
``FOLDER/orders.json``. With ``--without-spark`` behind these, Spark is played (tests.support.without_spark).
"""

from __future__ import annotations

import logging
import sys
from functools import partial
from pathlib import Path
from typing import Any, Final

import msgspec

from monitor.collectors import polling
from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.readers import Readable
from monitor.collectors.snapshot import SourceSnapshot
from monitor.config import load
from monitor.java_runtime.jars import spark_kafka_jars
from monitor.readiness import freshness
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.jobs.job import Job
from streaming_jobs.jobs.serving import http_server
from streaming_jobs.runtime.checkpoint import CheckpointError
from streaming_jobs.runtime.lifetime import Lifetime
from streaming_jobs.runtime.session import kill_jvm
from tests.support.job_process import JobProcess
from tests.support.without_spark import play_spark

STALE_AFTER_MS: Final = 12_000
LONGEST_PAUSE_S: Final = 2.0
"""In place of 30 s without a reading, and of 60 s until a system that is away is asked again: a test waits for both."""


class FileReader:
    """Reads the reading that somebody put into a file, as if it were of now. The word "away" is an error."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def read(self, pass_ms: int) -> SourceSnapshot:
        text = self._file.read_bytes()
        if text == b"away":
            raise ConnectionFailed(f"{self._file.stem} does not answer.")
        reading = msgspec.json.decode(text, type=SourceSnapshot)
        dated = partial(msgspec.structs.replace, pass_ms=pass_ms, observed_ms=pass_ms)
        return msgspec.structs.replace(
            reading, topics=tuple(map(dated, reading.topics)), groups=tuple(map(dated, reading.groups))
        )

    def close(self) -> None:
        """Nothing is open."""


def tell(folder: Path, name: str, reading: SourceSnapshot | None) -> None:
    """Have this read from now on; None: an error."""
    written = folder / f"{name}.new"
    written.write_bytes(b"away" if reading is None else msgspec.json.encode(reading))
    written.replace(folder / f"{name}.json")


class SystemJob(JobProcess):
    """Such a job as a process of its own."""

    def __init__(self, folder: Path, clusters: dict[str, dict[str, Any]], **sections: dict[str, Any]) -> None:
        super().__init__(folder, clusters, **sections)
        self.command = [sys.executable, "-m", "tests.streaming_jobs.jobs.system_job", str(self.config), str(folder)]


class SystemJobWithoutSpark(SystemJob):
    """The same, with Spark played."""

    def __init__(self, folder: Path, clusters: dict[str, dict[str, Any]], **sections: dict[str, Any]) -> None:
        super().__init__(folder, clusters, **sections)
        self.command += ["--without-spark"]


def main(config: Path, folder: Path) -> None:
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    logging.getLogger("kafka").setLevel(logging.CRITICAL)
    logging.getLogger("py4j").setLevel(logging.CRITICAL)
    vars(freshness)["LEAST_MS"] = STALE_AFTER_MS
    vars(polling)["LONGEST_PAUSE_S"] = LONGEST_PAUSE_S
    settings = load(config)
    store = SnapshotStore(settings.watched_names)

    def reader(of: Readable) -> FileReader:
        return FileReader(folder / f"{of.name}.json")

    def watch(lifetime: Lifetime) -> None:
        lifetime.at_cut_off(kill_jvm)
        with (
            http_server(store, settings.http),
            Job(settings, store, spark_kafka_jars(), readers=reader, lifetime=lifetime) as job,
        ):
            job.wait(lifetime.stopping)

    try:
        Lifetime().run(watch)
    except CheckpointError as error:
        sys.exit(f"groupwatch cannot start: {error}")


if __name__ == "__main__":
    if sys.argv[3:] == ["--without-spark"]:
        play_spark()
    main(Path(sys.argv[1]), Path(sys.argv[2]))
