"""What a group did not read: its consumers' logs of the offsets that they read, beside what they committed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from monitor.model import Value

Event = dict[str, Any]
Ranges = Sequence[tuple[int, int]]

ROW: Final = "row"
"""The reason of what only the row of a partition says (decision 0077)."""
INFORMATION: Final = frozenset({"perhaps", "new_partition", ROW})
"""The reasons of skipped records that accuse nobody (decision 0067)."""


class Passage(Value):
    """Offsets from ``start`` to before ``end`` that a commit passed, and that nobody has read."""

    partition: int
    start: int
    end: int
    committed_ms: int

    @property
    def records(self) -> int:
        """How many."""
        return self.end - self.start


class Row(Value):
    """What groupwatch says about a partition: the group's commit from ``before`` to ``offset``, with the bounds."""

    partition: int
    cause: str
    before: int
    offset: int
    at_least: int
    at_most: int


class Told(Value):
    """What was said of skipped records, and when that was heard.

    ``span``: the commit of which a row speaks, from the one before; None: a finding of the findings topic.
    """

    reason: str
    partitions: tuple[int, ...]
    heard_ms: int
    span: tuple[int, int] | None = None

    def is_about(self, passage: Passage) -> bool:
        """Whether it may speak of a passage."""
        early_ms = 2_000
        if self.span is not None and not (self.span[0] < passage.end and passage.start < self.span[1]):
            return False
        return passage.partition in self.partitions and self.heard_ms >= passage.committed_ms - early_ms


def ranges_read(events: Iterable[Event]) -> dict[int, Ranges]:
    """The offsets that were read, by partition, as ranges in their order.

    >>> ranges_read([{"event": "read", "partition": 0, "from": 5, "to": 7},
    ...              {"event": "read", "partition": 0, "from": 1, "to": 6}])
    {0: [(1, 7)]}
    """
    found: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for event in events:
        if event["event"] == "read":
            found[event["partition"]].append((event["from"], event["to"]))
    return {partition: list(_joined(sorted(ranges))) for partition, ranges in found.items()}


def _joined(ranges: Ranges) -> Iterator[tuple[int, int]]:
    start, end = ranges[0]
    for begins, ends in ranges[1:]:
        if begins > end:
            yield start, end
            start, end = begins, ends
        end = max(end, ends)
    yield start, end


def without(start: int, end: int, read: Ranges) -> Iterator[tuple[int, int]]:
    """What is left of a range.

    >>> list(without(0, 10, [(2, 3), (5, 20)])), list(without(4, 5, []))
    ([(0, 2), (3, 5)], [(4, 5)])
    """
    for begins, ends in read:
        if start < min(begins, end):
            yield start, min(begins, end)
        start = max(start, ends)
    if start < end:
        yield start, end


def passages(events: Sequence[Event], new: Iterable[int] = ()) -> list[Passage]:
    """What the group passed and nobody has read until now.

    A group begins where it wants to, but in new partitions at 0. What an administrator has passed (an event "reset")
    is not the group's.

    >>> [each.records for each in passages([
    ...     {"event": "committed", "offsets": {"0": 5}, "ms": 1},
    ...     {"event": "read", "partition": 0, "from": 9, "to": 10},
    ...     {"event": "committed", "offsets": {"0": 10}, "ms": 2}])]
    [4]
    """
    read = ranges_read(events)
    at = dict.fromkeys(new, 0)
    found = []
    for event in events:
        if event["event"] == "reset":
            at |= {int(partition): offset for partition, offset in event["offsets"].items()}
        elif event["event"] == "committed":
            for name, offset in event["offsets"].items():
                partition = int(name)
                gaps = without(at.get(partition, offset), offset, read.get(partition, ()))
                found += [Passage(partition, *gap, event["ms"]) for gap in gaps]
                at[partition] = offset
    return found


def told_after_ms(passage: Passage, told: Iterable[Told]) -> int | None:
    """How long after the commit it was told, by a finding or a row about its partition; None: it was not."""
    after = [each.heard_ms - passage.committed_ms for each in told if each.is_about(passage)]
    return max(0, min(after)) if after else None


def out_of_bounds(found: Iterable[Passage], rows: Iterable[Row]) -> list[str]:
    """Where the truth is not between the bounds, of the commit that they are about.

    >>> out_of_bounds([Passage(0, 10, 30, 0)], [Row(0, "retention", 10, 40, 21, 30)])
    ['partition 0: 20 of 10 to 40 were not read, and retention says 21 to 30']
    """
    missed = list(found)
    lines = []
    for row in rows:
        truth = sum(
            max(0, min(each.end, row.offset) - max(each.start, row.before))
            for each in missed
            if each.partition == row.partition
        )
        if not row.at_least <= truth <= row.at_most:
            said = f"{row.cause} says {row.at_least} to {row.at_most}"
            lines.append(
                f"partition {row.partition}: {truth} of {row.before} to {row.offset} were not read, and {said}"
            )
    return lines
