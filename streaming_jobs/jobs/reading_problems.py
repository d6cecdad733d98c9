"""Why one cluster is not evaluated: its collectors, its query, and that no micro-batch ends at all."""

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

STATUS_LIMIT_MS: Final = 3_000
"""How long Spark may take to report the activity of a query."""

ASK_AFTER_MS: Final = 20_000
"""After so long a silence Spark is queried, so that its response is there when the stall is reported."""

ASK_AGAIN_MS: Final = 5_000

WAITS_FOR_BROKERS: Final = "Getting offsets from"
"""Spark's status begins so while a source looks up where a log ends."""

JVM_IS_SILENT: Final = "Spark's JVM does not respond"
BROKERS_ARE_SILENT: Final = "Spark's source waits for the brokers to say where the log ends"
START_HANGS: Final = "the query has not started, so the checkpoint's file system or another cluster's start hangs"
TASK_HANGS: Final = "Spark has not finished it, and the cause is not known"
NO_QUERY: Final = "no query runs"


class ReadingProblems:
    """Puts together what several threads know. ``sentence`` may be read from any."""

    def __init__(self, target: WatchTarget, stall: StallWatch) -> None:
        """Nothing is wrong yet."""
        self._target = target
        self.stall = stall
        self.of_query: str | None = None
        """Why the query ended, as a sentence, until a micro-batch of the next one has ended."""
        self.of_brokers: Callable[[], str | None] = lambda: None
        """Which brokers do not answer, so that not all is read, as a sentence. What others lead may be read on."""
        self.is_query_waiting = False
        """Whether ``of_query`` is a condition that the query waits for, such as a full disk."""
        self.lateness: Callable[[], str | None] = lambda: None
        """The problem that there was no poll of the groups for long, as a sentence."""
        self.is_starting = False
        """Whether a query is being started."""
        self._stalled: str | None = None
        self._stalled_since_ms: int | None = None
        self._activity: QueryActivity | None = None
        self._was_away = False
        self._batches = 0

    @property
    def has_stalled(self) -> bool:
        """Whether the cluster is no longer evaluated, whatever the reason."""
        return self._stalled is not None

    @property
    def sentence(self) -> str | None:
        """The worst of it, in a sentence; None: the cluster is being read."""
        self._note_batches()
        return self._stalled or self._known_reason or self.lateness()

    @property
    def _known_reason(self) -> str | None:
        """Why the query or the collectors cannot read, as they report it."""
        collectors = self._target.problem
        self._was_away |= collectors is not None
        if collectors is None and self._was_away:
            collectors = f"Cluster {self._target.name} answers again but is not read yet."
        return self.of_query or collectors

    def look(self, passed_ms: int, now_ms: int, query: StreamingQuery | None) -> str | None:
        """See whether the cluster is still evaluated; a sentence if it is hopeless to wait for a micro-batch.

        It is never hopeless while the cluster is away, or the query waits for something: a restart would not help.

        Args:
            passed_ms: now, by a clock that only goes forward.
            now_ms: the same instant, since the epoch.
            query: the one that runs.
        """
        self._note_batches()
        doing = self._doing(passed_ms, query)
        is_waiting = self.of_query is not None and self.is_query_waiting
        of_others = self._target.problem is not None or (self.of_brokers() is not None and doing != JVM_IS_SILENT)
        excused = of_others or is_waiting or doing == BROKERS_ARE_SILENT
        self.stall.look(passed_ms, excused=excused)
        if not self.stall.has_stalled(passed_ms):
            self._stalled = None
            return None
        self._stalled, self._stalled_since_ms = self._stall_sentence(passed_ms, now_ms, doing), self.stall.newest_ms
        return self._stalled if self.stall.is_hopeless(passed_ms) and not excused else None

    def _doing(self, passed_ms: int, query: StreamingQuery | None) -> str | None:
        """What the query does, in words, once it has been silent for some time; None: that is not known yet."""
        if self.stall.silence_ms(passed_ms) <= min(ASK_AFTER_MS, self.stall.limit_ms // 2):
            self._activity = None
            return None
        if query is None:
            return START_HANGS if self.is_starting else NO_QUERY
        if self._activity is None or self._activity.query is not query:
            self._activity = QueryActivity(query)
        return self._activity.look(passed_ms)

    def _stall_sentence(self, passed_ms: int, now_ms: int, doing: str | None) -> str:
        """Since when there is no micro-batch, or no evaluation by those that end, and why."""
        if self.stall.ends_batches(passed_ms):
            since = utc(now_ms - self.stall.silence_ms(passed_ms))
            reason = self._known_reason or self.of_brokers() or self.lateness() or "the log is being read again"
            return f"{_sentence(reason)} No group has been evaluated since {since}."
        since = utc(now_ms - (passed_ms - (self.stall.ended_ms or 0)))
        known = self._known_reason or self.of_brokers()
        if known is not None and doing != JVM_IS_SILENT:
            return f"{_sentence(known)} No micro-batch has ended since {since}."
        return f"no micro-batch has ended since {since}{'' if doing is None else f': {doing}'}."

    def _note_batches(self) -> None:
        """A micro-batch that has ended is the proof that the cluster is read, and an evaluation ends a stall.

        But not one of a micro-batch that hung itself: it is as old as that.
        """
        if self.stall.ended != self._batches:
            self._batches = self.stall.ended
            self._was_away, self.of_query = False, None
        is_newer = self.stall.newest_ms != self._stalled_since_ms
        if is_newer and not (self.stall.ended_ms is not None and self.stall.has_stalled(self.stall.ended_ms)):
            self._stalled = None


class QueryActivity:
    """What a query is doing, requested in another thread: whatever hangs, ``look`` does not."""

    def __init__(self, query: StreamingQuery) -> None:
        """No request has been made yet."""
        self.query = query
        self._asked_ms: int | None = None
        self._newest: str | None = None
        self._thread: threading.Thread | None = None

    def look(self, passed_ms: int) -> str | None:
        """The newest response, in words; None: there is none yet."""
        is_asking = self._thread is not None and self._thread.is_alive()
        since_ms = 0 if self._asked_ms is None else passed_ms - self._asked_ms
        if is_asking and since_ms > STATUS_LIMIT_MS:
            return JVM_IS_SILENT
        if not is_asking and (self._asked_ms is None or since_ms > ASK_AGAIN_MS):
            self._asked_ms = passed_ms
            self._thread = threading.Thread(target=self._ask, name="query-status", daemon=True)
            self._thread.start()
        return self._newest

    def _ask(self) -> None:
        with suppress(*JVM_GONE):
            message = str(self.query.status["message"])
            self._newest = BROKERS_ARE_SILENT if message.startswith(WAITS_FOR_BROKERS) else TASK_HANGS


def _sentence(reason: str) -> str:
    return reason if reason.endswith(".") else f"{reason}."


def cluster_sentence(name: str, sentence: str) -> str:
    """The sentence with the cluster before it. What collectors say begins with that.

    >>> cluster_sentence("main", "reading stopped."), cluster_sentence("main", "Cluster main: no broker answers.")
    ('Cluster main: reading stopped.', 'Cluster main: no broker answers.')
    """
    return sentence if sentence.startswith(f"Cluster {name}") else f"Cluster {name}: {sentence}"
