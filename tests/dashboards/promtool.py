"""Cases as a test file of promtool, and its run."""

from __future__ import annotations

import json
import os
import re
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final, TypeVar

from monitor.alert_rules.rule import AlertRule
from tests.dashboards.alert_cases import ONLY, Case, Silence
from tests.support.programs import required

Told = TypeVar("Told", Case, Silence)

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


def as_tests(cases: Iterable[Case], rules: Mapping[str, AlertRule]) -> list[dict[str, Any]]:
    """The minute before each begins, its first, and the one after its last; and at its end, all that have fired.

    promtool evaluates every rule at every minute of each test, whatever there is to find. So cases share a test, each
    in a cluster of its own: that is what Prometheus sees of several clusters, and no rule compares two.
    """
    return [
        _joined([_looks_at(case, rules[case.alert], cluster) for cluster, case in each.items()])
        for each in _sharing(cases)
    ]


def as_silent_tests(silences: Iterable[Silence]) -> list[dict[str, Any]]:
    """No alert has fired until the end of each; they share tests as cases do."""
    return [_joined([_silent(silence, cluster) for cluster, silence in each.items()]) for each in _sharing(silences)]


def _sharing(cases: Iterable[Told]) -> list[dict[str, Told]]:
    """Those that share a test, by the clusters that they get. In none of these an alert fires for two of them."""
    tests: list[dict[str, Told]] = []
    for case in sorted(cases, key=lambda case: case.minutes, reverse=True):
        if not _can_share(case):
            tests.append({ONLY: case})
            continue
        fitting = (test for test in tests if ONLY not in test and all(_fit(each, case) for each in test.values()))
        test = next(fitting, None)
        if test is None:
            tests.append(test := {})
        test[f"{ONLY}-{len(test)}"] = case
    return tests


def _can_share(case: Case | Silence) -> bool:
    """Whether all that is given is of the one cluster, of which a collector is there throughout."""
    return case.given.get(f'groupwatch_up{{cluster="{ONLY}"}}', "").startswith("1x120") and all(
        f'{{cluster="{ONLY}"' in series for series in case.given
    )


def _fit(longer: Case | Silence, other: Case | Silence) -> bool:
    """Whether no alert is of both. A case with shards may go on to tell of one after its end, so it fits no longer."""
    has_shards = any(series.startswith("groupwatch_shards{") for series in other.given)
    is_as_long = longer.minutes == other.minutes
    return longer.interval == other.interval and not _alerts(longer) & _alerts(other) and (is_as_long or not has_shards)


def _alerts(case: Case | Silence) -> set[str]:
    return {case.alert, *case.also} if isinstance(case, Case) else set()


def _joined(tests: list[dict[str, Any]]) -> dict[str, Any]:
    """All of them as one."""
    looks = ("input_series", "alert_rule_test", "promql_expr_test")
    joined = {key: [each for test in tests for each in test.get(key, [])] for key in looks}
    return {"name": "; ".join(test["name"] for test in tests), "interval": tests[0]["interval"]} | joined


def _looks_at(case: Case, rule: AlertRule, cluster: str) -> dict[str, Any]:
    labels = {"severity": case.severity, **case.labels}
    if "cluster" in labels:
        labels["cluster"] = cluster
    there = {"exp_labels": labels, "exp_annotations": annotations(case, rule, cluster)}
    looks = [(case.fires - 1, []), (case.fires, [there]), (case.gone, [])]
    fired = [{"labels": f'{{alertname="{name}"}}', "value": 1} for name in sorted({case.alert, *case.also})]
    still = in_cluster(f'count(ALERTS{{alertname="{case.alert}",alertstate="firing"}})', cluster)
    return {
        **_given(f"{case.alert} at minute {case.fires}", case, cluster),
        "alert_rule_test": [
            {"eval_time": f"{minute}m", "alertname": case.alert, "exp_alerts": alerts} for minute, alerts in looks
        ],
        "promql_expr_test": [
            {"expr": in_cluster(FIRED, cluster), "eval_time": f"{case.gone}m", "exp_samples": fired},
            *(
                {"expr": still, "eval_time": f"{minute}m", "exp_samples": [{"labels": "{}", "value": 1}]}
                for minute in range(case.fires, case.gone)
            ),
        ],
    }


def _silent(silence: Silence, cluster: str) -> dict[str, Any]:
    looks = [{"expr": in_cluster(FIRED, cluster), "eval_time": f"{silence.minutes}m", "exp_samples": []}]
    return {**_given(silence.name, silence, cluster), "promql_expr_test": looks}


def in_cluster(query: str, cluster: str) -> str:
    """The same query of the alerts of a cluster, and of those about no cluster; for the only one, of all."""
    return query if cluster == ONLY else query.replace('="firing"', f'="firing",cluster=~"{cluster}|"')


def annotations(case: Case, rule: AlertRule, cluster: str) -> dict[str, str]:
    """The summary is of the case; of the description only the names are filled in."""
    described = rule.description.replace("{{ or $labels.exported_cluster $labels.cluster }}", "{{ $labels.cluster }}")
    for label, value in (case.labels | {"cluster": cluster}).items():
        described = described.replace(f"{{{{ $labels.{label} }}}}", value)
    summary = re.sub(rf"(?<=of |ad ){ONLY}\b", cluster, case.summary)  # of c, cannot read c
    return {"summary": summary, "description": described, "runbook": f"docs/runbooks.md#{case.alert.lower()}"}


def _given(name: str, case: Case | Silence, cluster: str) -> dict[str, Any]:
    of_cluster = {
        series.replace(f'{{cluster="{ONLY}"', f'{{cluster="{cluster}"'): v for series, v in case.given.items()
    }
    series = [{"series": series, "values": values} for series, values in of_cluster.items()]
    return {"name": name, "interval": case.interval, "input_series": series}


def firing(cases: Iterable[Case]) -> set[str]:
    """The alerts that have a case."""
    return {case.alert for case in cases}
