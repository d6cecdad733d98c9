"""kafka-python's ``sticky`` and ``cooperative-sticky`` (kafka-python 3.0.12, ``kafka/coordinator/assignors``).

KIP-54's older algorithm in Python (``sticky.kip54_run``, ``sticky.python_run``).

``sticky`` reads user data of its own form only: what members of other libraries owned, it does not know.

``cooperative-sticky`` reads the fields of the subscription, whose version has no generation. A partition that comes to
a member gets no owner if another member claims it; of several that do, the last in the JoinGroup answer counts.

Worked example: C0 has to give up its last two partitions, and C1 gets them in the next round.

>>> from monitor.model import Member, TopicPartitions, TopicShape
>>> owned = (TopicPartitions("t", (0, 1, 2, 3)),)
>>> members = (Member(member_id="C0", topics=("t",), owned=owned), Member(member_id="C1", topics=("t",)))
>>> group = Group(members=members, topics=(TopicShape(topic="t", partitions=4),))
>>> for member in CooperativeSticky().assign(group).members:
...     print(member.member_id, [topic.partitions for topic in member.topics])
C0 [(0, 1)]
C1 []
"""

from __future__ import annotations

from monitor.assignors.dialects.dialect import Group
from monitor.assignors.dialects.sticky.memories import read_fields, read_versioned_form
from monitor.assignors.dialects.sticky.python_run import KafkaPythonRun
from monitor.assignors.dialects.sticky.python_sticky import PythonSticky
from monitor.assignors.dialects.sticky.rows import Owners
from monitor.assignors.dialects.sticky.withheld import last_claimants, sole_claimants, without_early_moves


class Sticky(PythonSticky):
    """``sticky``, ``StickyPartitionAssignor``. See the module for the rule."""

    def __init__(self) -> None:
        super().__init__(KafkaPythonRun, read_versioned_form)


class CooperativeSticky(PythonSticky):
    """``cooperative-sticky``, ``CooperativeStickyAssignor``. See the module for the rule."""

    def __init__(self) -> None:
        super().__init__(KafkaPythonRun, read_fields)

    def immediate_part(self, target: Owners, group: Group) -> Owners:
        """See ``PythonSticky.immediate_part``."""
        return without_early_moves(target, sole_claimants(last_claimants(group)))
