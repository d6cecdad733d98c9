"""In what a group's offsets count: records, but for MetaQ, whose offsets are positions in bytes."""

from __future__ import annotations

from monitor.model import GroupKind

KILO = 1_000


def unit_of(kind: str) -> str:
    """The word for one step of an offset.

    >>> unit_of(GroupKind.CLASSIC), unit_of("metaq")
    ('record', 'byte')
    """
    return "byte" if kind == GroupKind.METAQ else "record"


def as_offsets(records: int, kind: str) -> int:
    """A threshold in records as a difference of offsets: a record of MetaQ is taken for a thousand bytes.

    >>> as_offsets(5, GroupKind.ROCKETMQ), as_offsets(5, GroupKind.METAQ)
    (5, 5000)
    """
    return records * KILO if kind == GroupKind.METAQ else records
