"""Who claims which partitions, and who of them a strategy can have taken for the owner."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

from monitor.assignors.dialects.dialect import Group
from monitor.assignors.dialects.sticky.memories import MemoryReader, claimed_places
from monitor.assignors.dialects.sticky.rows import Owners
from monitor.model import Member, TopicPartition, Value, number


class Claim(Value):
    """What one member says of one partition."""

    member: str
    generation: int
    is_subscribed: bool
    """Whether the member still subscribes to the topic."""


Claims = Mapping[TopicPartition, tuple[Claim, ...]]
"""The claims of each partition: newest generation first; of one generation, in the order of the members."""

Origins = Mapping[TopicPartition, tuple[str | None, ...]]
"""The members that the strategy can have taken for the owner of a partition; None: it can have seen no owner."""


def read_claims(members: Iterable[Member], read: MemoryReader) -> Claims:
    """The claims of all members, of whatever partitions.

    Raises:
        AssignorError: as ``read``.
    """
    claims: dict[TopicPartition, list[Claim]] = defaultdict(list)
    for member in members:
        memory, topics = read(member), frozenset(member.topics)
        generation = -1 if memory.generation is None else memory.generation
        for place in claimed_places(memory):
            claims[place].append(Claim(member.member_id, generation, place.topic in topics))
    return {place: tuple(sorted(own, key=lambda claim: -claim.generation)) for place, own in claims.items()}


def existing_claims(claims: Claims, group: Group) -> Claims:
    """The claims of partitions that exist."""
    counts = group.partition_counts()
    return {place: own for place, own in claims.items() if 0 <= number(place.partition) < counts.get(place.topic, 0)}


def newest_claims(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """Those of the newest generation."""
    return tuple(claim for claim in claims if claim.generation == claims[0].generation)


def settled_origins(origins: Origins, owners: Owners) -> dict[TopicPartition, str]:
    """One owner of before for each partition, such that no answer looks less sticky than it was.

    If the strategy can have taken several for the owner, the present one is taken if it is among them, else none.
    """
    settled: dict[TopicPartition, str] = {}
    for place, names in origins.items():
        owner = owners.get(place)
        name = owner if owner in names else names[0] if len(names) == 1 else None
        if name is not None:
            settled[place] = name
    return settled
