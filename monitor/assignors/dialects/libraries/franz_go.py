"""franz-go's ``range`` and ``roundrobin`` (github.com/twmb/franz-go v1.22.2, ``pkg/kgo/group_balancer.go``).

Both are Kafka's own rule for static members first, by instance id, then dynamic ones by member id (in bytes of UTF-8,
where Java compares units of UTF-16). Racks play no part: a client looks at them only with the option ``BalanceRacks``.

>>> from monitor.model import Member, TopicShape
>>> members = (Member(member_id="C0", topics=("t",)), Member(member_id="C1", topics=("t",), instance_id="i"))
>>> group = Group(members=members, topics=(TopicShape(topic="t", partitions=3),))
>>> for rule in (Range(), RoundRobin()):
...     print([(member.member_id, member.topics[0].partitions) for member in rule.assign(group).members])
[('C0', (2,)), ('C1', (0, 1))]
[('C0', (1,)), ('C1', (0, 2))]
"""

from __future__ import annotations

from monitor.assignors.dialects.dealing import deal_in_one_round, deal_topic_by_topic
from monitor.assignors.dialects.dialect import Group, ReplayedDialect
from monitor.assignors.dialects.member_orders import static_first
from monitor.model import Assignment


class Range(ReplayedDialect):
    """``range``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails."""
        return deal_topic_by_topic(group, static_first)


class RoundRobin(ReplayedDialect):
    """``roundrobin``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails."""
        return deal_in_one_round(group, static_first)
