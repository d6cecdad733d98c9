"""The recorder of one cluster: its streaming query, started again after a failure, and the upkeep of its tables.

It is apart from what is watched: its own query, its own checkpoint (in the recording's folder) and its own pace. If it
fails, as on a full disk, that is reported, and watching continues.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, replace
from typing import Final

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.streaming.readwriter import DataStreamWriter

from monitor.collectors.kafka.carried_ends import QueryEnds
from monitor.config import HistorySettings
from monitor.history.identity import encode_ids, replaced_reason
from monitor.history.portions import near_time, next_number
from monitor.history.recorded import RecordedSettings, RecordingError, encode_settings
from monitor.history.tables import EVENTS, SETTINGS, SettingsRow, day_of
from monitor.model import RecordingHealth
from streaming_jobs.ingest.offset_planner import start_planned
from streaming_jobs.recording.delta import RecordedTables
from streaming_jobs.recording.hold import FolderInUse, RecordingHold
from streaming_jobs.recording.portions import PortionWriter
from streaming_jobs.recording.reach import Reach
from streaming_jobs.recording.upkeep import Upkeep
from streaming_jobs.runtime.checkpoint import folder_of
from streaming_jobs.runtime.clock import now_ms
from streaming_jobs.runtime.query_errors import cause_of, is_disk_full
from streaming_jobs.runtime.session import JVM_GONE

log = logging.getLogger(__name__)

LOOK_S: Final = 2
FIRST_PAUSE_S: Final = 10.0
LONGEST_PAUSE_S: Final = 300.0
UPKEEP_PAUSE_S: Final = 600.0

WRONG_CLOCK: Final = "is not kept up: the clock of this machine is behind those of the brokers. Set the clock."

LONGEST_BATCH_S: Final = 600.0
"""A micro-batch of the recorder that takes longer hangs: on a file system that does not answer, for example."""


@dataclass(frozen=True, slots=True)
class RecordedLogs:
    """What is recorded: how to read it, by what groups are judged meanwhile, and the partitions of the logs.

    ``new_ends`` makes the object that gives where they end. ``ids`` are those of the Kafka cluster and its topics.
    ``away`` reports that the cluster, or a broker of it, does not answer now, as a sentence.
    """

    rows: Callable[[], DataFrame]
    settings: RecordedSettings
    partitions: Mapping[str, int]
    new_ends: Callable[[], QueryEnds]
    ids: Mapping[str, str]
    away: Callable[[], str | None] = lambda: None


def recorder_checkpoint(folder: str, cluster: str) -> str:
    """Where the query that records a cluster has its checkpoint: a folder of its own in that of the recording."""
    return f"{folder}/checkpoints/{folder_of(cluster)}"


class Recorder:
    """Records one cluster until stopped."""

    def __init__(self, spark: SparkSession, cluster: str, settings: HistorySettings) -> None:
        self._cluster = cluster
        self._folder = (settings.folder or "").rstrip("/")
        self._every_s = settings.every_s
        self._tables = RecordedTables(spark, cluster, self._folder)
        self._reach = Reach(spark, cluster, self._folder)
        self._portions = PortionWriter(self._tables, cluster, int(settings.every_s * 1_000))
        self._upkeep = Upkeep(spark, cluster, self._folder, settings.keep_days, groups=settings.groups)
        self._hold = RecordingHold(spark, self._folder, cluster)
        self._logs: RecordedLogs | None = None
        self._stopping = threading.Event()
        self._query: StreamingQuery | None = None
        self._thread: threading.Thread | None = None
        self._has_progress = threading.Event()
        self._starting_since_s: float | None = None
        self._problem: str | None = None
        self._upkeep_after_s = 0.0
        self._upkeep_problem: str | None = None
        self._recorded: tuple[RecordedSettings, Mapping[str, str]] | None = None
        self._progress: tuple[str, int] | None = None
        self._progress_at_s = 0.0

    def record(self, logs: RecordedLogs) -> None:
        """Record these logs from now on, in a thread of its own."""
        known = self._logs
        if known is not None and replace(logs, rows=known.rows, new_ends=known.new_ends, away=known.away) == known:
            return
        self._logs = logs
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"recorder-{self._cluster}", daemon=True)
            self._thread.start()
            upkeep = threading.Thread(target=self._run_upkeep, name=f"recorder-upkeep-{self._cluster}", daemon=True)
            upkeep.start()
        else:
            self._stop_query()  # and another one begins, with the logs of now

    def begin_stop(self) -> None:
        """Tell the query to end after the micro-batch in progress, and return at once."""
        self._stopping.set()
        threading.Thread(target=self._stop_query, name=f"recorder-stop-{self._cluster}", daemon=True).start()

    def stop(self, limit_s: float) -> None:
        """End the query, or leave it to the end of the process."""
        self._stopping.set()
        if self._thread is not None:
            self._thread.join(timeout=limit_s)
        if self._thread is None or not self._thread.is_alive():  # or the end of this process lets others have it
            self._hold.release()

    def health(self) -> RecordingHealth:
        """How the recording goes."""
        return RecordingHealth(
            problem=self._problem or self._slow_start() or self._upkeep_problem,
            recorded_ms=self._reach.complete_ms or None,
            evaluated_ms=self._upkeep.evaluated_ms,
            failed_groups=self._upkeep.failed_groups,
            unread_rows=self._upkeep.unread_rows,
        )

    def _slow_start(self) -> str | None:
        """The problem that the query has been starting for too long, as on a file system that hangs. For any thread."""
        since_s = self._starting_since_s
        if since_s is None or time.monotonic() - since_s <= LONGEST_BATCH_S:
            return None
        return late_sentence(self._folder, "the start", self._away())

    def _stop_query(self) -> None:
        query = self._query
        with suppress(*JVM_GONE):
            if query is not None and query.isActive:
                query.stop()

    def _run(self) -> None:
        pause_s = FIRST_PAUSE_S
        while not self._stopping.is_set():
            began, logs = time.monotonic(), self._logs
            assert logs is not None, "there is no thread before there are logs"
            self._starting_since_s = began
            try:
                self._hold.take()
                self._tables.create(EVENTS)
                self._portions.begin()
                self._record_settings(logs)
                self._reach.begin_query()
                with closing(logs.new_ends()) as ends:
                    name = f"groupwatch-recorder-{self._cluster}"
                    self._query = start_planned(self._writer(logs.rows()), name, ends, self._stopping.is_set)
                    self._starting_since_s = None
                    self._await_end(self._query, logs)
                pause_s = 0.0 if self._logs is not logs else pause_s
            except Exception as error:
                self._starting_since_s = None
                self._note(error)
                self._stop_query()  # two of them would not get along
            if time.monotonic() - began > LONGEST_PAUSE_S:
                pause_s = FIRST_PAUSE_S
            self._stopping.wait(pause_s)
            pause_s = min(max(FIRST_PAUSE_S, 2 * pause_s), LONGEST_PAUSE_S)

    def _writer(self, rows: DataFrame) -> DataStreamWriter:
        return (
            rows.writeStream.foreachBatch(self._portions)
            .option("checkpointLocation", recorder_checkpoint(self._folder, self._cluster))
            .trigger(processingTime=f"{self._every_s} seconds")
        )

    def _await_end(self, query: StreamingQuery, logs: RecordedLogs) -> None:
        """Wait for the end of the query, which is ended once it reads other logs than are to be recorded."""
        self._progress, self._progress_at_s = None, time.monotonic()
        while not query.awaitTermination(LOOK_S) and not self._stopping.is_set():
            if self._logs is not logs:
                self._stop_query()
            self._hold.take()
            self._take_progress(query)

    def _take_progress(self, query: StreamingQuery) -> None:
        """Note what the newest micro-batch did, or that none has ended for too long."""
        progress = query.lastProgress
        newest = None if progress is None else (progress.timestamp, progress.batchId)
        if newest != self._progress or not query.status["isTriggerActive"]:
            self._progress, self._progress_at_s = newest, time.monotonic()
        elif time.monotonic() - self._progress_at_s > LONGEST_BATCH_S:
            self._note_sentence(late_sentence(self._folder, "a micro-batch", self._away()))
            return
        if progress is not None:
            self._problem = None
            self._reach.take(progress, self._portions.newest_ms)
            self._has_progress.set()

    def _run_upkeep(self) -> None:
        """The upkeep has one thread of its own: how far the recording reaches is noted while it takes its time."""
        while not self._stopping.is_set():
            if self._has_progress.wait(LOOK_S):
                self._has_progress.clear()
                self._keep_up()

    def _keep_up(self) -> None:
        """Have the upkeep if it is due. If it fails, the recording continues, and it is tried again later."""
        if time.monotonic() < self._upkeep_after_s:
            return
        try:
            if self._portions.is_dated:
                self._upkeep.run_if_due(
                    self._portions.newest_ms, self._reach.complete_ms, is_behind=self._reach.is_behind
                )
            self._upkeep_problem = None if self._portions.is_dated else f"The recording in {self._folder} {WRONG_CLOCK}"
        except Exception as error:
            if self._stopping.is_set():
                return
            self._upkeep_after_s = time.monotonic() + UPKEEP_PAUSE_S
            self._upkeep_problem = f"The recording in {self._folder} is not kept up: {cause_of(error)}."
            log.warning("Cluster %s: %s Trying again in ten minutes.", self._cluster, self._upkeep_problem)

    def _record_settings(self, logs: RecordedLogs) -> None:
        """Record the settings by which groups are judged from now on, and the cluster, if they are not recorded yet.

        Raises:
            RecordingError: the recording is of another cluster.
        """
        if (logs.settings, logs.ids) == self._recorded:
            return
        reason = replaced_reason(self._recorded_ids(), logs.ids)
        if reason is not None:
            raise RecordingError(reason)
        known_ms = self._tables.only_value(SETTINGS, F.max("recorded_ms")) or 0
        at_ms = next_number(known_ms, near_time(self._portions.newest_ms, now_ms()))
        place = self._cluster, day_of(at_ms), at_ms
        self._tables.append_row(SETTINGS, SettingsRow(*place, encode_settings(logs.settings), encode_ids(logs.ids)))
        self._recorded = logs.settings, logs.ids

    def _recorded_ids(self) -> list[str | None]:
        rows = self._tables.read(SETTINGS)
        return [] if rows is None or "ids" not in rows.columns else [row["ids"] for row in rows.select("ids").collect()]

    def _note(self, error: Exception) -> None:
        if self._stopping.is_set():
            return
        cause = str(error) if isinstance(error, (RecordingError, FolderInUse)) else cause_of(error)
        self._note_problem(f"the disk is full ({cause})" if is_disk_full(error) else cause)

    def _away(self) -> str | None:
        return None if self._logs is None else self._logs.away()

    def _note_problem(self, reason: str) -> None:
        self._note_sentence(problem_sentence(self._folder, reason))

    def _note_sentence(self, sentence: str) -> None:
        if self._problem != sentence:
            log.warning("Cluster %s: %s", self._cluster, sentence)
        self._problem = sentence


def problem_sentence(folder: str, reason: str, then: str = "Groups are watched as ever.") -> str:
    """Why nothing is recorded, in words, and the sentence that follows.

    >>> problem_sentence("/h", "java.io.IOException: no such host.")
    'Nothing is recorded in /h: java.io.IOException: no such host. Groups are watched as ever.'
    """
    return f"Nothing is recorded in {folder}: {reason.rstrip('.')}. {then}"


def late_sentence(folder: str, what: str, away: str | None) -> str:
    """Why nothing is recorded while the query waits for too long.

    >>> late_sentence("/h", "a micro-batch", None)
    'Nothing is recorded in /h: a micro-batch has not ended for 600 s. Groups are watched as ever.'
    >>> print(late_sentence("/h", "a micro-batch", "Cluster prod: no broker answers at b:9092."))
    Nothing is recorded in /h: a micro-batch has not ended for 600 s. Cluster prod: no broker answers at b:9092.

    Args:
        folder: that of the recording.
        what: what has not ended.
        away: that the cluster, or a broker of it, does not answer, as a sentence; None: they answer.
    """
    reason = f"{what} has not ended for {LONGEST_BATCH_S:.0f} s"
    return problem_sentence(folder, reason) if away is None else problem_sentence(folder, reason, away)
