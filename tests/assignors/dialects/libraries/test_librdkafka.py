"""librdkafka's strategies where the log leaves an order open, by hand."""

from __future__ import annotations

from monitor.assignors.dialects import DIALECTS, Group
from monitor.model import Member, TopicPartitions, TopicShape
from monitor.model.evidence import RefusalReason
from tests.assignors.dialects.golden import assignment_of, plain

RING = (
    # i1 < i2 by instance id, but c < b < a by what else is compared: there is no order of these three
    Member(member_id="c", topics=("t",), instance_id="i1"),
    Member(member_id="b", topics=("t",)),
    Member(member_id="a", topics=("t",), instance_id="i2"),
)
ONE_EACH = (TopicShape(topic="t", partitions=3),)


def test_members_without_an_order_have_several_assignments():
    rule = DIALECTS["librdkafka.range"].rule
    group = Group(members=RING, topics=ONE_EACH)
    possible = {str(plain(answer)) for answer in rule.possible_assignments(group)}
    assert len(possible) == 3
    assert all(rule.refusal(answer, group) is None for answer in rule.possible_assignments(group))
    backwards = assignment_of({"a": {"t": [2]}, "b": {"t": [1]}, "c": {"t": [0]}})
    assert (rule.refusal(backwards, group) is None) is (str(plain(backwards)) in possible)


def test_members_of_one_kind_have_one_assignment():
    rule = DIALECTS["librdkafka.range"].rule
    group = Group(members=RING[::2], topics=ONE_EACH)
    assert [plain(answer) for answer in rule.possible_assignments(group)] == [{"c": {"t": [0, 1]}, "a": {"t": [2]}}]


def test_an_empty_rack_is_none_in_range_and_a_member_without_one_is_at_home_everywhere():
    """What librdkafka 2.15.0 answers: C0 comes first and takes 0 and 1, although C1 is on their rack."""
    members = tuple(Member(member_id=name, topics=("t",), rack=rack) for name, rack in (("C0", ""), ("C1", "a")))
    shape = TopicShape(topic="t", partitions=4, racks=(("a",), ("a",), ("b",), ("b",)))
    answer = DIALECTS["librdkafka.range"].rule.assign(Group(members=members, topics=(shape,)))
    assert plain(answer) == {"C0": {"t": [0, 1]}, "C1": {"t": [2, 3]}}


def partly_owned(topics):
    """C0 owns the first partition of each topic; C1 is new."""
    owned = tuple(TopicPartitions(name, (0,)) for name in topics)
    members = (Member(member_id="C0", topics=topics, owned=owned), Member(member_id="C1", topics=topics))
    return Group(members=members, topics=tuple(TopicShape(topic=name, partitions=3) for name in topics))


def test_the_order_of_a_metadata_answer_is_not_known():
    rule = DIALECTS["librdkafka.cooperative-sticky"].rule
    group = partly_owned(("t", "u"))
    possible = [plain(answer) for answer in rule.possible_assignments(group)]
    assert len(possible) == 2
    assert possible[0] != possible[1]
    assert all(rule.refusal(assignment_of(answer), group) is None for answer in possible)
    neither = {"C0": {"t": [0, 1], "u": [0]}, "C1": {"t": [2], "u": [1, 2]}}
    assert neither not in possible
    assert rule.refusal(assignment_of(neither), group) is not None


def test_of_many_topics_not_all_orders_are_tried_and_the_assignment_is_checked():
    rule = DIALECTS["librdkafka.cooperative-sticky"].rule
    topics = ("p", "q", "r", "s", "t")
    group = partly_owned(topics)
    kept = {topic: [0] for topic in topics}
    # 15 partitions: C0 keeps its five, and gets two or three of the other ten
    even = assignment_of(
        {"C0": kept | {"p": [0, 1], "q": [0, 1]}, "C1": {name: [1, 2] for name in "rst"} | {"p": [2], "q": [2]}}
    )
    uneven = assignment_of({"C0": kept, "C1": {name: [1, 2] for name in topics}})
    assert rule.refusal(even, group) is None
    refusal = rule.refusal(uneven, group)
    assert refusal is not None
    assert refusal.reason is RefusalReason.UNEVEN


def test_what_nobody_can_get_goes_back_to_the_last_that_claims_it():
    owned = (TopicPartitions("gone", (0,)),)
    members = tuple(Member(member_id=name, topics=("t",), owned=owned) for name in ("C1", "C0"))
    group = Group(members=members, topics=(TopicShape(topic="t", partitions=1),))
    rule = DIALECTS["librdkafka.cooperative-sticky"].rule
    assert plain(rule.assign(group)) == {"C1": {}, "C0": {"gone": [0], "t": [0]}}
