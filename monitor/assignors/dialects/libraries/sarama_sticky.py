"""Sarama's ``sticky`` and ``cooperative-sticky`` (github.com/IBM/sarama v1.61.1, ``balance_strategy.go``).

The older algorithm of KIP-54 over Go's maps, whose order is another one in every run. So its answers are checked for
what they have in common:

1. Every partition of a subscribed topic has exactly one owner, and the owner subscribes to the topic.
2. No partition can move to a subscriber that holds two fewer than its owner.
3. *If all members subscribe to the same topics* and no partition is claimed for two generations: no assignment that is
   as even keeps more partitions where they were.
4. *Cooperative*: a partition that comes to a member that does not claim it has no owner as long as another one claims
   it. Properties 2 and 3 are those of the target.

With different subscriptions the maps decide which partitions stay, so 3 is not checked.

A *stranger* is a member that claims a partition for an older generation and does not subscribe to it any more. The
partition may go back to it. Then it can seem to hold all that it could get, and other members can lose everything. In
such groups the strategies break 1 and 2, and as much less is checked.

The leader of ``sticky`` fails if the user data of any member has another form than Java's.

>>> from monitor.model import Member, MemberAssignment, TopicPartitions, TopicShape
>>> members = (Member(member_id="C0", topics=("t",)), Member(member_id="C1", topics=("t",)))
>>> group = Group(members=members, topics=(TopicShape(topic="t", partitions=2),))
>>> even = tuple(MemberAssignment(f"C{each}", (TopicPartitions("t", (each,)),)) for each in range(2))
>>> Sticky().refusal(Assignment(members=even), group) is None
True
"""

from __future__ import annotations

from monitor.assignors.dialects.dialect import CheckedDialect, Group
from monitor.assignors.dialects.sticky.claims import (
    Claims,
    Origins,
    existing_claims,
    newest_claims,
    read_claims,
)
from monitor.assignors.dialects.sticky.kip54_invariants import cooperative_refusal, eager_refusal
from monitor.assignors.dialects.sticky.memories import read_fields_or_bare_generation, read_strictly
from monitor.assignors.dialects.sticky.withheld import Claimants, early_move_refusal
from monitor.assignors.dialects.structure import Structure, read_structure
from monitor.assignors.errors import AssignorError
from monitor.model import Assignment, TopicPartition
from monitor.model.evidence import Refusal, RefusalReason


class Sticky(CheckedDialect):
    """``sticky``, ``NewBalanceStrategySticky``. See the module for the rule."""

    def refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """See ``CheckedDialect.refusal``."""
        try:
            claims = existing_claims(read_claims(group.members, read_strictly), group)
        except AssignorError as error:
            return Refusal(RefusalReason.FAILS, failure=str(error))
        structure = read_structure(given, group, _earlier_owners(claims))
        if isinstance(structure, Refusal):
            return structure
        losable = _losable(structure, claims) if _has_stranger(claims) else frozenset()
        for place in structure.unassigned():
            if place not in losable:
                return Refusal(RefusalReason.UNASSIGNED, place)
        return eager_refusal(structure, group.member_ids(), _origins(claims))


class CooperativeSticky(CheckedDialect):
    """``cooperative-sticky``, ``NewBalanceStrategyCooperativeSticky``. See the module for the rule."""

    def refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """See ``CheckedDialect.refusal``."""
        claims = existing_claims(read_claims(group.members, read_fields_or_bare_generation), group)
        structure = read_structure(given, group, _earlier_owners(claims))
        if isinstance(structure, Refusal):
            return structure
        claimants = _claimants(claims)
        refusal = early_move_refusal(structure, claimants)
        if refusal is not None or _has_stranger(claims):
            return refusal
        return cooperative_refusal(structure, group.member_ids(), claimants, _origins(claims))


def _origins(claims: Claims) -> Origins:
    """The old owners. Empty if some partition is claimed for two generations: how such partitions move is not known."""
    if any(newest_claims(own) != own for own in claims.values()):
        return {}
    return {
        place: tuple(claim.member if claim.is_subscribed else None for claim in own) for place, own in claims.items()
    }


def _earlier_owners(claims: Claims) -> frozenset[tuple[TopicPartition, str]]:
    """The members to which a partition may go back: those that claim it for a generation before the newest."""
    return frozenset(
        (place, claim.member) for place, own in claims.items() for claim in own if claim.generation < own[0].generation
    )


def _has_stranger(claims: Claims) -> bool:
    """Whether a partition can go back to an earlier owner that does not subscribe to the topic any more."""
    return any(
        claim.generation < own[0].generation and not claim.is_subscribed for own in claims.values() for claim in own
    )


def _losable(structure: Structure, claims: Claims) -> frozenset[TopicPartition]:
    """What can get lost: all partitions of members that take no part, and what can go back to such members."""
    shared = {name for names in structure.subscribers.values() if len(names) > 1 for name in names}
    idle = {topic for topic, names in structure.subscribers.items() if len(names) == 1 and names[0] not in shared}
    returning = {
        place
        for place, own in claims.items()
        if any(claim.generation < own[0].generation and claim.member not in shared for claim in own)
    }
    return frozenset(place for place in structure.unassigned() if place.topic in idle or place in returning)


def _claimants(claims: Claims) -> dict[TopicPartition, Claimants]:
    """Every claim is believed, of whatever generation."""
    everybody = {place: frozenset(claim.member for claim in own) for place, own in claims.items()}
    return {place: Claimants(all=names, believed=names) for place, names in everybody.items()}
