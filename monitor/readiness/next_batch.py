"""When the next micro-batch is to begin: when a log has news or something is due, and not without a reason."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from monitor.detection.ownership.catalog_view import Topics
from monitor.model.snapshots import LATE_MS

LONGEST_PAUSE_MS: Final = 10_000
"""After so long without a micro-batch, or a poll, one runs anyway: it proves that the job and the brokers are alive."""

LONGEST_QUIET_MS: Final = 30_000
"""After so long without a micro-batch one runs anyway, whatever polls prove. It reads them, and evaluates as of now."""


def late_after_ms(trigger_ms: int) -> int:
    """From which age on an evaluation is late in a job with this trigger (``spark.trigger_s``), in ms.

    >>> late_after_ms(1_000), late_after_ms(15_000), late_after_ms(120_000)
    (60000, 60000, 270000)
    """
    return max(LATE_MS, 2 * trigger_ms + LONGEST_QUIET_MS)


GROUPS_QUIET_MS: Final = 30_000
"""For so long before a poll no group may have changed, so that the next poll may wait. Until then it may be the first
that knows what a generation lacks: the clocks of brokers and collectors differ."""

JOIN_MS: Final = 300
"""For so long what is due waits for news, and the events of a collector's pass for each other: one micro-batch has
the ages of lags and the whole pass."""

AT_ONCE_MS: Final = -JOIN_MS
"""Due before anything began: the next micro-batch waits for nothing but its distance."""


@dataclass(slots=True)
class BatchSchedule:
    """How close micro-batches may follow each other, and how far apart they may be; by a clock that only goes forward.

    ``spacing_ms`` (``spark.trigger_s``) is how far apart they begin under load: then they grow and do not become more.
    After a pause two may follow each other at once, so that a commit need not wait because a collector's pass was
    read just before. (This is the generic cell rate algorithm, ITU-T I.371, with a tolerance of one.)
    ``poll_interval_ms`` is the time between two polls of the topics.
    """

    spacing_ms: int
    poll_interval_ms: int = LONGEST_PAUSE_MS
    _began_ms: int = 0
    _paid_ms: int = 0
    """Until when the micro-batches so far would have taken if they had come evenly."""

    def begin(self, now_ms: int) -> None:
        """A micro-batch begins."""
        self._began_ms, self._paid_ms = now_ms, max(now_ms, self._paid_ms) + self.spacing_ms

    @property
    def earliest_ms(self) -> int:
        """From when on news begins the next micro-batch.

        >>> schedule = BatchSchedule(1_000)
        >>> schedule.begin(5_000)
        >>> schedule.earliest_ms
        5000
        >>> schedule.begin(5_400)
        >>> schedule.earliest_ms
        6000
        """
        return self._paid_ms - self.spacing_ms

    def latest_ms(self, due_ms: int | None, polled_ms: int | None = None) -> int:
        """When the next micro-batch begins without news, if not before ``earliest_ms``.

        Args:
            due_ms: when a verdict may become another by time alone; None: never.
            polled_ms: when the brokers last answered a poll that found nothing new and waits to be read; None: there
                is none.

        >>> schedule = BatchSchedule(1_000)
        >>> schedule.begin(5_000)
        >>> schedule.latest_ms(None), schedule.latest_ms(8_000), schedule.latest_ms(4_000)
        (15000, 8300, 4300)
        >>> schedule.latest_ms(None, polled_ms=12_000), schedule.latest_ms(None, polled_ms=32_000)
        (27000, 35000)
        """
        longest_ms = self._began_ms + max(self.spacing_ms, LONGEST_PAUSE_MS)
        if polled_ms is not None:
            silence_ms = max(LONGEST_PAUSE_MS, self.poll_interval_ms * 3 // 2)
            longest_ms = max(longest_ms, min(polled_ms + silence_ms, self._began_ms + LONGEST_QUIET_MS))
        return longest_ms if due_ms is None else min(due_ms + JOIN_MS, longest_ms)


@dataclass(frozen=True, slots=True)
class EvaluationData:
    """What a micro-batch judged by, and what is known now.

    Groups are judged by the catalog of the micro-batch before (``judged_by``; None: nothing was judged). ``newest`` is
    the catalog of now. ``changed_ms`` is when the log of the groups had its last records (ms since the epoch), and
    ``is_polled`` says that they come by polls instead. ``own_topics`` grow by what groupwatch itself writes.
    """

    newest: Topics | None
    judged_by: Topics | None
    changed_ms: int = 0
    is_polled: bool = False
    own_topics: frozenset[str] = frozenset()

    @property
    def has_news(self) -> bool:
        """Whether a verdict by the newest catalog may differ from one by the other, apart from ages.

        The verdict on a polled group is as of the newest pass. Where a group has changed since the pass before began,
        the newest is the first that may have partitions that the group's generation did not know.
        """
        if self.newest is None or self.newest is self.judged_by:
            return False
        if self.judged_by is None or self.is_polled or self.changed_ms >= self.judged_by.catalog.pass_ms:
            return True
        return not self.newest.has_only_new_dates(self.judged_by, self.own_topics)

    @property
    def polls_may_wait(self) -> bool:
        """Whether a poll that finds what the newest did cannot change a verdict: no group has changed lately."""
        if self.newest is None or self.is_polled:
            return False
        return self.changed_ms < self.newest.catalog.pass_ms - GROUPS_QUIET_MS

    def due_ms(self, verdict_due_ms: int | None, *, may_evaluate: bool) -> int | None:
        """When a verdict may become another without a record; None: never.

        Args:
            verdict_due_ms: when one does by time alone, as the verdicts say; it counts only if there were any.
            may_evaluate: whether the next micro-batch may evaluate groups.
        """
        if may_evaluate and self.has_news:
            return AT_ONCE_MS
        return None if self.judged_by is None else verdict_due_ms
