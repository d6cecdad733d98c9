"""A finding of a cluster, and the findings of groups that follow from it: on the pages, in the API, in explain."""

import json
import re

import msgspec

from monitor.detection import DetectionSettings, evaluate
from monitor.detection.cluster_findings import cluster_findings
from monitor.detection.evaluation_input import GroupInputs
from monitor.detection.group_summary import summary_of
from monitor.explain.group import explain_group
from tests.detection.test_cluster_findings import NOW_MS, SILENT, fault, topics_with
from tests.web.examples import ready_cluster, snapshot
from tests.web.test_app import client

TOPICS = topics_with(fault())
VERDICT = evaluate(SILENT, TOPICS, NOW_MS, DetectionSettings())
CLUSTER = msgspec.structs.replace(
    ready_cluster(VERDICT, cluster="c"),
    evaluated_ms=NOW_MS,
    findings=cluster_findings(TOPICS, [summary_of(VERDICT)], None, NOW_MS),
)
CLIENT = client(snapshot(CLUSTER))

SENTENCE = (
    "Partition 3 of __consumer_offsets has 1 of 2 in-sync replicas that a commit needs: the 1 group there can neither "
    "commit nor rebalance."
)
FOLLOWS = "4 partitions of t (0-3) have lag."


def text(path: str) -> str:
    """A page without its marks."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", CLIENT.get(path).text))


def test_the_head_of_the_page_has_the_clusters_finding_with_its_age_and_advice():
    page = text("/")
    assert f"Offsets topic critical {SENTENCE} for 4 min 5 s What to do: Start the brokers that are away" in page


def test_a_group_shows_what_follows_under_the_clusters_and_has_no_finding():
    page = text("/groups/c/g")
    assert SENTENCE in page
    assert f"Findings None. Findings that follow from the cluster's Lag warning {FOLLOWS}" in page
    assert f"Follows from the cluster's finding: {FOLLOWS}" in text("/")


def test_the_api_has_both_apart():
    (cluster,) = json.loads(CLIENT.get("/api/v1/clusters").content)
    assert cluster["groups_with_findings"] == 0
    (found,) = cluster["findings"]
    assert (found["kind"], found["reason"], found["severity"]) == ("offsets_topic", "not_enough_replicas", "critical")
    assert (found["since_ms"], found["groups"], found["partitions"]) == (755_000, 1, [3])
    assert found["sentence"] == SENTENCE
    group = json.loads(CLIENT.get("/api/v1/groups/c/g").content)
    assert "findings" not in group
    (follows,) = group["subordinate"]
    assert (follows["kind"], follows["follows"]) == ("lag", "offsets_topic/not_enough_replicas")
    assert json.loads(CLIENT.get("/api/v1/findings").content) == []


def test_explain_says_from_what_it_follows():
    told = [each.sentence for each in explain_group(GroupInputs(SILENT, TOPICS, NOW_MS)).statements]
    assert "The group has no findings of its own." in told
    (last,) = [each for each in told if FOLLOWS in each]
    assert last.startswith("This follows from a finding of the cluster (offsets topic: not enough replicas): ")
