"""Which partitions without an owner came too late for the generation, and what shows that.

Either collectors saw them come, or the assignment itself shows that its leader did not know them. That a partition has
no owner shows nothing by itself: assignors leave partitions out that they know.
"""

from __future__ import annotations

from collections.abc import Iterable

from monitor.detection.ownership.catalog_view import first_seen_ms
from monitor.detection.ownership.context import Expectation, Ownership
from monitor.model import Catalog, GroupState, PartitionState, TopicPartition, number


class LatePartitions:
    """Answers queries about the partitions of a group that have no owner, one by one."""

    def __init__(
        self,
        group: GroupState,
        catalog: Catalog,
        ownership: Ownership,
        expectation: Expectation,
        unowned: Iterable[TopicPartition],
    ) -> None:
        self._known_from_ms = group.generation_ms - ownership.metadata_age_ms
        self._group = group
        self._catalog = catalog
        self._expectation = expectation
        self._horizons: dict[str, int] = {}
        self._highest: dict[str, int] = {}
        for place in ownership.owners:
            self._highest[place.topic] = max(number(place.partition), self._highest.get(place.topic, -1))
        self._gaps = {place.topic for place in unowned if number(place.partition) < self._highest.get(place.topic, -1)}

    def is_owned(self, topic: str) -> bool:
        """Whether any partition of the topic has an owner."""
        return topic in self._highest

    def may_be_gone(self, place: TopicPartition, state: PartitionState) -> bool:
        """Whether it may have gone before the generation, if no pass of the collector has begun since.

        The topic may have been deleted, or recreated with fewer partitions. A partition that came after the generation
        is there; so is one below the highest that is owned, and one that is on its way to a new owner.
        """
        if not self.is_owned(place.topic):
            return True
        is_highest = number(place.partition) > self._highest[place.topic]
        return is_highest and place not in self._expectation.pending and not self.came_later(place, state)

    def came_later(self, place: TopicPartition, state: PartitionState) -> bool:
        """Whether collectors saw it come after the generation."""
        topic = place.topic
        if topic not in self._horizons:
            self._horizons[topic] = horizon_ms(self._group, self._catalog, topic, owned=self.is_owned(topic))
        return state.first_seen_ms > self._horizons[topic]

    def was_unknown(self, place: TopicPartition, state: PartitionState) -> bool:
        """Whether the assignment shows that its leader had metadata from before it came.

        With an assignor that we have: if older metadata explains all of the assignment. With another: if it is above
        all that are owned of its topic, without a gap among these. A whole topic that is missing, or one that only such
        a guess is about, cannot have been there for longer than metadata are used.
        """
        is_owned, is_exact = self.is_owned(place.topic), self._expectation.kind == "exact"
        if is_exact and not self._expectation.stale_metadata:
            return False
        if is_exact and is_owned:
            return True
        if not is_exact and (not is_owned or place.topic in self._gaps):
            return False
        return state.first_seen_ms > self._known_from_ms


def horizon_ms(group: GroupState, catalog: Catalog, topic: str, *, owned: bool) -> int:
    """A partition of the topic that was first seen after this instant came later than the generation.

    That is the generation itself, but groupwatch may have started later than the group, and then its first sight of a
    partition is no sign of growth: so not before the topic was first seen, of which some is owned; and not before
    collectors began to look, for a topic of which nothing is.
    """
    watched_ms = first_seen_ms(catalog.topics[topic]) if owned else catalog.watched_ms
    return max(group.generation_ms, watched_ms)
