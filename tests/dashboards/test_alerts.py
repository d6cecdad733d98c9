"""Alert rules as Prometheus reads them: silent before their time, firing at it, gone when they should be."""

from __future__ import annotations

import re
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from dashboards.alert_table import PAGE, with_table
from dashboards.kubernetes import kubernetes_files
from dashboards.runbooks import Options, command_options
from monitor.alert_rules import DEMO, RULES, rule_groups, rules_file
from monitor.alert_rules.links import Links
from monitor.alert_rules.monitor_itself import rules_about_clusters
from monitor.alert_rules.options import RuleOptions
from monitor.findings.alerts import GROUP_ALERTS
from monitor.findings.cluster import ROWS as OF_CLUSTERS
from monitor.metrics.render import STATES
from monitor.metrics.spec_types import MetricScope
from monitor.metrics.specs import FAMILIES, OF_THE_JVM
from tests.dashboards.alert_cases import CASES, SILENCES, UP, Series, Silence, of
from tests.dashboards.promtool import as_silent_tests, as_tests, firing, run_cases
from tests.detection.told_examples import examples
from tests.support.examples import some_of
from tests.support.programs import required

ROOT = Path(__file__).parents[2]
ROUTES = ROOT / "dashboards" / "compose" / "alertmanager.yml"

OF_SERIES_OF_THEIR_OWN = {
    "drift": "GroupwatchAssignmentDrifted",
    "dead_member": "GroupwatchMemberDead",
}
"""The alerts about kinds of findings that are told by a series of that kind alone."""

NOT_ALERTED = {
    ("drift", "tie"),
    ("orphaned", "delay"),
    ("uncommitted", "at_risk"),
    ("lag", "not_moving"),
    ("unattended", "kept"),
    ("unattended", "one_off"),
    ("subscription", "missing_topics"),
    ("offsets", "unsubscribed"),
    ("offsets", "removed"),
}
"""Both answers are right; Connect waits on purpose; no record is left out yet; an application may hold a partition
back; the consumers are in another cluster; nobody starts the group again; topics may be to come; nobody reads the topic
by intent; an administrator has mostly deleted them. Nobody has anything to do."""


def test_every_rule_has_a_case_in_which_it_fires():
    assert firing(CASES) == {rule.name for rule in RULES}
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_rules_fire_at_their_time_and_go_at_theirs_and_no_other_does(tmp_path: Path):
    rules = {rule.name: rule for rule in RULES}
    run_cases(tmp_path, rules_file(), as_tests(CASES, rules))


def test_no_rule_fires_for_what_is_normal(tmp_path: Path):
    run_cases(tmp_path, rules_file(), as_silent_tests(SILENCES))


def left_out_by_the_page() -> str:
    """The rules, those about groups with what the page says to put behind their expressions."""
    (recipe,) = re.findall(r"append `(unless on [^`]+)` to the rule\b", PAGE.read_text(encoding="utf-8"))
    file = yaml.safe_load(rules_file())
    for rule in (rule for group in file["groups"] for rule in group["rules"]):
        if "groupwatch_group_" in rule["expr"]:
            rule["expr"] += f" {recipe}"
    return yaml.safe_dump(file)


def with_info(given: Series, group: str) -> Series:
    """The series of a case that are about a group, for a group of that name, with the one that every group has."""
    own = {series.replace('group="orders"', f'group="{group}"'): values for series, values in given.items()}
    return own | {of("group_info", group=group, kind="metaq", source="system"): "1x120"}


def test_groups_that_are_left_out_as_the_page_says_have_no_alert_and_all_others_have(tmp_path: Path):
    """Whether or not their lag is known, or is in bytes: most cases give none."""
    about_groups = [case for case in CASES if case.labels.get("group") == "orders"]
    assert len(about_groups) > 20
    left_out: Series = {}  # all of them at once: each group is one of its own
    for number, each in enumerate(about_groups):
        left_out |= with_info(each.given, f"nightly-{number}")
    others = [replace(each, given=with_info(each.given, "orders")) for each in some_of(about_groups)]
    rules = {rule.name: rule for rule in RULES}
    silent = as_silent_tests([Silence("all groups that are left out", left_out | UP, 120)])
    run_cases(tmp_path, left_out_by_the_page(), [*silent, *as_tests(others, rules)])


def alerts_about(kind: str, reason: str) -> set[str]:
    """The rules whose expression chooses the series of such a finding."""
    chosen = r'groupwatch_group_finding\w+\{kind=~?"([^"]+)",reason(=|=~|!~)"([^"]+)"\}'
    return {
        rule.name
        for rule in RULES
        for kinds, how, reasons in re.findall(chosen, rule.expr)
        if re.fullmatch(kinds, kind) and bool(re.fullmatch(reasons, reason)) == (how != "!~")
    }


def test_whatever_groupwatch_finds_has_one_alert():
    told = {(example.kind.value, example.reason) for example in examples()}
    for kind, reason in told - NOT_ALERTED:
        own = {OF_SERIES_OF_THEIR_OWN[kind]} if kind in OF_SERIES_OF_THEIR_OWN else set()
        assert len(alerts_about(kind, reason) | own) == 1, (kind, reason)


def named(label: str, expr: str) -> set[str]:
    """The values of a label that an expression chooses or leaves out."""
    return {value for values in re.findall(rf'\b{label}(?:=|=~|!=|!~)"([^"]+)"', expr) for value in values.split("|")}


def test_every_finding_of_a_cluster_has_one_alert_of_its_severity():
    own = [rule for rule in RULES if "cluster_own_finding_oldest_seconds" in rule.expr]
    chosen = [(rule, named("kind", rule.expr), named("reason", rule.expr)) for rule in own]
    unreadable = next(rule for rule in RULES if rule.name == "GroupwatchGroupsUnreadable")  # by a series of its own
    chosen.append((unreadable, {"records"}, {"unknown_version"}))
    for spec in OF_CLUSTERS:
        alerts = [rule for rule, kinds, reasons in chosen if kinds == {spec.kind.value} and spec.reason in reasons]
        assert [rule.severity for rule in alerts] == [spec.severity], spec


def test_every_kind_reason_and_state_that_a_rule_names_is_one_that_there_is():
    found = {(example.kind.value, example.reason) for example in examples()}
    found |= {(spec.kind.value, str(spec.reason)) for spec in OF_CLUSTERS}
    for rule in RULES:
        kinds = {reason for kind, reason in found if kind == "drift"} if "drift" in rule.expr else {k for k, _ in found}
        assert named("kind", rule.expr) <= kinds, rule.name
        assert named("reason", rule.expr) <= {reason for _, reason in found}, rule.name
        assert named("state", rule.expr) <= {state.value for state in STATES}, rule.name


def test_every_rule_about_groups_is_a_row_that_a_backtest_evaluates():
    *groups, _, _ = rule_groups()
    assert [rule.name for group in groups for rule in group.rules] == [row.name for row in GROUP_ALERTS]


def test_the_rules_of_the_demo_are_the_same_in_seconds_and_those_about_groupwatch_itself_are_as_they_were():
    *groups, clusters, itself = rule_groups()
    *quick, same_clusters, same = rule_groups(DEMO)
    assert (clusters, itself) == (same_clusters, same)
    assert [rule.name for group in quick for rule in group.rules] == [
        rule.name for group in groups for rule in group.rules
    ]
    orphaned = next(rule for group in quick for rule in group.rules if rule.name == "GroupwatchPartitionOrphaned")
    assert (orphaned.expr.split(" > ")[1], orphaned.hold_s, orphaned.keep_s) == ("10", 1, 5)


def test_the_rule_file_is_yaml_that_says_the_rules():
    file = yaml.safe_load(rules_file())
    written = [rule for group in file["groups"] for rule in group["rules"]]
    assert [rule["alert"] for rule in written] == [rule.name for rule in RULES]
    assert [rule["expr"] for rule in written] == [rule.expr for rule in RULES]
    assert {rule["labels"]["severity"] for rule in written} == {"critical", "warning", "info"}
    assert all(rule["annotations"].keys() == {"summary", "description", "runbook"} for rule in written)


def test_every_rule_has_a_runbook_that_says_what_to_do_and_every_runbook_a_rule():
    text = (ROOT / "docs" / "runbooks.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (\w+)\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    (missing,) = rules_about_clusters(["c"])  # of a configuration only, and beside the rule about any groupwatch
    assert [name for name, _ in sections if name != missing.name] == [rule.name for rule in RULES]
    assert missing.name in dict(sections)
    for name, section in sections:
        parts = re.findall(r"^\*\*(\w+)\.\*\* \S", section, re.MULTILINE)
        assert [each for each in ("Means", "Causes", "Look", "Do") if each in parts] == parts, name
        assert {"Means", "Do"} <= set(parts), name
    assert all(rule.runbook() == f"docs/runbooks.md#{rule.name.lower()}" for rule in RULES)


def test_with_an_address_of_the_runbooks_each_alert_has_a_link_to_its_own():
    base = "https://wiki.example/groupwatch/runbooks"
    rules = rules_file(options=RuleOptions(links=Links(runbooks=base)))
    for file in (rules, kubernetes_files(Options(base))["prometheusrule.yaml"]):
        read = yaml.safe_load(file)
        groups = read["groups"] if "groups" in read else read["spec"]["groups"]
        told = {rule["alert"]: rule["annotations"] for group in groups for rule in group["rules"]}
        assert told["GroupwatchMemberDead"]["runbook_url"] == f"{base}#groupwatchmemberdead"
        assert all(each.keys() == {"summary", "description", "runbook_url"} for each in told.values())


@pytest.mark.parametrize("address", ["docs/runbooks.md", "ftp://wiki/runbooks", "https://", "https://wiki/page#top"])
def test_what_is_no_address_of_a_page_ends_with_a_sentence(address: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        command_options("dashboards.generate", ["--runbooks", address])
    assert ended.value.code == 2
    assert repr(address) in capsys.readouterr().err


def test_the_address_of_the_runbooks_is_taken_from_the_command_line():
    asked = command_options("dashboards.generate", ["--runbooks", "https://wiki.example/runbooks"])
    assert (asked.runbooks, command_options("dashboards.generate", []).runbooks) == (
        "https://wiki.example/runbooks",
        None,
    )
    assert command_options("dashboards.generate", ["--cluster", "a", "--cluster", "b"]).clusters == ("a", "b")


def test_a_cluster_that_is_named_fires_an_alert_when_it_has_no_series_although_others_have(tmp_path: Path):
    """Two deployments: the one of cluster b is there until minute 3. Both clusters without a sample: both alerts."""
    summary = "Prometheus scrapes no groupwatch of b"
    fired = {"exp_labels": {"severity": "critical", "cluster": "b"}, "exp_annotations": None}
    rules = yaml.safe_load(rules_file(options=RuleOptions(clusters=("a", "b"))))["groups"][-1]["rules"]
    annotations = {**rules[1]["annotations"], "summary": summary}
    described = annotations["description"].replace("{{ or $labels.exported_cluster $labels.cluster }}", "b")
    annotations["description"] = described
    test = {
        "interval": "1m",
        "input_series": [
            {"series": 'groupwatch_up{cluster="a"}', "values": "1x20"},
            {"series": 'groupwatch_up{cluster="b"}', "values": "1x3 stale _x16"},
        ],
        "alert_rule_test": [
            {"eval_time": "8m", "alertname": "GroupwatchClusterMissing", "exp_alerts": []},
            {
                "eval_time": "9m",
                "alertname": "GroupwatchClusterMissing",
                "exp_alerts": [{**fired, "exp_annotations": annotations}],
            },
            {"eval_time": "15m", "alertname": "GroupwatchDown", "exp_alerts": []},
        ],
    }
    run_cases(tmp_path, rules_file(options=RuleOptions(clusters=("a", "b"))), [test])


def test_the_table_of_alerts_is_not_stale():
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_table(page, RULES), "run: python -m dashboards"
    assert re.findall(r"^\| \[(\w+)\]", page, re.MULTILINE) == [rule.name for rule in RULES]


def test_alerts_about_groups_need_series_of_groups_and_none_below_as_the_pages_say():
    """So the detail "group" is enough for all of them, and with "cluster" none of them can fire."""
    families = FAMILIES | {spec.name: spec for spec in OF_THE_JVM}
    for rule in RULES:
        scopes = {families[name].scope for name in re.findall(r"\bgroupwatch_\w+", rule.expr)}
        is_about_groups = any(name.startswith("groupwatch_group_") for name in re.findall(r"\w+", rule.expr))
        assert scopes == {MetricScope.GROUP} if is_about_groups else MetricScope.GROUP not in scopes, rule.name
        assert scopes <= {MetricScope.GROUP, MetricScope.CLUSTER, MetricScope.SELF}, rule.name
    for page in ("alerts.md", "metrics.md"):
        text = " ".join((ROOT / "docs" / page).read_text(encoding="utf-8").split())
        assert "o alert can fire for a group that has no series of its own**" in text, page


def test_the_example_of_routes_is_one_that_alertmanager_reads():
    amtool = required("amtool", "prometheus-alertmanager")
    run = subprocess.run([amtool, "check-config", str(ROUTES)], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_routes_and_their_page_name_alerts_that_there_are():
    written = ROUTES.read_text(encoding="utf-8") + PAGE.read_text(encoding="utf-8")
    rules = (*RULES, *rules_about_clusters(["prod"]))
    assert set(re.findall(r"\bGroupwatch[A-Z]\w+", written)) == {rule.name for rule in rules}
