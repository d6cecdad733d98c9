"""Alert rules as Prometheus reads them: silent before their time, firing at it, gone when they should be."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from dashboards.alerts import DEMO, RULES, rule_groups, rules_file
from monitor.metrics.render import STATES
from tests.dashboards.alert_cases import CASES, SILENCES
from tests.dashboards.promtool import as_silent_test, as_test, firing, run_cases
from tests.detection.told_examples import examples

OF_SERIES_OF_THEIR_OWN = {
    "drift": "GroupwatchAssignmentDrifted",
    "dead_member": "GroupwatchMemberDead",
    "unattended": "GroupwatchGroupWithoutMembers",
}
"""The alerts about kinds of findings that are told by a series of that kind alone."""

NOT_ALERTED = {("drift", "tie")}
"""Both answers are right: nobody has anything to do."""


def test_every_rule_has_a_case_in_which_it_fires():
    assert firing(CASES) == {rule.name for rule in RULES}
    assert len({rule.name for rule in RULES}) == len(RULES)


def test_rules_fire_at_their_time_and_go_at_theirs_and_no_other_does(tmp_path: Path):
    rules = {rule.name: rule for rule in RULES}
    run_cases(tmp_path, rules_file(), [as_test(case, rules[case.alert]) for case in CASES])


def test_no_rule_fires_for_what_is_normal(tmp_path: Path):
    run_cases(tmp_path, rules_file(), [as_silent_test(silence) for silence in SILENCES])


def alerts_about(kind: str, reason: str) -> set[str]:
    """The rules whose expression chooses the series of such a finding."""
    chosen = r'groupwatch_group_finding\w+\{kind=~"([^"]+)",reason(=~|!~)"([^"]+)"\}'
    return {
        rule.name
        for rule in RULES
        for kinds, how, reasons in re.findall(chosen, rule.expr)
        if re.fullmatch(kinds, kind) and bool(re.fullmatch(reasons, reason)) == (how == "=~")
    }


def test_whatever_groupwatch_finds_has_one_alert():
    told = {(example.kind.value, example.reason) for example in examples()}
    for kind, reason in told - NOT_ALERTED:
        own = {OF_SERIES_OF_THEIR_OWN[kind]} if kind in OF_SERIES_OF_THEIR_OWN else set()
        assert len(alerts_about(kind, reason) | own) == 1, (kind, reason)


def named(label: str, expr: str) -> set[str]:
    """The values of a label that an expression chooses or leaves out."""
    return {value for values in re.findall(rf'\b{label}(?:=|=~|!~)"([^"]+)"', expr) for value in values.split("|")}


def test_every_kind_reason_and_state_that_a_rule_names_is_one_that_there_is():
    found = {(example.kind.value, example.reason) for example in examples()}
    for rule in RULES:
        kinds = {reason for kind, reason in found if kind == "drift"} if "drift" in rule.expr else {k for k, _ in found}
        assert named("kind", rule.expr) <= kinds, rule.name
        assert named("reason", rule.expr) - {".+"} <= {reason for _, reason in found}, rule.name
        assert named("state", rule.expr) <= {state.value for state in STATES}, rule.name


def test_the_rules_of_the_demo_are_the_same_in_seconds_and_those_about_groupwatch_itself_are_as_they_were():
    *groups, itself = rule_groups()
    *quick, same = rule_groups(DEMO)
    assert itself == same
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
    assert all(rule["annotations"].keys() == {"summary", "description", "runbook_url"} for rule in written)
