"""Balancing where something odd was claimed, exactly as odd as the original.

The original stops as soon as it finds the group balanced, and it looks before every partition. Ordinarily that makes no
difference, because in a balanced group nothing can be moved anyway. It does make one, and the original can even fail
while it looks, if

- a member owns a partition that does not exist (a *phantom*): other partitions then have two owners, and a member can
  seem to hold all it could get although it does not; or
- the earlier owner of a partition no longer asks for its topic: the partition goes back to it all the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from monitor.assignors.errors import AssignorError
from monitor.assignors.java.order import hash_map_order
from monitor.assignors.kafka_client.sticky.general.balance import Balance
from monitor.assignors.kafka_client.sticky.general.current_assignment import Holdings, Stretch
from monitor.assignors.kafka_client.sticky.general.potential_consumers import Roster
from monitor.assignors.kafka_client.sticky.partition_index import KnownTopics
from monitor.assignors.kafka_client.sticky.racks import Racks


class WatchfulBalance(Balance):
    """Looks whether the group is balanced before every partition, as the original does."""

    def __init__(
        self, roster: Roster, known: KnownTopics, holdings: Holdings, earlier: dict[int, int], racks: Racks
    ) -> None:
        """See ``Balance``. ``racks``: only the order in which the original asks subscribers depends on them here."""
        super().__init__(roster, known, holdings, earlier)
        self._known = known
        self._racks = racks
        self._map_order = _ranks_in_map_order(roster)
        self._balanced: bool | None = None  # None: something has moved since it was last found out

    def move(self, place: int, topic: int, target: int) -> None:
        """See ``Balance.move``."""
        super().move(place, topic, target)
        self._balanced = None

    def _round(self, line: Sequence[Stretch]) -> bool:
        moved = False
        for stretch in line:
            for place in stretch.places:
                if self._is_balanced():
                    return moved
                target = self._target(place, stretch.topic)
                if target is not None:
                    self.move(place, stretch.topic, target)
                    moved = True
        return moved

    def _target(self, place: int, topic: int) -> int | None:
        owner, earlier = self.holdings.owner.get(place), self.earlier.get(place)
        if earlier is not None and self._size(owner) > self._size(earlier) + 1:
            return earlier
        if any(self._size(owner) > self._size(other) + 1 for other in self._others(place, topic, owner)):
            return self.standing.least(topic)
        return None

    def _others(self, place: int, topic: int, owner: int | None) -> Iterator[int]:
        """The subscribers in the order in which the original asks them: those on a rack of the partition first."""
        subscribers, racks = self.roster.subscribers[topic], self._racks.of_partition(place)
        if owner is not None and self._rack(owner) in racks:
            yield from (other for other in subscribers if self._rack(other) in racks)
        yield from subscribers

    def _rack(self, rank: int) -> str | None:
        return self._racks.of_member[self.roster.position[rank]]

    def _size(self, rank: int | None) -> int:
        if rank is None or rank not in self.taking_part:
            raise _no_list()
        return len(self.holdings.lists[rank])

    def _is_balanced(self) -> bool:
        if self._balanced is None:
            self._balanced = self._find_out()
        return self._balanced

    def _find_out(self) -> bool:
        if not self.taking_part:
            raise AssignorError("NoSuchElementException")
        ranks = sorted(self.taking_part, key=lambda rank: (self._size(rank), rank))
        if self._size(ranks[0]) >= self._size(ranks[-1]) - 1:
            return True
        order = [rank for rank in self._map_order if rank in self.taking_part]
        owners = {place: rank for rank in order for place in self.holdings.lists[rank]}  # of two owners the later
        return not any(self._can_get_more(rank, owners) for rank in ranks)

    def _can_get_more(self, rank: int, owners: dict[int, int]) -> bool:
        size = self._size(rank)
        if size == self.roster.most[rank]:
            return False  # it seems to hold everything, whatever it really is
        mine = set(self.holdings.lists[rank])
        wanted = (place for topic in self.roster.asked[rank] for place in self._known.places(topic))
        return any(size + 1 < self._size(owners.get(place)) for place in wanted if place not in mine)


def _ranks_in_map_order(roster: Roster) -> list[int]:
    rank_of = {roster.member_ids[position]: rank for rank, position in enumerate(roster.position)}
    return [rank_of[member_id] for member_id in hash_map_order(roster.member_ids)]


def _no_list() -> AssignorError:
    """The original looks for a member that takes no part, or for the owner of a partition that has none."""
    return AssignorError(
        "NullPointerException",
        'Cannot invoke "java.util.List.size()" because the return value of "java.util.Map.get(Object)" is null',
    )
