"""Evaluate: group states to published groups and rendered metrics, on the executors, with the catalog at hand.

What is right and wrong is decided by monitor.detection, how it reads by monitor.metrics; here rows are carried.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

import msgspec
import pyarrow as pa
from pyspark import Broadcast

from monitor.detection.evaluate import evaluate
from monitor.detection.settings import DetectionSettings
from monitor.metrics.publish import published
from monitor.metrics.render import render_groups
from monitor.model import Catalog, FamilyBlock, GroupVerdict, PublishedGroup
from monitor.tracking.stored import decode_group_state

_SCHEMA = pa.schema([("row", pa.string()), ("name", pa.string()), ("payload", pa.binary())])


class RowKind(StrEnum):
    """How to read an evaluated row."""

    GROUP = "group"
    BLOCK = "block"
    FAILURE = "failure"


@dataclass(frozen=True, slots=True)
class EvaluatedRow:
    """One row on its way from an executor to the driver."""

    kind: RowKind
    name: str
    payload: bytes


@dataclass(frozen=True, slots=True)
class GroupEvaluator:
    """Judges all groups of a micro-batch at one instant. ``catalog`` is broadcast as MessagePack bytes."""

    catalog: Broadcast[bytes]
    now_ms: int
    settings: DetectionSettings

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of EVALUATED: a group each, a failure each, and one block for each metric family."""
        catalog = msgspec.msgpack.decode(self.catalog.value, type=Catalog)
        for batch in batches:
            yield _to_arrow(list(self.judge(catalog, _states(batch))))

    def judge(self, catalog: Catalog, states: Iterable[tuple[str, bytes]]) -> Iterator[EvaluatedRow]:
        """The evaluated rows of these states. One group's failure becomes a row of its own; the others go on."""
        verdicts: list[GroupVerdict] = []
        for name, payload in states:
            try:
                verdict = evaluate(decode_group_state(payload), catalog, self.now_ms, self.settings)
                group = published(verdict)
            except Exception as error:
                yield EvaluatedRow(RowKind.FAILURE, name, f"{type(error).__name__}: {error}".encode())
                continue
            verdicts.append(verdict)
            yield EvaluatedRow(RowKind.GROUP, name, msgspec.msgpack.encode(group))
        for block in render_groups(verdicts):
            yield EvaluatedRow(RowKind.BLOCK, block.family, block.samples.encode())


@dataclass(frozen=True, slots=True)
class Evaluated:
    """What came back from the executors for one micro-batch."""

    groups: tuple[PublishedGroup, ...]
    blocks: tuple[FamilyBlock, ...]
    failures: tuple[EvaluatedRow, ...]


def collected(rows: Iterable[EvaluatedRow]) -> Evaluated:
    """Sort the rows of all executors: groups by name, blocks as they came, failures apart."""
    kinds: dict[RowKind, list[EvaluatedRow]] = {kind: [] for kind in RowKind}
    for row in rows:
        kinds[row.kind].append(row)
    ordered = sorted(kinds[RowKind.GROUP], key=lambda row: row.name)
    return Evaluated(
        groups=tuple(msgspec.msgpack.decode(row.payload, type=PublishedGroup) for row in ordered),
        blocks=tuple(FamilyBlock(family=row.name, samples=row.payload.decode()) for row in kinds[RowKind.BLOCK]),
        failures=tuple(kinds[RowKind.FAILURE]),
    )


def _states(batch: pa.RecordBatch) -> Iterator[tuple[str, bytes]]:
    return zip(batch.column("name").to_pylist(), batch.column("payload").to_pylist(), strict=True)


def _to_arrow(rows: list[EvaluatedRow]) -> pa.RecordBatch:
    return pa.RecordBatch.from_arrays(
        [
            pa.array([row.kind.value for row in rows], type=pa.string()),
            pa.array([row.name for row in rows], type=pa.string()),
            pa.array([row.payload for row in rows], type=pa.binary()),
        ],
        schema=_SCHEMA,
    )
