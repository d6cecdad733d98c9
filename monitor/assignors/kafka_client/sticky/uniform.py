"""The uniform case of ``sticky`` and ``cooperative-sticky``: all members subscribe to the same topics.

Source: ``AbstractStickyAssignor.ConstrainedAssignmentBuilder`` of kafka-clients 4.3 (KIP-54, racks as of KIP-881).

Words: the *share* is all partitions divided by the members, rounded down; the *extras* are the remainder. A member is
*short* while it has less than the share, *ready* while it has just the share and could take an extra.

Properties, in this order (as long as no member claims a partition that does not exist):

1. Every partition has exactly one owner.
2. Every member has the share, and as many members as there are extras have one more.
3. Members keep what they own, up to that, except what is not on their rack where racks count.

Steps:

1. *Keep*. Members are visited in the order of a ``HashMap`` of their ids. Who owns more than the share keeps the share
   and an extra, as long as there are extras; who owns the share or more keeps the share; who owns less keeps all. Kept
   are the lowest partition numbers, for one number by topic. What two members claimed, no member keeps.
2. *Line up* what is left, by topic and number; where any member has a rack, first by how many members are on its racks.
3. *Match racks*, where they count: see ``rack_round``.
4. *Deal*: the line goes round the short members, by id; then one each to the ready ones: those of step 1 and 3, then
   the others in the order in which they got their share.

Worked example: C1 has gone, and its t-1 goes to C2, who is short.

>>> from monitor.assignors.kafka_client.sticky import CooperativeStickyAssignor
>>> from monitor.model import Member, TopicPartitions, TopicShape
>>> owned = {"C0": (TopicPartitions("t", (0, 3)),), "C2": (TopicPartitions("t", (2,)),)}
>>> members = [Member(member_id=name, topics=("t",), owned=mine, generation=1) for name, mine in owned.items()]
>>> answer = CooperativeStickyAssignor().assign(members, [TopicShape(topic="t", partitions=4)])
>>> [(member.member_id, member.topics[0].partitions) for member in answer.members]
[('C0', (0, 3)), ('C2', (2, 1))]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from monitor.assignors.errors import AssignorError
from monitor.assignors.kafka_client.sticky.partition_index import KnownTopics, Places, partitions_of, topics_of
from monitor.assignors.kafka_client.sticky.prior_ownership import Claims
from monitor.assignors.kafka_client.sticky.quotas import Quotas
from monitor.assignors.kafka_client.sticky.rack_aware_pass import match_racks
from monitor.assignors.kafka_client.sticky.racks import Racks
from monitor.model import Value

NOTHING: Places = np.empty(0, np.int64)


class UniformAnswer(Value):
    """What every member gets, in the order of the original's map."""

    places: tuple[Places, ...]
    """In the order of the original's lists: what was kept, then what came."""
    moving: dict[int, int]
    """Partitions that come to a member (its position) while another one may still hold them."""
    odd: bool
    """Whether a member keeps a partition that does not exist."""


def assign_uniform(
    member_ids: Sequence[str], visit_order: Sequence[int], known: KnownTopics, claims: Claims, racks: Racks
) -> UniformAnswer:
    """Assign a group. See the module for the rule.

    Args:
        member_ids: distinct, in the order of the original's map. *Positions* refer to it.
        visit_order: the positions in the order of step 1.
        known: the topics that have partitions and to which all members subscribe.
        claims: what the members own.
        racks: where members and replicas are.

    Raises:
        AssignorError: there are no members, or no member may take the rest, because of partitions that do not exist.
    """
    if not member_ids:
        raise AssignorError("ArithmeticException", "/ by zero")
    quotas = Quotas(sum(known.counts), member_ids)
    kept = _keep(visit_order, quotas, claims, racks)
    everything = np.concatenate(kept.places)
    phantoms = everything[~_exist(everything, known)]
    line = racks.least_wanted_first(_not_held(known.all_places(), everything, phantoms))
    quotas.queue_up()
    came = [NOTHING] * len(member_ids)
    if racks.used:
        matched = match_racks(line, quotas, racks)
        line = matched.left
        for member, places in matched.came.items():
            came[member] = np.array(places, np.int64)
    dealt = _by_member(line, quotas.deal(len(line)), len(member_ids))
    new = [np.concatenate(parts) for parts in zip(came, dealt, strict=True)] if racks.used else dealt
    return UniformAnswer(
        places=tuple(np.concatenate(parts) for parts in zip(kept.places, new, strict=True)),
        moving=_moving(new, kept.revoked, claims.doubly_claimed),
        odd=bool(phantoms.size),
    )


class _Kept(Value):
    places: list[Places]
    """By position."""
    revoked: dict[int, int]
    """What was taken away, and from whom."""


def _keep(visit_order: Sequence[int], quotas: Quotas, claims: Claims, racks: Racks) -> _Kept:
    owned = _lowest_first(claims.owned, claims.doubly_claimed)
    revoked: dict[int, int] = {}
    for member in visit_order:
        mine = owned[member]
        if racks.used:
            fits = np.array([racks.fits(member, place) for place in mine.tolist()], np.bool_)
            revoked |= dict.fromkeys(mine[~fits].tolist(), member)
            mine = mine[fits]
        keeps = quotas.keep(member, len(mine))
        if keeps < len(mine):
            revoked |= dict.fromkeys(mine[keeps:].tolist(), member)
        owned[member] = mine[:keeps]
    return _Kept(places=owned, revoked=revoked)


def _lowest_first(owned: Sequence[Places], left_out: frozenset[int]) -> list[Places]:
    """Each member's places by partition number, those of one number by topic."""
    everything = np.concatenate(owned)
    members = np.repeat(np.arange(len(owned)), [len(mine) for mine in owned])
    if left_out:
        kept = ~np.isin(everything, list(left_out))
        everything, members = everything[kept], members[kept]
    everything = everything[np.lexsort((topics_of(everything), partitions_of(everything), members))]
    return np.split(everything, np.cumsum(np.bincount(members, minlength=len(owned)))[:-1])


def _exist(places: Places, known: KnownTopics) -> NDArray[np.bool_]:
    partitions = partitions_of(places)
    counts = np.array(known.counts, np.int64)
    return (partitions >= 0) & (partitions < counts[topics_of(places)])


def _not_held(everything: Places, held: Places, phantoms: Places) -> Places:
    """The partitions without an owner. Behind one that does not exist, the original takes everything for that."""
    free = np.ones(len(everything), np.bool_)
    free[np.searchsorted(everything, np.setdiff1d(held, phantoms))] = False
    if phantoms.size:
        free |= everything > phantoms.min()
    return everything[free]


def _by_member(line: Places, takers: Places, members: int) -> list[Places]:
    order = np.argsort(takers, kind="stable")
    return np.split(line[order], np.cumsum(np.bincount(takers, minlength=members))[:-1])


def _moving(new: Sequence[Places], revoked: dict[int, int], doubly_claimed: frozenset[int]) -> dict[int, int]:
    if not revoked and not doubly_claimed:
        return {}
    return {
        place: member
        for member, places in enumerate(new)
        for place in places.tolist()
        if place in doubly_claimed or revoked.get(place, member) != member
    }
