"""A finding that is too young for its alert: since when it counts, and its place among the others."""

import pytest

from monitor.explain.statements import findings_told
from monitor.findings.alerts import LAST_PLACE, alert_age_ms, changed_age_s, place_of, settling_until_ms
from monitor.model import Finding, FindingKind
from monitor.model.alert_ages import AlertAge
from tests.support.builders import NOW
from tests.web.examples import offsets_only


def finding_of_age(kind: FindingKind, reason: str, age_ms: int) -> Finding:
    return Finding(kind=kind, reason=reason, since_ms=NOW - age_ms, sentence=f"{kind} {reason}.")


@pytest.mark.parametrize(
    ("kind", "reason", "age_s"),
    [
        ("orphaned", "grew", 600),
        ("orphaned", "not_ready", 60),
        ("drift", "tie", 0),
        ("drift", "current", 900),
        ("imbalance", "lag", 3600),
        ("imbalance", "workers", 3600),
        ("dead_member", "silent", 0),
        ("retention", "records_lost", 0),
        ("unattended", "no_members", 900),
        ("unattended", "one_off", 0),
    ],
)
def test_a_finding_waits_for_the_age_in_docs_alerts(kind: str, reason: str, age_s: int):
    assert alert_age_ms(kind, reason) == 1000 * age_s


def test_a_finding_settles_until_its_alert_is_due_and_information_never_does():
    young, old = (
        finding_of_age(FindingKind.ORPHANED, "grew", 599_999),
        finding_of_age(FindingKind.ORPHANED, "grew", 600_000),
    )
    assert (settling_until_ms(young, NOW), settling_until_ms(old, NOW)) == (NOW + 1, None)
    assert settling_until_ms(finding_of_age(FindingKind.DRIFT, "tie", 0), NOW) is None


def test_a_changed_age_of_an_alert_is_the_one_that_its_finding_waits_for():
    """The expression of GroupwatchPartitionOrphaned has 600 s; two hours and one minute are chosen."""
    of_another = AlertAge("GroupwatchDrift", 5)
    for age_s in (7200, 60):
        changed_s = changed_age_s("orphaned", "grew", (of_another, AlertAge("GroupwatchPartitionOrphaned", age_s)))
        assert changed_s == age_s
        begun_ms = NOW - 1000 * age_s
        finding = Finding(FindingKind.ORPHANED, "grew", begun_ms, "No owner.", alert_age_s=changed_s)
        assert settling_until_ms(finding, NOW - 1) == NOW
        assert settling_until_ms(finding, NOW) is None
    assert changed_age_s("orphaned", "grew", (of_another,)) is None


def test_what_settles_comes_after_lasting_warnings_and_before_information():
    in_order = [
        finding_of_age(FindingKind.RETENTION, "records_lost", 0),
        finding_of_age(FindingKind.ORPHANED, "grew", 600_000),
        finding_of_age(FindingKind.DRIFT, "current", 900_000),
        finding_of_age(FindingKind.ORPHANED, "grew", 1),
        finding_of_age(FindingKind.DRIFT, "current", 1),
        finding_of_age(FindingKind.DRIFT, "tie", 0),
    ]
    places = [place_of(each, NOW) for each in in_order]
    assert places == sorted(places)
    assert len({*places}) == len(places)
    assert places[-1] < LAST_PLACE


def test_explain_says_what_settles_and_puts_it_last():
    verdict = offsets_only("g")
    young = Finding(FindingKind.ORPHANED, "grew", since_ms=verdict.evaluated_ms - 1_000, sentence="Young.")
    old = Finding(FindingKind.DRIFT, "current", since_ms=verdict.evaluated_ms - 900_000, sentence="Old.")
    said = [(each.sentence, each.settling_until_ms) for each in findings_told(verdict, (young, old), "None.")]
    assert said == [("Old.", None), ("Young.", verdict.evaluated_ms + 599_000)]
