"""Which records of the offsets topic count, by the partitions that their groups are in."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from monitor.model import LogPlaces
from monitor.protocol.kafka.group_metadata import group_partition
from monitor.protocol.offsets_topic import key_group

group_place: Final = lru_cache(maxsize=65_536)(group_partition)
"""The same, remembered: each micro-batch has mostly the groups of the one before."""


class PlacedGroup(NamedTuple):
    """A group that is where it belongs by so many partitions, but not by the others; ``row`` is its first record."""

    group: str
    row: int
    partitions: int
    before: int


def select_placed_records(batch: pa.RecordBatch, places: LogPlaces) -> pa.RecordBatch:
    """The records (RECORD_COLUMNS) that are in the partition of their group, in their order.

    While it is open by which number of partitions the brokers place groups, either place will do. Records that name no
    group stay. Each distinct key is looked at once.
    """
    if not places.partitions:
        return batch
    keys = batch.column("key").dictionary_encode()
    distinct = keys.dictionary.to_pylist()
    codes = keys.indices.fill_null(len(distinct)).to_numpy(zero_copy_only=False)
    partition = batch.column("partition").to_numpy(zero_copy_only=False)
    fits = _fits(distinct, places.partitions, partition, codes)
    if places.before:
        fits |= _fits(distinct, places.before, partition, codes)
    return batch if fits.all() else batch.filter(pa.array(fits))


def _fits(
    keys: list[bytes], partitions: int, partition: NDArray[np.int32], codes: NDArray[np.int64]
) -> NDArray[np.bool_]:
    own = np.array([*[_key_place(key, partitions) for key in keys], -1])[codes]
    fits: NDArray[np.bool_] = (own == partition) | (own < 0)
    return fits


@lru_cache(maxsize=65_536)
def _key_place(key: bytes, partitions: int) -> int:
    """The partition of the group that a key names; -1: it names none. Most keys come in each micro-batch again."""
    group = key_group(key)
    return -1 if group is None else group_place(group, partitions)


def parts_by_partition(batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
    """The records of each partition, in their order."""
    partition = batch.column("partition")
    for number in pc.unique(partition).to_pylist():
        yield batch.filter(pc.equal(partition, number))


def placed_groups(batch: pa.RecordBatch, places: LogPlaces) -> Iterator[PlacedGroup]:
    """The groups in one partition's records whose place is open, each with the number by which they are there."""
    if not places.before or not batch.num_rows:
        return
    partition = batch.column("partition")[0].as_py()
    for group, row in sorted(_first_rows(batch).items(), key=lambda found: found[1]):
        now, former = group_place(group, places.partitions), group_place(group, places.before)
        if now != former and partition == now:
            yield PlacedGroup(group, row, places.partitions, places.before)
        elif now != former:
            yield PlacedGroup(group, row, places.before, 0)


def _first_rows(batch: pa.RecordBatch) -> dict[str, int]:
    """The first record of each group. Each distinct key is looked at once."""
    keys = batch.column("key").drop_null().dictionary_encode()
    present = np.flatnonzero(batch.column("key").is_valid().to_numpy(zero_copy_only=False))
    codes, rows = np.unique(keys.indices.to_numpy(zero_copy_only=False), return_index=True)
    found: dict[str, int] = {}
    for code, row in zip(codes.tolist(), present[rows].tolist(), strict=True):
        group = key_group(keys.dictionary[code].as_py())
        if group is not None:
            found[group] = min(row, found.get(group, row))
    return found
