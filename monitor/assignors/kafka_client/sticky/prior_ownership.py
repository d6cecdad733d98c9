"""What the members report that they own, and whose claim counts.

If two members claim one partition, the one with the higher generation owns it; with equal generations it has no owner.
Two quirks of ``AbstractStickyAssignor.allSubscriptionsEqual`` are kept, since the cluster has them:

- The generation of the *other* member, who claimed first, is always read from the field of its subscription, also for
  ``sticky``, which otherwise reads it from the user data. Old clients do not fill the field.
- A partition that was found to be claimed twice keeps the later member in mind, though it does not own it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain

import numpy as np

from monitor.assignors.kafka_client.sticky.partition_index import KnownTopics, Places
from monitor.model import TopicPartitions, Value
from monitor.protocol.kafka.sticky_user_data import NO_GENERATION, PriorAssignment


class Claims(Value):
    """Who owns what. Everything by member has the order of the original's map.

    Claims of topics that have no partitions or no subscribers are left out.
    """

    claimed: tuple[Places, ...]
    """What each member says it owns, in its order."""
    owned: tuple[Places, ...]
    """What each member owns, once conflicts are settled."""
    generation: tuple[int | None, ...]
    """The generation each member's word is from; None: it does not say."""
    max_generation: int
    """The newest generation that any member reported, -1 if none did."""
    doubly_claimed: frozenset[int] = frozenset()
    """The partitions that two members claimed for one generation."""


def settle_claims(
    memories: Sequence[PriorAssignment], fields: Sequence[int], known: KnownTopics, seen_generation: int = NO_GENERATION
) -> Claims:
    """Settle who owns what.

    Args:
        memories: what each member remembers, in the order of the original's map.
        fields: the generation in the field of each member's subscription, -1 if it has none.
        known: the topics that count.
        seen_generation: the newest generation that this object of the original's class has seen before.
    """
    claimed = tuple(places_of(memory.owned, known) for memory in memories)
    generation = tuple(memory.generation for memory in memories)
    everything = np.sort(np.concatenate(claimed)) if claimed else np.empty(0, np.int64)
    dispute = _Dispute([NO_GENERATION if own is None else own for own in generation], fields)
    if (everything[1:] == everything[:-1]).any():
        owned = dispute.settle([places.tolist() for places in claimed])
    else:
        owned = claimed
    return Claims(
        claimed=claimed,
        owned=owned,
        generation=generation,
        max_generation=max((seen_generation, *(own for own in generation if own is not None))),
        doubly_claimed=frozenset(dispute.doubly_claimed),
    )


def places_of(owned: Sequence[TopicPartitions], known: KnownTopics) -> Places:
    """The places of partitions, in the order given, without those of topics that do not count."""
    index = known.index
    kept = [(index[entry.topic] << 32, entry.partitions) for entry in owned if entry.topic in index]
    partitions = np.fromiter(chain.from_iterable(numbers for _, numbers in kept), np.int64)
    bases = np.array([base for base, _ in kept], np.int64)
    return partitions + np.repeat(bases, np.array([len(numbers) for _, numbers in kept], np.int64))


class _Dispute:
    """Goes through the claims one by one, as the original does."""

    def __init__(self, generations: Sequence[int], fields: Sequence[int]) -> None:
        self.doubly_claimed: set[int] = set()
        self._generations = generations
        self._fields = [max(field, NO_GENERATION) for field in fields]

    def settle(self, claimed: Sequence[Sequence[int]]) -> tuple[Places, ...]:
        owned: list[dict[int, None]] = [{} for _ in claimed]  # a list without repeats, from which much is removed
        last: dict[int, int] = {}
        for member, places in enumerate(claimed):
            for place in places:
                other = last.get(place)
                if other is None or self._yields(other, member, place, owned):
                    owned[member][place] = None
                if other is None or self._generations[member] >= self._fields[other]:
                    last[place] = member
        return tuple(np.fromiter(mine, np.int64, len(mine)) for mine in owned)

    def _yields(self, other: int, member: int, place: int, owned: Sequence[dict[int, None]]) -> bool:
        """Settle a second claim; whether it succeeds."""
        mine, others = self._generations[member], self._fields[other]
        if mine == others:
            self.doubly_claimed.add(place)
        held = mine >= others and place in owned[other]
        if held:
            del owned[other][place]
        # The original adds first and removes then. Who claims twice itself keeps only what it still had.
        return mine > others and (other != member or held)
