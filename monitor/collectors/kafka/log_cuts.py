"""Where logs were cut below what was read of them: a new leader gets a request for the end of the epoch before."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from kafka.errors import IncompatibleBrokerVersion

from monitor.collectors.kafka.known_leaders import DESCRIBE_S, KnownLeaders
from monitor.collectors.kafka.leader_requests import epoch_ends_in, epoch_ends_request, send
from monitor.collectors.kafka.leader_table import NO_EPOCH, Place


class LogCuts:
    """The epochs in which the logs were read, and the cuts that their reader has yet to go back to."""

    def __init__(self, leaders: KnownLeaders) -> None:
        self._leaders = leaders
        self._epochs: dict[Place, int] = {}
        self._cut: dict[Place, int] = {}
        """Where logs were cut, until their reader has gone back to there."""
        self._recreated: dict[Place, int] = {}
        """The starts of logs that were created again, until their ends have been requested."""

    def has_only(self, places: Collection[Place]) -> bool:
        """Whether no other partitions than these have ever answered. For any thread."""
        return self._epochs.keys() <= set(places)

    def restart_recreated(self, starts: Mapping[Place, int]) -> None:
        """Let reading go back to these offsets, where it is beyond the ends."""
        self._recreated = dict(starts)

    def forget_log(self, topic: str) -> None:
        """Another log has the name of this one: its epochs and its cuts are no longer of interest."""
        self._epochs = {place: epoch for place, epoch in self._epochs.items() if place[0] != topic}
        self._cut = {place: end for place, end in self._cut.items() if place[0] != topic}

    def note_answered(self, places: Iterable[Place]) -> None:
        """Keep the epochs of these partitions: a later epoch counts once the logs have been compared."""
        for place in places:
            self._epochs.setdefault(place, self._leaders.epoch(place))

    def at(self, read: Mapping[Place, int], ends: Mapping[Place, int]) -> dict[Place, int]:
        """The cuts of the logs with these ends, below what was read of them."""
        for place in self._recreated.keys() & ends.keys():
            start = self._recreated.pop(place)
            if read[place] > ends[place]:
                self._cut[place] = start
        self._cut = {place: end for place, end in self._cut.items() if place not in read or read[place] > end}
        return {place: end for place, end in self._cut.items() if place in ends}

    async def compare(self, manager: Any, read: Mapping[Place, int]) -> set[Place]:  # noqa: ANN401 -- kafka-python has no types
        """Look for cuts of those with another leader than before; the places whose leader does not say."""
        table = self._leaders.table
        changed = [place for place, offset in read.items() if offset > 0 and self._has_new_leader(place)]
        unsure = set(changed)
        for broker, places in table.by_broker(changed).items():
            request = epoch_ends_request(places, self._leaders.epoch, self._epochs)
            future = send(manager, request, broker)
            answer = await self._leaders.requests.answer(manager, broker, future, DESCRIBE_S)
            is_too_old = isinstance(future.exception, IncompatibleBrokerVersion)
            told = dict(epoch_ends_in(answer)) if answer is not None else {}
            for place in places if is_too_old else told:
                self._epochs[place] = self._leaders.epoch(place)
                unsure.discard(place)
                if 0 <= told.get(place, -1) < read[place]:
                    self._cut[place] = told[place]
        return unsure

    def _has_new_leader(self, place: Place) -> bool:
        known, leader = self._epochs.get(place, NO_EPOCH), self._leaders.table.leaders.get(place)
        return leader is not None and NO_EPOCH < known < leader.epoch
