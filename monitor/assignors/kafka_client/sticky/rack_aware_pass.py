"""The rack-aware part of the uniform case: partitions that are left go to members on a rack of their replicas.

Steps, for each partition of the line:

1. The next short member, round the members by id behind the last one who got something here, that is on one of its
   racks takes it.
2. If there is none: the first ready member on one of its racks takes it as its extra. Ready are those who kept just
   their share, by id, then those who got it here, in that order.
3. If there is none: it stays in line.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict, deque
from collections.abc import Iterable, Sequence

import numpy as np

from monitor.assignors.kafka_client.sticky.partition_index import Places
from monitor.assignors.kafka_client.sticky.quotas import Quotas
from monitor.assignors.kafka_client.sticky.racks import Homes, Racks
from monitor.model import Value


class Matched(Value):
    """What came to each member (by position, in the order in which it came), and what is left of the line."""

    came: dict[int, list[int]]
    left: Places


def match_racks(line: Places, quotas: Quotas, racks: Racks) -> Matched:
    """Match the line; the quotas are kept up to date."""
    members = _Candidates(quotas, racks.of_member)
    came: dict[int, list[int]] = defaultdict(list)
    left = []
    for place in line.tolist():
        member = members.take(racks.of_partition(place))
        if member is None:
            left.append(place)
        else:
            came[member].append(place)
    members.write_back()
    return Matched(came=came, left=np.array(left, np.int64))


class _Candidates:
    """The members that can take something, by rack. A short member's *seat* is its number in the circle."""

    def __init__(self, quotas: Quotas, homes: Sequence[str | None]) -> None:
        self._quotas = quotas
        self._homes = homes
        self._circle = list(quotas.short)
        self._next_seat = 0
        self._seats: dict[str, list[int]] = defaultdict(list)
        for seat, member in enumerate(self._circle):
            if (home := homes[member]) is not None:
                self._seats[home].append(seat)
        self._queues: dict[str, deque[int]] = defaultdict(deque)
        self._ready: dict[int, None] = {}
        self._turn: dict[int, int] = {}
        for member in quotas.ready:
            self._queue(member)

    def take(self, racks: Homes) -> int | None:
        """The member that takes a partition with these racks; None: none can."""
        seat = self._find_seat(racks)
        if seat is not None:
            return self._serve(seat)
        queues = [self._queues[rack] for rack in racks if self._queues.get(rack)] if self._quotas.extras else []
        if not queues:
            return None
        member = min((queue[0] for queue in queues), key=self._turn.__getitem__)
        self._queues[self._homes[member] or ""].popleft()
        del self._ready[member]
        self._quotas.count[member] += 1
        self._quotas.take_extra()
        return member

    def write_back(self) -> None:
        """Tell the quotas who is still short and who is ready."""
        quotas = self._quotas
        quotas.short = [member for member in quotas.short if quotas.count[member] < quotas.share]
        quotas.ready = list(self._ready) if quotas.extras else []

    def _find_seat(self, racks: Iterable[str]) -> int | None:
        circles = [self._seats[rack] for rack in racks if self._seats.get(rack)]
        behind = [seats[at] for seats in circles if (at := bisect_left(seats, self._next_seat)) < len(seats)]
        return min(behind or [seats[0] for seats in circles], default=None)

    def _serve(self, seat: int) -> int:
        member = self._circle[seat]
        quotas = self._quotas
        quotas.count[member] += 1
        self._next_seat = seat + 1
        if quotas.count[member] >= quotas.share:
            seats = self._seats[self._homes[member] or ""]
            del seats[bisect_left(seats, seat)]
            if quotas.count[member] < quotas.most and quotas.extras:
                self._queue(member)
        return member

    def _queue(self, member: int) -> None:
        self._turn[member] = len(self._turn)
        self._ready[member] = None
        if (home := self._homes[member]) is not None:
            self._queues[home].append(member)
