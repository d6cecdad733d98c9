import pytest
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.model import FindingKind, GroupKind, IdPartitions, Reconciliation
from tests.support.builders import ASSIGNED, NOW, catalog, group, member, range_by_hand, topic


def judged(state, topics, kind, **settings):
    verdict = evaluate(state, topics, NOW, DetectionSettings(**settings))
    return verdict, [finding for finding in verdict.findings if finding.kind is kind]


def by_range(members, counts):
    subscriptions = {f"C{index}": sorted(counts) for index in range(members)}
    return group(*range_by_hand(subscriptions, counts)), catalog(*(topic(name, n) for name, n in counts.items()))


@pytest.mark.parametrize(
    ("members", "counts", "ratio", "found"),
    [
        pytest.param(2, {"a": 5}, 1.0, False, id="3 and 2 is the best for 5"),
        pytest.param(3, {"a": 1, "b": 1, "c": 1}, 3.0, True, id="range gives all three to the first member"),
        pytest.param(2, {"a": 3, "b": 3}, 4 / 3, True, id="range gives 4 and 2, 3 and 3 would do"),
        pytest.param(2, {"a": 9, "b": 9, "c": 4}, 12 / 11, False, id="12 and 10 for 11 and 11 is not much"),
        pytest.param(4, {"a": 2}, 1.0, False, id="idle members are another finding"),
    ],
)
def test_the_largest_member_against_the_most_even_assignment(members, counts, ratio, found):
    verdict, findings = judged(*by_range(members, counts), FindingKind.IMBALANCE)
    assert verdict.imbalance_ratio == ratio
    assert bool(findings) == found
    assert all((finding.members, finding.since_ms) == (("C0",), ASSIGNED) for finding in findings)


def test_a_member_that_alone_may_read_a_topic_is_not_blamed():
    """C0 alone subscribes a with 4 partitions; C1 owns all of b. Nobody can take anything from C0."""
    state = group(member("C0", ["a"], {"a": [0, 1, 2, 3]}), member("C1", ["b"], {"b": [0]}), protocol="sticky")
    verdict, findings = judged(state, catalog(topic("a", 4), topic("b", 1)), FindingKind.IMBALANCE)
    assert (verdict.imbalance_ratio, findings) == (1.0, [])


def test_growth_alone_is_no_imbalance():
    """2 and 2 are owned; the 16 that came later are orphans, and nobody's burden yet."""
    state = group(member("C0", ["a"], {"a": [0, 1]}), member("C1", ["a"], {"a": [2, 3]}))
    verdict, findings = judged(state, catalog(topic("a", 20, grown=16)), FindingKind.IMBALANCE)
    assert (verdict.imbalance_ratio, findings) == (1.0, [])


def test_a_setting_below_one_does_not_report_even_groups():
    _, findings = judged(*by_range(2, {"a": 4}), FindingKind.IMBALANCE, imbalance_ratio=0.5)
    assert findings == []


@pytest.mark.parametrize(
    "state",
    [
        pytest.param(group(member("C0", ["a"], {"a": [0]}), member("C1", (), unreadable="short")), id="unreadable"),
        pytest.param(group(member("C0", ["gone"])), id="nothing owned"),
        pytest.param(group(), id="no members"),
    ],
)
def test_no_ratio_without_all_members_and_some_partition(state):
    assert judged(state, catalog(topic("a", 1)), FindingKind.IMBALANCE)[0].imbalance_ratio is None


@pytest.mark.parametrize(
    ("members", "counts", "idle", "words"),
    [
        pytest.param(3, {"a": 2}, ("C2",), "more members than the 2 partitions", id="3 members, 2 partitions"),
        pytest.param(3, {"a": 1, "b": 1, "c": 1}, ("C1", "C2"), "although", id="range leaves two out of three"),
        pytest.param(2, {"a": 2}, (), "", id="nobody is idle"),
    ],
)
def test_idle_members(members, counts, idle, words):
    verdict, findings = judged(*by_range(members, counts), FindingKind.IDLE_MEMBERS)
    assert tuple(row.member_id for row in verdict.members if row.idle) == idle
    assert [finding.members for finding in findings] == ([idle] if idle else [])
    assert all(words in finding.sentence for finding in findings)


def test_a_member_whose_topics_do_not_exist_is_not_idle():
    verdict, findings = judged(group(member("C0", ["gone"])), catalog(topic("a", 1)), FindingKind.IDLE_MEMBERS)
    assert (verdict.members[0].idle, findings) == (False, [])


@pytest.mark.parametrize(
    ("members", "counts", "protocol", "alternative"),
    [
        pytest.param(3, dict.fromkeys("abcdefg", 1), "range", ("cooperative-sticky", 3), id="7: 3, 2, 2 would do"),
        pytest.param(2, {"a": 3, "b": 3}, "range", ("cooperative-sticky", 3), id="4 and 2: 3 and 3 would do"),
        pytest.param(2, {"a": 3, "b": 3}, "our-own", ("cooperative-sticky", 3), id="whatever the group uses"),
        pytest.param(2, {"a": 5}, "range", None, id="as even as it gets"),
    ],
)
def test_the_gain_of_another_assignor_is_told(members, counts, protocol, alternative):
    """By hand: so many partitions over so many members, rounded up; both candidates reach that, the first is told."""
    state, topics = by_range(members, counts)
    balance = view_assignment(replace(state, protocol=protocol), topics).balance
    assert (balance.alternative and (balance.alternative.assignor, balance.alternative.largest)) == alternative


def test_no_gain_is_promised_where_there_is_none():
    """Round robin in a group with different subscriptions: what the sticky assignors make of it is counted by hand.

    C0 takes a, C1 takes a and b. a has 2 partitions, b has 4: two and four is the best.
    """
    state = group(
        member("C0", ["a"], {"a": [0]}), member("C1", ["a", "b"], {"a": [1], "b": [0, 1, 2, 3]}), protocol="roundrobin"
    )
    topics = catalog(topic("a", 2), topic("b", 4))
    balance = view_assignment(state, topics).balance
    assert (balance.largest, balance.optimum) == (5, 4)
    assert (balance.alternative.assignor, balance.alternative.largest) == ("cooperative-sticky", 4)
    sticky = replace(state, protocol="cooperative-sticky")
    assert view_assignment(sticky, topics).balance.alternative is None, "round robin gives 5 as well"


def test_where_the_broker_assigns_no_other_assignor_of_the_client_is_asked():
    state, topics = by_range(3, {"a": 1, "b": 1, "c": 1})
    held = [(IdPartitions(name, (0,)),) for name in "abc"]
    one = Reconciliation(assigned=(*held[0], *held[1], *held[2]))
    members = (replace(state.members[0], assigned=(), reconciliation=one), *state.members[1:])
    modern = replace(state, kind=GroupKind.CONSUMER, members=members)
    named = replace(topics, names={name: name for name in "abc"})
    balance = view_assignment(modern, named).balance
    assert (balance.largest, balance.optimum, balance.alternative) == (3, 1, None)
