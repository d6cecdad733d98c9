"""The regular offset commits of a chunk of records, by column: Arrow's arrays to the columns of monitor.protocol."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from monitor.model import CommitRun, OffsetCommitted
from monitor.protocol.kafka.commit_columns import CommitColumns, are_valid, commit_columns
from monitor.protocol.kafka.commit_runs import Run, combine_commits
from monitor.protocol.offsets_topic import CommitPlace, commit_place


class PlacedEvent(NamedTuple):
    """An event, and where in the log the first of its records stood."""

    position: int
    event: OffsetCommitted | CommitRun


@dataclass(frozen=True, slots=True)
class CommitRows:
    """Commits in the usual layouts. ``regular`` says which rows are such; ``codes`` lead to their ``places``."""

    regular: NDArray[np.bool_]
    codes: NDArray[np.int64]
    places: list[CommitPlace | None]
    values: CommitColumns
    positions: NDArray[np.int64]

    @classmethod
    def of(cls, batch: pa.RecordBatch) -> Self:
        """The commits among these records (RECORD_COLUMNS); each distinct key is parsed once."""
        keys = batch.column("key").dictionary_encode()
        places = [None if key is None else commit_place(key) for key in keys.dictionary.to_pylist()]
        codes = keys.indices.fill_null(len(places)).to_numpy(zero_copy_only=False).astype(np.int64)
        known = np.array([*(place is not None for place in places), False])
        values = batch.column("value")
        columns = _columns(values)
        present = values.is_valid().to_numpy(zero_copy_only=False)
        positions = batch.column("offset").to_numpy(zero_copy_only=False)
        sound = are_valid(columns, batch.column("timestamp_ms").to_numpy(zero_copy_only=False))
        return cls(columns.regular & sound & present & known[codes], codes, places, columns, positions)

    def spans(self, begin: int, end: int, longest_ms: int | None) -> Iterator[tuple[int, int]]:
        """Rows from ``begin`` to before ``end`` in parts, each of commits that lie no longer apart; None: in one."""
        if begin == end:
            return
        if longest_ms is None:
            yield begin, end
            return
        times = self.values.committed_ms[begin:end]
        parts = np.maximum.accumulate((times - times[0]) // longest_ms)
        edges = [begin, *(begin + 1 + np.flatnonzero(parts[1:] != parts[:-1])).tolist(), end]
        yield from pairwise(edges)

    def events(self, begin: int, end: int) -> Iterator[PlacedEvent]:
        """Rows from ``begin`` to before ``end``, which are all regular: one event for each partition, or a few."""
        values = self.values
        codes = self.codes[begin:end]
        epochs, positions = values.leader_epoch[begin:end].tolist(), self.positions[begin:end].tolist()
        places = [self.places[code] for code in codes.tolist()]
        topics = values.topic_key[begin:end]
        topic_keys = topics.tolist()
        for run in combine_commits(codes, values.offset[begin:end], values.committed_ms[begin:end], topics):
            place, topic_key = places[run.first_row], topic_keys[run.first_row] or None
            if place is not None:
                yield PlacedEvent(positions[run.first_row], _event(place, run, epochs[run.last_row], topic_key))


def _event(place: CommitPlace, run: Run, leader_epoch: int, topic_key: int | None) -> OffsetCommitted | CommitRun:
    """Written out by position: this is done for nearly every record of the log."""
    if run.commits == 1:
        at_ms, offset = run.first.committed_ms, run.first.offset
        return OffsetCommitted(place.group, place.topic, place.partition, offset, at_ms, leader_epoch, topic_key)
    return CommitRun(
        place.group,
        place.topic,
        place.partition,
        run.first,
        run.points,
        leader_epoch,
        run.commits,
        run.rewinds,
        run.last_rewind,
        run.rewound,
        topic_key,
        run.first_rewind,
        run.second,
        run.fastest,
        run.standstill,
        run.lowest,
        run.jumps,
    )


def _columns(values: pa.Array) -> CommitColumns:
    small = values.cast(pa.binary()) if not pa.types.is_binary(values.type) else values
    _, offsets, data = small.buffers()
    bounds = np.frombuffer(offsets, np.int32)[small.offset : small.offset + len(small) + 1].astype(np.int64)
    buffer = np.frombuffer(data, np.uint8) if data is not None else np.zeros(0, np.uint8)
    return commit_columns(buffer, bounds[:-1], bounds[1:])
