"""Promises that hold for every group; the expected assignment comes from the range rule written out by hand."""

from importlib import import_module
from pkgutil import iter_modules

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from monitor.detection import DetectionSettings, evaluate
from monitor.detection import rules as rules_package
from monitor.detection.evaluate import facts_of, findings_of
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.rules.registry import RULES
from monitor.detection.rules.rule import Rule
from monitor.findings.lag import Behind
from monitor.findings.observation import Evidence, Observation
from monitor.findings.retention import RecordsLost
from monitor.model import (
    Finding,
    FindingKind,
    LagStatus,
    Phase,
    TopicPartitions,
    UnknownVersion,
    UnreadCommit,
    UnreadMembership,
    UnreadRecord,
)
from monitor.topics.uses import group_use
from tests.support.builders import (
    ASSIGNED,
    CREATED,
    NOW,
    catalog,
    commit,
    group,
    member,
    places,
    range_by_hand,
    topic,
)

HARMFUL = {FindingKind.ORPHANED, FindingKind.DOUBLE_OWNED, FindingKind.DRIFT}


@st.composite
def ranged_groups(draw):
    """Members in any order, each with a subscription to some of three topics, assigned by hand."""
    counts = {name: draw(st.integers(1, 7)) for name in ("a", "b", "c")}
    subscription = st.lists(st.sampled_from("abc"), min_size=1, unique=True)
    members = {f"C{index}": draw(subscription) for index in draw(st.permutations(range(draw(st.integers(1, 5)))))}
    return group(*range_by_hand(members, counts)), catalog(*(topic(name, count) for name, count in counts.items()))


def findings(state, topics):
    return [f for f in evaluate(state, topics, NOW, DetectionSettings()).findings if f.kind in HARMFUL]


@given(ranged_groups())
def test_an_assignment_by_the_rule_is_beyond_reproach(case):
    verdict = evaluate(*case, NOW, DetectionSettings())
    assert verdict.expectation == "exact"
    assert [f for f in verdict.findings if f.kind in HARMFUL] == []
    for row in verdict.partitions:
        assert row.owners == (() if row.expected is None else (row.expected,))
        assert row.replayed == row.expected
    assert all(member.partitions == member.expected_partitions for member in verdict.members)


@given(ranged_groups(), st.data())
def test_a_partition_taken_from_its_owner_is_exactly_one_orphan(case, data):
    state, topics = case
    at = data.draw(st.sampled_from([index for index, each in enumerate(state.members) if each.assigned]))
    victim = state.members[at]
    entry = data.draw(st.sampled_from(victim.assigned))
    lost = data.draw(st.sampled_from(entry.partitions))
    kept = TopicPartitions(entry.topic, tuple(number for number in entry.partitions if number != lost))
    assigned = tuple(kept if other is entry else other for other in victim.assigned)
    members = (*state.members[:at], replace(victim, assigned=assigned), *state.members[at + 1 :])
    verdict = evaluate(replace(state, members=members), topics, NOW, DetectionSettings())
    assert [(row.topic, row.partition) for row in verdict.partitions if row.orphan] == [(entry.topic, lost)]
    assert sum(finding.kind is FindingKind.ORPHANED for finding in verdict.findings) == 1


@given(ranged_groups(), st.integers(1, 4), st.sampled_from("abc"))
def test_every_partition_that_came_later_is_an_orphan_and_none_else(case, more, name):
    state, topics = case
    count = len(topics.topics[name].partitions)
    grown = catalog(*(t for t in topics.topics.values() if t.topic != name), topic(name, count + more, grown=more))
    verdict = evaluate(state, grown, NOW, DetectionSettings())
    subscribed = any(name in each.topics for each in state.members)
    orphans = [(row.topic, row.partition) for row in verdict.partitions if row.orphan]
    assert orphans == ([(name, count + number) for number in range(more)] if subscribed else [])
    assert not [f for f in verdict.findings if f.reason == "replayed"]


@given(ranged_groups())
def test_the_order_of_members_does_not_matter(case):
    state, topics = case
    turned = replace(state, members=state.members[::-1])
    one, other = (evaluate(each, topics, NOW, DetectionSettings()) for each in (state, turned))
    assert (one.findings, one.partitions) == (other.findings, other.partitions)
    assert one.imbalance_ratio == other.imbalance_ratio


@given(ranged_groups(), st.integers(0, 10**9))
def test_no_finding_begins_in_the_future(case, now_ms):
    state, topics = case
    grown = catalog(*(topic(name, 9, grown=2) for name in topics.topics))
    verdict = evaluate(state, grown, now_ms, DetectionSettings())
    assert all(finding.since_ms <= now_ms for finding in verdict.findings)


def test_two_owners_of_one_generation():
    state = group(member("C0", ["a"], {"a": [0, 1]}), member("C1", ["a"], {"a": [1, 2]}), protocol="custom")
    (finding,) = findings(state, catalog(topic("a", 3)))
    assert (finding.kind, finding.since_ms, finding.members) == (FindingKind.DOUBLE_OWNED, ASSIGNED, ("C0", "C1"))
    assert [place.partition for place in finding.partitions] == [1]


def test_a_partition_listed_twice_by_one_member_has_one_owner():
    state = group(member("C0", ["a"], {"a": [0, 0]}))
    assert findings(state, catalog(topic("a", 1))) == []


def test_what_is_certain_is_said_although_a_member_cannot_be_read():
    state = group(
        member("C0", ["a"], {"a": [0]}), member("C1", ["a"], {"a": [0]}), member("C2", (), unreadable="short")
    )
    verdict = evaluate(state, catalog(topic("a", 3)), NOW, DetectionSettings())
    kinds = [finding.kind for finding in verdict.findings]
    assert kinds == [FindingKind.DOUBLE_OWNED, FindingKind.UNREADABLE_MEMBERS]
    assert len(verdict.members) == 3


def test_all_at_once_is_told_worst_first():
    """Range for [a b] x 3 members, with everything wrong that can be."""
    members = [
        member("C0", ["a", "b"], {"a": [0, 1, 2], "b": [0, 1]}),
        member("C1", ["a", "b"], {"a": [2]}),
        member("C2", ["a", "b"]),
    ]
    state = group(*members, offsets=[commit("a", 0, 10, at_ms=0), commit("old", 0, 10, at_ms=0)])
    topics = catalog(topic("a", 6, grown=1), topic("b", 2), topic("old", 1))
    verdict = evaluate(state, topics, NOW + 120_000, DetectionSettings(lag_records=5))
    assert [(finding.kind.value, finding.reason) for finding in verdict.findings] == [
        ("double_owned", "same_generation"),
        ("orphaned", "assignor_gap"),
        ("orphaned", "grew"),
        ("lag", "not_committing"),
        ("lag", "behind"),
        ("drift", "replayed"),
        ("drift", "current"),
        ("uncommitted", "at_risk"),
        ("imbalance", "partitions"),
        ("idle_members", "no_partitions"),
        ("abandoned", "unsubscribed"),
    ]
    assert len({rule.find.__name__ for rule in RULES}) == len(RULES)


# --- rules and the table of findings ------------------------------------------------------------------------------


def toy_facts():
    state, topics = group(member("C0", ["a"], {"a": [0]})), catalog(topic("a", 1))
    return facts_of(state, Topics(topics), view_assignment(state, topics), NOW, DetectionSettings())


def finds(kind: FindingKind, reason: str, evidence: Evidence) -> Rule:
    return Rule(
        lambda facts: [Observation(kind, reason, facts.now_ms, evidence, partitions=places("a", 0))], of_owners=False
    )


def test_what_a_rule_finds_becomes_a_finding_with_the_sentence_of_its_evidence():
    rules = [
        finds(FindingKind.LAG, "behind", Behind(threshold=7)),
        finds(FindingKind.RETENTION, "records_lost", RecordsLost()),
    ]
    assert findings_of(toy_facts(), rules) == (
        Finding(
            FindingKind.RETENTION,
            "records_lost",
            NOW,
            "The group has lost records in 1 partition of a (0). Retention removed them before the group committed "
            "them.",
            places("a", 0),
        ),
        Finding(
            FindingKind.LAG,
            "behind",
            NOW,
            "The group has a lag of more than 7 records, in 1 partition of a (0).",
            places("a", 0),
        ),
    )


def test_a_rule_that_finds_what_has_no_row_fails():
    with pytest.raises(KeyError, match="made_up"):
        findings_of(toy_facts(), [finds(FindingKind.LAG, "made_up", Behind(threshold=7))])


def test_evidence_without_a_sentence_fails():
    class MadeUp(Evidence):
        pass

    with pytest.raises(NotImplementedError, match="MadeUp"):
        findings_of(toy_facts(), [finds(FindingKind.LAG, "behind", MadeUp())])


@pytest.mark.parametrize("module", [info.name for info in iter_modules(rules_package.__path__)])
def test_the_rules_of_every_module_are_asked(module: str):
    own = getattr(import_module(f"{rules_package.__name__}.{module}"), "RULES", ())
    assert [rule for rule in own if rule not in RULES] == []
    assert own or module in {"rule", "drift_causes"}


@pytest.mark.parametrize("phase", [Phase.UNSEEN, Phase.GONE, Phase.OFFSETS_ONLY])
def test_a_group_without_a_membership_has_rows_and_lag_but_no_owners(phase):
    state = group(
        phase=phase, protocol_type="", protocol=None, generation=0, generation_ms=0, offsets=[commit("a", 1, 90)]
    )
    verdict = evaluate(state, catalog(topic("a", 3)), NOW, DetectionSettings())
    assert [(row.topic, row.partition, row.lag) for row in verdict.partitions] == [("a", 1, 10)]
    shown = Phase.GONE if phase is Phase.UNSEEN else phase
    assert (verdict.state, verdict.lag, verdict.findings, verdict.expectation) == (shown, 10, (), "none")


def test_the_verdict_names_its_group():
    state = group(member("C0", ["a"], {"a": [0]}, client_id="app", host="/10.0.0.1", instance_id="i"), rebalances=4)
    verdict = evaluate(state, catalog(topic("a", 1, seen_ms=CREATED)), NOW, DetectionSettings())
    assert (verdict.cluster, verdict.group, verdict.kind, verdict.assignor) == ("c", "g", "kafka-classic", "range")
    assert (verdict.generation, verdict.generation_ms, verdict.evaluated_ms) == (3, ASSIGNED, NOW)
    assert verdict.rebalances == 4
    (row,) = verdict.members
    assert (row.client_id, row.host, row.instance_id, row.topics) == ("app", "/10.0.0.1", "i", ("a",))


def test_the_arguments_are_left_as_they_are():
    state, topics = group(member("C0", ["a"], {"a": [0]})), catalog(topic("a", 2, grown=1))
    before = (repr(state), repr(topics))
    assert evaluate(state, topics, NOW, DetectionSettings()) == evaluate(state, topics, NOW, DetectionSettings())
    assert (repr(state), repr(topics)) == before


def test_a_group_whose_members_are_unknown_has_lag_and_no_verdict_on_owners():
    """Its topic has grown since the generation that could be read last, which has no owner for what came."""
    topics = catalog(topic("t", 4, grown=2))
    known = group(member("C0", ["t"], {"t": [0, 1]}), offsets=[commit("t", 0, 90), commit("t", 1, 100)])
    assert {found.kind for found in findings(known, topics)} == {FindingKind.ORPHANED, FindingKind.DRIFT}, "as it seems"
    record = UnreadRecord(2, "GroupMetadata", 5, 4, NOW - 1_000)
    state = replace(known, phase=Phase.OFFSETS_ONLY, members=(), unread=UnreadMembership((record,), known))
    verdict = evaluate(state, topics, NOW, DetectionSettings())
    assert (verdict.findings, verdict.members, verdict.lag) == ((), (), 10)
    assert verdict.unknown_versions == (UnknownVersion("GroupMetadata", 5, 4, NOW - 1_000),)
    assert not group_use(state, topics).is_complete


def test_a_lag_without_the_partitions_whose_commits_are_unknown_is_none():
    topics = catalog(topic("t", 2), topic("u", 1))
    state = group(member("C0", ["t", "u"], {"t": [0, 1], "u": [0]}), offsets=[commit("t", 1, 90), commit("u", 0, 95)])
    state = replace(state, unread_commits=(UnreadCommit("t", 0, 5, 4, NOW - 1_000),))
    verdict = evaluate(state, topics, NOW, DetectionSettings())
    assert (verdict.lag, verdict.lag_ms, verdict.stable_lag) == (None, None, None)
    assert verdict.status is not LagStatus.OK, "that of the partitions that are known"
    assert verdict.lag_at_least_ms == max(row.lag_ms or 0 for row in verdict.partitions), "what is known is a bound"
    assert [(each.topic, each.lag) for each in verdict.topics] == [("t", None), ("u", 5)]
    assert [row.lag for row in verdict.partitions] == [None, 10, 5]
    assert verdict.unknown_versions == (UnknownVersion("OffsetCommit", 5, 4, NOW - 1_000, partitions=1),)
    assert not group_use(state, topics).is_complete
