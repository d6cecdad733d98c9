import pytest

from monitor.detection import DetectionSettings, evaluate
from monitor.model import FindingKind
from tests.detection.builders import ASSIGNED, NOW, catalog, group, member, range_by_hand, topic


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
