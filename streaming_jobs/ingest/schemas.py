"""The schemas between the stages, which are all that Spark sees; payloads are opaque bytes."""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

ENTITY_EVENTS: Final = "bucket INT, entity STRING, name STRING, position LONG, payload BINARY"
"""What decode gives: one row for each entity and chunk, ``payload`` its events in order (MessagePack list).

``position`` orders the rows of one entity (its offset in the source log); rows of different entities have no order.
"""

BUCKET_ROWS: Final = "bucket INT, kind STRING, name STRING, payload BINARY"
"""What a bucket sends to the driver (BucketRow)."""


class RowKind(StrEnum):
    """What a row contains."""

    WHOLE = "whole"
    """Everything about this bucket follows; what was known of it before is void."""
    GROUP = "group"
    """The state of a group."""
    OFFSETS = "offsets"
    """The committed offsets of a group that have moved since its state was sent; all else is as it was."""
    TOPIC = "topic"
    PASS = "pass"
    PASSES = "passes"
    """When the first pass ended."""
    SOURCE = "source"
    CONNECT = "connect"
    """The connectors of a Connect cluster, by their topic."""
    PLACES = "places"
    """By how many partitions of the offsets topic groups are placed, and what its growth did to them."""
    LIVES = "lives"
    """A list of the short lives of groups (monitor.kinds.short_lives), as long as no group is judged."""
    SUMMARIES = "summaries"
    """A list of summaries of groups that were judged; no payload: the group of this name is no longer shown."""
    BLOCK = "block"
    """All samples of a metric family, for the groups of this bucket (see block_name); ALL_BLOCKS: of every family."""
    SCALE = "scale"
    """What is remembered of a group whose members are counted (monitor.model.scaling.ScaleMemory), by its name."""
    READING = "reading"
    """The micro-batch had something of a collector's reading of the groups: one of them, or a list of them."""
    DUE = "due"
    """When a verdict of the bucket may become another by time alone, in ms since the epoch; no payload: never."""
    FAILURE = "failure"
    """An entity that could not be folded or judged, and why."""


ALL_BLOCKS: Final = ""
"""In place of a family's name."""


def block_name(family: str, group: str) -> str:
    """The name of a row with the samples of one large group, that are apart from those of the others.

    >>> family_and_group(block_name("groupwatch_partition_lag", "a b"))
    ('groupwatch_partition_lag', 'a b')
    """
    return f"{family} {group}"


def family_and_group(name: str) -> tuple[str, str]:
    """The family, and the group if the samples are one group's alone, else ""."""
    family, _, group = name.partition(" ")
    return family, group


class BucketRow(NamedTuple):
    """One row of BUCKET_ROWS. No payload: what has this name is gone."""

    bucket: int
    kind: RowKind
    name: str
    payload: bytes | None
