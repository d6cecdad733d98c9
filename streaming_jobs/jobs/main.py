"""The job as a command: settings, checks that answer in one sentence, then watching until it is stopped."""

from __future__ import annotations

import logging
from functools import partial
from pathlib import Path
from typing import Final

from monitor.checks.config_checks import load_settings, require_startable
from monitor.collectors.errors import CollectorError
from monitor.config import ConfigError, Settings, with_compat, with_shard
from monitor.java_runtime.errors import EmbeddedError
from monitor.web.server import ListenError
from streaming_jobs.driver.served_before import serve_again
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.jobs.clusters_away import find_away, show_away
from streaming_jobs.jobs.jars import needed_jars
from streaming_jobs.jobs.job import Job
from streaming_jobs.jobs.pushing import findings_delivery, metrics_push
from streaming_jobs.jobs.serving import http_server
from streaming_jobs.runtime.checkpoint import CheckpointError
from streaming_jobs.runtime.class_archive import ArchiveNotWrittenError
from streaming_jobs.runtime.driver_jvm import JvmNotStarted
from streaming_jobs.runtime.lifetime import Lifetime
from streaming_jobs.runtime.session import kill_jvm

log = logging.getLogger(__name__)

CANNOT_START: Final = (
    ConfigError,
    EmbeddedError,
    CollectorError,
    ListenError,
    CheckpointError,
    ArchiveNotWrittenError,
    JvmNotStarted,
)
"""Errors whose text is the whole story: what is not as it must be, and where. They end a command with exit code 2."""


def run_job(
    config: Path | None,
    *,
    rebuild: bool = False,
    shard: str | None = None,
    compat: str | None = None,
    strict: bool = False,
) -> None:
    """Watch the clusters of a configuration until SIGINT or SIGTERM.

    It starts with those that answer, and watches the others once they do.

    Args:
        config: the configuration file; None: variables only.
        rebuild: start again with the logs' beginning.
        shard: this job's share of the groups; goes before the configuration's.
        compat: by which other exporters' names metrics are given as well; goes before the configuration's.
        strict: start only if every cluster answers.

    Raises:
        ConfigError, CollectorError, ListenError, EmbeddedError, CheckpointError: the job cannot start (CANNOT_START).
        JobFailed: it started, and met an error that no restart can heal.
    """
    settings = with_compat(with_shard(load_settings(config, for_job=True), shard), compat)
    Lifetime().run(partial(_watch, settings, rebuild=rebuild, strict=strict))


def _watch(settings: Settings, lifetime: Lifetime, *, rebuild: bool, strict: bool) -> None:
    lifetime.at_cut_off(kill_jvm)
    require_startable(settings, for_job=True)
    store = SnapshotStore(
        settings.watched_names,
        settings.shard,
        settings.metrics.max_series,
        settings.metrics.cluster_label,
        {each.name: each.via for each in settings.clusters.values() if each.via},
    )
    if not rebuild:
        serve_again(settings, store)
    # Before the port opens: a job that cannot start answers no scrape and no probe.
    away = find_away(settings, lifetime, strict=strict)
    show_away(settings, store, away)
    with (
        http_server(store, settings.http, history=settings.history, expectations=settings.expectations.file) as server,
        metrics_push(store, settings),
    ):
        jars = needed_jars(settings, lifetime.progress)
        lifetime.go_on()
        delivery = findings_delivery(store, settings)
        with delivery, Job(settings, store, jars, rebuild=rebuild, lifetime=lifetime, away=away) as job:
            log.info("The page is %s/, the metrics %s/metrics", server.url, server.url)
            job.wait(lifetime.stopping)
            log.info("Stopping")
