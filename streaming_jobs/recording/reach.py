"""Until when all is recorded that was logged: while a backlog is read, not until the newest portion."""

from __future__ import annotations

from datetime import datetime

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses
from pyspark.sql.streaming.listener import StreamingQueryProgress

from monitor.history.portions import next_number
from monitor.history.tables import EVENTS, REACH, ReachRow, day_of
from streaming_jobs.recording.delta import RecordedTables
from streaming_jobs.runtime.clock import now_ms


class Reach:
    """Shows the readers of one cluster's recording how far it reaches, whenever that is not its newest portion."""

    def __init__(self, spark: SparkSession, cluster: str, folder: str) -> None:
        self._cluster = cluster
        self._tables = RecordedTables(spark, cluster, folder)
        self.is_behind = False
        """Whether a backlog is read, of one log or of both."""
        self._noted_ms = 0
        self.complete_ms = 0
        """All that was logged before this instant is recorded, since a query was begun here (ms since the epoch)."""

    def begin_query(self) -> None:
        """A query begins: there may be a backlog, so what was complete before it counts until that is known."""
        if self.is_behind or self._was_left_behind():
            self.is_behind = True
            return
        self._note_behind(self._tables.only_value(EVENTS, F.max("recorded_ms")) or 0)

    def take(self, progress: StreamingQueryProgress, newest_ms: int) -> None:
        """What the newest micro-batch has read. ``newest_ms``: the number of the newest portion."""
        complete_ms = complete_until_ms(progress)
        if complete_ms is None:
            if not self.is_behind:
                self._note_behind(self.complete_ms)
            return
        if self.is_behind:
            self._append(None)
            self.is_behind = False
        # The clock may be ahead: nothing is complete beyond what is recorded.
        self.complete_ms = max(self.complete_ms, min(complete_ms, newest_ms))

    def _was_left_behind(self) -> bool:
        rows = self._tables.read(REACH)
        newest = None if rows is None else rows.orderBy(F.desc("recorded_ms")).first()
        self._noted_ms = max(self._noted_ms, 0 if newest is None else newest["recorded_ms"])
        return newest is not None and newest["until_ms"] is not None

    def _note_behind(self, until_ms: int) -> None:
        self._append(until_ms)
        self.is_behind = True

    def _append(self, until_ms: int | None) -> None:
        at_ms = self._noted_ms = next_number(self._noted_ms, now_ms())
        self._tables.append_row(REACH, ReachRow(self._cluster, day_of(at_ms), at_ms, until_ms))


def complete_until_ms(progress: StreamingQueryProgress) -> int | None:
    """All that was logged before this instant has been read by the micro-batch (ms since the epoch); None: not known.

    A backlog is read in several micro-batches: Kafka's source says how far each is behind the ends of the logs.
    """
    behind = [source.metrics.get("maxOffsetsBehindLatest") for source in progress.sources]
    if any(each is None or float(each) > 0 for each in behind):
        return None
    return int(datetime.fromisoformat(progress.timestamp).timestamp() * 1000)
