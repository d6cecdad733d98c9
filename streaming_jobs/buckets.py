"""Which bucket an entity lives in. A bucket is the key of the stateful stage: many groups and topics share one."""

from __future__ import annotations

import zlib
from enum import StrEnum


class Entity(StrEnum):
    """What a row of events or of state is about."""

    GROUP = "group"
    OFFSETS = "offsets"
    """Of a group, only the committed offsets that have moved; what else is known of it stays."""
    TOPIC = "topic"
    SOURCE = "source"
    PASS = "pass"
    TICK = "tick"


def bucket_of(entity: Entity, name: str, buckets: int) -> int:
    """The bucket of an entity: the same in every process and after every restart (unlike Python's own hash).

    >>> bucket_of(Entity.GROUP, "payments", 32)
    10
    """
    # Names from clusters may hold lone surrogates, which strict UTF-8 refuses.
    key = f"{entity}\0{name}".encode("utf-8", "surrogatepass")
    return zlib.crc32(key) % buckets
