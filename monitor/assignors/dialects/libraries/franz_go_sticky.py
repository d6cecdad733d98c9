"""franz-go's ``sticky`` and ``cooperative-sticky`` (github.com/twmb/franz-go v1.22.2, ``pkg/kgo/internal/sticky``).

An algorithm of its own under Java's names. With several topics its answers depend on the order of Go's maps. All of
them are as good as can be, and that is checked:

1. Every partition of a subscribed topic has exactly one owner, and the owner subscribes to the topic.
2. No moves make the numbers of partitions more even, however many of them together.
3. No assignment that is as even keeps more partitions where they were. If two members claim a partition, the newer
   generation had it. But the other member may get it back before anything else, so either counts.
4. *Cooperative*: a partition that comes to a new member has no owner as long as another member claims it. A member
   whose claim is older than another one does count as new.

If all members subscribe to one topic, and to no other that exists, the answer is known (``franz_go_one_topic``).

Clients with ``BalanceRacks`` put racks before 3; they are not covered.

>>> from monitor.model import Member, MemberAssignment, TopicPartitions, TopicShape
>>> members = tuple(Member(member_id=name, topics=("t", "u")) for name in ("C0", "C1"))
>>> group = Group(members=members, topics=tuple(TopicShape(topic=name, partitions=1) for name in ("t", "u")))
>>> both = (TopicPartitions("t", (0,)), TopicPartitions("u", (0,)))
>>> given = Assignment(members=(MemberAssignment("C0", both), MemberAssignment("C1")))
>>> Sticky().refusal(given, group).reason
<RefusalReason.UNEVEN: 'uneven'>
"""

from __future__ import annotations

from monitor.assignors.dialects.dealing import assign_owners
from monitor.assignors.dialects.dialect import CheckedDialect, Group
from monitor.assignors.dialects.libraries.franz_go_one_topic import one_topic_target
from monitor.assignors.dialects.member_orders import static_first
from monitor.assignors.dialects.refusals import first_difference
from monitor.assignors.dialects.sticky.claims import (
    Claims,
    Origins,
    existing_claims,
    newest_claims,
    read_claims,
    settled_origins,
)
from monitor.assignors.dialects.sticky.memories import (
    MemoryReader,
    read_fields,
    read_fields_or_java_form,
    read_lenient_java_form,
)
from monitor.assignors.dialects.sticky.optimum import moves_refusal, optimum_refusal, uneven_refusal
from monitor.assignors.dialects.sticky.rows import topic_rows
from monitor.assignors.dialects.sticky.withheld import (
    Claimants,
    Takers,
    early_move_refusal,
    idle_refusal,
    most_even_target,
    possible_takers,
    without_early_moves,
)
from monitor.assignors.dialects.structure import Structure, read_full_structure, read_structure
from monitor.model import Assignment, TopicPartition
from monitor.model.evidence import Refusal


class Sticky(CheckedDialect):
    """``sticky``, ``StickyBalancer``. See the module for the rule."""

    def refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """See ``CheckedDialect.refusal``."""
        structure = read_full_structure(given, group)
        if isinstance(structure, Refusal):
            return structure
        claims = _claims(group, read_lenient_java_form)
        target = one_topic_target(group, claims)
        if target is not None:
            return first_difference(given, assign_owners(group, target))
        origins = _origins(claims)
        before = settled_origins(origins, structure.owners)
        return optimum_refusal(topic_rows(structure), group.member_ids(), structure.owners, before)


class CooperativeSticky(CheckedDialect):
    """``cooperative-sticky``, ``CooperativeStickyBalancer``. See the module for the rule."""

    def refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """See ``CheckedDialect.refusal``."""
        structure = read_structure(given, group)
        if isinstance(structure, Refusal):
            return structure
        claimants = _claimants(read_claims(group.members, read_fields))
        claims = _claims(group, read_fields_or_java_form)
        target = one_topic_target(group, claims)
        if target is not None:
            return first_difference(given, assign_owners(group, without_early_moves(target, claimants)))
        origins = _origins(claims)
        takers = possible_takers(structure, claimants)
        refusal = early_move_refusal(structure, claimants) or idle_refusal(takers, claimants)
        return refusal or _target_refusal(structure, takers, origins, group)


def _target_refusal(structure: Structure, takers: Takers, origins: Origins, group: Group) -> Refusal | None:
    members = group.member_ids()
    target = most_even_target(structure.owners, takers, members)
    uneven = uneven_refusal(topic_rows(structure), members, target)
    if uneven is not None or any(set(takers[place]).intersection(origins.get(place, ())) for place in takers):
        return uneven  # whether one of these is to go back to its owner of before is not known
    return moves_refusal(topic_rows(structure), members, target, settled_origins(origins, target))


def _claimants(claims: Claims) -> dict[TopicPartition, Claimants]:
    return {
        place: Claimants(
            all=frozenset(claim.member for claim in own),
            believed=frozenset(claim.member for claim in newest_claims(own)),
        )
        for place, own in claims.items()
    }


def _claims(group: Group, read: MemoryReader) -> Claims:
    return existing_claims(read_claims(static_first(group.members), read), group)


def _origins(claims: Claims) -> Origins:
    """The member with the newest claim of each partition, and the one with the next, as far as they still subscribe."""
    return {place: tuple(claim.member for claim in own[:2] if claim.is_subscribed) for place, own in claims.items()}
