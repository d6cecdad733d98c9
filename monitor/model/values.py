"""The base of all values, and the places that offsets are of: partitions, by name or by id."""

from __future__ import annotations

from typing import Final, cast, dataclass_transform

import msgspec

STATE_VERSION: Final = 1
"""Version of the stored states below. A state written by a newer version is refused, never guessed at."""

MOST: Final = (1 << 63) - 1
"""The largest number that is stored or shown: sums end here. Only forged offsets add up to so much."""


# msgspec hands "frozen" down to subclasses; a type checker has to be told.
@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True, omit_defaults=True):
    """Base of all values: immutable, compared by content, written without the fields that have their default."""


PartitionId = int | str
"""A partition within its topic: a number in Kafka, text where a broker is part of it.

RocketMQ's queues are ``<broker>-<queue>`` (the broker's name may hold dashes itself), MetaQ's ``<broker id>-<number>``.
All partitions of a cluster are of one of the two, so that they have an order.
"""


def number(partition: PartitionId) -> int:
    """A partition of Kafka, as the number that it is."""
    return cast("int", partition)


def numbers(partitions: tuple[PartitionId, ...]) -> tuple[int, ...]:
    """Partitions of Kafka, as the numbers that they are."""
    return cast("tuple[int, ...]", partitions)


# A large group needs a million of the next two. They can't be part of a cycle, so Python's collector need not see them.
class TopicPartition(msgspec.Struct, frozen=True, order=True, gc=False):
    """One partition of one topic."""

    topic: str
    partition: PartitionId


class TopicPartitions(msgspec.Struct, frozen=True, order=True, gc=False):
    """Some partitions of one topic, in the order in which they were given."""

    topic: str
    partitions: tuple[PartitionId, ...]
    """Its partitions."""


class IdPartitions(msgspec.Struct, frozen=True, order=True, gc=False):
    """Some partitions of a topic that is known by its id only; in a streams group, tasks of a subtopology.

    ``id`` is the topic's Uuid in Kafka's text form (22 characters of base64), or the subtopology's name.
    """

    id: str
    partitions: tuple[int, ...]
