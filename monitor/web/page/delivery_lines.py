"""The partitions of a share group on its page: a row for each, with its records as a strip of offsets."""

from __future__ import annotations

from typing import Final

from monitor.messages.formatting import age
from monitor.model import DeliveryState, DeliveryVerdict, GroupVerdict, PartitionId, Value

LISTED: Final = 200
"""So many partitions are listed; those with records that were delivered without success come first."""

WIDTH: Final = 1000
"""The width of a strip, in its own units."""

WORDS: Final = {
    "waiting": "waiting",
    "again": "waiting after a delivery",
    "last": "waiting for the last delivery",
    "done": "accepted",
    "archived": "rejected or given up",
}
"""The meaning of each class of a piece; also the order of the legend."""


class Piece(Value):
    """Records in one state: from ``x``, ``width`` wide. ``title`` names their offsets."""

    kind: str
    x: float
    width: float
    title: str


class DeliveryLine(Value):
    """A partition. ``first`` and ``last`` are the offsets that the strip shows."""

    delivery: DeliveryVerdict
    pieces: tuple[Piece, ...]
    first: int
    last: int
    answered: str | None


def delivery_lines(verdict: GroupVerdict) -> tuple[DeliveryLine, ...]:
    """Partitions with records that were delivered without success come first."""
    ends: dict[tuple[str, PartitionId], int | None] = {
        (row.topic, row.partition): row.end for row in verdict.partitions
    }
    ranked = sorted(verdict.deliveries, key=lambda each: (-each.given_up - each.last_tries, -each.waiting_redelivery))
    return tuple([_line(verdict, each, ends.get((each.topic, each.partition))) for each in ranked[:LISTED]])


def _line(verdict: GroupVerdict, delivery: DeliveryVerdict, end: int | None) -> DeliveryLine:
    batches = delivery.batches
    first = min([delivery.start_offset or 0, *[batch.first for batch in batches[:1]]])
    known = [batch.last + 1 for batch in batches[-1:]]
    is_all = not delivery.more_batches  # what is behind the shown ones is not known here, so it is not drawn as waiting
    last = max([first + 1, *known, *([end] if end is not None and is_all else [])])
    answered = delivery.answered_ms
    return DeliveryLine(
        delivery=delivery,
        pieces=() if delivery.start_offset is None else _pieces(delivery, first, last, verdict.delivery_limit or 0),
        first=first,
        last=last - 1,
        answered=None if answered is None else age(max(0, verdict.evaluated_ms - answered)),
    )


def _pieces(delivery: DeliveryVerdict, first: int, last: int, limit: int) -> tuple[Piece, ...]:
    """The batches, on the ground of all that waits."""
    scale = WIDTH / (last - first)
    ground = Piece("waiting", 0, WIDTH, f"offsets {first} to {last - 1}")
    return (
        ground,
        *[
            Piece(
                kind := _kind(batch.state, batch.deliveries, limit),
                round((batch.first - first) * scale, 1),
                round(max(2.0, (batch.last + 1 - batch.first) * scale), 1),
                f"{WORDS[kind]}: offsets {batch.first} to {batch.last}, delivery count {batch.deliveries}",
            )
            for batch in delivery.batches
        ],
    )


def _kind(state: int, deliveries: int, limit: int) -> str:
    if state == DeliveryState.ACKNOWLEDGED:
        return "done"
    if state == DeliveryState.ARCHIVED:
        return "archived"
    if not deliveries:
        return "waiting"
    return "last" if deliveries >= limit - 1 else "again"
