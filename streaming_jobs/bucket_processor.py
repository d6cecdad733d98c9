"""Track: the stateful stage. Load a bucket, let monitor.tracking fold the events, store it, give all of it on.

No rule lives here. The state is a ListState: in Spark 4.0.0 a larger ValueState or MapState message is corrupted
between the JVM and Python, while ListState goes through Arrow.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import msgspec
import pandas as pd
from pyspark.sql.streaming.stateful_processor import StatefulProcessor

from monitor.model import (
    DecodeFailed,
    GroupEvent,
    PassCompleted,
    TopicObserved,
)
from monitor.tracking.group import fold_group
from monitor.tracking.source import fold_source
from monitor.tracking.stored import (
    StateVersionError,
    decode_group_state,
    decode_source_state,
    decode_topic_state,
    encode_state,
)
from monitor.tracking.topic import expire_topic, fold_topic
from streaming_jobs.buckets import Entity
from streaming_jobs.rows import ENTITY_STATES

if TYPE_CHECKING:
    from pyspark.sql.streaming.stateful_processor import ListState, StatefulProcessorHandle, TimerValues

_GROUP_EVENTS = msgspec.msgpack.Decoder(list[GroupEvent])
_TOPIC_EVENTS = msgspec.msgpack.Decoder(list[TopicObserved])
_PASS_EVENTS = msgspec.msgpack.Decoder(list[PassCompleted])
_SOURCE_EVENTS = msgspec.msgpack.Decoder(list[DecodeFailed])
_PASS = msgspec.msgpack.Decoder(PassCompleted)


@dataclass(slots=True)
class Bucket:
    """The entities of one bucket as stored bytes, changed in place while a micro-batch is folded in."""

    cluster: str
    stored: dict[tuple[Entity, str], bytes] = field(default_factory=dict)
    failures: dict[str, str] = field(default_factory=dict)
    changed: bool = False

    def fold(self, entity: Entity, name: str, payloads: list[bytes]) -> None:
        """Fold the events of one entity, given in log order. Its failure is noted and leaves its state as it was."""
        before = self.stored.get((entity, name))
        try:
            after = self._folded(entity, name, before, payloads)
        except StateVersionError:
            raise  # an older groupwatch must not go on over a newer one's state
        except Exception as error:
            self.failures[f"{entity}/{name}"] = f"{type(error).__name__}: {error}"
            return
        self._replace(entity, name, before, after)

    def _folded(self, entity: Entity, name: str, before: bytes | None, payloads: list[bytes]) -> bytes | None:
        match entity:
            case Entity.GROUP:
                group = fold_group(
                    self.cluster,
                    name,
                    decode_group_state(before) if before else None,
                    [event for payload in payloads for event in _GROUP_EVENTS.decode(payload)],
                )
                return encode_state(group) if group else None
            case Entity.TOPIC:
                topic = fold_topic(
                    self.cluster,
                    name,
                    decode_topic_state(before) if before else None,
                    [event for payload in payloads for event in _TOPIC_EVENTS.decode(payload)],
                )
                return encode_state(topic) if topic else None
            case Entity.SOURCE:
                errors = [event for payload in payloads for event in _SOURCE_EVENTS.decode(payload)]
                return encode_state(
                    fold_source(self.cluster, name, decode_source_state(before) if before else None, errors)
                )
            case _:
                passes = [event for payload in payloads for event in _PASS_EVENTS.decode(payload)]
                return msgspec.msgpack.encode(passes[-1])  # the log's order counts: a clock may have been set back

    def expire_topics(self) -> None:
        """Drop the topics that the newest completed pass of the collector no longer saw."""
        completed = self.stored.get((Entity.PASS, ""))
        if completed is None:
            return
        pass_ms = _PASS.decode(completed).pass_ms
        for (entity, name), payload in list(self.stored.items()):
            if entity is Entity.TOPIC and expire_topic(decode_topic_state(payload), pass_ms) is None:
                self._replace(entity, name, payload, None)

    def _replace(self, entity: Entity, name: str, before: bytes | None, after: bytes | None) -> None:
        if after == before:
            return
        self.changed = True
        if after is None:
            self.stored.pop((entity, name), None)
        else:
            self.stored[entity, name] = after

    def rows(self) -> list[tuple[str, str, bytes]]:
        """The stored entities in the schema ENTITY_STATES."""
        return [(entity.value, name, payload) for (entity, name), payload in self.stored.items()]


class BucketProcessor(StatefulProcessor):
    """Spark's side of a bucket: rows in, state read and written, rows out."""

    def __init__(self, cluster: str) -> None:
        self._cluster = cluster
        self._state: ListState

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Open the bucket's state."""
        self._state = handle.getListState("entities", ENTITY_STATES)

    def handleInputRows(  # noqa: N802 -- Spark's name
        self,
        key: tuple[int],
        rows: Iterator[pd.DataFrame],
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[pd.DataFrame]:
        """Fold the micro-batch's events into the bucket; give every entity on, changed or not (time passes for all)."""
        bucket = Bucket(self._cluster, {(Entity(e), n): bytes(p) for e, n, p in self._state.get()})
        for (entity, name), payloads in _by_entity(rows).items():
            bucket.fold(entity, name, payloads)
        if bucket.changed:
            bucket.expire_topics()
            self._store(bucket.rows())
        failures = [(Entity.FAILURE.value, name, text.encode()) for name, text in bucket.failures.items()]
        yield pd.DataFrame(bucket.rows() + failures, columns=["entity", "name", "payload"])

    def _store(self, rows: list[tuple[str, str, bytes]]) -> None:
        if rows:
            self._state.put(rows)
        else:
            self._state.clear()  # Spark refuses an empty list

    def close(self) -> None:
        """Nothing is held open between micro-batches."""


def _by_entity(rows: Iterator[pd.DataFrame]) -> dict[tuple[Entity, str], list[bytes]]:
    """The payloads of every entity in the order of its log. A shuffle keeps no order, so it is restored here."""
    found: dict[tuple[Entity, str], list[tuple[int, bytes]]] = defaultdict(list)
    for frame in rows:
        for entity, name, position, payload in zip(
            frame["entity"], frame["name"], frame["position"], frame["payload"], strict=True
        ):
            if entity != Entity.TICK:
                found[Entity(entity), name].append((position, payload))
    return {key: [payload for _, payload in sorted(chunks, key=lambda c: c[0])] for key, chunks in found.items()}
