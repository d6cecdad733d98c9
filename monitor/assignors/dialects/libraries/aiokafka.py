"""aiokafka's ``range``, ``roundrobin`` and ``sticky`` (aiokafka 0.14.0, ``aiokafka/coordinator/assignors``).

``range`` and ``roundrobin`` are Kafka's own rules for members by member id, in code points. Instance ids and racks
play no part.

>>> from monitor.model import Member, TopicShape
>>> members = (Member(member_id="C0", topics=("t",)), Member(member_id="C1", topics=("t",), instance_id="i"))
>>> group = Group(members=members, topics=(TopicShape(topic="t", partitions=3),))
>>> for rule in (Range(), RoundRobin()):
...     print([(member.member_id, member.topics[0].partitions) for member in rule.assign(group).members])
[('C0', (0, 1)), ('C1', (2,))]
[('C0', (0, 2)), ('C1', (1,))]

``sticky`` is KIP-54's older algorithm in Python (``sticky.kip54_run``, ``sticky.python_run``). Its memory belongs to
the class: several consumers of one process send the same user data. The first of them in the JoinGroup answer keeps
all of it.
"""

from __future__ import annotations

from monitor.assignors.dialects.dealing import deal_in_one_round, deal_topic_by_topic
from monitor.assignors.dialects.dialect import Group, ReplayedDialect
from monitor.assignors.dialects.member_orders import by_member_id
from monitor.assignors.dialects.sticky.memories import read_java_form
from monitor.assignors.dialects.sticky.python_run import PythonRun
from monitor.assignors.dialects.sticky.python_sticky import PythonSticky
from monitor.model import Assignment


class Range(ReplayedDialect):
    """``range``, ``RangePartitionAssignor``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails."""
        return deal_topic_by_topic(group, by_member_id)


class RoundRobin(ReplayedDialect):
    """``roundrobin``, ``RoundRobinPartitionAssignor``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails."""
        return deal_in_one_round(group, by_member_id)


class Sticky(PythonSticky):
    """``sticky``, ``StickyPartitionAssignor``. See the module for the rule."""

    def __init__(self) -> None:
        super().__init__(PythonRun, read_java_form)
