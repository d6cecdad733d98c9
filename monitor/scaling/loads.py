"""What each partition of a group brings: the records that wait, and those that come in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Final

from monitor.detection.lag.inflow import partition_inflow
from monitor.detection.ownership.catalog_view import Topics
from monitor.model import CommittedOffset, EndOffsetAt, PartitionState, PartitionVerdict, TopicPartition, Value

USUAL_MS: Final = 120_000
"""What comes in is that of the last two minutes. A longer gap makes the number no lower before ``down_after_s``."""
LATE_MS: Final = 60_000
LATE_POLLS: Final = 3
"""After this time, or after so many times the time between two polls, the ends of a partition say nothing of now."""
APART_MS: Final = 5_000
"""Polls that are closer together show no rate."""
BEHIND_MS: Final = 5_000
"""What came within this time waits in a partition whose members do not keep up."""
_SEEN: Final = attrgetter("at_ms")


class Load(Value, gc=False):
    """What a partition brings: ``waiting`` records, and ``incoming_per_s`` records a second.

    ``lasting_per_s`` is what has come in for minutes and still does: no short peak, and nothing that is over.
    """

    waiting: float = 0.0
    incoming_per_s: float = 0.0
    lasting_per_s: float = 0.0


Loads = Mapping[TopicPartition, Load]


def partition_loads(
    rows: Iterable[PartitionVerdict],
    topics: Topics,
    commits: Mapping[TopicPartition, CommittedOffset],
    now_ms: int,
    lasting_ms: int = USUAL_MS,
) -> Loads | None:
    """The load of each partition; None if one is unknown, as in the first minute of its polls, and once they stop.

    What comes in for ``lasting_ms`` (ms, at least USUAL_MS) is lasting.

    A partition in which nothing can be read yet counts as it will: what waits behind an open transaction is to be read.
    Without a commit, nothing waits: of a group whose partitions with records have none, the lag is unknown as a whole.
    """
    found: dict[TopicPartition, Load] = {}
    for row in rows:
        place = TopicPartition(row.topic, row.partition)
        state = topics.places(row.topic).get(place)
        lag = 0 if row.lag is None and row.committed is None else row.lag
        incoming = None if state is None else incoming_per_s(state, lag or 0)
        if state is None or incoming is None or lag is None or not _is_current(state.ends, now_ms):
            return None
        waiting = _waiting(lag, incoming, state, commits.get(place))
        found[place] = Load(waiting, incoming, _lasting_per_s(state, max(lasting_ms, USUAL_MS)))
    return found


def _is_current(ends: Sequence[EndOffsetAt], now_ms: int) -> bool:
    """Whether the newest end is as new as polls make it. Commits that pass an old end would look like no lag."""
    gap_ms = ends[-1].at_ms - ends[-2].at_ms if len(ends) > 1 else 0
    return now_ms - ends[-1].at_ms <= max(LATE_MS, LATE_POLLS * gap_ms)


def incoming_per_s(partition: PartitionState, lag: int = 0) -> float | None:
    """How much comes in, in records a second: over USUAL_MS, or of late if that is more and lasts.

    Of late is between two polls, if what came then waits; else also between the two before: what comes in bursts, once
    a minute, is no higher load. None: it is not known yet.
    """
    usual = partition_inflow(partition, USUAL_MS)
    return None if usual is None else max(usual, _lately_per_s(partition.ends, lag))


def _lasting_per_s(partition: PartitionState, over_ms: int) -> float:
    """What comes in over a longer time, in records a second, or of late if that is less: what was before is over."""
    rates = [partition_inflow(partition, each) for each in (USUAL_MS, over_ms)]
    return min([rate for rate in rates if rate is not None], default=0.0)


def _lately_per_s(ends: Sequence[EndOffsetAt], lag: int) -> float:
    newest = ends[-1]
    before = end_by(ends, newest.at_ms - APART_MS)
    if before is None:
        return 0.0
    rate = _rate(before, newest)
    if lag >= rate * BEHIND_MS / 1000:
        return rate
    earlier = end_by(ends, before.at_ms - APART_MS)
    return 0.0 if earlier is None else min(rate, _rate(earlier, before))


def end_by(ends: Sequence[EndOffsetAt], at_ms: int) -> EndOffsetAt | None:
    """The newest end that was seen by an instant."""
    after = bisect_right(ends, at_ms, key=_SEEN)
    return ends[after - 1] if after else None


def _rate(earlier: EndOffsetAt, later: EndOffsetAt) -> float:
    """What came in between two polls, in records a second; an end that went back counts as nothing."""
    return max(0, later.offset - earlier.offset) * 1000 / (later.at_ms - earlier.at_ms)


def _waiting(lag: int, incoming: float, state: PartitionState, commit: CommittedOffset | None) -> float:
    """The records that waited at the newest commit, where the end is older: what has come since then is estimated."""
    if not lag or commit is None or not state.ends:
        return float(lag)
    return lag + incoming * max(0, commit.committed_ms - state.ends[-1].at_ms) / 1000
