"""The values of many offset commits at once, column by column.

Nearly all records of the offsets topic are commits in two layouts. Those are read without a step of Python for each;
whatever has another layout is left to monitor.protocol.offsets_topic, which also defines what the bytes mean.
"""

from __future__ import annotations

from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from monitor.protocol.wire.bounds import AHEAD_MS, MOST_MS, MOST_OFFSET

_SHORTEST: Final = 24
_TIME: Final = 8
_LONGEST_SHORT_TEXT: Final = 0x80
"""A compact length below this takes one byte."""


class CommitColumns(msgspec.Struct, frozen=True):
    """Offsets, leader epochs, commit times (ms) and topics; only rows that are ``regular`` mean anything.

    ``topic_key`` is 0 where no topic is told (see OffsetCommitted.topic_key).
    """

    offset: NDArray[np.int64]
    leader_epoch: NDArray[np.int32]
    committed_ms: NDArray[np.int64]
    regular: NDArray[np.bool_]
    topic_key: NDArray[np.int64]


def commit_columns(data: NDArray[np.uint8], starts: NDArray[np.int64], ends: NDArray[np.int64]) -> CommitColumns:
    """The commits in values that lie in one buffer.

    Args:
        data: the buffer.
        starts: where each value begins in it; equal to its end for a value that is not there.
        ends: where each value ends.
    """
    long_enough = ends - starts >= _SHORTEST
    begin = np.where(long_enough, starts, 0)
    if len(data) < _SHORTEST:
        return _empty_columns(len(starts))
    version = _numbers(data, ">i2")[begin]
    text_3 = _numbers(data, ">i2")[begin + 14].astype(np.int64)
    text_4 = data[begin + 14].astype(np.int64)
    third = (version == 3) & (text_3 >= 0) & (ends - starts == _SHORTEST + text_3)
    fourth = (version == 4) & (text_4 > 0) & (text_4 < _LONGEST_SHORT_TEXT)
    end_4 = begin + 22 + text_4  # of the last plain field
    fourth &= _is_end_valid(data, np.where(fourth, end_4, 0), ends)
    regular = long_enough & (third | fourth)
    has_topic = regular & fourth & (ends == end_4 + 19)
    time = np.where(third, begin + 16 + text_3, end_4 - _TIME)
    return CommitColumns(
        offset=_numbers(data, ">i8")[begin + 2].astype(np.int64),
        leader_epoch=_numbers(data, ">i4")[begin + 10].astype(np.int32),
        committed_ms=_numbers(data, ">i8")[np.where(regular, time, 0)].astype(np.int64),
        regular=regular,
        topic_key=np.where(has_topic, _numbers(data, ">i8")[np.where(has_topic, end_4 + 3, 0)].astype(np.int64), 0),
    )


def are_valid(columns: CommitColumns, written_ms: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which rows can be commits by their numbers: those that ``require_commit`` of the decoder lets pass.

    Args:
        columns: the commits; of rows that are not regular nothing is meant.
        written_ms: the timestamps of their records; below 1 it is not known.
    """
    # As unsigned numbers those below 0 are beyond every limit: half the comparisons of what is done for every record.
    offset, time = columns.offset.view(np.uint64), columns.committed_ms.view(np.uint64)
    latest = np.where(written_ms > 0, np.minimum(written_ms, MOST_MS - AHEAD_MS) + AHEAD_MS, MOST_MS)
    sound: NDArray[np.bool_] = (offset <= MOST_OFFSET) & (time <= latest.view(np.uint64)) & (columns.leader_epoch >= -1)
    return sound


def _is_end_valid(data: NDArray[np.uint8], end: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Whether no tagged field follows, or one alone: number 0, of 16 bytes (the topic's id)."""
    inside = np.where(end < ends, end, 0)
    last = len(data) - 1
    tags, number = data[inside], data[np.minimum(inside + 1, last)]
    size = data[np.minimum(inside + 2, last)]
    plain: NDArray[np.bool_] = (ends == end + 1) & (tags == 0)
    with_topic_id: NDArray[np.bool_] = (ends == end + 19) & (tags == 1) & (number == 0) & (size == 16)
    return plain | with_topic_id


def _numbers(data: NDArray[np.uint8], kind: str) -> NDArray[np.generic]:
    """The buffer as numbers that may begin at any byte."""
    size = np.dtype(kind).itemsize
    return np.ndarray((len(data) - size + 1,), kind, data.data, strides=(1,))


def _empty_columns(count: int) -> CommitColumns:
    zeros = np.zeros(count, np.int64)
    return CommitColumns(zeros, zeros.astype(np.int32), zeros, np.zeros(count, np.bool_), zeros)
