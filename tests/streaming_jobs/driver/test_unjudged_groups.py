"""A group whose records cannot be read now: nothing that is shown of it looks like health, or accuses it."""

import json

import pytest
from msgspec.structs import replace

from monitor.detection.ownership.catalog_view import Topics
from monitor.detection.thresholds.overrides import DetectionRules
from monitor.explain.group import explain_group
from monitor.explain.partition import explain_partition
from monitor.snapshot_file import find_inputs, group_lines
from monitor.tracking.serialization import encode_state
from monitor.web.views.summary import verdict_json
from streaming_jobs.buckets.batch_context import BatchContext, Unread
from streaming_jobs.buckets.judge import BucketEvaluator
from streaming_jobs.driver.cluster_view import ClusterView
from streaming_jobs.driver.verdict_on_demand import AssignmentViewCache, VerdictsOnDemand
from streaming_jobs.ingest.schemas import BucketRow, RowKind
from tests.support.builders import NOW, catalog, commit, group, range_by_hand, topic
from tests.web.examples import JudgedCluster, snapshot
from tests.web.test_app import client, words

MEMBERS = range_by_hand({"C0": ["a"], "C1": ["a"]}, {"a": 2})
HOUR_MS = 3_600_000
REASON = "Partition 0 of __consumer_offsets has not been read since 2027-01-15 08:00:00 UTC: it has no leader"

GROWN = replace(topic("a", 3, grown=1, grown_ms=NOW + 1_000, end=5_000), pass_ms=NOW + 3 * HOUR_MS)
CUT = replace(
    GROWN, partitions=tuple([replace(each, earliest=4_000) for each in GROWN.partitions]), observed_ms=NOW + 3 * HOUR_MS
)
LATER = Topics(catalog(CUT, pass_ms=NOW + 3 * HOUR_MS))
"""Three hours later, the topic has grown, and retention has removed all that the group had committed."""


def unread(*, silent_ms: int = 0, was_read: bool = True) -> VerdictsOnDemand:
    """After its partition of the offsets topic could no longer be read; it had been silent by then so long."""
    since_ms, now_ms = NOW + silent_ms, NOW + 3 * HOUR_MS
    state = replace(group(*MEMBERS, offsets=[commit("a", 0, 90), commit("a", 1, 100)]), group="g")
    judge, view = BucketEvaluator(0, DetectionRules()), ClusterView("c")
    view.take([BucketRow(0, RowKind.GROUP, "g", encode_state(state))])
    if was_read:
        view.take(judge.rows({"g": state}, Topics(catalog(topic("a", 2))), BatchContext("r", 1, since_ms)))
    reasons = {0: Unread(REASON, since_ms if was_read else now_ms, was_read)}
    context = BatchContext("r", 2, now_ms, 1 if was_read else -1, log_partitions=1, unread=reasons)
    view.take(judge.rows({"g": state}, LATER, context))
    return VerdictsOnDemand(view, AssignmentViewCache(), LATER, now_ms, DetectionRules(), batch=context)


def page(judge: VerdictsOnDemand) -> str:
    """The text of the group's page."""
    verdict, listed = judge("g"), judge.view.summaries()
    assert verdict is not None
    shown = JudgedCluster(
        cluster="c", ready=True, evaluated_ms=judge.now_ms, input_lag=0, groups=listed, verdicts=(verdict,)
    )
    return words(client(snapshot(shown), judge.now_ms + 3_000).get("/groups/c/g").text)


def explained(judge: VerdictsOnDemand) -> list[str]:
    """What `explain` says, by a snapshot as the command fetches it."""
    inputs = judge.inputs("g")
    assert inputs is not None
    found = explain_group(find_inputs(group_lines(inputs).splitlines(), "c", "g"))
    return [text for each in found.statements for text in (each.sentence, *each.evidence)]


def test_a_page_of_a_group_that_is_not_evaluated_says_so_and_why():
    text = page(unread())
    assert f"Not evaluated: {REASON}. groupwatch shows the previous result." in text
    assert "State stable, when last read" in text
    assert "Evaluated no Not evaluated" in text
    assert "The last evaluation had none. What has happened since is unknown." in text
    assert "None." not in text
    assert "Lag unknown" in text
    assert "Lag status" not in text


def test_what_the_topics_did_since_is_not_held_against_the_group():
    judge = unread()
    verdict = judge("g")
    assert verdict is not None
    assert (verdict.findings, verdict.lag, verdict.lost, verdict.status) == ((), None, None, None)
    assert {(row.lag, row.orphan, row.expected, row.status) for row in verdict.partitions} == {(None,) * 4}
    assert "topic grew" not in page(judge)
    assert json.loads(verdict_json(verdict))["unjudged"] == REASON


def test_the_findings_of_the_last_evaluation_are_kept_and_marked():
    judge = unread(silent_ms=2 * HOUR_MS)
    (listed,) = judge.view.summaries()
    assert [each.kind.value for each in listed.findings] == ["lag"]
    text = page(judge)
    assert "These are of the last evaluation. What has happened since is unknown." in text
    assert listed.findings[0].sentence in text
    found = explained(judge)
    assert "The findings below are those of its last evaluation; what has happened since is unknown." in found
    assert listed.findings[0].sentence in found


def test_explain_says_that_nothing_is_known_of_the_time_since():
    found = explained(unread())
    assert found == [
        "g of cluster c is a kafka-classic group that groupwatch cannot evaluate now.",
        f"{REASON}.",
        "It had no findings in its last evaluation; what has happened since is unknown.",
    ]


def test_a_partition_of_it_has_no_verdict_either():
    inputs = unread(silent_ms=2 * HOUR_MS).inputs("g")
    assert inputs is not None
    of_lag, other = explain_partition(inputs, "a", 0), explain_partition(inputs, "a", 1)
    assert [len(each.statements) for each in (of_lag, other)] == [3, 2]
    assert other.statements[-1].sentence == (
        "It had no findings in its last evaluation; what has happened since is unknown."
    )


@pytest.mark.parametrize("silent_ms", [0, 2 * HOUR_MS])
def test_of_a_group_that_was_never_read_nothing_is_said_but_that(silent_ms):
    judge = unread(silent_ms=silent_ms, was_read=False)
    verdict, text = judge("g"), page(judge)
    assert verdict is not None
    assert (verdict.is_unknown, verdict.findings, verdict.partitions) == (True, (), ())
    assert f"Not evaluated: {REASON}. There is no previous result." in text
    assert "Unknown: groupwatch has not evaluated the group since it started." in text
    assert "State unknown Members unknown Partitions unknown Lag unknown" in text
    assert not [word for word in ("None.", "has no members", "No partitions") if word in text]
    assert explained(judge)[-1] == (
        "groupwatch has not evaluated it since it started: whether anything is wrong is unknown."
    )


def test_a_group_that_is_read_again_is_judged_again():
    judge = unread()
    state = judge.view.group_state("g")
    assert state is not None
    context = BatchContext("r", 3, judge.now_ms, known=2, log_partitions=1)
    judge.view.take(BucketEvaluator(0, DetectionRules()).rows({"g": state}, LATER, context))
    again = replace_batch(judge, context)("g")
    assert again is not None
    assert again.unjudged is None
    assert again.findings


def replace_batch(judge: VerdictsOnDemand, context: BatchContext) -> VerdictsOnDemand:
    """The evaluation of another micro-batch."""
    return VerdictsOnDemand(judge.view, judge.views, judge.topics, judge.now_ms, judge.rules, batch=context)
