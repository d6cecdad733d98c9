import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.model import DriftKind, FindingKind, Phase
from tests.support.builders import ASSIGNED, NOW, catalog, group, member, places, topic

ORDERS = ("orders",)


def drift(state, topics):
    verdict = evaluate(state, topics, NOW, DetectionSettings())
    return [finding for finding in verdict.findings if finding.kind is FindingKind.DRIFT]


def two_members(first, second, **more):
    return group(member("C0", ORDERS, {"orders": first}), member("C1", ORDERS, {"orders": second}), **more)


def test_range_cuts_seven_into_four_and_three():
    """The oracle is arithmetic: 7 = 4 + 3, C0 first."""
    assert drift(two_members([0, 1, 2, 3], [4, 5, 6]), catalog(topic("orders", 7))) == []


def test_roundrobin_deals_the_partitions_of_all_topics_in_turn():
    """a-0 a-1 a-2 b-0 b-1 b-2 dealt to C0 C1 C0 C1 C0 C1; when a grows to 4, all of b changes hands."""
    state = group(
        member("C0", ["a", "b"], {"a": [0, 2], "b": [1]}),
        member("C1", ["a", "b"], {"a": [1], "b": [0, 2]}),
        protocol="roundrobin",
    )
    assert drift(state, catalog(topic("a", 3), topic("b", 3))) == []
    (finding,) = drift(state, catalog(topic("a", 4, grown=1), topic("b", 3)))
    assert (finding.reason, finding.partitions) == ("current", (*places("a", 3), *places("b", 0, 1, 2)))


def test_owners_swapped_is_drift_from_the_replay_and_is_told_once():
    (finding,) = drift(two_members([2, 3], [0, 1]), catalog(topic("orders", 4)))
    assert finding.reason == DriftKind.REPLAYED
    assert finding.partitions == places("orders", 0, 1, 2, 3)
    assert finding.since_ms == ASSIGNED


def test_a_topic_that_grew_makes_the_assignment_stale_from_then_on():
    """4 partitions were [0 1] [2 3]; of 7 C0 would get [0-3] and C1 [4-6]: 2 and 3 move, 4 to 6 have nobody."""
    (finding,) = drift(two_members([0, 1], [2, 3]), catalog(topic("orders", 7, grown=3, grown_ms=2_100_000)))
    assert finding.reason == DriftKind.CURRENT
    assert finding.partitions == places("orders", 2, 3, 4, 5, 6)
    assert finding.since_ms == 2_100_000


def test_a_leader_with_older_metadata_is_no_replayed_drift():
    """The topic had 7 partitions before the generation, but the assignment is exactly that of 4."""
    (finding,) = drift(two_members([0, 1], [2, 3]), catalog(topic("orders", 7, grown=3, grown_ms=ASSIGNED - 60_000)))
    assert finding.reason == DriftKind.CURRENT
    assert finding.since_ms == ASSIGNED


def test_a_leader_that_knew_more_than_the_collectors_did():
    """The group rebalanced onto new partitions some seconds before a collector saw them."""
    state = two_members([0, 1, 2, 3], [4, 5, 6])
    assert drift(state, catalog(topic("orders", 7, grown=3, grown_ms=ASSIGNED + 3_000))) == []


def test_groupwatch_started_later_than_the_group():
    """All 4 partitions were first seen after the generation; they are still what the assignor had to give out."""
    (finding,) = drift(two_members([0], [2, 3]), catalog(topic("orders", 4, seen_ms=ASSIGNED + 9_000)))
    assert (finding.reason, finding.partitions) == ("replayed", places("orders", 1))


def test_both_kinds_when_the_leader_errs_and_the_topic_grew():
    """Of 4: [0 1] [2 3] expected, [2 3] [0 1] found. Of 5: 2 should go to C0, where it is; 4 has nobody."""
    found = drift(two_members([2, 3], [0, 1]), catalog(topic("orders", 5, grown=1)))
    assert [finding.reason for finding in found] == ["replayed", "current"]
    assert found[1].partitions == places("orders", 4)


def test_a_partition_with_two_owners_differs_from_the_expected_owner():
    (finding,) = drift(two_members([0, 1], [1]), catalog(topic("orders", 2)))
    assert finding.partitions == places("orders", 1)


def test_a_corrupt_partition_number_is_not_taken_for_a_partition_count():
    """2,147,483,647 would be a topic of two billion partitions."""
    state = two_members([0, 1], [2, 2**31 - 1])
    (finding,) = drift(state, catalog(topic("orders", 4)))
    assert finding.partitions == places("orders", 3)


def test_a_deleted_topic_is_nobody_s_drift():
    state = group(member("C0", ("orders", "gone"), {"orders": [0], "gone": [0]}))
    assert drift(state, catalog(topic("orders", 1))) == []


@pytest.mark.parametrize(
    ("state", "expectation"),
    [
        pytest.param(two_members([0], [1]), "exact", id="range"),
        pytest.param(two_members([0], [1], protocol="roundrobin"), "exact", id="roundrobin"),
        pytest.param(two_members([1], [0], protocol="our-own"), "invariants", id="an assignor we do not have"),
        pytest.param(two_members([0], [1], protocol=None), "invariants", id="no assignor named"),
        pytest.param(two_members([0], [1], protocol_type="connect"), "none", id="not consumers"),
        pytest.param(
            group(member("C0", ORDERS, {"orders": [0]}), member("C1", (), unreadable="short")), "none", id="unreadable"
        ),
        pytest.param(group(phase=Phase.EMPTY), "none", id="no members"),
    ],
)
def test_how_much_can_be_expected(state, expectation):
    verdict = evaluate(state, catalog(topic("orders", 2)), NOW, DetectionSettings())
    assert verdict.expectation == expectation
    assert [f for f in verdict.findings if f.kind is FindingKind.DRIFT] == []
    assert all((row.expected is not None) == (expectation == "exact") for row in verdict.partitions)
    assert all((m.expected_partitions is not None) == (expectation == "exact") for m in verdict.members)


def test_each_partition_names_its_owner_and_both_expected_owners():
    verdict = evaluate(two_members([0, 1], [2, 3]), catalog(topic("orders", 5, grown=1)), NOW, DetectionSettings())
    rows = [(row.partition, row.owners, row.replayed, row.expected) for row in verdict.partitions]
    assert rows == [
        (0, ("C0",), "C0", "C0"),
        (1, ("C0",), "C0", "C0"),
        (2, ("C1",), "C1", "C0"),
        (3, ("C1",), "C1", "C1"),
        (4, (), None, "C1"),
    ]
