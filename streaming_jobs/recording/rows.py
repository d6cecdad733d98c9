"""The rows of a recording, from raw records."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

import pyarrow as pa
from msgspec.structs import replace
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 -- the name that Spark's own documentation uses

from monitor.history.tables import CLOCK
from monitor.model.group_choice import ALL, GroupChoice
from streaming_jobs.buckets.pipeline import Decode, Spread, decoded_rows
from streaming_jobs.recording.chunk import RECORDED_EVENTS, RecordingChunk

MAX_SORTED_BYTES: Final = 64 * 2**20
"""A minute of 100,000 group-partitions has 16 MB; a backlog may have far more than a worker's memory holds."""
MAX_ROWS_A_BATCH: Final = 10_000


def recorded_rows(
    cluster: str, offsets_log: DataFrame | None, events_log: DataFrame, spread: Spread, groups: GroupChoice = ALL
) -> DataFrame:
    """What is recorded of each micro-batch, in the columns CLOCK and RECORDED_EVENTS.

    All rows of a micro-batch have the same time of the clock: Spark's, before it looked up where the logs end.
    The rows are sorted by entity and name, each log by itself: the rows of a query are in few of a file's row groups.

    Args:
        cluster: the cluster's name.
        offsets_log: as for streaming_jobs.buckets.pipeline.bucket_rows.
        events_log: as there.
        spread: which groups are read, and what else the decoders have to know.
        groups: of which groups events are recorded.
    """
    own = replace(spread, buckets=1)
    chunks = partial(RecordingChunk, groups=groups)
    rows = decoded_rows(cluster, offsets_log, events_log, own, RECORDED_EVENTS, chunks, SortedRows)
    return rows.select(F.unix_millis(F.current_timestamp()).alias(CLOCK.name), "*").coalesce(1)


@dataclass(frozen=True, slots=True)
class SortedRows:
    """The rows of a decoder, sorted: the whole portion, or as much of a large one as MAX_SORTED_BYTES.

    A streaming query cannot sort by itself.
    """

    decode: Decode

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Decode, as Spark's mapInArrow calls it."""
        held: list[pa.RecordBatch] = []
        for rows in self.decode(batches):
            held.append(rows)
            if sum(each.nbytes for each in held) >= MAX_SORTED_BYTES:
                yield from _sort_rows(held)
                held = []
        yield from _sort_rows(held) if held else ()


def _sort_rows(batches: list[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    by = [(name, "ascending") for name in ("entity", "name", "position")]
    yield from pa.Table.from_batches(batches).sort_by(by).to_batches(max_chunksize=MAX_ROWS_A_BATCH)
