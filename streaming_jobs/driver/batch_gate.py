"""Holds the end of a micro-batch until there is a reason for the next one.

Spark begins a micro-batch as soon as the one before has ended, because the ticks always have rows
(docs/decisions/0003-ticks-from-rate-micro-batch.md). So a micro-batch ends when the next one has something to do
(docs/decisions/0035-no-batch-without-a-reason.md).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Final, Protocol

import msgspec

from monitor.collectors.passes.unchanged import UnchangedPolls
from monitor.readiness.next_batch import JOIN_MS, BatchSchedule
from monitor.readiness.warm_up import LogPosition
from streaming_jobs.runtime.clock import monotonic_ms

SLICE_MS: Final = 500
"""After so long a wait looks whether it is to end, for a stop."""


class Unread(Enum):
    """Which log has records that no micro-batch has read."""

    GROUPS = auto()
    """The log of offsets."""
    EVENTS = auto()
    """The events of the collectors."""


class News(Protocol):
    """Waits for records that no micro-batch has read."""

    def await_beyond(self, position: LogPosition, limit_ms: int) -> Unread | None:
        """Wait until a log has a record that lies beyond the position; None: there is none yet."""

    def close(self) -> None:
        """Let go of the brokers."""


@dataclass(slots=True)
class BatchGate:
    """Between two micro-batches of one query. ``confirm`` takes when a poll confirms the evaluation before the wait.

    ``unchanged`` are the polls of the topics that found nothing new, and so may wait. The wait
    itself proves nothing: the brokers may be away.
    """

    schedule: BatchSchedule
    news: News
    confirm: Callable[[int], None]
    unchanged: UnchangedPolls
    is_holding: bool = False
    """Whether a micro-batch has done everything and only waits for the next one."""
    held_ms: int = 0
    """How long the newest wait took."""
    _open: threading.Event = field(default_factory=threading.Event)

    @property
    def is_open(self) -> bool:
        """Whether it holds no micro-batch any more."""
        return self._open.is_set()

    def open(self) -> None:
        """Let everybody through from now on: the query is to end."""
        self._open.set()

    def begin(self, now_ms: int) -> None:
        """A micro-batch begins."""
        self.schedule.begin(now_ms)
        self.held_ms = 0

    def hold(
        self, position: LogPosition, due_ms: int | None, *, is_urgent: bool = False, polls_may_wait: bool = False
    ) -> None:
        """Return when the next micro-batch is to begin.

        A collector writes a poll piece by piece, and its end last. So events wait for each other (JOIN_MS). Commits do
        not, but for those that come in this time.

        Args:
            position: how far the logs are read.
            due_ms: when a verdict may become another without a record, by the clock of ``begin``; None: never.
            is_urgent: nothing can be shown yet, so micro-batches need not keep their distance.
            polls_may_wait: a poll of the topics that found nothing new is no reason.
        """
        began_ms, self.is_holding = monotonic_ms(), True
        earliest_ms = began_ms if is_urgent else self.schedule.earliest_ms
        self._rest_until(earliest_ms)
        polled_ms: int | None = None
        while not self.is_open and (left_ms := self._left_ms(earliest_ms, due_ms, polled_ms)) > 0:
            unread = self.news.await_beyond(position, min(left_ms, SLICE_MS))
            if unread is None and polled_ms is not None:  # only now: commits may have come before the poll
                self.confirm(polled_ms)
            if unread is Unread.EVENTS and not is_urgent:
                self._rest_until(monotonic_ms() + JOIN_MS)
            beyond = self._beyond_unchanged_polls(position) if polls_may_wait else position
            if beyond is position and unread is not None:
                break
            if beyond is not position:
                position, polled_ms = beyond, monotonic_ms()
        self.held_ms, self.is_holding = monotonic_ms() - began_ms, False

    def _left_ms(self, earliest_ms: int, due_ms: int | None, polled_ms: int | None) -> int:
        return max(earliest_ms, self.schedule.latest_ms(due_ms, polled_ms)) - monotonic_ms()

    def _beyond_unchanged_polls(self, position: LogPosition) -> LogPosition:
        """The position behind the polls that found nothing new; the same one if none follows on it."""
        beyond = {partition: self.unchanged.end_beyond(offset) for partition, offset in position.events_read.items()}
        return position if beyond == position.events_read else msgspec.structs.replace(position, events_read=beyond)

    def _rest_until(self, until_ms: int) -> None:
        while not self.is_open and (left_ms := until_ms - monotonic_ms()) > 0:
            self._open.wait(min(left_ms, SLICE_MS) / 1000)

    def close(self) -> None:
        """The query has ended."""
        self.news.close()
