"""Each key of an expectation: met, not met, and unknown, which is never met."""

import pytest
from msgspec.structs import replace

from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.group_summary import summary_of
from monitor.expectations.checks import absent_group, check_group
from monitor.expectations.expectation import Expectation, Expectations, MemberRange
from monitor.expectations.look import UnknownGroup, look_at
from monitor.expectations.outcome import outcome_of
from monitor.expectations.verification import KnownGroups, verify_cluster
from monitor.model import Phase
from monitor.model.expectations import Met
from tests.support.builders import NOW, catalog, commit, group, member, topic

PAIR = (member("C0", ("a",), {"a": [0, 1]}), member("C1", ("a",), {"a": [2, 3]}))
TOPICS = (topic("a", 4),)
READ = [commit("a", number) for number in range(4)]
"""All that the topic has."""


def inputs(*members, offsets=READ, topics=TOPICS, **more) -> GroupInputs:
    return GroupInputs(group(*(members or PAIR), offsets=offsets, **more), catalog(*topics), NOW)


def check(key: str, found: GroupInputs, **expected):
    outcome = check_group(Expectation("g", **expected), look_at(found).verdict)
    (own,) = [each for each in outcome.checks if each.key == key]
    return own.met.value, own.sentence


NOBODY = GroupInputs(replace(group(offsets=READ), phase=Phase.EMPTY), catalog(topic("a", 4)), NOW)
BY_COMMITS = GroupInputs(replace(group(offsets=READ), phase=Phase.OFFSETS_ONLY), catalog(topic("a", 4)), NOW)
STATIC = inputs(*(replace(each, instance_id=f"i-{each.member_id}") for each in PAIR))
HALF_STATIC = inputs(replace(PAIR[0], instance_id="i"), PAIR[1])
LOPSIDED = inputs(member("C0", ("a",), {"a": [0, 1, 2]}), member("C1", ("a",), {"a": [3]}))


@pytest.mark.parametrize(
    ("key", "value", "found", "met", "sentence"),
    [
        ("members", MemberRange(2, 2), inputs(), "yes", "It has 2 members."),
        ("members", MemberRange(3), inputs(), "no", "It has 2 members; expected: at least 3."),
        ("members", MemberRange(0, 1), inputs(), "no", "It has 2 members; expected: 0 to 1."),
        (
            "members",
            MemberRange(0),
            BY_COMMITS,
            "unknown",
            "The group is known only by its commits, so its members are not.",
        ),
        ("protocol", "classic", inputs(), "yes", "Its protocol is classic."),
        ("protocol", "consumer", inputs(), "no", "Its protocol is classic; expected: consumer."),
        ("assignor", "range", inputs(), "yes", "Its assignor is range."),
        ("assignor", "sticky", inputs(), "no", "Its assignor is range; expected: sticky."),
        ("static", True, STATIC, "yes", "2 of 2 members have an instance id."),
        ("static", True, HALF_STATIC, "no", "1 of 2 members has an instance id; expected: all."),
        ("static", False, HALF_STATIC, "no", "1 of 2 members has an instance id; expected: none."),
        ("static", False, inputs(), "yes", "0 of 2 members have an instance id."),
        ("static", True, NOBODY, "unknown", "It has no members."),
        ("max_lag_s", 5.0, inputs(), "yes", "It has no lag."),
        ("max_share", 1.0, inputs(), "yes", None),
        ("max_share", 1.4, LOPSIDED, "no", None),
        ("max_share", 1.5, LOPSIDED, "yes", None),
        ("max_share", 1.0, NOBODY, "unknown", "It has no members."),
    ],
)
def test_a_key_is_met_not_met_or_unknown(key, value, found, met, sentence):
    seen = check(key, found, **{key: value})
    assert seen[0] == met
    assert sentence in (None, seen[1])


def test_an_uncommitted_partition_with_records_makes_the_lag_unknown():
    assert check("max_lag_s", inputs(offsets=READ[1:]), max_lag_s=60.0)[0] == "unknown"


def test_findings_count_from_warning_on_unless_they_are_allowed():
    """The last partition has come after the assignment, and has no owner."""
    grown = inputs(topics=(topic("a", 5, grown=1),))
    met, sentence = check("findings", grown)
    assert met == "no"
    assert sentence.startswith("It has orphaned/grew, drift/current: 1 partition of a (4) has no owner.")
    assert check("findings", grown, allow=("orphaned", "drift/current"))[0] == "yes"
    assert check("findings", grown, allow=("orphaned/left",))[0] == "no"


def test_a_group_that_cannot_be_evaluated_meets_nothing():
    verdict = replace(look_at(inputs()).verdict, unjudged="its bytes are damaged")
    outcome = check_group(Expectation("g", members=MemberRange(2, 2), exists=True), verdict)
    assert [(each.key, each.met) for each in outcome.checks] == [("cluster", Met.UNKNOWN)]
    assert "its bytes are damaged" in outcome.checks[0].sentence


@pytest.mark.parametrize(("exists", "met"), [(True, Met.NO), (False, Met.YES), (None, Met.UNKNOWN)])
def test_a_group_that_does_not_exist(exists, met):
    expected = Expectation("g", exists=exists, members=MemberRange(0))
    assert absent_group(expected, "c", "g").met is met
    assert check_group(expected, replace(look_at(inputs()).verdict, state=Phase.GONE)).met is met


def test_a_group_that_should_not_exist_and_does_is_not_met():
    outcome = check_group(Expectation("g", exists=False, members=MemberRange(2)), look_at(inputs()).verdict)
    assert [(each.key, each.met.value) for each in outcome.checks] == [("exists", "no")]


EXPECTED = Expectations(
    (
        Expectation("g", members=MemberRange(2, 2)),
        Expectation("billing-.*", exists=True),
        Expectation(".*", cluster="other", exists=True),
        Expectation("old", exists=False),
    )
)


def verified(known: KnownGroups, found=lambda _name: inputs(), only=None):
    outcome = outcome_of(verify_cluster(EXPECTED, "c", known, found, only), NOW)
    return outcome.met.value, [(each.group, each.met.value) for each in outcome.groups]


def test_all_groups_of_a_cluster_and_the_patterns_that_none_matches():
    known = KnownGroups(frozenset({"g", "unexpected"}))
    assert verified(known) == ("no", [("billing-.*", "no"), ("g", "yes"), ("old", "yes")])
    assert verified(KnownGroups(frozenset({"g", "billing-eu"})))[0] == "yes"


def test_what_a_source_may_lack_is_unknown_not_absent():
    known = KnownGroups(frozenset({"g"}), "This job watches a share of the groups: 1/3.")
    assert verified(known) == ("unknown", [("billing-.*", "unknown"), ("old", "unknown"), ("g", "yes")])


def test_a_group_that_its_source_could_not_evaluate_is_unknown():
    """Its state alone would look like health."""
    found = inputs()
    listed = replace(summary_of(look_at(found).verdict), unjudged="its commits are not read")
    unjudged = replace(found, unjudged=listed)
    known = KnownGroups(frozenset({"g"}))
    (outcome,) = verify_cluster(EXPECTED, "c", known, lambda _: unjudged, "g")
    assert outcome.met is Met.UNKNOWN
    assert [each.sentence for each in outcome.checks] == ["It cannot be evaluated: its commits are not read"]


def test_one_group_only():
    assert verified(KnownGroups(frozenset({"g"})), only="g") == ("yes", [("g", "yes")])
    assert verified(KnownGroups(frozenset({"g"})), lambda _: UnknownGroup("No answer."), "g")[0] == "unknown"


def test_nothing_expected_is_unknown():
    assert verified(KnownGroups(frozenset({"unexpected"})), only="unexpected") == ("unknown", [])
