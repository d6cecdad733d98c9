"""KIP-54's algorithm as kafka-python and aiokafka have it, which share its origin.

What is theirs, beside the steps of ``kip54_run``:

- Of members that claim a partition for the same generation the first in the JoinGroup answer owns it; for generation 0
  the last one.
- Subscriptions count as the same if the topics that exist stand in the same order in them, too.
- From the member that owns most, the last by id of equal ones, the line takes a partition that has an earlier owner, if
  it has one, and else the last that it claims.
- What moves in place of a partition, and which of several partitions with an earlier owner comes first, is the first
  element of a set of strings: another one in every process. These are the choices of a run.
- An earlier owner that takes no part ends the leader with a KeyError as soon as a partition is to go there.

Source: ``StickyAssignmentExecutor`` in ``assignors/sticky/sticky_assignor.py`` of either library.
"""

from __future__ import annotations

from monitor.assignors.dialects.dialect import Group
from monitor.assignors.dialects.sticky.choices import Choices
from monitor.assignors.dialects.sticky.kip54_run import Kept, Run, line_up_from_largest
from monitor.assignors.dialects.sticky.memories import MemoryReader, claimed_places
from monitor.assignors.dialects.sticky.movements import Movements
from monitor.assignors.dialects.sticky.place_table import PlaceTable
from monitor.assignors.errors import AssignorError
from monitor.protocol.kafka.sticky_user_data import NO_GENERATION


class PythonRun(Run):
    """One run of aiokafka's leader. See the module for what is its own."""

    def __init__(self, table: PlaceTable, kept: Kept, choices: Choices) -> None:
        super().__init__(table, kept, choices)
        self._movements = Movements(table.topic_of)

    def owned_line(self) -> list[int]:
        """See ``Run.owned_line``."""
        return line_up_from_largest([list(places) for places in self.lists], self._take_from)

    def _take_from(self, places: list[int]) -> int:
        earlier = self.kept.earlier
        moved_before = [place for place in places if place in earlier] if earlier else []
        if not moved_before:
            return places.pop()
        place = self.choices.pick(sorted(moved_before))
        places.remove(place)
        return place

    def move_instead(self, place: int, target: int) -> None:
        """See ``Run.move_instead``."""
        self.move(self.moving(place, target), target)

    def moving(self, place: int, target: int) -> int:
        """The place that moves in place of this one, or this one."""
        ways_back = self._movements.ways_back(place, self.owner[place], target)
        return self.choices.pick(sorted(ways_back)) if ways_back else place

    def state(self) -> object:
        """See ``Run.state``."""
        return super().state(), self._movements.state()

    def earlier_owner_size(self, rank: int) -> int:
        """See ``Run.earlier_owner_size``. Who was looked up counts in step 5."""
        if not self.takes_part(rank):
            self.counted.add(rank)
        return super().earlier_owner_size(rank)

    def move(self, place: int, target: int) -> None:
        """See ``Run.move``.

        Raises:
            AssignorError: the target takes no part.
        """
        if not self.takes_part(target):
            raise AssignorError("KeyError", repr((self.table.members[target], ())))
        self._movements.record(place, self.owner[place], target)
        super().move(place, target)


class KafkaPythonRun(PythonRun):
    """One run of kafka-python's leader, which undoes a detour.

    If the place that moves instead is not the owner's, both went the same way before, and the owner would keep too
    much. So this place takes the other one's way back.
    """

    def move_instead(self, place: int, target: int) -> None:
        """See ``Run.move_instead``."""
        moving = self.moving(place, target)
        if self.owner[moving] != self.owner[place]:
            self.move(place, self.owner[moving])
        self.move(moving, target)


def keep_in_python(group: Group, table: PlaceTable, read: MemoryReader) -> Kept:
    """What members keep, and who owned it earlier, as both libraries find out."""
    claims = _claims_by_place(group, table, read)
    lists: list[list[int]] = [[] for _ in table.members]
    earlier: dict[int, int] = {}
    is_revoked = False
    for place, owners in claims.items():
        newest, *older = sorted(owners, reverse=True)
        if older:
            earlier[place] = owners[older[0]]
        if table.topic_of[place] in table.asked[owners[newest]]:
            lists[owners[newest]].append(place)
        else:
            is_revoked = True
    subscriptions = {tuple(topic for topic in member.topics if topic in table.numbers) for member in group.members}
    return Kept(
        lists=tuple(map(tuple, lists)),
        earlier=earlier,
        is_fresh=not any(entry.partitions for member in group.members for entry in read(member).owned),
        is_uniform=len(subscriptions) <= 1,
        is_revoked=is_revoked,
    )


def _claims_by_place(group: Group, table: PlaceTable, read: MemoryReader) -> dict[int, dict[int, int]]:
    """The member (rank) whose claim of a place counts, by generation."""
    claims: dict[int, dict[int, int]] = {}
    for member in group.members:
        memory = read(member)
        generation = NO_GENERATION if memory.generation is None else memory.generation
        for place in table.find(claimed_places(memory)):
            owners = claims.setdefault(place, {})
            if generation == 0 or generation not in owners:
                owners[generation] = table.ranks[member.member_id]
    return claims
