"""Alert rules as Prometheus reads them: silent before their time, firing at it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import yaml

from dashboards.alerts import RULES, rules_file
from tests.programs import required

CASES = Path(__file__).with_name("alerts_test.yml")


def promtool(*arguments: str) -> None:
    run = subprocess.run([required("promtool", "prometheus"), *arguments], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr


def test_the_rule_file_holds_every_rule_as_it_is():
    (group,) = yaml.safe_load(rules_file())["groups"]
    assert group["rules"] == [
        {
            "alert": rule.name,
            "expr": rule.expr,
            "for": rule.hold,
            "labels": {"severity": rule.severity},
            "annotations": {"summary": rule.summary, "description": rule.description, "runbook": rule.runbook},
        }
        for rule in RULES
    ]


def test_every_rule_has_a_case_in_which_it_fires():
    cases = yaml.safe_load(CASES.read_text(encoding="utf-8"))["tests"]
    firing = {look["alertname"] for case in cases for look in case["alert_rule_test"] if look["exp_alerts"]}
    assert firing == {rule.name for rule in RULES}


def test_rules_fire_at_their_time_and_not_before(tmp_path: Path):
    (tmp_path / "alerts.yml").write_text(rules_file(), encoding="utf-8")
    cases = shutil.copy(CASES, tmp_path)
    promtool("check", "rules", str(tmp_path / "alerts.yml"))
    promtool("test", "rules", str(cases))
