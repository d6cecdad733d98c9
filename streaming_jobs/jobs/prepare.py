"""What can be done before a job's first start, so that it starts faster: jars fetched, Java's classes archived."""

from __future__ import annotations

import logging
import shutil
import tempfile
import time
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Final

from monitor.checks.config_checks import require_spark
from monitor.config import Settings, load
from monitor.config.history import HistorySettings
from monitor.demo.servers.broker import EmbeddedKafka
from monitor.demo.workload.run import DemoWorkload
from monitor.java_runtime.errors import last_lines
from monitor.java_runtime.find_java import find_java
from monitor.java_runtime.jars import job_jars, kafka_jars
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.jobs.demo.demo import DemoOptions, settings_of
from streaming_jobs.jobs.jars import needed_jars
from streaming_jobs.jobs.job import Job
from streaming_jobs.runtime.class_archive import ArchiveNotWrittenError, ClassArchive, archive_for, to_write
from streaming_jobs.runtime.class_path import driver_class_path, spark_has_defaults
from streaming_jobs.runtime.driver_jvm import DRIVER_OPTIONS
from streaming_jobs.runtime.lifetime import Lifetime
from streaming_jobs.runtime.session import drivers_jvm, kill_jvm

log = logging.getLogger(__name__)

POLL_S: Final = 0.2
EVALUATIONS: Final = 5
"""What a job does only with its second micro-batch, or when a group's state changes, has happened by then."""
READY_LIMIT_S: Final = 600


def run_prepare(config: Path | None, *, all_jars: bool = False) -> None:
    """Fetch the jars, and write the archive of classes for the Java and the class path of this configuration.

    An archive that is already there is kept.

    Args:
        config: the configuration of the jobs; None: the defaults.
        all_jars: whether jars that this configuration does not need are fetched, too.

    Raises:
        ConfigError, EmbeddedError: as for a job.
        ArchiveNotWrittenError: Java did not write it.
        KeyboardInterrupt: it was stopped.
    """
    settings = load(config)
    lifetime = Lifetime()
    lifetime.run(partial(_prepare, settings, all_jars=all_jars))
    if lifetime.stopping.is_set():
        raise KeyboardInterrupt  # who calls it wants an archive, and there may be none


def _prepare(settings: Settings, lifetime: Lifetime, *, all_jars: bool) -> None:
    lifetime.at_cut_off(kill_jvm)
    require_spark(settings)
    if all_jars:
        job_jars(lifetime.progress, is_recorded=True, uses_iam=True)
    jars = needed_jars(settings, lifetime.progress)
    archive = job_archive(settings, jars)
    if archive.is_whole():
        log.info("The archive of Java's classes already exists: %s", archive.file)
        return
    kafka_jars(lifetime.progress)
    began = time.monotonic()
    write_archive(archive, settings, jars, lifetime)
    log.info("Wrote %s in %.0f s", archive.file, time.monotonic() - began)


def job_archive(settings: Settings, jars: list[Path]) -> ClassArchive:
    """The archive that a job with these settings will look for.

    Raises:
        ArchiveNotWrittenError: it will not look for any.
        JavaNotFound: there is no Java.
    """
    if spark_has_defaults():
        raise ArchiveNotWrittenError(
            "Spark has a spark-defaults.conf here, so jobs use that class path and no archive."
        )
    return archive_for(find_java().home, driver_class_path(jars, settings.spark.conf))


def write_archive(archive: ClassArchive, settings: Settings, jars: list[Path], lifetime: Lifetime) -> None:
    """Let a job watch a real Kafka for a few micro-batches, and keep the classes that it has used.

    Raises:
        ArchiveNotWrittenError: Java did not write it; JobFailed, EmbeddedError: the trial did not work.
        Stopped: the command was stopped.
    """
    archive.file.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="part-", dir=archive.file.parent))
    try:
        written = folder / "classes.jsa"
        log.info("A trial job watches a Kafka of its own; the Java classes that it loads are archived at its end")
        _watch_a_moment(settings, jars, folder, written, lifetime)
        lifetime.go_on()
        if not written.exists():
            raise ArchiveNotWrittenError(
                f"Java did not write the archive of its classes:\n{last_lines(folder / 'spark.log')}"
            )
        archive.keep(written)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _watch_a_moment(settings: Settings, jars: list[Path], folder: Path, written: Path, lifetime: Lifetime) -> None:
    with ExitStack() as running:
        kafka = running.enter_context(EmbeddedKafka(progress=lifetime.progress))
        running.enter_context(DemoWorkload(kafka.bootstrap_servers, folder / "workload.log"))
        trial = _trial_of(settings, kafka.bootstrap_servers, folder, written)
        store = SnapshotStore(trial.clusters)
        job = running.enter_context(Job(trial, store, jars, folder / "spark.log", lifetime=lifetime))
        _await_evaluations(store, job, lifetime)


def _await_evaluations(store: SnapshotStore, job: Job, lifetime: Lifetime) -> None:
    deadline = time.monotonic() + READY_LIMIT_S
    seen: set[int] = set()
    while len(seen) < EVALUATIONS and not lifetime.stopping.wait(POLL_S):
        job.check()
        (cluster,) = store.read().clusters
        if cluster.ready and cluster.evaluated_ms is not None:
            seen.add(cluster.evaluated_ms)
        if time.monotonic() > deadline:
            raise ArchiveNotWrittenError(f"The trial job was not ready within {READY_LIMIT_S} s.")


def _trial_of(settings: Settings, bootstrap_servers: str, folder: Path, written: Path) -> Settings:
    """The demo's settings without its recording, the deployment's Spark properties, and a JVM that archives classes."""
    trial = settings_of(DemoOptions(port=0), bootstrap_servers, folder)
    conf = settings.spark.conf
    archiving = {DRIVER_OPTIONS: to_write(drivers_jvm(conf), written)}
    spark = trial.spark.model_copy(update={"conf": conf | archiving})
    return trial.model_copy(update={"spark": spark, "history": HistorySettings()})
