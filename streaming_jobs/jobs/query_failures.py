"""Why a query of a cluster ended, and whether starting it again can help."""

from __future__ import annotations

import logging
from collections.abc import Callable

from monitor.collectors.errors import NotYetReadable
from monitor.readiness.repeated_warning import RepeatedWarning
from streaming_jobs.jobs.cluster_logs import ClusterLogs
from streaming_jobs.jobs.reading_problems import ReadingProblems, cluster_sentence
from streaming_jobs.jobs.watch_targets import WatchTarget
from streaming_jobs.runtime.checkpoint import Checkpoint, CheckpointError
from streaming_jobs.runtime.clock import monotonic_ms
from streaming_jobs.runtime.lifetime import JobFailed
from streaming_jobs.runtime.query_errors import REBUILD, cause_of, fatal_sentence, is_disk_full, is_fetch_timeout

log = logging.getLogger(__name__)


class QueryFailures:
    """Takes the errors that end queries. ``show`` is called once there is another sentence to show."""

    def __init__(
        self,
        target: WatchTarget,
        checkpoint: Checkpoint,
        logs: ClusterLogs,
        problems: ReadingProblems,
        show: Callable[[], None],
    ) -> None:
        self._target = target
        self._checkpoint = checkpoint
        self._logs = logs
        self._problems = problems
        self._show = show
        self._fatal: JobFailed | CheckpointError | None = None
        self._warnings = RepeatedWarning()

    @property
    def fatal(self) -> JobFailed | CheckpointError | None:
        """Why going on makes no sense, once it does not; the job then ends."""
        return self._fatal or self._replaced() or self._lost()

    def _lost(self) -> JobFailed | None:
        return self._failed(self._checkpoint.lost) if self._checkpoint.lost else None

    def _replaced(self) -> CheckpointError | None:
        """The error that a collector has met another system than the one that the checkpoint is of."""
        found = (each.source.replaced for each in self._target.collectors)
        sentence = next((each for each in found if each is not None), None)
        if sentence is None:
            return None
        path = self._checkpoint.path
        return CheckpointError(
            f"{sentence} The checkpoint {path} belongs to the previous one: go back to that, or {REBUILD}."
        )

    def _failed(self, sentence: str) -> JobFailed:
        return JobFailed(cluster_sentence(self._target.name, sentence))

    def note(self, error: Exception) -> None:
        """Say why the query ended; decide whether a restart can heal it."""
        cause = cause_of(error)
        if isinstance(error, CheckpointError):
            self._fatal = CheckpointError(f"Cluster {self._target.name}: {error}")
        elif (sentence := fatal_sentence(error, self._checkpoint.path)) is not None:
            self._fatal = self._failed(sentence)
        elif isinstance(error, NotYetReadable):
            self._wait_for(str(error))
        else:
            throttling = self._logs.ends.throttling if is_fetch_timeout(error) else None
            problem = throttling or (f"the disk is full ({cause})" if is_disk_full(error) else cause)
            self._log_end(f"the query ended ({problem}); restarting it")
            self._show_end(f"reading stopped: {problem}", is_waiting=is_disk_full(error))

    def _log_end(self, sentence: str) -> None:
        """Each end is an event of its own: only its number is of interest if they are many."""
        self._warnings.end()
        if (line := self._warnings.line(sentence, monotonic_ms())) is not None:
            log.warning("Cluster %s: %s", self._target.name, line)

    def _wait_for(self, sentence: str) -> None:
        """Say once what a query cannot start without."""
        if self._problems.of_query != sentence:
            log.warning("%s Waiting for it.", sentence, extra={"cluster": self._target.name})
        self._show_end(sentence, is_waiting=True)

    def _show_end(self, sentence: str, *, is_waiting: bool) -> None:
        self._problems.of_query, self._problems.is_query_waiting = sentence, is_waiting
        self._show()
