"""librdkafka's ``cooperative-sticky`` (librdkafka 2.16.1; ``rdkafka_sticky_assignor.c``, ``rdkafka_cgrp.c``).

KIP-54's older algorithm in C (``sticky.kip54_run``, ``sticky.c_run``). It gives the target, from which these steps make
what is given at once (``rd_kafka_cooperative_protocol_adjust_assignment``):

1. Of two members that hold one partition in the target, the last in the JoinGroup answer gets it.
2. A partition that comes to a member has no owner if another member claims it. Of several that do, the last counts.
3. A claimed partition that has no owner in the target goes to the last member that claims it. It has no subscribers any
   more, or it does not exist.

With different subscriptions the leader can end: an assertion fails (signal 6), or it reads memory that it has freed
(signal 11). With another C library it may live on. So an assignment is then only checked by what always holds.

Worked example: C0 has to give up two partitions, its first ones, and C1 gets them in the next round.

>>> from monitor.model import Member, TopicPartitions, TopicShape
>>> owned = (TopicPartitions("t", (0, 1, 2, 3)),)
>>> members = (Member(member_id="C0", topics=("t",), owned=owned), Member(member_id="C1", topics=("t",)))
>>> group = Group(members=members, topics=(TopicShape(topic="t", partitions=4),))
>>> for member in CooperativeSticky().assign(group).members:
...     print(member.member_id, [topic.partitions for topic in member.topics])
C0 [(2, 3)]
C1 []
"""

from __future__ import annotations

from monitor.assignors.dialects.dealing import assign_owners
from monitor.assignors.dialects.dialect import Group
from monitor.assignors.dialects.sticky.c_run import CRun, Racks
from monitor.assignors.dialects.sticky.choice_replay import ChoiceReplay
from monitor.assignors.dialects.sticky.choices import Choices
from monitor.assignors.dialects.sticky.claims import read_claims
from monitor.assignors.dialects.sticky.kip54_invariants import cooperative_refusal
from monitor.assignors.dialects.sticky.memories import read_fields
from monitor.assignors.dialects.sticky.place_table import form_place_table
from monitor.assignors.dialects.sticky.withheld import (
    early_move_refusal,
    last_claimants,
    sole_claimants,
    without_early_moves,
)
from monitor.assignors.dialects.structure import read_structure
from monitor.model import Assignment
from monitor.model.evidence import Refusal, RefusalReason


class CooperativeSticky(ChoiceReplay):
    """``cooperative-sticky``. See the module for the rule."""

    def assign_by(self, choices: Choices, group: Group) -> Assignment:
        """See ``ChoiceReplay.assign_by``."""
        table = form_place_table(group)
        lists = CRun(group, table, choices).assign()
        target = {
            table.partition(place): member for member in group.member_ids() for place in lists[table.ranks[member]]
        }
        last = last_claimants(group)
        returned = {place: member for place, member in last.items() if place not in target}
        return assign_owners(group, without_early_moves(target, sole_claimants(last)) | returned)

    def refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """See ``CheckedDialect.refusal``. Where the leader should have ended, it may have lived on."""
        refusal = super().refusal(given, group)
        has_ended = refusal is not None and refusal.reason is RefusalReason.FAILS
        return self.general_refusal(given, group) if has_ended else refusal

    def general_refusal(self, given: Assignment, group: Group) -> Refusal | None:
        """See ``ChoiceReplay.general_refusal``. Evenness is checked if no partition is claimed twice, without racks."""
        table, last = form_place_table(group), last_claimants(group)
        returned = frozenset((place, member) for place, member in last.items() if not table.find([place]))
        structure = read_structure(given, group, returned)
        if isinstance(structure, Refusal):
            return structure
        claims, claimants = read_claims(group.members, read_fields), sole_claimants(last)
        refusal = early_move_refusal(structure, claimants)
        if refusal is not None or any(len(own) > 1 for own in claims.values()) or Racks(group).are_used:
            return refusal
        origins = {place: (claim.member,) for place, (claim,) in claims.items() if claim.is_subscribed}
        return cooperative_refusal(structure, group.member_ids(), claimants, origins)
