"""Partitions that a cooperative strategy withholds in this round, because a member that claims them loses them.

Its answer is a *target* without what is withheld. So the target has to be found again: every partition without an owner
goes to some member that did not own it. Whatever else the target was, it was as even as those allowed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from monitor.assignors.dialects.dialect import Group
from monitor.assignors.dialects.sticky.memories import claimed_places, read_fields
from monitor.assignors.dialects.sticky.rows import Owners, form_rows, levelling_path, loads_of
from monitor.assignors.dialects.structure import Structure
from monitor.assignors.kafka_client.sticky.general.least_loaded import LeastLoaded
from monitor.model import TopicPartition, Value
from monitor.model.evidence import Refusal, RefusalReason


class Claimants(Value):
    """Who claims a partition, and whose claim the strategy believes when it looks for partitions that move."""

    all: frozenset[str]
    believed: frozenset[str]


def last_claimants(group: Group) -> dict[TopicPartition, str]:
    """The last member in the JoinGroup answer that claims each partition in the fields of its subscription."""
    return {place: member.member_id for member in group.members for place in claimed_places(read_fields(member))}


def sole_claimants(claimants: Mapping[TopicPartition, str]) -> dict[TopicPartition, Claimants]:
    """The claimants if only this claim of each partition counts."""
    alone = {place: frozenset({member}) for place, member in claimants.items()}
    return {place: Claimants(all=names, believed=names) for place, names in alone.items()}


Takers = Mapping[TopicPartition, tuple[str, ...]]
"""The members that may get each partition that is withheld."""


def without_early_moves(target: Owners, claimants: Mapping[TopicPartition, Claimants]) -> dict[TopicPartition, str]:
    """What of a target is given at once."""
    return {place: owner for place, owner in target.items() if not _is_early(place, owner, claimants)}


def _is_early(place: TopicPartition, owner: str, claimants: Mapping[TopicPartition, Claimants]) -> bool:
    claimed = claimants.get(place)
    return claimed is not None and owner not in claimed.believed and not claimed.all <= {owner}


def early_move_refusal(structure: Structure, claimants: Mapping[TopicPartition, Claimants]) -> Refusal | None:
    """A partition that moved although another member claims it."""
    for place, owner in structure.owners.items():
        if _is_early(place, owner, claimants):
            return Refusal(RefusalReason.NOT_WITHHELD, place, owner, min(claimants[place].all - {owner}))
    return None


def idle_refusal(takers: Takers, claimants: Mapping[TopicPartition, Claimants]) -> Refusal | None:
    """A partition without an owner that is not on its way to anybody."""
    for place, names in takers.items():
        if place not in claimants or not names:
            return Refusal(RefusalReason.UNASSIGNED, place)
    return None


def possible_takers(structure: Structure, claimants: Mapping[TopicPartition, Claimants]) -> Takers:
    """Who can get each partition without an owner: the subscribers whose own claim of it is not believed."""
    takers: dict[TopicPartition, tuple[str, ...]] = {}
    for place in structure.unassigned():
        barred = claimants[place].believed if place in claimants else frozenset()
        takers[place] = tuple(name for name in structure.subscribers[place.topic] if name not in barred)
    return takers


def most_even_target(owners: Owners, takers: Takers, members: Sequence[str]) -> dict[TopicPartition, str]:
    """The owners with what is withheld, each at one of its takers, as even as that can be."""
    target = dict(owners)
    handed_out = _hand_out(loads_of(owners, members), takers)
    rows = form_rows((names, [place]) for place, names in takers.items())
    while path := levelling_path(rows, loads_of(target | handed_out, members), rows.count(handed_out)):
        for step in path:
            place = next(each for each in rows.places[step.row] if handed_out[each] == step.giver)
            handed_out[place] = step.taker
    return target | handed_out


def _hand_out(loads: Mapping[str, int], takers: Takers) -> dict[TopicPartition, str]:
    """Each partition to the taker with the least, those with the fewest takers first."""
    names = list(loads)
    rank = {name: number for number, name in enumerate(names)}
    crowds = {crowd: [rank[name] for name in crowd] for crowd in set(takers.values())}
    standing = LeastLoaded(list(loads.values()), crowds)
    given: dict[TopicPartition, str] = {}
    for place in sorted(takers, key=lambda place: (len(takers[place]), place)):
        least = standing.least(takers[place])
        if least is not None:
            standing.grew(least)
            given[place] = names[least]
    return given
