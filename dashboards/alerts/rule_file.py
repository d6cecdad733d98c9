"""Rules as the text of a rule file of Prometheus (2.42 or newer, which knows ``keep_firing_for``)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

import msgspec

from dashboards.alerts.rule import AlertRule, duration


class RuleGroup(msgspec.Struct, frozen=True):
    """Rules of one subject; Prometheus evaluates those of a group one after the other."""

    name: str
    rules: tuple[AlertRule, ...]


def rule_file_text(groups: Iterable[RuleGroup], runbooks: str | None = None) -> str:
    """The rule file. A text in JSON's quotes is a text in YAML too.

    With the address of the runbooks, each rule has its own as ``runbook_url``, which tools show as a link; without, its
    path in this repository as ``runbook``, which they do not.
    """
    return "\n".join(["groups:", *(line for group in groups for line in _group(group, runbooks))]) + "\n"


def _group(group: RuleGroup, runbooks: str | None) -> Iterator[str]:
    yield f"  - name: {group.name}"
    yield "    rules:"
    for rule in group.rules:
        yield from _rule(rule, runbooks)


def _rule(rule: AlertRule, runbooks: str | None) -> Iterator[str]:
    yield f"      - alert: {rule.name}"
    yield f"        expr: {_quoted(rule.expr)}"
    yield f"        for: {duration(rule.hold_s)}"
    yield f"        keep_firing_for: {duration(rule.keep_s)}"
    yield "        labels:"
    yield f"          severity: {rule.severity}"
    yield "        annotations:"
    yield f"          summary: {_quoted(rule.summary)}"
    yield f"          description: {_quoted(rule.description)}"
    if runbooks is None:
        yield f"          runbook: {_quoted(rule.runbook())}"
    else:
        yield f"          runbook_url: {_quoted(rule.runbook(runbooks))}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
