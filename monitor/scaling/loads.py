"""What each partition of a group brings: the records that wait, and those that come in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from operator import attrgetter
from statistics import median
from typing import Final

from monitor.detection.lag.inflow import partition_inflow
from monitor.detection.ownership.catalog_view import Topics
from monitor.model import (
    END_SPACING_MS,
    CommittedOffset,
    EndOffsetAt,
    PartitionState,
    PartitionVerdict,
    TopicPartition,
    Value,
)

USUAL_MS: Final = 120_000
"""What comes in is that of the last two minutes. A longer gap makes the number no lower before ``down_after_s``."""
LATE_MS: Final = 60_000
LATE_POLLS: Final = 3
"""After this time, or after so many times the time between two polls, the ends of a partition say nothing of now."""
APART_MS: Final = 5_000
"""Polls that are closer together show no rate."""
BEHIND_MS: Final = 5_000
"""What came within this time waits in a partition whose members do not keep up."""
GAP: Final = 1.5
"""Polls so many times as far apart as usual leave a gap, as when the brokers were away."""
KEPT_MS: Final = 30_000
"""For so long after a gap, producers may write what they kept meanwhile."""
_SEEN: Final = attrgetter("at_ms")


class Load(Value, gc=False):
    """What a partition brings: ``waiting`` records, and ``incoming_per_s`` records a second.

    ``recent_per_s`` and ``long_per_s`` are means of two minutes and of a longer time.
    """

    waiting: float = 0.0
    incoming_per_s: float = 0.0
    recent_per_s: float = 0.0
    long_per_s: float = 0.0

    @property
    def lasting_per_s(self) -> float:
        """What has come in for long and still does: no short peak, and nothing that is over (records a second)."""
        return min(self.recent_per_s, self.long_per_s)


def sum_loads(loads: Iterable[Load]) -> Load:
    """What several partitions bring together."""
    waiting = incoming = recent = long = 0.0
    for each in loads:
        waiting += each.waiting
        incoming += each.incoming_per_s
        recent += each.recent_per_s
        long += each.long_per_s
    return Load(waiting, incoming, recent, long)


Loads = Mapping[TopicPartition, Load]


def partition_loads(
    rows: Iterable[PartitionVerdict],
    topics: Topics,
    commits: Mapping[TopicPartition, CommittedOffset],
    now_ms: int,
    long_ms: int = USUAL_MS,
) -> Loads | None:
    """The load of each partition; None if one is unknown, as in the first minute of its polls, and once they stop.

    ``long_ms`` is the longer time of means (ms); at least USUAL_MS count, and no more than the ends that are kept.

    A partition in which nothing can be read yet counts as it will: what waits behind an open transaction is to be read.
    Without a commit, nothing waits: of a group whose partitions with records have none, the lag is unknown as a whole.
    """
    found: dict[TopicPartition, Load] = {}
    for row in rows:
        place = TopicPartition(row.topic, row.partition)
        state = topics.places(row.topic).get(place)
        lag = 0 if row.lag is None and row.committed is None else row.lag
        means = None if state is None else _means(state, long_ms)
        if state is None or means is None or lag is None or not _is_current(state.ends, now_ms):
            return None
        recent, long = means
        incoming = max(recent, _lately_per_s(state.ends, lag))
        found[place] = Load(_waiting(lag, incoming, state, commits.get(place)), incoming, recent, long)
    return found


def _means(partition: PartitionState, long_ms: int) -> tuple[float, float] | None:
    """What comes in of late and over a longer time, in records a second; None: it is not known yet."""
    recent, long = partition_inflow(partition, USUAL_MS), partition_inflow(partition, max(long_ms, USUAL_MS))
    return None if recent is None or long is None else (recent, long)


def _is_current(ends: Sequence[EndOffsetAt], now_ms: int) -> bool:
    """Whether the newest end is as new as polls make it. Commits that pass an old end would look like no lag."""
    gap_ms = ends[-1].at_ms - ends[-2].at_ms if len(ends) > 1 else 0
    return now_ms - ends[-1].at_ms <= max(LATE_MS, LATE_POLLS * gap_ms)


def _lately_per_s(ends: Sequence[EndOffsetAt], lag: int) -> float:
    """What came in between the last two polls, if it waits (records a second); else that if it was so before, too.

    What comes in bursts, once a minute, is no higher load. Nor is what producers kept while the brokers were away: soon
    after a gap in the polls, it is what came in since before the gap.
    """
    newest = ends[-1]
    before = end_by(ends, newest.at_ms - APART_MS)
    if before is None:
        return 0.0
    before = _end_before_gap(ends, before)
    rate = _rate(before, newest)
    if lag >= rate * BEHIND_MS / 1000:
        return rate
    earlier = end_by(ends, before.at_ms - APART_MS)
    return 0.0 if earlier is None else min(rate, _rate(earlier, before))


def _end_before_gap(ends: Sequence[EndOffsetAt], point: EndOffsetAt) -> EndOffsetAt:
    """The point before a gap in the polls that ended at most KEPT_MS before the newest point; else the one given."""
    for index in range(len(ends) - 1, 0, -1):
        earlier, later = ends[index - 1], ends[index]
        if later.at_ms < ends[-1].at_ms - KEPT_MS:
            break
        gap_ms = later.at_ms - earlier.at_ms
        if gap_ms > GAP * END_SPACING_MS and later.offset > earlier.offset and gap_ms > GAP * _usual_distance_ms(ends):
            return min(earlier, point, key=_SEEN)
    return point


def _usual_distance_ms(ends: Sequence[EndOffsetAt]) -> float:
    """Of two points between which something came: of a time without records, there are only two points."""
    moved = [each for each in pairwise(ends) if each[0].offset != each[1].offset]
    return median([later.at_ms - earlier.at_ms for earlier, later in moved])


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
