"""librdkafka's ``range`` and ``roundrobin`` (librdkafka 2.16.1).

``roundrobin`` is Kafka's own rule, and so is ``range`` without racks. Ids are compared by bytes: instance ids if both
of two members have one, else member ids. That is no order where static and dynamic members meet (``merge_sorted``).
What the sort makes of it depends on the order of the JoinGroup answer, and on the C library.

``range`` with racks differs from Kafka's own rule:

1. Racks are used for each batch by itself, and not for the whole group. A batch is the topics with equal subscribers
   and equally many partitions. One of several topics always uses racks; one of a single topic where it gains.
2. In a batch of several topics, a member without a rack matches no partition. It takes part in what is left.

Source: ``rdkafka_range_assignor.c``, ``rdkafka_roundrobin_assignor.c``, and ``rd_kafka_group_member_cmp``.

Worked example: C0 has no rack. Of the two topics that are cut alike, it gets what C1, on rack a, leaves.

>>> from monitor.model import Member, TopicShape
>>> members = tuple(Member(member_id=name, topics=("t", "u"), rack=rack) for name, rack in [("C0", ""), ("C1", "a")])
>>> topics = tuple(TopicShape(topic=name, partitions=2, racks=(("a",), ("a",))) for name in "tu")
>>> for member in Range().assign(Group(members=members, topics=topics)).members:
...     print(member.member_id, [(topic.topic, topic.partitions) for topic in member.topics])
C0 [('t', (1,)), ('u', (1,))]
C1 [('t', (0,)), ('u', (0,))]
"""

from __future__ import annotations

from collections.abc import Iterator

from monitor.assignors.dialects.dealing import deal_in_one_round, topics_with_ordered_subscribers
from monitor.assignors.dialects.dialect import Group, OrderedDialect
from monitor.assignors.dialects.member_orders import merge_sorted
from monitor.assignors.kafka_client.allotment import SharedTopic, collect
from monitor.assignors.kafka_client.copartitioned import form_batches
from monitor.assignors.kafka_client.rack_matching import share_by_racks
from monitor.model import Assignment


class Range(OrderedDialect):
    """``range``, ``rd_kafka_range_assignor_assign_cb``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails."""
        return collect(group.members, group.members, _share_batches(group))


def _share_batches(group: Group) -> Iterator[SharedTopic]:
    racks = tuple(member.rack or None for member in group.members)  # an empty rack is no rack
    for batch in form_batches(topics_with_ordered_subscribers(group, merge_sorted)):
        shares = share_by_racks(batch, racks, rackless_match=False)
        yield from (SharedTopic(topic=shape.topic, shares=shares) for shape in batch.shapes)


class RoundRobin(OrderedDialect):
    """``roundrobin``, ``rd_kafka_roundrobin_assignor_assign_cb``. See the module for the rule."""

    def assign(self, group: Group) -> Assignment:
        """See ``ReplayedDialect.assign``. Never fails."""
        return deal_in_one_round(group, merge_sorted)
