"""In what a group's offsets count: records, but for MetaQ, whose offsets are positions in bytes."""

from __future__ import annotations

from monitor.model import KINDS, OffsetUnit

KILO = 1_000


def unit_of(kind: str) -> str:
    """The word for one step of an offset.

    >>> unit_of("kafka-classic"), unit_of("metaq")
    ('record', 'byte')
    """
    return KINDS[kind].unit.value


def as_offsets(records: int, kind: str) -> int:
    """A threshold in records as a difference of offsets: a record counts as a thousand bytes.

    >>> as_offsets(5, "rocketmq"), as_offsets(5, "metaq")
    (5, 5000)
    """
    return records * KILO if KINDS[kind].unit is OffsetUnit.BYTE else records
