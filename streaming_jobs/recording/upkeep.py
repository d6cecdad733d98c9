"""What keeps a recording quick to read and bounded: states once an hour, larger files, and an end for old days."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from pyspark.sql import DataFrame, Row, SparkSession
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses

from monitor.history.chronicle.writer import COSTS_KNOWN_MS
from monitor.history.portions import FAR_AHEAD_MS
from monitor.history.recorded import RecordedRow, is_readable
from monitor.history.tables import DAY_MS, EVENTS, REACH, SETTINGS, STATES, TABLES, Table, day_of
from monitor.messages.notification import utc
from monitor.model import Entity
from monitor.model.group_choice import ALL, GroupChoice
from streaming_jobs.recording.delta import EVENT_COLUMNS, RecordedTables
from streaming_jobs.recording.evaluation import Evaluation
from streaming_jobs.recording.states import StateFold
from streaming_jobs.runtime.clock import monotonic_ms, now_ms

log = logging.getLogger(__name__)

STATES_EVERY_MS: Final = 3_600_000
AFTER_START_MS: Final = 600_000
"""A start has enough to do."""

BETWEEN_CHUNKS_MS: Final = 60_000
"""After a gap there are many to evaluate: what is watched now is not to wait for them."""

OF_ONE: Final = ("group", "topic", "connect", "pass")
OF_ALL: Final = ("pass", "listing")
"""Events of these concern every entity."""
OF_PASSES: Final = ("pass", "passes")
"""The states of passes, by which topics are folded."""

NEVER_OLD: Final = (SETTINGS, REACH)
"""Tables of which only the newest rows count, however old these are. They have few."""

FILES_A_DAY: Final = 4
"""How many files a day has at most after the upkeep: of 100,000 group-partitions, they have 200 MB each."""


@dataclass(frozen=True, slots=True)
class Clocks:
    """The time (ms since the epoch), and what has passed since any instant (ms): the latter is never set."""

    now_ms: Callable[[], int]
    passed_ms: Callable[[], int]


JOB_CLOCKS: Final = Clocks(now_ms, monotonic_ms)


class Upkeep:
    """The upkeep of one cluster's part of the tables. For one thread."""

    def __init__(  # noqa: PLR0913 -- two of them have a default
        self,
        spark: SparkSession,
        cluster: str,
        folder: str,
        keep_days: int,
        clocks: Clocks = JOB_CLOCKS,
        *,
        groups: GroupChoice = ALL,
    ) -> None:
        self._groups = groups
        self._spark = spark
        self._cluster = cluster
        self._tables = RecordedTables(spark, cluster, folder)
        self._evaluation = Evaluation(spark, cluster, folder, groups)
        self._keep_days = keep_days
        self._clocks = clocks
        self._states_ms: int | None = None
        self._tidied_day = ""
        self._is_clock_told = False
        self._begun_at = self._states_at = clocks.passed_ms()
        self._evaluated_at: int | None = None
        self.unread_rows = 0
        """How many rows of events could not be used for the newest states."""

    def run_if_due(self, newest_ms: int, complete_ms: int, *, is_behind: bool) -> None:
        """Do what is due: states if the newest are an hour old; the next ten minutes for SQL; once a day, tidy.

        While a backlog is read, one log may be hours further than the other. States would have that order for good; a
        reader of the events puts them in order (monitor.history.joined_portions). So states wait for its end.

        Args:
            newest_ms: the number of the newest portion.
            complete_ms: all that was logged before this instant is recorded (ms since the epoch).
            is_behind: whether a backlog is read.
        """
        at = self._clocks.passed_ms()
        if self._states_ms is None:
            self._states_ms = self._first_states_ms()
        if self._states_ms is not None and not is_behind and self._are_states_due(newest_ms, self._states_ms, at):
            self.write_states()
            self._states_at = at
        if self._evaluated_at is None or at - self._evaluated_at >= BETWEEN_CHUNKS_MS:
            self._evaluated_at = at
            self.evaluate(complete_ms)
        if at - self._begun_at >= AFTER_START_MS:
            self._tidy_if_due(newest_ms)

    def _are_states_due(self, newest_ms: int, states_ms: int, at: int) -> bool:
        """By the numbers of portions; after a step of the clock, these may stand still for a long time."""
        has_news = newest_ms > states_ms
        return newest_ms - states_ms >= STATES_EVERY_MS or (has_news and at - self._states_at >= STATES_EVERY_MS)

    def _tidy_if_due(self, newest_ms: int) -> None:
        """Tidy once a day, by the clock or by the newest portion: a clock that is ahead must not end every day."""
        clock_ms = self._clocks.now_ms()
        is_far = clock_ms - newest_ms > FAR_AHEAD_MS
        if is_far and not self._is_clock_told:
            log.warning(
                "Cluster %s: the clock shows %s, but the newest recorded events are of %s. Days are deleted by the "
                "age that they have there.",
                self._cluster,
                utc(clock_ms),
                utc(newest_ms),
            )
        self._is_clock_told = is_far
        at_ms = min(clock_ms, newest_ms)
        if self._tidied_day != day_of(at_ms):
            self.tidy(at_ms)
            self._tidied_day = day_of(at_ms)

    @property
    def failed_groups(self) -> int:
        """How many groups could not be evaluated in the newest ten minutes."""
        return self._evaluation.failed_groups

    @property
    def evaluated_ms(self) -> int | None:
        """Until when the tables for SQL have all rows (ms since the epoch); None: not known yet."""
        return self._evaluation.until_ms

    def evaluate(self, complete_ms: int) -> bool:
        """Evaluate the next ten minutes, if all of them is recorded; whether that was so."""
        chunk = self._evaluation.next_chunk()
        if chunk is None or chunk[1] + COSTS_KNOWN_MS > complete_ms:
            return False
        self._evaluation.evaluate(*chunk)
        return True

    def write_states(self) -> int | None:
        """Write the states after the newest portion, once, even after a crash. Returns its time; None: none."""
        events = self._tables.read(EVENTS)
        recorded_ms = self._tables.only_value(EVENTS, F.max("recorded_ms"))
        if events is None or recorded_ms is None:
            return None
        newest_ms, before_ms = self._newest_states() or 0, self._tables.states_by()
        if recorded_ms > newest_ms:
            if newest_ms and not before_ms:
                log.warning(
                    "Cluster %s: another version of groupwatch wrote the states of the recording. New ones are "
                    "computed from all recorded events.",
                    self._cluster,
                )
            states = self._fold(events, before_ms, recorded_ms)
            ordered = states.coalesce(1).sortWithinPartitions("entity", "name")
            self._tables.append_once(STATES, ordered, f"states-{self._cluster}", recorded_ms)
            self._count_unread(recorded_ms)
        self._states_ms = recorded_ms
        return recorded_ms

    def _count_unread(self, recorded_ms: int) -> None:
        own = (F.col("day") == day_of(recorded_ms)) & (F.col("recorded_ms") == recorded_ms)
        self.unread_rows = self._tables.only_value(STATES, F.sum("unread_rows"), own) or 0
        if self.unread_rows:
            log.warning(
                "Cluster %s: %d rows of recorded events cannot be used. The states of %s lack them.",
                self._cluster,
                self.unread_rows,
                utc(recorded_ms),
            )

    def _fold(self, events: DataFrame, before_ms: int, recorded_ms: int) -> DataFrame:
        """The states before, with the events since."""
        rows = events.where((F.col("recorded_ms") > before_ms) & (F.col("recorded_ms") <= recorded_ms))
        of_all = rows.where(F.col("entity").isin(*OF_ALL)).select(*EVENT_COLUMNS).collect()
        passes = self._tables.states_of(OF_PASSES, before_ms)
        fold = StateFold(self._cluster, recorded_ms, self._readable(of_all), self._groups, passes)
        known = self._tables.rows_with_states(rows.where(F.col("entity").isin(*OF_ONE)), before_ms)
        return known.groupBy("entity", "name").applyInPandas(fold.fold_rows, STATES.schema)

    def _readable(self, rows: list[Row]) -> list[tuple[int, str, str, int, bytes]]:
        """What concerns all entities. A damaged row of it must not take the states of all with it."""
        found = [(row[0], row[1], row[2], row[3], bytes(row[4])) for row in rows]
        good = [row for row in found if is_readable(RecordedRow(row[0], Entity(row[1]), *row[2:]))]
        damaged = len(found) - len(good)
        if damaged:
            log.warning("Cluster %s: %d recorded rows of whole polls cannot be read.", self._cluster, damaged)
        return good

    def tidy(self, at_ms: int) -> None:
        """Put the small files of the day before together, and drop days that are older than they are to be kept."""
        yesterday = day_of(at_ms - DAY_MS)
        for table in TABLES:
            if table in NEVER_OLD or not self._tables.has(table):
                continue
            # The first hour of the oldest day of events needs states of the day before.
            kept_days = self._keep_days + (table is STATES)
            oldest = day_of(at_ms - kept_days * DAY_MS)
            place = f"delta.`{self._tables.path(table)}`"
            own = f"cluster = {_quoted(self._cluster)}"
            self._put_together(table, f"{own} AND day = '{yesterday}'")
            needed = f" AND recorded_ms < {self._needed_states_ms()}" if table is STATES else ""
            self._delete(table, f"{own} AND day < '{oldest}'{needed}")
            self._spark.sql(f"VACUUM {place} LITE")  # by the table's log: to list all files took 29 s instead of 2

    def _delete(self, table: Table, chosen: str) -> None:
        """Delete these rows, and log of which days they are."""
        rows = self._spark.read.format("delta").load(self._tables.path(table)).where(chosen)
        days = sorted(row["day"] for row in rows.select("day").distinct().collect())
        if not days:
            return
        self._spark.sql(f"DELETE FROM delta.`{self._tables.path(table)}` WHERE {chosen}")
        log.info(
            "Cluster %s: deleted %d days of the table %s, from %s to %s; the recording keeps %d days.",
            self._cluster,
            len(days),
            table.name,
            days[0],
            days[-1],
            self._keep_days,
        )

    def _put_together(self, table: Table, chosen: str) -> None:
        """Write these rows once more, into a few files that are sorted, unless they are in so few.

        OPTIMIZE with ZORDER does not sort within files, nor finely even with options for it: of 100,000
        group-partitions, a name was then in a tenth of a day.
        """
        rows = self._spark.read.format("delta").load(self._tables.path(table)).where(chosen)
        if len(rows.inputFiles()) <= FILES_A_DAY:
            return
        by = _order(table)
        ordered = rows.repartitionByRange(FILES_A_DAY, *by).sortWithinPartitions(*by)
        moved = ordered.write.format("delta").mode("overwrite").option("dataChange", "false")
        moved.option("replaceWhere", chosen).save(self._tables.path(table))

    def _needed_states_ms(self) -> int:
        """The states that the next ten minutes begin with: after a long stop, they are older than what is kept."""
        chunk = self._evaluation.next_chunk()
        before = None if chunk is None else F.col("recorded_ms") <= chunk[0]
        return self._tables.only_value(STATES, F.max("recorded_ms"), before) or 0

    def _first_states_ms(self) -> int | None:
        """The newest states when the job starts; the first portion without any; 0 if another version wrote them."""
        if self._newest_states() is None:
            return self._tables.only_value(EVENTS, F.min("recorded_ms"))
        return self._tables.states_by()

    def _newest_states(self) -> int | None:
        return self._tables.only_value(STATES, F.max("recorded_ms"))


def _order(table: Table) -> list[str]:
    """The columns by which the rows of a day are sorted: a query for one group then reads a small part."""
    names = [column.name for column in table.columns]
    wanted = ("entity", "name", "group_name", "topic", "partition_id", "recorded_ms", "from_ms", "at_ms", "until_ms")
    return [name for name in wanted if name in names]


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
