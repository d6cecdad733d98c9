"""Generations that real leaders assigned on real brokers: replayed, every one of them gives what the leader gave."""

from collections import Counter

import pytest

from monitor.assignors import find
from monitor.detection.ownership.current import owners_by_partition
from monitor.model import MemberAssignment, MembershipStored, TopicShape
from monitor.protocol.kafka.sticky_user_data import is_foreign
from monitor.protocol.offsets_topic import decode_record
from tests.support import captures


def generations(broker, protocol):
    for record in captures.records(broker):
        if record.record_type == 2 and record.value is not None:
            event = decode_record(record.key, record.value, record.timestamp_ms)
            if isinstance(event, MembershipStored) and event.protocol == protocol and event.members:
                yield event


def shapes(event):
    """As many partitions as the members were given or had."""
    counts = Counter()
    for member in event.members:
        for entry in (*member.assigned, *member.owned):
            counts[entry.topic] = max(counts[entry.topic], *(number + 1 for number in entry.partitions), 0)
    return [TopicShape(topic=topic, partitions=count) for topic, count in counts.items() if count]


@pytest.mark.parametrize("broker", captures.BROKERS)
@pytest.mark.parametrize(("protocol", "at_least"), [("sticky", 9), ("cooperative-sticky", 14), ("roundrobin", 12)])
def test_every_generation_is_replayed(broker, protocol, at_least):
    replayed = 0
    for event in generations(broker, protocol):
        if protocol == "sticky" and any(is_foreign(member.user_data) for member in event.members):
            continue  # kafka-python's, which is another assignor
        given = (MemberAssignment(member_id=member.member_id, topics=member.assigned) for member in event.members)
        expected = find(protocol).assign(event.members, shapes(event)).members
        assert owners_by_partition(expected) == owners_by_partition(given), (event.group, event.generation)
        replayed += 1
    assert replayed >= at_least


@pytest.mark.parametrize("broker", captures.BROKERS)
def test_the_captures_have_kafka_pythons_sticky_too(broker):
    foreign = [e for e in generations(broker, "sticky") if any(is_foreign(member.user_data) for member in e.members)]
    assert len(foreign) == 3
