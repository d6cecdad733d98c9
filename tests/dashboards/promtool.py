"""Cases as a test file of promtool, and its run."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Final

from monitor.alert_rules.rule import AlertRule
from tests.dashboards.alert_cases import Case, Series, Silence
from tests.support.programs import required

RARE_GARBAGE: Final = {"GOGC": "400"}
"""promtool then collects its garbage at five times what lives, in place of twice: a quarter less CPU, of 100 MB."""

FIRED = 'count by (alertname) (count_over_time(ALERTS{alertstate="firing"}[1d]) > 0)'
"""Every alert that has fired at any minute until then."""


def promtool(*arguments: str) -> str:
    """What promtool says; an error if it is not content."""
    command = [required("promtool", "prometheus"), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False, env={**os.environ, **RARE_GARBAGE})
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def run_cases(folder: Path, rules: str, tests: list[dict[str, Any]]) -> str:
    """Let promtool look at all of them. JSON is YAML, too."""
    (folder / "alerts.yml").write_text(rules, encoding="utf-8")
    file = folder / "alerts_test.yml"
    file.write_text(json.dumps({"rule_files": ["alerts.yml"], "evaluation_interval": "1m", "tests": tests}))
    return promtool("test", "rules", str(file))


def as_test(case: Case, rule: AlertRule) -> dict[str, Any]:
    """The minute before, the first, the last and the one after; and at the end, all that have fired."""
    labels = {"severity": case.severity, **case.labels}
    there = {"exp_labels": labels, "exp_annotations": annotations(case, rule)}
    looks = [
        (case.fires - 1, []),
        (case.fires, [there]),
        (case.gone, []),
    ]
    fired = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted({case.alert, *case.also})]
    still = f'count(ALERTS{{alertname="{case.alert}",alertstate="firing"}})'
    return {
        **_given(f"{case.alert} at minute {case.fires}", case.given, case.interval),
        "alert_rule_test": [
            {"eval_time": f"{minute}m", "alertname": case.alert, "exp_alerts": alerts} for minute, alerts in looks
        ],
        "promql_expr_test": [
            {"expr": FIRED, "eval_time": f"{case.gone}m", "exp_samples": fired},
            *(
                {"expr": still, "eval_time": f"{minute}m", "exp_samples": [{"labels": "{}", "value": 1}]}
                for minute in range(case.fires, case.gone)
            ),
        ],
    }


def as_silent_test(silence: Silence) -> dict[str, Any]:
    """No alert has fired until its end."""
    return {
        **_given(silence.name, silence.given, silence.interval),
        "promql_expr_test": [{"expr": FIRED, "eval_time": f"{silence.minutes}m", "exp_samples": []}],
    }


def annotations(case: Case, rule: AlertRule) -> dict[str, str]:
    """The summary is of the case; of the description only the names are filled in."""
    described = rule.description.replace("{{ or $labels.exported_cluster $labels.cluster }}", "{{ $labels.cluster }}")
    for label, value in case.labels.items():
        described = described.replace(f"{{{{ $labels.{label} }}}}", value)
    anchor = case.alert.lower()
    return {"summary": case.summary, "description": described, "runbook": f"docs/runbooks.md#{anchor}"}


def _given(name: str, given: Series, interval: str) -> dict[str, Any]:
    series = [{"series": series, "values": values} for series, values in given.items()]
    return {"name": name, "interval": interval, "input_series": series}


def firing(cases: Iterable[Case]) -> set[str]:
    """The alerts that have a case."""
    return {case.alert for case in cases}
