"""Partitions that ``cooperative-sticky`` may not give to their taker yet, because another member still holds them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.assignors.java.order import hash_map_order
from monitor.assignors.kafka_client.sticky.prior_ownership import places_of
from monitor.assignors.kafka_client.sticky.solution import Solution
from monitor.model import Member, Value


class Transfers(Value):
    """The takers (positions) of the partitions that must first be given up."""

    takers: dict[int, int]


def moving_partitions(target: Solution, members: Sequence[Member]) -> Transfers:
    """What comes to a member while another one owns it. The uniform case has noted that; for the general one, compare.

    Args:
        target: what was found.
        members: in its order.
    """
    if target.moving is not None:
        return Transfers(takers=target.moving)
    position = {member.member_id: number for number, member in enumerate(members)}
    coming: dict[int, int] = {}
    given_up: set[int] = set()
    for member_id in hash_map_order(position):
        taker = position[member_id]
        owned = set(places_of(members[taker].owned, target.known).tolist())
        assigned = target.places[taker].tolist()
        coming |= {place: taker for place in assigned if place not in owned}
        given_up |= owned.difference(assigned)
    return Transfers(takers={place: taker for place, taker in coming.items() if place in given_up})


def without(target: Solution, transfers: Transfers) -> Solution:
    """The solution as far as it can be carried out at once."""
    leaving: dict[int, list[int]] = {}
    for place, taker in transfers.takers.items():
        leaving.setdefault(taker, []).append(place)
    places = list(target.places)
    for taker, gone in leaving.items():
        mine = places[taker].tolist()
        for place in gone:
            mine.remove(place)  # the first, as the original does where one partition was given twice
        places[taker] = np.array(mine, np.int64)
    return Solution(known=target.known, places=tuple(places), moving=target.moving, odd=target.odd)
