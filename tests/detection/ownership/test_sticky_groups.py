"""Groups whose assignor remembers: what it remembered is in the generation's record, and decides what was right."""

import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.model import FindingKind, TopicPartitions
from tests.assignors.kafka_client.sticky.written import user_data
from tests.support.builders import NOW, catalog, group, member, places, topic

ORDERS = ("orders",)


def findings(state, topics, *kinds):
    verdict = evaluate(state, topics, NOW, DetectionSettings())
    assert verdict.expectation == "exact"
    return [(f.reason, f.partitions) for f in verdict.findings if f.kind in (kinds or (FindingKind.DRIFT,))]


def sticky(name, remembered, assigned, generation=2):
    told = user_data({"orders": remembered}, generation)
    return member(name, ORDERS, {"orders": assigned}, user_data=told)


def cooperative(name, owned, assigned, generation=2):
    return member(
        name, ORDERS, {"orders": assigned}, owned=(TopicPartitions("orders", tuple(owned)),), generation=generation
    )


def test_what_members_remembered_explains_their_assignment():
    """Without memory C0 would get 0 and 2; it had 2 and 3, and keeps them."""
    state = group(sticky("C0", [2, 3], [2, 3]), sticky("C1", [0, 1], [0, 1]), protocol="sticky")
    assert findings(state, catalog(topic("orders", 4))) == []


def test_a_member_that_lost_what_it_remembered_is_drift():
    state = group(sticky("C0", [2, 3], [0, 1]), sticky("C1", [0, 1], [2, 3]), protocol="sticky")
    assert findings(state, catalog(topic("orders", 4))) == [("replayed", places("orders", 0, 1, 2, 3))]


def test_a_rebalance_now_would_start_from_the_assignment_as_it_is():
    """Two new partitions go to the two members; nothing else would move, whatever members remembered before."""
    state = group(sticky("C0", [0], [0, 3]), sticky("C1", [1], [1, 2]), protocol="sticky")
    grown = catalog(topic("orders", 6, grown=2))
    assert findings(state, grown) == [
        ("replayed", places("orders", 2, 3)),
        ("current", places("orders", 4, 5)),
    ]


@pytest.mark.parametrize(
    ("kept_by_c0", "kept_by_c1", "drift"),
    [
        pytest.param([0, 1, 2], [4, 5], [], id="C0 first, as a HashMap of these ids iterates"),
        pytest.param([0, 1], [4, 5, 6], [("tie", places("orders", 2, 6))], id="C1 first, as it could have been"),
    ],
)
def test_who_keeps_the_extra_partition_is_a_tie(kept_by_c0, kept_by_c1, drift):
    """Seven partitions for three: one member keeps three of its own, the other two, and C2 takes the rest.

    The HashMap's order decides which. A group in which it decides anything has its drift told as a tie.
    """
    rest = sorted(set(range(7)) - {*kept_by_c0, *kept_by_c1})
    state = group(
        sticky("C0", [0, 1, 2, 3], kept_by_c0),
        sticky("C1", [4, 5, 6], kept_by_c1),
        sticky("C2", [], rest),
        protocol="sticky",
    )
    assert findings(state, catalog(topic("orders", 7))) == drift


def test_partitions_on_their_way_to_another_member_are_pending_and_no_drift():
    """C1 joined. C0 gives up 2 and 3 in this generation, and C1 gets them in the next."""
    state = group(
        cooperative("C0", [0, 1, 2, 3], [0, 1]), cooperative("C1", [], [], generation=-1), protocol="cooperative-sticky"
    )
    seen = findings(state, catalog(topic("orders", 4)), FindingKind.DRIFT, FindingKind.ORPHANED)
    assert seen == [("pending", places("orders", 2, 3))]


def test_partitions_on_their_way_are_told_once():
    """C1 is to have them and is not idle, and C0 has no more than its share; C2 gets none of two partitions."""
    all_kinds = (FindingKind.ORPHANED, FindingKind.IDLE_MEMBERS, FindingKind.IMBALANCE)
    leaving = cooperative("C0", [0, 1, 2, 3], [0, 1]), cooperative("C1", [], [], generation=-1)
    state = group(*leaving, protocol="cooperative-sticky")
    assert findings(state, catalog(topic("orders", 4)), *all_kinds) == [("pending", places("orders", 2, 3))]
    leaving = cooperative("C0", [0, 1], [0]), *(cooperative(name, [], [], generation=-1) for name in ("C1", "C2"))
    state = group(*leaving, protocol="cooperative-sticky")
    verdict = evaluate(state, catalog(topic("orders", 2)), NOW, DetectionSettings())
    assert [finding.members for finding in verdict.findings if finding.kind in all_kinds] == [(), ("C2",)]


def test_claims_that_make_the_original_fail_leave_only_invariants():
    """Everybody claims a partition that does not exist; the assignment was made from something else."""
    state = group(sticky("C0", [7, 8, 9], [0]), sticky("C1", [4, 5, 6], [1]), protocol="sticky")
    assert evaluate(state, catalog(topic("orders", 2)), NOW, DetectionSettings()).expectation == "invariants"


def test_a_sticky_assignor_of_another_client_is_judged_by_invariants():
    """kafka-python's user data begins with a version."""
    own = user_data({"orders": [0]}, 1)
    members = [
        member("C0", ORDERS, {"orders": [1]}, user_data=b"\0\1" + own),
        member("C1", ORDERS, {"orders": [0]}, user_data=b"\0\1" + own),
    ]
    state = group(*members, protocol="sticky")
    assert evaluate(state, catalog(topic("orders", 2)), NOW, DetectionSettings()).expectation == "invariants"
