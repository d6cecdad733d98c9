"""The table of all alerts in docs/alerts.md."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from monitor.alert_rules.rule import AlertRule, duration

PAGE: Final = Path(__file__).parents[1] / "docs" / "alerts.md"

_BEGIN: Final = "<!-- the table: python -m dashboards -->\n"
_END: Final = "<!-- end of the table -->\n"


def with_table(page: str, rules: Iterable[AlertRule]) -> str:
    """The page with the table of these rules between its two marks."""
    before, _, rest = page.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}{alert_table(rules)}{_END}{after}"


def alert_table(rules: Iterable[AlertRule]) -> str:
    """A line for each rule: name, severity, how long it holds, and its condition."""
    head = "| alert | severity | holds for | condition |\n|---|---|---|---|\n"
    return head + "".join(_line(rule) for rule in rules)


def main_condition(expr: str) -> str:
    """The part of a rule's expression that says what it is about; its exceptions are an ellipsis.

    >>> main_condition('max by (cluster, kind) (age{kind="brokers"}) >= 0')
    'age{kind="brokers"} >= 0'
    >>> main_condition("(errors - before > 0 unless on (job) ready == 0) or new")
    'errors - before > 0 …'
    """
    line = re.sub(r"^max by \([^)]*\) \((.*)\)( >= \S+)$", r"\1\2", re.sub(r"\s+", " ", expr))
    main = re.split(r" (?:unless|and) on ", line)[0]
    if main.count("(") > main.count(")"):
        main = main.removeprefix("(")
    return main if main == line else f"{main} …"


def _line(rule: AlertRule) -> str:
    condition = main_condition(rule.expr).replace("|", "\\|")
    name = f"[{rule.name}](runbooks.md#{rule.name.lower()})"
    return f"| {name} | {rule.severity} | {duration(rule.hold_s)} | `{condition}` |\n"
