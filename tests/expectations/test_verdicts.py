"""What a job makes of expectations: a finding where one is not met, none where it is unknown, and missing groups."""

import msgspec
import pytest
from msgspec.structs import replace

from monitor.detection.evaluate import Judged, judge_until
from monitor.detection.group_summary import summary_of, unjudged_summary
from monitor.detection.ownership.assignment_view import view_assignment
from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.thresholds import DetectionSettings
from monitor.expectations.checks import check_group
from monitor.expectations.entries import EntriesOfCluster
from monitor.expectations.expectation import Expectation, Expectations, MemberRange
from monitor.expectations.missing_groups import MissingGroups
from monitor.expectations.verdicts import with_expectations
from monitor.model import EndOffsetAt, GroupState, Phase, RebalanceInProgress
from monitor.model.alert_ages import AlertAge
from monitor.model.expectations import Met
from monitor.model.findings import Severity
from tests.support.builders import ASSIGNED, NOW, catalog, commit, group, member, topic

PAIR = (member("C0", ("a",), {"a": [0, 1]}), member("C1", ("a",), {"a": [2, 3]}))
READ = tuple([commit("a", number) for number in range(4)])
TOPICS = catalog(topic("a", 4))
HEALTHY = group(*PAIR, offsets=READ)


def judged(state: GroupState, *entries: Expectation, severity=Severity.WARNING, topics=TOPICS, now_ms=NOW, ages=()):
    bare = judge_until(state, Topics(topics), view_assignment(state, topics), now_ms, DetectionSettings())
    return with_expectations(bare, Expectations(entries, severity), state, ages)


def findings(found: Judged) -> list[tuple[str, str]]:
    return [(each.kind.value, each.reason) for each in found.verdict.findings]


def test_what_is_met_makes_no_finding_and_is_known_as_met():
    found = judged(HEALTHY, Expectation("g", team="checkout", members=MemberRange(2, 2), assignor="range"))
    assert findings(found) == []
    assert summary_of(found.verdict).expectations == found.verdict.expectations
    became = found.verdict.expectations
    assert (became.met, became.not_met, became.unknown, became.team) == (Met.YES, (), (), "checkout")


def test_a_group_of_which_nothing_is_expected_has_the_verdict_that_it_had():
    bare = judge_until(HEALTHY, Topics(TOPICS), view_assignment(HEALTHY, TOPICS), NOW, DetectionSettings())
    assert with_expectations(bare, Expectations((Expectation("other"),)), HEALTHY) is bare


@pytest.mark.parametrize("severity", Severity)
def test_the_file_chooses_the_severity_and_one_finding_names_all_that_is_not_met(severity):
    entries = (Expectation("g", members=MemberRange(3)), Expectation(".*", static=True, assignor="range"))
    found = judged(HEALTHY, *entries, severity=severity)
    assert findings(found) == [("expectation", severity.value)]
    (finding,) = found.verdict.findings
    assert finding.sentence == (
        "The group is not as its entry g says. It has 2 members; expected: at least 3. "
        "0 of 2 members have an instance id; expected: all."
    )
    assert finding.since_ms == HEALTHY.generation_ms
    assert found.verdict.expectations.not_met == ("members", "static")


def test_the_sentence_names_the_entry_that_has_the_key():
    found = judged(HEALTHY, Expectation("g", team="t"), Expectation(".*", members=MemberRange(9)))
    assert found.verdict.findings[0].sentence.startswith("The group is not as its entry .* says.")


def test_what_is_unknown_makes_no_finding():
    """During a rebalance, the members are those of before it."""
    rebalances = replace(HEALTHY, sampled=RebalanceInProgress(first_ms=NOW - 5_000, last_ms=NOW - 100))
    expected = Expectation("g", members=MemberRange(3))
    assert findings(judged(HEALTHY, expected)) == [("expectation", "warning")]
    found = judged(rebalances, expected)
    assert findings(found) == []
    assert (found.verdict.expectations.met, found.verdict.expectations.unknown) == (Met.UNKNOWN, ("members",))


def test_another_finding_is_not_told_a_second_time_and_a_finding_of_expectations_is_not_counted_by_itself():
    """The last partition has come after the assignment, and has no owner."""
    grown = catalog(topic("a", 5, grown=1))
    found = judged(HEALTHY, Expectation("g"), topics=grown)
    assert "expectation" not in [kind for kind, _ in findings(found)]
    assert (found.verdict.expectations.met, found.verdict.expectations.not_met) == (Met.NO, ("findings",))
    expected = Expectation("g", members=MemberRange(3), allow=("orphaned", "drift"))
    both = judged(HEALTHY, expected, topics=grown)
    assert ("expectation", "warning") in findings(both)
    again = check_group(expected, both.verdict)
    assert [each.key for each in again.checks if each.met is Met.NO] == ["members"]


def test_a_group_that_should_not_exist_has_a_finding_until_it_is_gone():
    none = Expectation("g", exists=False)
    assert findings(judged(HEALTHY, none)) == [("expectation", "warning")]
    gone = replace(group(), phase=Phase.GONE)
    assert findings(judged(gone, none)) == []
    assert findings(judged(gone, Expectation("g", exists=True))) == [], "a finding of the cluster"


def late(at_ms: int) -> tuple[GroupState, object]:
    """Offset 100 of partition 0 was passed at that instant, and nothing is read since."""
    reading = replace(HEALTHY, offsets=(commit("a", 0, 100, at_ms=ASSIGNED), *READ[1:]))
    busy = topic("a", 4)
    first = replace(busy.partitions[0], end=200, ends=(EndOffsetAt(at_ms, 100), EndOffsetAt(NOW, 200)))
    return reading, catalog(replace(busy, partitions=(first, *busy.partitions[1:])))


def test_a_verdict_holds_until_the_lag_is_older_than_expected_and_the_finding_begins_then():
    state, topics = late(NOW - 20_000)
    expected = Expectation("g", max_lag_s=30, allow=("lag", "dead_member", "uncommitted"))
    found = judged(state, expected, topics=topics)
    assert (found.verdict.lag_ms, findings(found)) == (20_000, [])
    assert found.until_ms == NOW + 10_001
    later = judged(state, expected, topics=topics, now_ms=found.until_ms)
    (finding,) = [each for each in later.verdict.findings if each.kind.value == "expectation"]
    assert (finding.since_ms, finding.sentence.partition("says. ")[2]) == (
        NOW + 10_000,
        "The oldest record of its lag is older than 30 s.",
    )


def test_the_age_of_the_alert_is_that_of_the_settings():
    ages = (AlertAge("GroupwatchExpectation", 60),)
    (finding,) = judged(HEALTHY, Expectation("g", members=MemberRange(3)), ages=ages).verdict.findings
    assert finding.alert_age_s == 60


def test_of_a_group_that_is_not_evaluated_now_nothing_is_met():
    listed = summary_of(judged(HEALTHY, Expectation("g", team="checkout")).verdict)
    away = unjudged_summary(HEALTHY, listed, "broker 2 does not answer")
    assert (away.expectations.met, away.team) == (Met.UNKNOWN, "checkout")


# --- groups that do not exist ---------------------------------------------------------------------------------------

THERE = summary_of(judged(HEALTHY).verdict)
GONE = replace(THERE, group="old", state=Phase.GONE)
FILE = Expectations(
    (
        Expectation("g|h", exists=True),
        Expectation("orders", exists=True, team="checkout"),
        Expectation("old", exists=True),
        Expectation("misspelt", members=MemberRange(1)),
        Expectation("elsewhere", exists=True, cluster="other"),
        Expectation("unwanted", exists=False),
    ),
    Severity.CRITICAL,
)
ENTRIES = EntriesOfCluster(FILE, "c")


def test_entries_that_no_group_matches_are_missing_since_the_first_listing_that_lacked_them():
    missing = MissingGroups()
    first = missing.update(ENTRIES, [THERE, GONE], NOW)
    assert (first.entries, first.since_ms, first.severity) == ((("orders", "checkout"), ("old", None)), NOW, "critical")
    later = missing.update(ENTRIES, [GONE], NOW + 5_000)
    assert [entry for entry, _ in later.entries] == ["g|h", "orders", "old"]
    assert later.since_ms == NOW
    back = [replace(THERE, group=name) for name in ("h", "orders", "old")]
    assert missing.update(ENTRIES, back, NOW + 9_000) is None


def test_who_does_not_know_all_groups_finds_none_missing_and_none_back():
    missing = MissingGroups()
    assert missing.update(ENTRIES, None, NOW) is None
    known = missing.update(ENTRIES, [THERE, replace(THERE, group="old")], NOW + 1_000)
    assert missing.update(ENTRIES, None, NOW + 2_000) == known
    elsewhere = Expectations(tuple([replace(each, cluster="other") for each in FILE.entries]))
    assert missing.update(EntriesOfCluster(elsewhere, "c"), None, NOW + 3_000) is None


def test_expectations_are_the_same_after_a_journey():
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(FILE), type=Expectations) == FILE
