"""kafka-go's ``rack-affinity`` by hand: what the order of zones can bring where.

kafka-go v0.4.51 itself, run 400 times for each case, gives exactly those of these assignments that are accepted.
"""

from __future__ import annotations

import pytest

from monitor.assignors.dialects import Group
from monitor.assignors.dialects.libraries.kafka_go_rack_affinity import RackAffinity
from monitor.model import Assignment, Member, MemberAssignment, TopicPartition, TopicPartitions, TopicShape
from monitor.model.evidence import RefusalReason

RACK, UNEVEN = RefusalReason.RACK, RefusalReason.UNEVEN


def refused(readers, zones, given):
    """The refusal of partitions given to readers in order, whose zones are these letters; "-" is no zone."""
    members = tuple(
        Member(member_id=f"C{number}", topics=("t",), user_data=None if zone == "-" else zone.encode())
        for number, zone in enumerate(readers)
    )
    racks = tuple((None if zone == "-" else zone, "elsewhere") for zone in zones)
    group = Group(members=members, topics=(TopicShape(topic="t", partitions=len(zones), racks=racks),))
    return RackAffinity().refusal(
        Assignment(
            members=tuple(
                MemberAssignment(member.member_id, (TopicPartitions("t", tuple(partitions)),))
                for member, partitions in zip(members, given, strict=True)
            )
        ),
        group,
    )


CASES = [
    # readers, zones of the partitions, what is given, the reason
    pytest.param("ab", "abab", ([0, 2], [1, 3]), None, id="each zone has its reader"),
    pytest.param("ab", "abab", ([0, 1], [2, 3]), RACK, id="which takes nothing else first"),
    pytest.param("ab", "abab", ([0, 2, 1], [3]), UNEVEN, id="and not more than its share"),
    pytest.param("aa", "aaaa", ([0, 1], [2, 3]), None, id="readers of a zone get runs"),
    pytest.param("aa", "aaaa", ([0, 2], [1, 3]), RACK, id="and not every other partition"),
    pytest.param("ab", "aab", ([0, 1], [2]), None, id="an extra goes to the zone that has one left"),
    pytest.param("ab", "aab", ([0], [1, 2]), RACK, id="and not to the other one"),
    pytest.param("abc", "aabbc", ([0, 1], [2, 3], [4]), None, id="two extras for two zones"),
    pytest.param("abc", "aabbccc", ([0, 1], [2, 3], [4, 5, 6]), None, id="one extra, and the third zone came first"),
    pytest.param("abc", "aabbccc", ([0, 1, 6], [2, 3], [4, 5]), RACK, id="an extra that a zone wants stays there"),
    pytest.param("ab", "xxyy", ([0, 1], [2, 3]), None, id="foreign zones, one after the other"),
    pytest.param("ab", "xxyy", ([2, 3], [0, 1]), None, id="in any order"),
    pytest.param("ab", "xxyy", ([0, 2], [1, 3]), RACK, id="but a zone is not torn"),
    pytest.param("ab", "xyyy", ([0, 1], [2, 3]), None, id="a zone may be cut where a reader is full"),
    pytest.param("ab", "xyyy", ([1, 2], [3, 0]), None, id="and then it is finished first"),
    pytest.param("ab", "xyyy", ([0, 2], [1, 3]), RACK, id="from its head"),
    pytest.param("abc", "xxxyyy", ([0, 1], [3, 4], [2, 5]), RACK, id="not two zones that are cut"),
    pytest.param("abc", "xxxyyy", ([0, 1], [2, 3], [4, 5]), None, id="one and then the other"),
    pytest.param("aabbxx", "aaaabbbb", ([0, 2], [1, 3], [4], [5], [6], [7]), None, id="two extras for one zone"),
    pytest.param("aabbxx", "aaaabbbb", ([0, 2], [1], [4, 6], [5], [3], [7]), RACK, id="and not one for each"),
    pytest.param("--", "--", ([0], [1]), None, id="no zone is a zone"),
    pytest.param("--", "--", ([1], [0]), RACK, id="of which readers in order get runs"),
]


@pytest.mark.parametrize(("readers", "zones", "given", "reason"), CASES)
def test_an_order_of_zones_explains_what_is_accepted(readers, zones, given, reason):
    refusal = refused(readers, zones, given)
    assert (None if refusal is None else refusal.reason) is reason


def test_the_place_is_the_first_partition_that_is_elsewhere():
    refusal = refused("ab", "abab", ([0, 1], [2, 3]))
    assert refusal is not None
    assert (refusal.partition, refusal.other) == (TopicPartition("t", 2), "C0")


def test_without_known_racks_only_the_numbers_count():
    members = tuple(Member(member_id=name, topics=("t",), user_data=b"a") for name in ("C0", "C1"))
    group = Group(members=members, topics=(TopicShape(topic="t", partitions=4),))
    even, uneven = (
        Assignment(members=tuple(MemberAssignment(f"C{number}", (TopicPartitions("t", own),)) for number, own in given))
        for given in ([(0, (3, 0)), (1, (2, 1))], [(0, (0, 1, 2)), (1, (3,))])
    )
    assert RackAffinity().refusal(even, group) is None
    refusal = RackAffinity().refusal(uneven, group)
    assert refusal is not None
    assert refusal.reason is UNEVEN
