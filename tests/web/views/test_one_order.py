"""Worst first is one order: in the table, in a verdict, on the page, in the API, in the documentation; and the alerts
have the same severities. The order is written out here by hand."""

import re
from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace

from monitor.alert_rules import RULES
from monitor.detection import DetectionSettings, evaluate
from monitor.findings.alerts import severity_of
from monitor.findings.table import FINDING_KINDS, FINDINGS, rank, spec_of
from monitor.model import DriftKind, Finding, FindingKind, OrphanReason, PartitionVerdict, Phase
from monitor.model.findings import Severity
from monitor.web.api.lists import ApiLists, Order, Wanted
from monitor.web.page.group import group_page
from monitor.web.views.group_list import Listing, Wish
from monitor.web.views.overview import overview
from monitor.web.views.summary import verdict_json
from tests.dashboards.test_alerts import NOT_ALERTED, OF_SERIES_OF_THEIR_OWN, alerts_about
from tests.support.builders import ASSIGNED, NOW, catalog, commit, group, member, places, topic
from tests.web.examples import NOW_MS, offsets_only, ready_cluster, snapshot

CRITICAL = (
    ("retention", "records_lost"),
    ("skipped", "retention"),
    ("subscription", "mixed_expressions"),
    ("retention", "close_to_loss"),
    ("double_owned", "same_generation"),
    ("double_owned", "mixed_strategy"),
    ("double_owned", "duplicate_client_id"),
    ("orphaned", "mixed_strategy"),
    ("orphaned", "mixed_subscription"),
    ("orphaned", "leader_unsubscribed"),
    ("orphaned", "owner_unsubscribed"),
    ("orphaned", "no_task"),
    ("orphaned", "not_ready"),
    ("orphaned", "assignor_gap"),
    ("orphaned", "config_mismatch"),
    ("orphaned", "no_workers"),
    ("orphaned", "not_assigned"),
    ("orphaned", "revoked"),
    ("orphaned", "not_initialized"),
    ("lag", "unreadable"),
    ("poison", "given_up"),
    ("poison", "dead_letters"),
    ("lag", "beyond_end"),
    ("unattended", "no_members"),
    ("dead_member", "silent"),
    ("dead_member", "no_answer"),
    ("dead_member", "unnoticed"),
    ("lag", "stuck_record"),
    ("transactions", "uncommitted"),
    ("transactions", "pending_offsets"),
    ("orphaned", "grew"),
    ("orphaned", "pending"),
    ("orphaned", "rebalancing"),
    ("expectation", "critical"),
)
WARNING = (
    ("double_owned", "run_twice"),
    ("lag", "former_log"),
    ("uncommitted", "unattended"),
    ("offsets", "expired"),
    ("offsets", "invalid"),
    ("offsets", "expire"),
    ("rebalance", "long"),
    ("lag", "not_committing"),
    ("unattended", "not_synced"),
    ("lag", "open_transaction"),
    ("uncommitted", "never"),
    ("subscription", "nothing_to_read"),
    ("lag", "stalled"),
    ("poison", "last_try"),
    ("poison", "sent_back"),
    ("lag", "behind"),
    ("rebalance", "storm"),
    ("rebalance", "static_replacements"),
    ("rebalance", "different_subscriptions"),
    ("config_behind", "config_offset"),
    ("unreadable_members", "assignment"),
    ("unreadable_members", "subscription"),
    ("drift", "pending"),
    ("drift", "target"),
    ("drift", "replayed"),
    ("drift", "current"),
    ("expectation", "warning"),
)
INFO = (
    ("uncommitted", "at_risk"),
    ("offsets", "unsubscribed"),
    ("offsets", "removed"),
    ("imbalance", "lag"),
    ("imbalance", "partitions"),
    ("capacity", "one_partition"),
    ("imbalance", "tasks"),
    ("imbalance", "workers"),
    ("orphaned", "delay"),
    ("lag", "not_moving"),
    ("unattended", "kept"),
    ("subscription", "missing_topics"),
    ("idle_members", "no_partitions"),
    ("idle_members", "no_tasks"),
    ("skipped", "new_partition"),
    ("skipped", "perhaps"),
    ("unattended", "one_off"),
    ("abandoned", "unsubscribed"),
    ("expectation", "info"),
    ("drift", "tie"),
)
ORDER = (*CRITICAL, *WARNING, *INFO)
LEVELS = [*["critical"] * len(CRITICAL), *["warning"] * len(WARNING), *["info"] * len(INFO)]
ROWS = [(*finding, level) for finding, level in zip(ORDER, LEVELS, strict=True)]

NO_FINDING = {OrphanReason.NO_MEMBERS, OrphanReason.UNSUBSCRIBED}
"""Of these partitions it is told that the group is unattended, or has abandoned the topic, once records wait there."""

PAGE = Path(__file__).parents[3] / "docs" / "findings.md"


def named(finding) -> tuple[str, str]:
    return finding.kind.value, str(finding.reason)


# --- the table ----------------------------------------------------------------------------------------------------


def test_the_table_is_in_this_order_with_these_severities():
    assert [(*named(spec), spec.severity.value) for spec in FINDINGS] == ROWS
    assert [rank(FindingKind(kind), reason) for kind, reason in ORDER] == list(range(len(ORDER)))


def test_every_kind_and_reason_of_the_model_has_one_row():
    rows = [named(spec) for spec in FINDINGS]
    assert len(set(rows)) == len(rows)
    assert {kind for kind, _ in rows} == {kind.value for kind in FindingKind}
    assert {reason for kind, reason in rows if kind == "orphaned"} == {each.value for each in OrphanReason} - NO_FINDING
    assert {reason for kind, reason in rows if kind == "drift"} == {each.value for each in DriftKind}


def test_a_row_is_found_by_kind_and_reason_as_values_and_as_the_text_of_a_record():
    assert [spec_of(kind, reason) for kind, reason in ORDER] == list(FINDINGS)
    assert spec_of(FindingKind.DRIFT, DriftKind.TIE) is FINDINGS[-1]
    lost = Finding(FindingKind.RETENTION, "records_lost", since_ms=0, sentence="")
    assert spec_of(lost.kind, lost.reason) is FINDINGS[0]


def test_a_finding_without_a_row_has_no_rank_and_no_words():
    with pytest.raises(KeyError):
        rank(FindingKind.LAG, "made_up")
    with pytest.raises(KeyError):
        spec_of(FindingKind.LAG, "made_up")


JITTERING = {"retention", "unattended", "lag", "uncommitted", "offsets", "abandoned", "subscription"}
"""Their partitions change with the traffic."""

JITTERING_ALONE = {
    ("poison", "last_try"),
    ("poison", "sent_back"),
    ("transactions", "uncommitted"),
    ("rebalance", "static_replacements"),
    ("rebalance", "different_subscriptions"),
}

REMEMBERED = {
    *(("rebalance", reason) for reason in ("storm", "different_subscriptions")),
    *(("poison", reason) for reason in ("given_up", "dead_letters")),
    *(("expectation", reason) for reason in ("critical", "warning", "info")),
}
"""They begin with the oldest that happened within some time."""


@pytest.mark.parametrize("spec", FINDINGS, ids=lambda spec: f"{spec.kind.value}/{spec.reason}")
def test_what_moves_with_the_traffic_or_with_a_bounded_history_is_no_news(spec):
    assert spec.jitters is (spec.kind.value in JITTERING or named(spec) in JITTERING_ALONE)
    assert spec.remembered is (named(spec) in REMEMBERED)


def test_the_page_marks_partitions_where_the_row_of_a_partition_does_not_say_it_all():
    """Findings without a mark are about members or the group, show in the numbers, or count the owners in the mark."""
    assert {named(spec) for spec in FINDINGS if spec.mark is None} == {
        ("double_owned", "same_generation"),
        ("double_owned", "mixed_strategy"),
        ("rebalance", "long"),
        ("lag", "behind"),
        ("subscription", "mixed_expressions"),
        ("poison", "dead_letters"),
        ("poison", "sent_back"),
        ("subscription", "nothing_to_read"),
        ("subscription", "missing_topics"),
        ("double_owned", "run_twice"),
        ("config_behind", "config_offset"),
        ("imbalance", "workers"),
        ("imbalance", "tasks"),
        ("idle_members", "no_tasks"),
        ("rebalance", "storm"),
        ("rebalance", "static_replacements"),
        ("rebalance", "different_subscriptions"),
        ("unreadable_members", "assignment"),
        ("unreadable_members", "subscription"),
        ("imbalance", "partitions"),
        ("imbalance", "tasks"),
        ("idle_members", "no_partitions"),
        ("idle_members", "no_tasks"),
        ("expectation", "critical"),
        ("expectation", "warning"),
        ("expectation", "info"),
    }


@pytest.mark.parametrize("spec", FINDINGS, ids=lambda spec: f"{spec.kind.value}/{spec.reason}")
def test_the_page_marks_a_partition_as_the_row_of_its_finding_says(spec):
    """Once: that nobody owns it is in the row of the partition, too."""
    found = Finding(spec.kind, spec.reason, since_ms=0, sentence="Wrong.", partitions=places("t", 0))
    orphan = OrphanReason(spec.reason) if spec.kind is FindingKind.ORPHANED else None
    row = PartitionVerdict("t", 0, owners=() if orphan else ("C0",), orphan=orphan)
    verdict = replace(offsets_only("g"), state=Phase.STABLE, partitions=(row,), findings=(found,))
    (line,) = group_page(verdict, None).partitions
    assert line.marks == (() if spec.mark is None else (spec.mark,))


# --- what is sorted by it -------------------------------------------------------------------------------------------


def in_trouble():
    """A group for each finding, all old enough for their alerts; the worst is the last by name and the youngest."""
    groups = []
    for number, (kind, reason) in enumerate(ORDER):
        found = Finding(FindingKind(kind), reason, since_ms=NOW_MS - 9_000_000 - 1_000 * number, sentence="Wrong.")
        groups.append(replace(offsets_only(f"g{len(ORDER) - number:02}"), findings=(found,)))
    return snapshot(ready_cluster(*groups, offsets_only("a calm one")))


def test_the_page_lists_groups_in_this_order_and_those_without_findings_last():
    page = overview(Listing(in_trouble()), NOW_MS, Wish(), None)
    shown = [line.summary.findings for line in page.groups]
    assert [named(found) for findings in shown for found in findings] == list(ORDER)
    assert shown[-1] == ()


def test_the_page_counts_kinds_in_the_order_of_the_worst_of_each():
    kinds = [
        "retention", "skipped", "subscription", "double_owned", "orphaned", "lag", "poison", "unattended",
        "dead_member", "transactions", "expectation", "uncommitted", "offsets", "rebalance",
        "config_behind", "unreadable_members",
        "drift", "imbalance", "capacity", "idle_members", "abandoned",
    ]  # fmt: skip
    assert [count.kind.value for count in Listing(in_trouble()).found(Wish()).kinds] == kinds
    assert [kind.value for kind in FINDING_KINDS] == kinds


def test_the_api_sorts_groups_and_findings_in_this_order():
    lists = ApiLists(in_trouble().clusters)
    groups = lists.groups(Wanted(order=Order.WORST)).rows
    assert [named(found) for each in groups for found in each.findings] == list(ORDER)
    assert [named(found) for found in lists.findings(Wanted()).rows] == list(ORDER)


def test_the_page_and_the_api_give_the_severity_of_the_table_with_each_finding():
    lines = [line for group in overview(Listing(in_trouble()), NOW_MS, Wish(), None).groups for line in group.findings]
    assert [line.severity.value for line in lines] == LEVELS
    assert [found.severity.value for found in ApiLists(in_trouble().clusters).findings(Wanted()).rows] == LEVELS
    found = tuple(Finding(FindingKind(kind), reason, since_ms=0, sentence="Wrong.") for kind, reason in ORDER)
    verdict = replace(offsets_only("g"), findings=found)
    assert [line.severity.value for line in group_page(verdict, None).findings] == LEVELS
    assert [each["severity"] for each in msgspec.json.decode(verdict_json(verdict))["findings"]] == LEVELS


def test_a_group_stands_where_the_worst_of_its_findings_does_whatever_its_kind_and_age():
    tie = Finding(FindingKind.DRIFT, "tie", since_ms=0, sentence="")
    drifts = Finding(FindingKind.DRIFT, "replayed", since_ms=NOW_MS, sentence="")
    lost = Finding(FindingKind.RETENTION, "records_lost", since_ms=NOW_MS, sentence="")
    shown = snapshot(
        ready_cluster(
            replace(offsets_only("a"), findings=(tie,)),
            replace(offsets_only("b"), findings=(tie, drifts)),
            replace(offsets_only("c"), findings=(tie, lost)),
        )
    )
    assert [each.group for each in Listing(shown).found(Wish()).groups] == ["c", "b", "a"]
    assert [each.group for each in ApiLists(shown.clusters).groups(Wanted(order=Order.WORST)).rows] == ["c", "b", "a"]


def test_a_verdict_has_its_findings_in_this_order():
    """C0 is silent, C1 reads on; a partition that came later waits for a refresh of metadata."""
    members = [member(f"C{n}", ["a"], {"a": [n]}, rebalance_timeout_ms=60_000) for n in (0, 1)]
    state = group(*members, offsets=[commit("a", 0, 10, at_ms=ASSIGNED), commit("a", 1, at_ms=NOW + 90_000)])
    topics = catalog(topic("a", 3, grown=1))
    found = evaluate(state, topics, NOW + 120_000, DetectionSettings(lag_records=5)).findings
    assert [named(each) for each in found] == [
        ("dead_member", "silent"),
        ("orphaned", "grew"),
        ("lag", "behind"),
        ("drift", "current"),
    ]


# --- what tells of it -----------------------------------------------------------------------------------------------


def test_the_documentation_lists_them_in_this_order_with_these_severities():
    table = PAGE.read_text(encoding="utf-8").split("## All findings\n")[1]
    assert re.findall(r"^\| `(\w+)`, `(\w+)` \| (\w+) \|", table, re.MULTILINE) == ROWS


@pytest.mark.parametrize(("kind", "reason", "severity"), ROWS, ids=lambda value: value)
def test_the_alert_about_a_finding_has_its_severity(kind, reason, severity):
    own = {OF_SERIES_OF_THEIR_OWN[kind]} if kind in OF_SERIES_OF_THEIR_OWN else set()
    names = set() if (kind, reason) in NOT_ALERTED else alerts_about(kind, reason) | own
    assert {rule.severity.value for rule in RULES if rule.name in names} == ({severity} if names else set())


def test_an_alert_cannot_be_about_findings_of_several_severities_or_about_none():
    assert severity_of("double_owned|orphaned", "mixed_strategy") is Severity.CRITICAL
    with pytest.raises(ValueError, match=r"^The findings drift, \.\+ are info, warning\.$"):
        severity_of("drift", ".+")
    with pytest.raises(ValueError, match=r"^The findings lag, made_up are none\.$"):
        severity_of("lag", "made_up")
