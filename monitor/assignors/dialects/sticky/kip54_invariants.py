"""What every finished run of KIP-54's algorithm promises, whichever order its maps had.

The algorithm moves one partition at a time, until none has a subscriber that holds two fewer than its owner. That is
less than the best: exchanges that take two moves are not found. But if all members subscribe to the same topics it is
the best. The algorithm then also takes partitions from the members that hold most, and gives them to the one that holds
least, so that none moves without need.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations_with_replacement, product
from math import comb, prod
from typing import Final

from monitor.assignors.dialects.sticky.claims import Origins, settled_origins
from monitor.assignors.dialects.sticky.optimum import moves_refusal
from monitor.assignors.dialects.sticky.rows import Owners, loads_of, topic_rows
from monitor.assignors.dialects.sticky.withheld import (
    Claimants,
    Takers,
    idle_refusal,
    most_even_target,
    possible_takers,
)
from monitor.assignors.dialects.structure import Structure
from monitor.model import TopicPartition
from monitor.model.evidence import Refusal, RefusalReason

MAX_CHECKS: Final = 100_000
"""How many owners are looked at, in all the targets that a cooperative strategy can have had."""


def eager_refusal(structure: Structure, members: Sequence[str], origins: Origins) -> Refusal | None:
    """Why an eager strategy cannot have given this assignment: it is uneven, or moves partitions without need.

    Args:
        structure: what was given.
        members: all members.
        origins: who owned what before. Moves are not checked where subscriptions differ.
    """
    uneven = single_move_refusal(structure, members, structure.owners)
    return uneven or _needless_move(structure, members, structure.owners, origins)


def cooperative_refusal(
    structure: Structure, members: Sequence[str], claimants: Mapping[TopicPartition, Claimants], origins: Origins
) -> Refusal | None:
    """Why no possible target of a cooperative strategy fits. Its owners have been checked for early moves.

    Args:
        structure: what was given.
        members: all members.
        claimants: who claims what.
        origins: as for ``eager_refusal``.
    """
    takers = possible_takers(structure, claimants)
    target = most_even_target(structure.owners, takers, members)
    refusal = idle_refusal(takers, claimants) or _target_refusal(structure, members, takers, target)
    return refusal or _needless_move(structure, members, target, origins)


def single_move_refusal(structure: Structure, members: Sequence[str], owners: Owners) -> Refusal | None:
    """A partition with a subscriber that holds two fewer than its owner.

    Members that own what they do not subscribe to take nothing: they can seem to hold all that they could get.
    """
    loads = loads_of(owners, members)
    odd = {name for place, name in owners.items() if name not in structure.subscribers.get(place.topic, ())}
    least = {
        topic: min((name for name in names if name not in odd), key=lambda name: (loads[name], name), default=None)
        for topic, names in structure.subscribers.items()
    }
    for place, owner in sorted(owners.items()):
        taker = least.get(place.topic)
        if taker is not None and loads[owner] > loads[taker] + 1:
            return Refusal(RefusalReason.UNEVEN, place, structure.owners.get(place), taker)
    return None


def _needless_move(structure: Structure, members: Sequence[str], target: Owners, origins: Origins) -> Refusal | None:
    is_uniform = all(len(names) == len(members) for names in structure.subscribers.values())
    if not is_uniform:
        return None
    return moves_refusal(topic_rows(structure), members, target, settled_origins(origins, target))


def _target_refusal(structure: Structure, members: Sequence[str], takers: Takers, likeliest: Owners) -> Refusal | None:
    """As ``single_move_refusal``, for every possible target; None also where there are too many."""
    first = single_move_refusal(structure, members, likeliest)
    if first is None:
        return None
    alike = _places_alike(takers)
    targets = prod(comb(len(names) + len(places) - 1, len(places)) for (_, names), places in alike.items())
    if targets * len(structure.owners) > MAX_CHECKS:
        return None
    possible = ({**structure.owners, **given} for given in _ways_to_give(alike))
    return None if any(single_move_refusal(structure, members, each) is None for each in possible) else first


Alike = Mapping[tuple[str, tuple[str, ...]], Sequence[TopicPartition]]
"""Partitions of one topic that the same members may take."""


def _places_alike(takers: Takers) -> Alike:
    alike: dict[tuple[str, tuple[str, ...]], list[TopicPartition]] = defaultdict(list)
    for place, names in takers.items():
        alike[place.topic, names].append(place)
    return alike


def _ways_to_give(alike: Alike) -> Iterator[dict[TopicPartition, str]]:
    """All ways to give the partitions to their takers, but for exchanges of those that are alike."""
    choices = [combinations_with_replacement(names, len(places)) for (_, names), places in alike.items()]
    for chosen in product(*choices):
        given = zip(alike.values(), chosen, strict=True)
        yield {place: name for places, names in given for place, name in zip(places, names, strict=True)}
