"""The job as a command: settings, checks that answer in one sentence, then watching until told to stop."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Final

from monitor.collectors.errors import CollectorError, OffsetsTopicMissing
from monitor.collectors.preflight import check
from monitor.config import ConfigError, Settings, load, with_compat, with_shard
from monitor.embedded.errors import EmbeddedError
from monitor.embedded.jars import spark_kafka_jars
from monitor.embedded.java import find_java
from monitor.metrics.server import HttpServer, ListenError
from streaming_jobs.board import Board
from streaming_jobs.checkpoint import CheckpointError
from streaming_jobs.class_archive import ArchiveNotWrittenError
from streaming_jobs.job import Job
from streaming_jobs.signals import StopSignals

log = logging.getLogger(__name__)

CANNOT_START: Final = (ConfigError, EmbeddedError, CollectorError, ListenError, CheckpointError, ArchiveNotWrittenError)
"""Errors whose text is the whole story: what is not as it must be, and where. They end a command with exit code 2."""


def run_job(config: Path | None, *, rebuild: bool = False, shard: str | None = None, compat: str | None = None) -> None:
    """Watch the clusters of a configuration until SIGINT or SIGTERM.

    Args:
        config: the configuration file; None: variables only.
        rebuild: begin anew with the logs' beginning.
        shard: this job's share of the groups; goes before the configuration's.
        compat: by which other exporters' names metrics are given as well; goes before the configuration's.

    Raises:
        ConfigError, CollectorError, ListenError, EmbeddedError, CheckpointError: the job cannot start (CANNOT_START).
        JobFailed: it started, and met an error that no restart can heal.
    """
    settings = with_compat(with_shard(load(config), shard), compat)
    require_what_a_job_needs(settings)
    find_java()
    for cluster in settings.clusters.values():
        try:
            check(cluster)
        except OffsetsTopicMissing as missing:
            log.warning("%s Waiting for it.", missing)  # no group has ever committed there; one may soon
    jars = spark_kafka_jars(log.info)
    board = Board(settings.watched_names, settings.shard, settings.metrics.max_series)
    with (
        StopSignals() as signals,
        HttpServer(board, settings.http.bind, settings.http.port) as server,
        Job(settings, board, jars, rebuild=rebuild) as job,
    ):
        signals.arm()
        log.info("The page is %s/, the metrics %s/metrics", server.url, server.url)
        job.wait(signals.stopping)
        log.info("Stopping")


def require_what_a_job_needs(settings: Settings) -> None:
    """Raise ConfigError for what may be absent from settings in general, but not from those of a job."""
    problems = []
    if not settings.clusters:
        problems.append("No cluster is configured: add a table [clusters.NAME] with bootstrap_servers.")
    if not settings.spark.checkpoint:
        problems.append("spark.checkpoint is required: a folder that survives restarts, where the job keeps its state.")
    if problems:
        raise ConfigError(*problems)
