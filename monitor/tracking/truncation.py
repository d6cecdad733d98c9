"""Whether the end of a partition went back: records that its log had are gone.

An unclean leader election does this, and so do a broker that lost its disk and a log that was restored. All of them
look the same to a collector, so no cause is given.

A smaller end alone proves nothing. A leader that was cut off, and a second collector that is slow, report an end of a
moment ago. (A new leader is no such case: since KIP-207 it reports no end before it has reached that of the old one.)
So the end counts as gone back once polls have shown it lower for CONFIRMATION_MS, without one that showed it at its old
place or beyond. Of two collectors, either begins a poll only after it has written the one before: the second poll that
shows a lower end began after the old end was read. A log that grows past the old end first looks like a late poll, so
it is not reported.
"""

from __future__ import annotations

from typing import Final

from msgspec.structs import replace

from monitor.model import EndFall, PartitionState, Truncations

CONFIRMATION_MS: Final = 5_000
"""How long polls must show an end below the old one. With polls 10 s apart (the default) the second one confirms it."""

KEPT_MS: Final = 7 * 86_400_000
"""How long the newest truncation of a partition stays known: Kafka keeps records and offsets for a week by default."""


def truncations_of(before: PartitionState, end: int | None, at_ms: int, *, is_same_topic: bool) -> Truncations | None:
    """What is known of a partition's end going back, after a poll. Nearly always that is nothing.

    Args:
        before: the partition before the poll.
        end: its end by the poll; None: no broker answered.
        at_ms: when the poll was made.
        is_same_topic: the poll and the state have the same topic id. Without ids the topic may have been recreated, or
            a replica may stand in for its broker (RocketMQ): the lower end counts then, and is no truncation.
    """
    known = before.truncations
    if known is None and (end is None or before.end is None or end >= before.end):
        return None
    falling, known = _falling_end(before, end, at_ms), known or Truncations()
    newest, records = known.newest, known.records
    if falling is not None and end is not None and at_ms - falling.at_ms >= CONFIRMATION_MS:
        if is_same_topic:
            newest, records = falling, records + falling.records
        falling = None
    if newest is not None and at_ms - newest.at_ms > KEPT_MS:
        newest = None
    after = Truncations(falling, newest, records)
    return after if after != Truncations() else None


def until(known: Truncations, at_ms: int) -> Truncations:
    """What is known, by a clock that was set back to this instant: what is not confirmed proves nothing any more."""
    newest = known.newest
    if newest is not None:
        newest = replace(newest, from_ms=min(newest.from_ms, at_ms), at_ms=min(newest.at_ms, at_ms))
    return Truncations(None, newest, known.records)


def _falling_end(before: PartitionState, end: int | None, at_ms: int) -> EndFall | None:
    """The end that is below the old one as of a poll; one of the same instant as the poll before proves nothing."""
    known = before.falling
    if end is None:
        return known
    if known is not None:
        return None if end >= known.before else replace(known, after=min(known.after, end))
    if before.end is None or end >= before.end or not before.ends or before.ends[-1].at_ms >= at_ms:
        return None
    return EndFall(before.ends[-1].at_ms, at_ms, before.end, end)
