"""The rows of a portion are sorted, so that a reader takes a small part of a file."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from itertools import pairwise

import pyarrow as pa
import pytest

from streaming_jobs.recording import rows
from streaming_jobs.recording.rows import SortedRows

COLUMNS = ("entity", "name", "position", "events")


def decode(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """As a decoder: batch by batch."""
    yield from batches


def in_batches(found: list[tuple[str, str, int, bytes]]) -> list[pa.RecordBatch]:
    return [
        pa.RecordBatch.from_pylist([dict(zip(COLUMNS, row, strict=True)) for row in found[begin : begin + 70]])
        for begin in range(0, len(found), 70)
    ]


def drawn_rows() -> list[tuple[str, str, int, bytes]]:
    chance = random.Random(25)
    kinds = ("group", "topic")
    return [(chance.choice(kinds), f"n{chance.randrange(40)}", number, chance.randbytes(50)) for number in range(1_000)]


def sorted_rows(found: list[tuple[str, str, int, bytes]]) -> list[tuple[object, ...]]:
    return [tuple(row.values()) for batch in SortedRows(decode)(in_batches(found)) for row in batch.to_pylist()]


def test_a_portion_is_sorted_by_entity_name_and_position():
    found = drawn_rows()
    assert sorted_rows(found) == sorted(found, key=lambda row: row[:3])
    assert list(SortedRows(decode)([])) == []


def test_a_large_portion_is_sorted_piece_by_piece_and_lacks_nothing(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(rows, "MAX_SORTED_BYTES", 20_000)
    found = drawn_rows()
    pieces = sorted_rows(found)
    assert sorted(pieces) == sorted(found)
    descents = sum(before[:3] > after[:3] for before, after in pairwise(pieces))
    assert 0 < descents < 10
