"""A finding that ended is remembered for 20 minutes, and what did not end is not taken for it."""

from msgspec.structs import replace

from monitor.detection.ended_findings import MOST_ENDED, EndedFindings, alert_sentence, has_alert, in_group
from monitor.model import Finding, FindingKind, GroupSummary, Phase
from monitor.model.ended_findings import EndedFinding, EndedLately
from monitor.model.findings import SubordinateFinding

NOW_MS = 1_795_315_215_000
MINUTE_MS = 60_000
DRIFT = Finding(FindingKind.DRIFT, "replayed", NOW_MS - 3_600_000, "Partition 3 is with another member.")
YOUNG = Finding(FindingKind.DRIFT, "current", NOW_MS + MINUTE_MS - 5_000, "Partition 4 is with another member.")


def summary(*findings: Finding, group: str = "g") -> GroupSummary:
    return GroupSummary("c", group, "kafka-classic", Phase.STABLE, "range", 2, 0, findings)


def ended(finding: Finding, ended_ms: int, *, was_settling: bool = False) -> EndedFinding:
    return EndedFinding(
        "g", finding.kind, finding.reason, finding.since_ms, ended_ms, finding.sentence, was_settling=was_settling
    )


def after(*rounds: tuple[int, tuple[GroupSummary, ...]]) -> EndedLately | None:
    """What is remembered after evaluations at these minutes, with these groups."""
    remembered, found = EndedFindings(), None
    for minute, groups in rounds:
        found = remembered.after(groups, NOW_MS + minute * MINUTE_MS, found, ())
    return found


def test_a_finding_that_ended_is_remembered_for_20_minutes():
    begun = (0, (summary(DRIFT),)), (1, (summary(DRIFT, YOUNG),)), (2, (summary(),))
    end_ms = NOW_MS + 2 * MINUTE_MS
    both = (ended(DRIFT, end_ms), ended(YOUNG, end_ms, was_settling=True))
    assert after(*begun) == EndedLately(NOW_MS, both)
    assert after(*begun, (22, (summary(),))) == EndedLately(NOW_MS, both)
    assert after(*begun, (23, (summary(),))) == EndedLately(NOW_MS)
    assert after(*begun, (3, ())) == EndedLately(NOW_MS, both)


def test_a_finding_that_is_there_again_has_not_ended():
    assert after((0, (summary(DRIFT),)), (1, (summary(),)), (2, (summary(DRIFT),))) == EndedLately(NOW_MS)


def test_the_findings_of_a_group_that_has_gone_have_ended():
    assert after((0, (summary(DRIFT),)), (1, ())) == EndedLately(NOW_MS, (ended(DRIFT, NOW_MS + MINUTE_MS),))


def test_a_finding_that_follows_from_one_of_the_cluster_has_not_ended():
    follows = SubordinateFinding(DRIFT.kind, DRIFT.reason, DRIFT.since_ms, DRIFT.sentence, follows="brokers/away")
    under = replace(summary(), subordinate=(follows,))
    assert after((0, (summary(DRIFT),)), (1, (under,))) == EndedLately(NOW_MS)
    found = after((0, (summary(DRIFT),)), (1, (under,)), (2, (summary(),)))
    end = replace(ended(DRIFT, NOW_MS + 2 * MINUTE_MS), was_subordinate=True)
    assert found == EndedLately(NOW_MS, (end,))
    assert (has_alert(end), alert_sentence(end, end.ended_ms)) == (False, "")


def test_the_findings_of_a_group_that_is_not_evaluated_end_when_it_is_evaluated_without_them():
    unknown = replace(summary(), unjudged="its state cannot be read", is_unknown=True)
    assert after((0, (summary(DRIFT),)), (1, (unknown,))) == EndedLately(NOW_MS)
    found = after((0, (summary(DRIFT),)), (1, (unknown,)), (2, (summary(),)))
    assert found == EndedLately(NOW_MS, (ended(DRIFT, NOW_MS + 2 * MINUTE_MS),))


def test_what_was_served_before_a_restart_ends_with_the_first_evaluation():
    earlier = ended(YOUNG, NOW_MS - MINUTE_MS)
    before = EndedLately(NOW_MS - 3_600_000, (earlier,))
    found = EndedFindings().after((summary(),), NOW_MS, before, (summary(DRIFT),))
    assert found == EndedLately(NOW_MS - 3_600_000, (ended(DRIFT, NOW_MS), earlier))


def test_where_more_ended_than_is_remembered_the_list_says_from_when_it_has_all():
    groups = [summary(DRIFT, group=f"g{number}") for number in range(MOST_ENDED + 1)]
    calm = [replace(each, findings=()) for each in groups]
    found = after((0, tuple(groups)), (1, tuple(calm)))
    assert found is not None
    assert (found.known_ms, len(found.findings)) == (NOW_MS + MINUTE_MS + 1, MOST_ENDED)
    assert [each.group for each in in_group(found, "g7").findings] == ["g7"]
