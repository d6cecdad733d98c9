"""The map of an assignment: the owner of each partition, and its expected owner. Pure.

A topic with few partitions is a table of members and partitions, in which a pattern can be seen. A larger one lists
the partitions of each member. A large group shows only topics with something unexpected, and one on request.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import groupby
from typing import Final

from monitor.messages.formatting import counted
from monitor.messages.names import ranges
from monitor.model import GroupVerdict, PartitionId, PartitionVerdict, Sharing, Value
from monitor.web.page.member_labels import Holder, Holders

MOST_COLUMNS: Final = 48
"""A topic with more partitions is no table: it would not fit on a screen."""

MOST_ROWS: Final = 64
"""Nor is a topic with more members drawn as a table."""

MOST_TILES: Final = 4_000
"""A page that draws more is slow to look at. What goes beyond is drawn topic by topic, on request."""

MOST_UNFOLDED: Final = 400
"""In a group with more partitions, topics where all is as expected are folded."""


class Mark(StrEnum):
    """What a member and a partition have to do with each other."""

    RIGHT = "right"
    """It has it, and is expected to."""
    HELD = "held"
    """It has it; who is expected to is not known."""
    STRAY = "stray"
    """It has it, and another is expected to."""
    AWAITED = "awaited"
    """It is expected to have it, and has not."""
    DOUBLE = "double"
    """It has it, and so has another."""
    ORPHAN = "orphan"
    """It has no owner: its row is the one without a member."""


_OWNING: Final = (Mark.RIGHT, Mark.HELD, Mark.STRAY, Mark.DOUBLE)
_WRONG: Final = (Mark.ORPHAN, Mark.DOUBLE, Mark.STRAY)


class Tile(Value):
    """A place of the map; ``title`` says in words what the mark means here."""

    partition: PartitionId
    mark: Mark
    title: str


class MapRow(Value):
    """What one member has and is expected to have; with no ``holder`` (None), what has no owner.

    ``cells``, in a topic that is a table, has a place for each of its columns (None: nothing to do with it). The texts
    say the same for who cannot see it.
    """

    holder: Holder | None
    tiles: tuple[Tile, ...]
    cells: tuple[Tile | None, ...] = ()
    has: str = ""
    stray: str = ""
    awaited: str = ""


class TopicMap(Value):
    """A topic. ``rows`` is None where it is not drawn; ``columns`` are its partitions if it is drawn as a table.

    ``summary`` says what is not as expected, "" if nothing is; ``is_open``: it is shown unfolded.
    """

    topic: str
    partitions: int
    summary: str
    is_open: bool
    rows: tuple[MapRow, ...] | None = None
    columns: tuple[PartitionId, ...] = ()


def assignment_map(verdict: GroupVerdict, holders: Holders, wanted: str = "") -> tuple[TopicMap, ...]:
    """The topics by name; ``wanted`` is the name of one that is drawn in any case."""
    judge = _Judge(verdict, holders)
    topics = {name: tuple(rows) for name, rows in groupby(verdict.partitions, lambda row: row.topic)}
    marks = {name: judge.marks(rows) for name, rows in topics.items()}
    drawn = _drawn(topics, marks, wanted)
    small = len(verdict.partitions) <= MOST_UNFOLDED
    return tuple(
        TopicMap(
            topic=name,
            partitions=len(rows),
            summary=_summary(marks[name]),
            is_open=small or name == wanted or bool(_summary(marks[name])),
            rows=(own := judge.rows(rows)) if name in drawn else None,
            columns=tuple(row.partition for row in rows) if name in drawn and _is_table(rows, own) else (),
        )
        for name, rows in sorted(topics.items())
    )


def _drawn(
    topics: Mapping[str, Sequence[PartitionVerdict]], marks: Mapping[str, Counter[Mark]], wanted: str
) -> frozenset[str]:
    """Those where most is wrong first, until the page is full."""
    left, found = MOST_TILES, {wanted}
    for name in sorted(topics, key=lambda each: (not _wrong(marks[each]), each)):
        if len(topics[name]) <= left:
            left -= len(topics[name])
            found.add(name)
    return frozenset(found)


def _wrong(marks: Counter[Mark]) -> bool:
    return any(marks[each] for each in _WRONG)


def _summary(marks: Counter[Mark]) -> str:
    counts = [
        (marks[Mark.ORPHAN], "without an owner"),
        (marks[Mark.DOUBLE], "with several owners"),
        (marks[Mark.STRAY], "with an unexpected owner"),
    ]
    return ", ".join(f"{count} {words}" for count, words in counts if count)


def _is_table(rows: Sequence[PartitionVerdict], drawn: Sequence[MapRow]) -> bool:
    return len(rows) <= MOST_COLUMNS and len(drawn) <= MOST_ROWS


class _Judge:
    """Decides which mark a partition has for each member."""

    def __init__(self, verdict: GroupVerdict, holders: Holders) -> None:
        self._holders = holders
        self._members = verdict.members
        self._is_known = verdict.expectation in ("exact", "target")
        self._is_alone = verdict.sharing is Sharing.EXCLUSIVE and verdict.settles_ms is None

    def marks(self, rows: Sequence[PartitionVerdict]) -> Counter[Mark]:
        """How many partitions have which mark."""
        return Counter(mark for row in rows for mark in {mark for _, mark in self._of(row)})

    def rows(self, rows: Sequence[PartitionVerdict]) -> tuple[MapRow, ...]:
        """A row for each who has a part in the topic, those without an owner first."""
        tiles: dict[str | None, dict[PartitionId, Tile]] = defaultdict(dict)
        for row in rows:
            for member_id, mark in self._of(row):
                tiles[member_id][row.partition] = Tile(row.partition, mark, self._title(row, mark))
        places = [row.partition for row in rows]
        order: list[str | None] = [None] if None in tiles else []
        order += [each.member_id for each in self._members if each.member_id in tiles or rows[0].topic in each.topics]
        order += sorted(each for each in tiles if each is not None and each not in set(order))
        return tuple(self._row(member_id, tiles[member_id], places) for member_id in order)

    def _row(self, member_id: str | None, tiles: Mapping[PartitionId, Tile], places: Sequence[PartitionId]) -> MapRow:
        def having(*marks: Mark) -> str:
            return ranges([each for each, tile in tiles.items() if tile.mark in marks])

        return MapRow(
            holder=None if member_id is None else self._holders[member_id],
            tiles=tuple(tiles.values()),
            cells=tuple(tiles.get(place) for place in places) if len(places) <= MOST_COLUMNS else (),
            has=having(*_OWNING, Mark.ORPHAN),
            stray=having(Mark.STRAY),
            awaited=having(Mark.AWAITED),
        )

    def _of(self, row: PartitionVerdict) -> Iterator[tuple[str | None, Mark]]:
        """Who has something to do with the partition, and what."""
        for owner in row.owners:
            yield owner, self._mark(row, owner)
        if row.orphan is not None:
            yield None, Mark.ORPHAN
        if self._is_known and row.expected is not None and row.expected not in row.owners:
            yield row.expected, Mark.AWAITED

    def _mark(self, row: PartitionVerdict, owner: str) -> Mark:
        if self._is_alone and len(row.owners) > 1:
            return Mark.DOUBLE
        if not self._is_known:
            return Mark.HELD
        return Mark.RIGHT if row.expected == owner else Mark.STRAY

    def _title(self, row: PartitionVerdict, mark: Mark) -> str:
        names = " and ".join(self._name(owner) for owner in row.owners[:3])
        more = f" and {counted(len(row.owners) - 3, 'more')}" if len(row.owners) > 3 else ""
        owners = f"owner{'' if len(row.owners) == 1 else 's'} {names}{more}" if names else "no owner"
        text = f"Partition {row.partition}: {owners}"
        if mark is Mark.RIGHT:
            return f"{text}, as expected"
        if not self._is_known:
            return text
        return f"{text}; expected: {'none' if row.expected is None else self._name(row.expected)}"

    def _name(self, member_id: str) -> str:
        holder = self._holders[member_id]
        return f"{holder.name[:40]}" if holder.number is None else f"#{holder.number} {holder.name[:40]}"
