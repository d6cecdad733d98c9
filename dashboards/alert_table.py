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
    """A line for each rule: name, severity, how long it holds and stays, and its condition."""
    head = "| alert | severity | holds for | stays for | condition |\n|---|---|---|---|---|\n"
    return head + "".join(_line(rule) for rule in rules)


def _line(rule: AlertRule) -> str:
    condition = re.sub(r"\s+", " ", rule.expr).replace("|", "\\|")
    times = f"{duration(rule.hold_s)} | {duration(rule.keep_s)}"
    return f"| [{rule.name}](runbooks.md#{rule.name.lower()}) | {rule.severity} | {times} | `{condition}` |\n"
