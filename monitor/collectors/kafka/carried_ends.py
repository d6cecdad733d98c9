"""Where the logs of a query end that reads two clusters: a log of groups, and its events at another, the carrier.

The log of groups counts. While the carrier is away, its events stay where they are, and the log is read on. While the
watched cluster is away, nothing is read, as with one cluster (docs/decisions/0092-a-carrier-for-clusters.md).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from typing import Final

from monitor.collectors.errors import ConnectionFailed
from monitor.collectors.kafka.leader_table import Place
from monitor.collectors.kafka.log_ends import Ends, LogEnds
from monitor.collectors.kafka.preflight import LogBounds
from monitor.collectors.kafka.silence import Silence
from monitor.model import Outage

ASK_CARRIER_AGAIN_S: Final = 30.0
"""The pause after a carrier that was away: to find that out takes up to 10 s, and meanwhile the log is not read."""


class CarriedEnds:
    """What LogEnds is for one cluster, of two: each log by the cluster that has it. It raises what LogEnds does."""

    def __init__(
        self,
        watched: LogEnds,
        carrier: LogEnds,
        events_topic: str,
        clock_s: Callable[[], float] = time.monotonic,
    ) -> None:
        """Nothing is connected yet.

        Args:
            watched: of the cluster with the log of groups.
            carrier: of the cluster with the events.
            events_topic: the one topic there.
            clock_s: gives seconds that only go forward.
        """
        self.carrier: Final = carrier
        self._watched = watched
        self._events_topic = events_topic
        self._clock_s = clock_s
        self._not_before_s = clock_s()

    @property
    def silent(self) -> Mapping[Place, Silence]:
        """See LogEnds, of both."""
        return {**self._watched.silent, **self.carrier.silent}

    @property
    def is_read_elsewhere(self) -> bool:
        """Whether a partition of the watched cluster is not silent. That events can be read is no reason to go on."""
        return self._watched.is_read_elsewhere

    @property
    def throttling(self) -> str | None:
        """See LogEnds, of either."""
        return self._watched.throttling or self.carrier.throttling

    @property
    def answering(self) -> tuple[str, ...]:
        """See LogEnds, of the watched cluster."""
        return self._watched.answering

    def outages(self, topic: str) -> dict[int, Outage]:
        """See LogEnds."""
        return self._of(topic).outages(topic)

    def partition_count(self, topic: str) -> int:
        """See LogEnds."""
        return self._of(topic).partition_count(topic)

    def ask(self, read: Mapping[Place, int]) -> Ends:
        """Where the logs end now; of events, nothing while the carrier is away and the log is read."""
        of_groups, of_events = self._split(read)
        found = self._watched.ask(of_groups) if of_groups else Ends(ends={})
        carried = self._event_ends(of_events) if of_events else Ends(ends={})
        return Ends(
            ends={**found.ends, **carried.ends},
            cut={**found.cut, **carried.cut},
            silent={**found.silent, **carried.silent},
        )

    def _event_ends(self, read: Mapping[Place, int]) -> Ends:
        if self._clock_s() >= self._not_before_s or not self.is_read_elsewhere:
            try:
                return self.carrier.ask(read)
            except ConnectionFailed:
                if not self.is_read_elsewhere:
                    raise
                self._not_before_s = self._clock_s() + ASK_CARRIER_AGAIN_S
        return Ends(ends={}, silent={place: each for place, each in self.carrier.silent.items() if place in read})

    def starts(self, places: Collection[Place]) -> dict[Place, int]:
        """See LogEnds."""
        of_groups, of_events = self._split(dict.fromkeys(places, 0))
        found = self._watched.starts(of_groups) if of_groups else {}
        return {**found, **(self.carrier.starts(of_events) if of_events else {})}

    def bounds(self, topic: str) -> LogBounds:
        """See LogEnds."""
        return self._of(topic).bounds(topic)

    def accept_new_topics(self) -> None:
        """See LogEnds."""
        self._watched.accept_new_topics()
        self.carrier.accept_new_topics()

    def restart_recreated(self, starts: Mapping[Place, int]) -> None:
        """See LogEnds."""
        of_groups, of_events = self._split(starts)
        self._watched.restart_recreated(of_groups)
        self.carrier.restart_recreated(of_events)

    def close(self) -> None:
        """Close the connections to both, for good."""
        self._watched.close()
        self.carrier.close()

    def _of(self, topic: str) -> LogEnds:
        return self.carrier if topic == self._events_topic else self._watched

    def _split(self, places: Mapping[Place, int]) -> tuple[dict[Place, int], dict[Place, int]]:
        """The places of the watched cluster, and those of the carrier."""
        of_events = {place: offset for place, offset in places.items() if place[0] == self._events_topic}
        return {place: offset for place, offset in places.items() if place not in of_events}, of_events


QueryEnds = LogEnds | CarriedEnds
"""What gives the ends of all logs that a query reads."""
