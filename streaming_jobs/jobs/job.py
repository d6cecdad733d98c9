"""The job: every configured cluster watched in one Spark session, its newest evaluation in the snapshot store."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterable, Mapping
from functools import partial
from pathlib import Path
from typing import Final

from pyspark.sql import SparkSession

from monitor.collectors.configured import ConfiguredCollectors, MakeReader
from monitor.collectors.kafka_client.client_properties import cluster_login, token_endpoints
from monitor.collectors.kafka_client.kerberos import KerberosLogin, kerberos_file
from monitor.collectors.readers import create_reader
from monitor.config import Settings, SparkSettings, detection_rules
from monitor.config.cores import local_cores
from monitor.lifecycle import Lifecycle
from monitor.metrics.series_filter import Detail, DetailOverride, SeriesRules
from streaming_jobs.buckets.catalog_server import CatalogServer
from streaming_jobs.driver.growing_ages import GrowingAges
from streaming_jobs.driver.served_before import served_before
from streaming_jobs.driver.shared import SharedEvaluation
from streaming_jobs.driver.snapshot_store import SnapshotStore
from streaming_jobs.driver.watched_expectations import WatchedExpectations
from streaming_jobs.jobs.cluster_watch import ClusterWatch
from streaming_jobs.jobs.watch_targets import WatchList
from streaming_jobs.runtime.clock import now_ms
from streaming_jobs.runtime.lifetime import JobFailed, Lifetime
from streaming_jobs.runtime.other_checkpoints import SparkFiles
from streaming_jobs.runtime.session import (
    DELTA,
    KERBEROS_FILE,
    create_session,
    forget_files_to_delete,
    has_ended,
    jvm_end_limit_s,
    jvm_pid,
    stop_session,
    with_java_property,
    with_token_endpoints,
)

log = logging.getLogger(__name__)

POLL_S: Final = 0.5
WATCHDOG_S: Final = 1.0

FORGET_S: Final = 600.0
"""How often the JVM is made to forget the sockets that are gone."""


class Job(Lifecycle):
    """groupwatch, reading and judging, for the time of a ``with`` block. Its results go into the snapshot store."""

    def __init__(  # noqa: PLR0913 -- nearly all of them have a default
        self,
        settings: Settings,
        store: SnapshotStore,
        jars: Iterable[Path],
        spark_log: Path | None = None,
        *,
        rebuild: bool = False,
        readers: MakeReader | None = None,
        lifetime: Lifetime | None = None,
        away: Mapping[str, str] | None = None,
    ) -> None:
        """Prepare a job; nothing starts yet.

        Args:
            settings: what to watch, and how.
            store: where the results go.
            jars: the Kafka connector's jars.
            spark_log: where Spark writes; None: to the standard error.
            rebuild: put the state of every cluster aside and read the logs again from their beginning.
            readers: gives the readers of what is read as a whole; None: those of groupwatch.
            lifetime: of the command; None: that of the block.
            away: why each Kafka cluster that does not answer now is away, by its name; None: not checked.
        """
        self._settings = settings
        self._store = store
        self._jars = tuple(jars)
        self._spark_log = spark_log
        self._rebuild = rebuild
        self._readers = readers
        self._lifetime = Lifetime() if lifetime is None else lifetime
        self._away = away or {}
        self._watches: list[ClusterWatch] = []
        self._stopped = threading.Event()
        self._spark: SparkSession | None = None
        self._shelf: CatalogServer | None = None

    def _spark_properties(self) -> dict[str, str]:
        """The deployment's, and what its clusters and the recording need besides."""
        clusters = self._settings.clusters.values()
        urls = [url for cluster in clusters for url in token_endpoints(cluster)]
        chosen = with_token_endpoints(self._settings.spark.properties(), list(dict.fromkeys(urls)))
        if (file := kerberos_file()) and any(isinstance(cluster_login(each), KerberosLogin) for each in clusters):
            chosen = with_java_property(chosen, KERBEROS_FILE, file)
        return {**DELTA, **chosen} if self._settings.history.is_on else chosen

    def start(self) -> None:
        """Start Spark, then watch the clusters.

        Raises:
            CheckpointError: a checkpoint is in use, was written with another layout, or cannot be reached.
            ConfigError: Spark's properties refer to nothing, its master needs a secret, or the file of expectations has
                mistakes.
            JvmNotStarted: Spark's JVM ended at once.
            Stopped: the command was stopped.
        """
        spark, file = with_trigger(self._settings), self._settings.expectations.file
        self._spark = create_session(
            spark.master,
            spark.shuffle_partitions,
            self._jars,
            self._spark_properties(),
            self._spark_log,
            queries=self._queries(),
            is_ending=lambda: self._lifetime.is_over,
        )
        self._store.process.watch_jvm(jvm_pid(self._spark))
        self._shelf = CatalogServer(self._spark.conf.get("spark.driver.host") or "127.0.0.1")
        shared = SharedEvaluation(
            detection_rules(self._settings.detection, self._settings.alerts, self._settings.scale),
            self._shelf,
            served_before(self._settings),
            self._settings.shard,
            series=series_rules(self._settings),
            history=self._settings.history,
            external_url=self._settings.http.external_url,
            expectations=None if file is None else WatchedExpectations(file),
        )
        try:
            for watched in self._watch_list(self._spark):
                self._lifetime.go_on()
                if (sentence := self._away.get(watched.cluster.name)) is not None:
                    watched.expect_problem(sentence)
                watch = ClusterWatch(self._spark, watched, spark, shared, self._store)
                self._watches.append(watch)
                watch.claim(rebuild=self._rebuild)
        except BaseException:
            self.stop()
            raise
        for watch in self._watches:
            watch.start()
        threading.Thread(target=self._look, name="watchdog", daemon=True).start()
        GrowingAges(self._store, self._stopped).start()

    def _queries(self) -> int:
        """How many queries will run: one for each cluster and system, and one for the recording of each."""
        watched = len(self._settings.watched_names)
        return 2 * watched if self._settings.history.is_on else watched

    def _look(self) -> None:
        """See whether every cluster is still read, in a thread that calls nothing that may hang."""
        while not self._stopped.wait(WATCHDOG_S):
            for watch in self._watches:
                hopeless = self._views(watch)
                if hopeless is not None and not self._lifetime.is_over:
                    self._lifetime.give_up(hopeless)

    def _views(self, watch: ClusterWatch) -> str | None:
        try:
            return watch.look()
        except Exception:  # the others are to be looked at all the same, and this one a second later
            log.exception("The watchdog check failed")
            return None

    def _watch_list(self, spark: SparkSession) -> WatchList:
        readers = self._readers or partial(create_reader, clock=now_ms, files=SparkFiles(spark))
        return WatchList(
            self._settings, ConfiguredCollectors(self._settings, now_ms, readers), self._settings.shard.is_first
        )

    def stop(self) -> None:
        """End the queries, then Spark."""
        self._stopped.set()
        for watch in self._watches:
            watch.begin_stop()  # all of them end at the same time
        for watch in self._watches:
            watch.stop()
        if self._shelf is not None:
            self._shelf.close()
            self._shelf = None
        if self._spark is not None:
            stop_session(self._spark, jvm_end_limit_s(self._settings.spark.conf))
            self._spark = None

    def wait(self, stopping: threading.Event) -> None:
        """Return when stopped.

        Raises:
            JobFailed: a cluster met an error that no restart of its query can heal, or Spark has ended.
            CheckpointError: what is read now is not what the checkpoint is of.
        """
        forgotten_s = time.monotonic()
        while not stopping.wait(POLL_S):
            self.check()
            if self._spark is not None and time.monotonic() - forgotten_s > FORGET_S:
                forget_files_to_delete(self._spark)
                forgotten_s = time.monotonic()

    def check(self) -> None:
        """See that the job can go on. Raises like ``wait``."""
        for watch in self._watches:
            if (fatal := watch.fatal) is not None:
                raise fatal
        if self._lifetime.given_up is not None:
            raise JobFailed(self._lifetime.given_up)
        if self._spark is not None and has_ended(self._spark):
            raise JobFailed("Spark has ended, or its JVM was killed (out of memory?). Start groupwatch again.")


def with_trigger(settings: Settings) -> SparkSettings:
    """Spark's settings with the distance of micro-batches, which is logged if none was chosen."""
    if settings.spark.trigger_s is None:
        text = "spark.trigger_s is %g: clusters and systems %d, cores %d"
        log.info(text, settings.trigger_s, len(settings.watched_names), local_cores(settings.spark.master))
    return settings.spark.model_copy(update={"trigger_s": settings.trigger_s})


def series_rules(settings: Settings) -> SeriesRules:
    """Which series there are, from what a deployment configured.

    kafka_exporter watches one cluster and has no label for it; only where several give such series they need one.
    """
    chosen = settings.metrics
    of_kafka = len(settings.clusters) + sum(each.system == "kafka" for each in settings.zookeeper.values())
    return SeriesRules(
        detail=Detail(chosen.detail),
        overrides=tuple(
            DetailOverride(detail=Detail(o.detail), cluster=o.cluster, groups=o.groups, topics=o.topics)
            for o in chosen.overrides
        ),
        allow_groups=chosen.allow_groups,
        deny_groups=chosen.deny_groups,
        allow_topics=chosen.allow_topics,
        deny_topics=chosen.deny_topics,
        kafka_exporter="kafka_exporter" in chosen.compat,
        kafka_exporter_cluster=of_kafka > 1,
        member_info=chosen.member_info,
        owner_info=chosen.owner_info,
        commit_times=chosen.commit_times,
        max_series=chosen.max_series,
        cluster_label=chosen.cluster_label,
    )
