"""Questions to the catalog: which partitions exist, which existed at an instant, and what an assignor knows of them."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from functools import cached_property
from hashlib import blake2b

import msgspec
from msgspec.structs import replace

from monitor.kinds.connect import sink_connectors
from monitor.model import (
    Catalog,
    ConnectorConfig,
    EndOffsetAt,
    GroupState,
    PartitionState,
    TopicPartition,
    TopicShape,
    TopicState,
    number,
)

Places = dict[TopicPartition, PartitionState]
"""Partitions that exist, in order."""

_encode = msgspec.msgpack.Encoder().encode


class Topics:
    """A catalog with what every group asks of it, looked up once for all groups."""

    def __init__(self, catalog: Catalog) -> None:
        self.catalog = catalog
        self._places: dict[str, Places] = {}
        self._outlines: dict[str, bytes] = {}
        self._contents: dict[str, bytes] = {}
        self._histories: dict[str, bytes] = {}

    @cached_property
    def names_digest(self) -> bytes:
        """A digest of the ids of all topics. Classic groups do not need it."""
        return _digest(sorted(self.catalog.names.items()))

    @cached_property
    def sinks(self) -> dict[str, ConnectorConfig]:
        """The known connectors of Kafka Connect by the consumer groups that they have if they are sinks."""
        return sink_connectors(self.catalog.connect_configs.values())

    def places(self, topic: str) -> Places:
        """The partitions of a topic, in order; none if it does not exist. For reading only: all groups share it."""
        known = self._places.get(topic)
        if known is None:
            state = self.catalog.topics.get(topic)
            partitions = sorted(state.partitions, key=lambda p: p.partition) if state else ()
            known = self._places[topic] = {TopicPartition(topic, p.partition): p for p in partitions}
        return known

    def outline(self, topic: str) -> bytes:
        """A digest of a topic without what changes with its records and with time; empty if it does not exist."""
        return self._digest_of(topic, self._outlines, _outline)

    def content(self, topic: str) -> bytes:
        """A digest of a topic without the times at which its ends were seen; empty if it does not exist."""
        return self._digest_of(topic, self._contents, _content)

    def history(self, topic: str) -> bytes:
        """A digest of when the ends of a topic came to where they are, not of when they were last seen there.

        The ages of what waits depend on this; empty if it does not exist.
        """
        return self._digest_of(topic, self._histories, _history)

    def _digest_of(self, topic: str, known: dict[str, bytes], digest: Callable[[TopicState], bytes]) -> bytes:
        found = known.get(topic)
        if found is None:
            state = self.catalog.topics.get(topic)
            found = known[topic] = digest(state) if state else b""
        return found

    def has_only_new_dates(self, before: Topics, besides: AbstractSet[str] = frozenset()) -> bool:
        """Whether all topics are as they were in another catalog, but for when their ends were seen.

        ``besides`` these, which need not be: what groupwatch itself writes to grows with every pass.
        """
        now, then = self.catalog, before.catalog
        return (
            now.topics.keys() == then.topics.keys()
            and now.watched_ms == then.watched_ms
            and now.connect_configs == then.connect_configs
            and now.outages == then.outages
            and now.offsets_topic == then.offsets_topic
            and now.brokers == then.brokers
            and now.hidden.keys() == then.hidden.keys()
            and all(self.content(topic) == before.content(topic) for topic in now.topics if topic not in besides)
        )


def _outline(state: TopicState) -> bytes:
    return _digest((state.topic_id, [(p.partition, p.first_seen_ms, p.racks) for p in state.partitions]))


def _content(state: TopicState) -> bytes:
    undated = [replace(p, ends=p.ends[:0], older=(), woken=None) for p in state.partitions]
    return _digest((state.topic_id, state.has_markers, state.missed, undated, [bool(p.ends) for p in state.partitions]))


def _history(state: TopicState) -> bytes:
    return _digest([(p.older, p.woken, _points_but_last_date(p.ends)) for p in state.partitions])


def _points_but_last_date(ends: tuple[EndOffsetAt, ...]) -> object:
    """The points of an end; of the last one no date, if it is where the one before is: a later pass replaces it."""
    is_seen_again = len(ends) > 1 and ends[-2].offset == ends[-1].offset
    return (ends[:-1], ends[-1].offset) if is_seen_again else ends


def _digest(value: object) -> bytes:
    return blake2b(_encode(value), digest_size=16).digest()


def is_older_than_generation(catalog: Catalog, group: GroupState) -> bool:
    """Whether no pass of the collectors has begun since the generation: a partition that it lacks may be gone."""
    return catalog.pass_ms <= group.generation_ms


def age_beside(catalog: Catalog, group: GroupState) -> tuple[bool, int]:
    """All of a catalog's age on which the view of a group and the rules depend.

    A catalog that is older than the generation may not know new partitions yet, and a partition without an owner may
    have been deleted. If the catalog is kept only since after the generation, that time decides which partitions are
    new.
    """
    return is_older_than_generation(catalog, group), max(catalog.watched_ms, group.generation_ms)


def was_seen(catalog: Catalog, topic: str) -> bool:
    """Whether the newest pass saw the topic. One that it missed may have been deleted: the next pass shows that."""
    return not catalog.topics[topic].missed


def count_now(state: TopicState) -> int:
    """How many partitions the topic has. The highest id decides: a collector may have missed one in between."""
    return number(state.partitions[-1].partition) + 1 if state.partitions else 0


def first_seen_ms(state: TopicState) -> int:
    """When a collector first saw any partition of the topic (0 for a topic without partitions)."""
    return min((partition.first_seen_ms for partition in state.partitions), default=0)


def count_at(state: TopicState, instant_ms: int) -> int:
    """How many partitions the topic had at an instant, as far as the collectors can tell.

    A topic first seen after the instant counts as it was first seen: groupwatch may have started later than the group,
    and a topic that is really new is recognised by the assignment, which has nothing of it.
    """
    horizon_ms = max(instant_ms, first_seen_ms(state))
    seen = (number(known.partition) for known in state.partitions if known.first_seen_ms <= horizon_ms)
    return 1 + max(seen, default=-1)


def shape_of(topic: str, count: int, state: TopicState | None, *, with_racks: bool) -> TopicShape:
    """The topic with ``count`` partitions as an assignor gets it. Partitions that the catalog lacks have no rack."""
    racks: list[tuple[str | None, ...]] = [()] * count if with_racks else []
    for partition in state.partitions if state and with_racks else ():
        if 0 <= number(partition.partition) < count:
            racks[number(partition.partition)] = partition.racks
    has_rack = any(rack is not None for replicas in racks for rack in replicas)
    return TopicShape(topic=topic, partitions=count, racks=tuple(racks) if has_rack else ())
