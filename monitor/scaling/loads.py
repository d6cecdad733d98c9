"""What each partition of a group brings: the records that wait, and those that come in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping
from operator import attrgetter
from typing import Final

from monitor.detection.lag.inflow import partition_inflow
from monitor.detection.lag.throughput import SHORTEST_MS
from monitor.detection.ownership.catalog_view import Topics
from monitor.model import CommittedOffset, PartitionState, PartitionVerdict, TopicPartition, Value

_SEEN: Final = attrgetter("at_ms")


class Load(Value, gc=False):
    """What a partition brings: ``waiting`` records, and ``incoming_per_s`` records a second."""

    waiting: float = 0.0
    incoming_per_s: float = 0.0

    def required_per_s(self, target_ms: int) -> float:
        """How fast it has to be read so that nothing waits after this time.

        >>> Load(waiting=600.0, incoming_per_s=5.0).required_per_s(60_000)
        15.0
        """
        return self.incoming_per_s + 1000 * self.waiting / target_ms


Loads = Mapping[TopicPartition, Load]


def partition_loads(
    rows: Iterable[PartitionVerdict], topics: Topics, commits: Mapping[TopicPartition, CommittedOffset]
) -> Loads | None:
    """The load of each partition; None if one is unknown, which it is in the first minute of its polls.

    A partition in which nothing can be read yet counts as it will: what waits behind an open transaction is to be read.
    """
    found: dict[TopicPartition, Load] = {}
    for row in rows:
        place = TopicPartition(row.topic, row.partition)
        state = topics.places(row.topic).get(place)
        incoming = None if state is None else incoming_per_s(state)
        if state is None or incoming is None or row.lag is None:
            return None
        found[place] = Load(_waiting(row.lag, incoming, state, commits.get(place)), incoming)
    return found


def incoming_per_s(partition: PartitionState) -> float | None:
    """How much comes in, in records a second: over five minutes or over the last one, whichever is more.

    A load that falls counts late and one that rises at once: too few members cost more than too many. None: it is not
    known yet.
    """
    usual = partition_inflow(partition)
    if usual is None:
        return None
    ends = partition.ends
    newest = ends[-1]
    began = ends[max(0, bisect_right(ends, newest.at_ms - SHORTEST_MS, key=_SEEN) - 1)]
    lately = max(0, newest.offset - began.offset) * 1000 / max(SHORTEST_MS, newest.at_ms - began.at_ms)
    return max(usual, lately)


def _waiting(lag: int, incoming: float, state: PartitionState, commit: CommittedOffset | None) -> float:
    """The records that waited at the newest commit, where the end is older: what has come since then is estimated."""
    if not lag or commit is None or not state.ends:
        return float(lag)
    return lag + incoming * max(0, commit.committed_ms - state.ends[-1].at_ms) / 1000
