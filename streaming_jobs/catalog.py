"""The side rows of a micro-batch on the driver: the catalog, what could not be read, what failed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

import msgspec
from pyspark.sql import Row

from monitor.model import Catalog, PassCompleted, SourceState
from monitor.tracking.stored import decode_source_state, decode_topic_state
from monitor.tracking.topic import catalog_of
from streaming_jobs.buckets import Entity

SIDE_ENTITIES = (Entity.TOPIC.value, Entity.PASS.value, Entity.SOURCE.value, Entity.FAILURE.value)


@dataclass(frozen=True, slots=True)
class SideRows:
    """What the driver needs of a micro-batch before groups can be judged. ``catalog`` None: no pass is complete yet."""

    catalog: Catalog | None
    sources: tuple[SourceState, ...]
    failures: tuple[str, ...]


def side_rows(cluster: str, rows: Iterable[Row]) -> SideRows:
    """Sort the rows of SIDE_ENTITIES (schema ENTITY_STATES) into values.

    Every bucket keeps the newest completed pass; they can differ by one micro-batch at most, and the newest counts.
    """
    found: dict[Entity, list[Row]] = defaultdict(list)
    for row in rows:
        found[Entity(row.entity)].append(row)
    passes = [msgspec.msgpack.decode(row.payload, type=PassCompleted) for row in found[Entity.PASS]]
    topics = (decode_topic_state(bytes(row.payload)) for row in found[Entity.TOPIC])
    newest = max((completed.pass_ms for completed in passes), default=None)
    return SideRows(
        catalog=None if newest is None else catalog_of(cluster, newest, topics),
        sources=tuple(
            sorted(
                (decode_source_state(bytes(row.payload)) for row in found[Entity.SOURCE]),
                key=lambda state: state.source,
            )
        ),
        failures=tuple(f"{row.name}: {bytes(row.payload).decode()}" for row in found[Entity.FAILURE]),
    )
