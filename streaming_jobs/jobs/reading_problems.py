"""What keeps one cluster from being read, of all that may: its collectors, its query, and that nothing moves at all."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Final

from pyspark.sql.streaming.query import StreamingQuery

from monitor.messages.notification import utc
from streaming_jobs.jobs.watch_targets import WatchTarget
from streaming_jobs.runtime.session import JVM_GONE
from streaming_jobs.runtime.stall import StallWatch

STATUS_LIMIT_S: Final = 3.0
"""How long Spark may take to say what a query is doing."""

WAITS_FOR_BROKERS: Final = "Getting offsets from"
"""So Spark's word for it begins while a source asks where a log ends."""

JVM_IS_SILENT: Final = "Spark's JVM does not respond"
BROKERS_ARE_SILENT: Final = "Spark's source waits for the brokers to say where the log ends"
START_HANGS: Final = "the query has not started, so the checkpoint's file system or another cluster's start hangs"
TASK_HANGS: Final = "Spark has not finished it, so a task, a Python worker or the checkpoint's file system hangs"


class ReadingProblems:
    """Puts together what several threads know. ``sentence`` may be read from any."""

    def __init__(self, target: WatchTarget, stall: StallWatch) -> None:
        """Nothing is wrong yet."""
        self._target = target
        self.stall = stall
        self.of_query: str | None = None
        """Why the query ended, as a sentence, until a micro-batch of the next one has ended."""
        self.of_brokers: Callable[[], str | None] = lambda: None
        """Which brokers do not answer, so that not all is read, as a sentence."""
        self.lateness: Callable[[], str | None] = lambda: None
        """That no reading of the groups has come for long, as a sentence."""
        self.is_starting = False
        """Whether a query is being started."""
        self._stalled: str | None = None
        self._was_away = False
        self._batches = 0

    @property
    def has_stalled(self) -> bool:
        """Whether micro-batches no longer end, though the cluster answers."""
        return self._stalled is not None

    @property
    def sentence(self) -> str | None:
        """The worst of it, in a sentence; None: the cluster is being read."""
        self._note_batches()
        collectors = self._target.problem
        self._was_away |= collectors is not None
        if collectors is None and self._was_away:
            collectors = f"Cluster {self._target.name} answers again but is not read yet."
        return self._stalled or self.of_query or self.of_brokers() or collectors or self.lateness()

    def look(self, passed_ms: int, now_ms: int, query: StreamingQuery | None) -> str | None:
        """See whether micro-batches still end; a sentence if it is hopeless to wait for one.

        While the cluster is away, or no query runs or starts, none is expected, and that is told by others.

        Args:
            passed_ms: now, by a clock that only goes forward.
            now_ms: the same instant, since the epoch.
            query: the one that runs.
        """
        self._note_batches()
        if (query is None and not self.is_starting) or self._target.problem is not None:
            self.stall.expect(passed_ms)
            self._stalled = None
        elif not self.stall.has_stalled(passed_ms):
            self._stalled = None
        elif self._stalled is None or self.stall.is_hopeless(passed_ms):
            doing = current_activity(query) if query is not None else START_HANGS
            since = utc(now_ms - self.stall.silence_ms(passed_ms))
            self._stalled = f"no micro-batch has ended since {since}: {doing or JVM_IS_SILENT}."
            return self._stalled if self.stall.is_hopeless(passed_ms) and doing != BROKERS_ARE_SILENT else None
        return None

    def _note_batches(self) -> None:
        """A micro-batch that has ended is the proof that the cluster is read."""
        if self.stall.ended != self._batches:
            self._batches = self.stall.ended
            self._was_away, self.of_query = False, None


def current_activity(query: StreamingQuery) -> str | None:
    """What a query is doing, in words; None if Spark does not say so within STATUS_LIMIT_S."""
    said: list[str] = []

    def ask() -> None:
        with suppress(*JVM_GONE):
            said.append(str(query.status["message"]))

    asking = threading.Thread(target=ask, name="query-status", daemon=True)
    asking.start()
    asking.join(STATUS_LIMIT_S)
    if not said:
        return None
    return BROKERS_ARE_SILENT if said[0].startswith(WAITS_FOR_BROKERS) else TASK_HANGS
