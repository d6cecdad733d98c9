"""Who holds which partitions while a group with different subscriptions is assigned."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.assignors.kafka_client.sticky.general.potential_consumers import Roster
from monitor.assignors.kafka_client.sticky.partition_index import KnownTopics, partition_of, topic_of
from monitor.assignors.kafka_client.sticky.prior_ownership import Claims
from monitor.assignors.kafka_client.sticky.racks import Racks
from monitor.model import Value


class Stretch(Value):
    """Some partitions of one topic (places, ascending)."""

    topic: int
    places: Sequence[int]


class Holdings:
    """The partitions of every member (by rank, in the order in which they came), and the owner of every partition.

    A partition that was given away twice is in two lists; its owner is who got it last.
    """

    def __init__(self, lists: list[list[int]]) -> None:
        self.lists = lists
        self.owner = {place: rank for rank, places in enumerate(lists) for place in places}

    def sizes(self) -> list[int]:
        """How many partitions each member holds, by rank."""
        return [len(places) for places in self.lists]

    def give(self, place: int, rank: int) -> None:
        """The member gets a partition, even if another one holds it."""
        self.lists[rank].append(place)
        self.owner[place] = rank

    def move(self, place: int, target: int) -> None:
        """The owner loses the partition (the first of its entries), and the target gets it."""
        self.lists[self.owner[place]].remove(place)
        self.give(place, target)


class Kept(Value):
    """What members keep of what they own."""

    holdings: Holdings
    revoked: bool
    """Whether anybody had to give something up, for its subscription or its rack."""
    phantoms: tuple[int, ...]
    """What a member keeps although it does not exist: partition numbers that their topics do not have."""


def keep_owned(roster: Roster, known: KnownTopics, claims: Claims, racks: Racks) -> Kept:
    """Every member keeps what it owns of the topics that it still asks for, as long as its rack fits."""
    lists: list[list[int]] = []
    for rank, position in enumerate(roster.position):
        wanted = set(roster.asked[rank])
        mine = [place for place in claims.owned[position].tolist() if topic_of(place) in wanted]
        lists.append([place for place in mine if racks.fits(position, place)])
    holdings = Holdings(lists)
    return Kept(
        holdings=holdings,
        revoked=sum(map(len, lists)) < sum(map(len, claims.owned)),
        phantoms=tuple(place for place in holdings.owner if not known.exists(place)),
    )


def unassigned(roster: Roster, known: KnownTopics, kept: Kept) -> list[Stretch]:
    """The partitions without an owner, in line.

    The original compares two sorted lists. It never gets past a phantom there, so from the first one on it takes
    everything for unassigned, also partitions with an owner.
    """
    owner = kept.holdings.owner
    compared = _topics_before_a_phantom(roster, kept.phantoms)
    stretches = []
    for number, topic in enumerate(roster.line):
        places: Sequence[int] = known.places(topic)
        if owner and number < compared:
            places = [place for place in places if place not in owner]
        stretches.append(Stretch(topic=topic, places=places))
    return [stretch for stretch in stretches if stretch.places]


def _topics_before_a_phantom(roster: Roster, phantoms: Sequence[int]) -> int:
    numbers = {topic: number for number, topic in enumerate(roster.line)}
    # A negative partition comes before those of its topic, one beyond the count comes behind them.
    stops = [numbers[topic_of(place)] + (partition_of(place) >= 0) for place in phantoms]
    return min(stops, default=len(roster.line))
