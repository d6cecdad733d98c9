"""Which groups are a job's own, when several jobs share them, and which records of the offsets topic tell of those."""

from __future__ import annotations

import hashlib
from functools import lru_cache

import numpy as np
import pyarrow as pa

from monitor.model import Shard
from monitor.protocol.offsets_topic import key_group


@lru_cache(maxsize=65_536)
def shard_of(group: str, shards: int) -> int:
    """The number of the shard, from 1, that a group is in: the same in every process and after every restart.

    The hash is of another kind than that of the buckets (CRC-32). CRC-32 with another prefix would not do: between
    names of one length it differs from the first by a constant, and a shard would use only some of its buckets.

    >>> shard_of("payments", 3)
    3
    """
    # Names from clusters may hold lone surrogates, which strict UTF-8 refuses.
    digest = hashlib.blake2b(group.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") % shards + 1


def watches(shard: Shard, group: str) -> bool:
    """Whether the group is one of the shard's."""
    return shard.is_all or shard_of(group, shard.of) == shard.number


def select_own_records(batch: pa.RecordBatch, shard: Shard) -> pa.RecordBatch:
    """The records of the offsets topic (RECORD_COLUMNS) that the shard reads, in their order.

    They are those of its groups. Those that name no group, as they cannot be read, are the first shard's: so every
    record is read by one shard and no other. Each distinct key is looked at once.
    """
    if shard.is_all:
        return batch
    keys = batch.column("key").dictionary_encode()
    own = [_is_own(shard, key) for key in keys.dictionary.to_pylist()]
    codes = keys.indices.fill_null(len(own)).to_numpy(zero_copy_only=False)
    return batch.filter(pa.array(np.array([*own, shard.is_first])[codes]))


def _is_own(shard: Shard, key: bytes) -> bool:
    group = key_group(key)
    return shard.is_first if group is None else watches(shard, group)
