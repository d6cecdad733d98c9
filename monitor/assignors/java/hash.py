"""Java's hash codes, which decide in which order hash maps are iterated. All are signed 32-bit numbers."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitor.assignors.java.text import string_hash, string_hashes
from monitor.assignors.java.uuid import Uuid

__all__ = [
    "Hashes",
    "integer_hash",
    "string_hash",
    "string_hashes",
    "topic_id_partition_hash",
    "topic_partition_hash",
    "uuid_hash",
]

_WORD: Final = 0xFFFF_FFFF
_SIGN: Final = 0x8000_0000

Hashes = NDArray[np.int64]
"""Many hash codes; of each number, the lowest 32 bits count."""


def integer_hash(number: int) -> int:
    """``Integer.hashCode``: the number itself."""
    return number


def uuid_hash(uuid: Uuid) -> int:
    """``org.apache.kafka.common.Uuid.hashCode`` (and that of ``java.util.UUID``).

    >>> uuid_hash(Uuid(most=1, least=2 << 32))
    3
    """
    both = uuid.most ^ uuid.least
    return _signed((both >> 32) ^ both)


def topic_partition_hash(topic: str, partition: int) -> int:
    """``org.apache.kafka.common.TopicPartition.hashCode``.

    >>> topic_partition_hash("t", 0)
    1077
    """
    return _signed(31 * (31 + partition) + string_hash(topic))


def topic_id_partition_hash(uuid: Uuid, partition: int) -> int:
    """``TopicIdPartition`` of the group coordinator, a record of a topic id and a number.

    >>> topic_id_partition_hash(Uuid(most=1, least=0), 5)
    36
    """
    return _signed(31 * uuid_hash(uuid) + partition)


def _signed(number: int) -> int:
    return ((number & _WORD) ^ _SIGN) - _SIGN
