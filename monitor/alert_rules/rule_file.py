"""Rules as the text of a rule file of Prometheus (2.42 or newer, which knows ``keep_firing_for``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final

import msgspec

from monitor.alert_rules.rule import AlertRule, duration
from monitor.model.dashboard_uids import FLEET_UID, deployment_uid

_RULE_OBJECT: Final = """\
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: {name}
  labels:
    app.kubernetes.io/name: groupwatch
spec:
"""


class RuleGroup(msgspec.Struct, frozen=True):
    """Rules of one subject; Prometheus evaluates those of a group one after the other."""

    name: str
    rules: tuple[AlertRule, ...]


def rule_file_text(groups: Iterable[RuleGroup]) -> str:
    """The rule file. A text in JSON's quotes is a text in YAML too."""
    return "\n".join(["groups:", *(line for group in groups for line in _group(group))]) + "\n"


def rule_object_text(rule_file: str, deployment: str | None = None) -> str:
    """A rule file as a PrometheusRule, for the Prometheus operator. Those of two deployments have different names."""
    name = deployment_uid(FLEET_UID, deployment)
    return _RULE_OBJECT.format(name=name) + "".join(f"  {line}" for line in rule_file.splitlines(keepends=True))


def _group(group: RuleGroup) -> Iterator[str]:
    yield f"  - name: {group.name}"
    yield "    rules:"
    for rule in group.rules:
        yield from _rule(rule)


def _rule(rule: AlertRule) -> Iterator[str]:
    yield f"      - alert: {rule.name}"
    yield f"        expr: {_quotation(rule.expr)}"
    yield f"        for: {duration(rule.hold_s)}"
    yield f"        keep_firing_for: {duration(rule.keep_s)}"
    yield "        labels:"
    yield f"          severity: {rule.severity}"
    for name, value in rule.labels.items():
        yield f"          {name}: {_quotation(value)}"
    yield "        annotations:"
    yield f"          summary: {_quotation(rule.summary)}"
    yield f"          description: {_quotation(rule.description)}"
    for name, link in (rule.links or {"runbook": rule.runbook()}).items():
        yield f"          {name}: {_quotation(link)}"


def _quotation(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
