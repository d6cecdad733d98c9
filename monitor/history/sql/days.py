"""Days of a group, from the tables for SQL: what is evaluated already is not evaluated again."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from operator import attrgetter
from typing import Final, Protocol

from msgspec.structs import replace

from monitor.history.chronicle.values import Chronicle, FindingSpan, GroupPoint, spans_of
from monitor.history.recorded import NotRecordedError
from monitor.history.sql.told import CONTINUES, MINUTE_MS
from monitor.history.tables import (
    FINDINGS,
    GROUP_MINUTES,
    REBALANCES,
    FindingsRow,
    RebalancesRow,
    RowT,
    TypedTable,
    build_from,
)
from monitor.messages.names import shown
from monitor.messages.notification import utc
from monitor.model import FindingNews, FindingRecord, FindingScope, Rebalance, RebalanceCause
from monitor.model.cluster_findings import ClusterFindingKind

MOST_POINTS: Final = 720

_CLUSTER_KINDS: Final = frozenset(kind.value for kind in ClusterFindingKind)


class ToldTables(Protocol):
    """Where the tables are read from."""

    def evaluated_span(self, cluster: str) -> tuple[int, int]:
        """From when until when the tables have all rows.

        Raises:
            RecordingError: they have none, or cannot be read.
        """

    def group_rows(
        self, table: TypedTable[RowT], cluster: str, group: str, since_ms: int, until_ms: int
    ) -> Sequence[RowT]:
        """The group's rows of the days from one instant to another.

        Raises:
            RecordingError: the table cannot be read.
        """


def read_days(tables: ToldTables, cluster: str, group: str, since_ms: int, until_ms: int) -> Chronicle | None:
    """What the tables tell of a group, as far as they reach; None: nothing.

    The points are thinned to 720 at most: of those that are left out, none had a higher lag than the next one that is
    kept. Members, owners, phases and rewinds are not told.

    Raises:
        RecordingError: the tables cannot be read, or end before that time.
    """
    first_ms, evaluated_ms = tables.evaluated_span(cluster)
    last_ms = min(until_ms, evaluated_ms)
    if last_ms <= since_ms or until_ms <= first_ms:
        raise NotRecordedError(
            f"The tables have cluster {shown(cluster)} from {utc(first_ms)} to {utc(evaluated_ms)} so far."
        )
    minutes = tables.group_rows(GROUP_MINUTES, cluster, group, since_ms, last_ms)
    rows = sorted((row for row in minutes if since_ms <= row.at_ms <= last_ms), key=attrgetter("at_ms"))
    if not rows:
        return None
    findings = tables.group_rows(FINDINGS, cluster, group, since_ms, last_ms)
    spans = list(_spans(row for row in findings if row.until_ms > since_ms and row.from_ms < last_ms))
    rebalances = map(_rebalance, tables.group_rows(REBALANCES, cluster, group, since_ms, last_ms))
    return Chronicle(
        cluster=cluster,
        group=group,
        kind=rows[-1].kind,
        since_ms=since_ms,
        until_ms=last_ms,
        points=tuple(_highest_points([build_from(GroupPoint, row) for row in rows], since_ms, last_ms)),
        findings=spans_of(spans, FindingScope.GROUP),
        cluster_findings=spans_of(spans, FindingScope.CLUSTER),
        rebalances=tuple(
            sorted(
                (each for each in rebalances if since_ms < (each.ended_ms or 0) <= last_ms),
                key=lambda each: each.ended_ms or 0,
            )
        ),
        step_ms=MINUTE_MS,
    )


def _highest_points(points: Sequence[GroupPoint], since_ms: int, until_ms: int) -> Iterator[GroupPoint]:
    """The highest point of each slot of time, and the last of all."""
    slot_ms = max(1, -(-(until_ms - since_ms) // MOST_POINTS))
    kept: GroupPoint | None = None
    for point in points:
        if kept is not None and (kept.at_ms - since_ms) // slot_ms != (point.at_ms - since_ms) // slot_ms:
            yield kept
            kept = None
        if kept is None or _height(point) >= _height(kept):
            kept = point
    if kept is not None:
        yield kept
        if kept is not points[-1]:
            yield points[-1]


def _height(point: GroupPoint) -> int:
    return -1 if point.lag is None else point.lag


def _spans(rows: Iterable[FindingsRow]) -> Iterator[FindingSpan]:
    """The findings, each put together from the rows of the ten minutes that it went through."""
    open_now: dict[str, FindingSpan] = {}
    for row in sorted(rows, key=attrgetter("from_ms", "id")):
        span, before = _span(row), open_now.pop(row.id, None)
        if before is not None:
            if row.event == CONTINUES and before.until_ms == span.from_ms and not before.is_closed:
                open_now[row.id] = replace(before, until_ms=span.until_ms, is_closed=span.is_closed)
                continue
            yield before
        open_now[row.id] = span
    yield from open_now.values()


def _span(row: FindingsRow) -> FindingSpan:
    continues, is_of_cluster = row.event == CONTINUES, row.kind in _CLUSTER_KINDS
    told = build_from(
        FindingRecord,
        row,
        event=FindingNews.OPENED if continues else FindingNews(row.event),
        opened_ms=row.from_ms,
        at_ms=row.from_ms,
        partitions=(),
        members=(),
        scope=FindingScope.CLUSTER if is_of_cluster else FindingScope.GROUP,
    )
    return build_from(FindingSpan, row, told=told, was_open=continues)


def _rebalance(row: RebalancesRow) -> Rebalance:
    return build_from(Rebalance, row, causes=tuple(RebalanceCause(cause) for cause in row.causes.split(",") if cause))
