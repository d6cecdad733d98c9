"""Which bucket an entity lives in. A bucket is the key of the stateful stage: many groups and topics share one."""

from __future__ import annotations

import zlib
from typing import Final

from monitor.model import Entity

BUCKETS_PER_PARTITION: Final = 8
"""Spark spreads buckets over the partitions of the stateful stage by a hash of its own; so many for each partition
leave the fullest partition of most numbers at no more than 1.5 times its share. Each costs some ms a micro-batch."""

MAX_BUCKETS: Final = 512


def buckets_for(partitions: int) -> int:
    """The default number of buckets for what the stateful stage has in so many partitions.

    >>> buckets_for(2), buckets_for(16), buckets_for(200)
    (16, 128, 512)
    """
    return min(BUCKETS_PER_PARTITION * partitions, max(MAX_BUCKETS, partitions))


def bucket_of(entity: Entity, name: str, buckets: int) -> int:
    """The bucket of an entity: the same in every process and after every restart (unlike Python's own hash).

    >>> bucket_of(Entity.GROUP, "payments", 32)
    10
    """
    # Names from clusters may hold lone surrogates, which strict UTF-8 refuses.
    key = f"{entity}\0{name}".encode("utf-8", "surrogatepass")
    return zlib.crc32(key) % buckets
