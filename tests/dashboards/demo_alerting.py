"""What the demo's Prometheus and Alertmanager were seen to do, while it ran."""

from __future__ import annotations

import json
import re
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

ORPHAN = {"alertname": "GroupwatchPartitionOrphaned", "group": "orders"}


class AlertingSeen:
    """Looks at both again and again; ``report()`` is what there was. Nothing if the demo has neither."""

    def __init__(self, demo_log: Path, watched_s: float, asked: Callable[[str], dict[str, Any]]) -> None:
        """``asked`` is asked once about the address of Prometheus, shortly before the demo's ``watched_s`` are over."""
        self._log = demo_log
        self._ask_after_s = watched_s - 25
        self._asked = asked
        self._ready: float | None = None
        self._answers: dict[str, Any] | None = None
        self._orphan: dict[str, Any] | None = None
        self._gone = False
        self._resolved = 0.0

    def look(self) -> None:
        """To be called every second or so while the demo runs."""
        prometheus, alertmanager = self._address("Prometheus"), self._address("Alerts")
        if prometheus is None or alertmanager is None:
            return
        if self._ready is None:  # the addresses are told when it is
            self._ready = time.monotonic()
        alerts = [
            alert for alert in _read(f"{alertmanager}/api/v2/alerts") if alert["labels"].items() >= ORPHAN.items()
        ]
        if alerts:
            self._orphan = alerts[0]
        elif self._orphan and not self._gone:
            self._gone, self._resolved = True, _resolved(alertmanager)
        if self._answers is None and time.monotonic() - self._ready >= self._ask_after_s:
            self._answers = self._asked(prometheus)

    def report(self) -> dict[str, Any]:
        """The orphan's alert as Alertmanager told it, whether it went and by a resolution, and what was asked."""
        return {"orphan": self._orphan, "gone": self._gone, "resolved": self._resolved, "asked": self._answers}

    def _address(self, name: str) -> str | None:
        told = re.search(rf"^\s+{name}\s+(http://[\d.:]+)", self._log.read_text(errors="replace"), re.MULTILINE)
        return told and told[1]


def asked_of(prometheus: str) -> dict[str, Any]:
    """What a Prometheus that has scraped the demo to its end answers."""
    fired = 'count by (alertname, group) (count_over_time(ALERTS{alertstate="firing"}[10m]))'
    return {
        "fired": sorted(
            [each["metric"].get("group", ""), each["metric"]["alertname"]] for each in ask(prometheus, fired)
        ),
        "scraped": len(ask(prometheus, '{__name__=~"groupwatch_.+"}')),
        "failed_scrapes": len(ask(prometheus, "min_over_time(up[1m]) == 0")),
        "unhealthy_rules": [rule["name"] for rule in rules_of(prometheus) if rule["health"] != "ok"],
    }


def ask(prometheus: str, expr: str) -> list[dict[str, Any]]:
    """The series that an expression gives now."""
    answer = _read(f"{prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": expr}))
    found: list[dict[str, Any]] = answer["data"]["result"]
    return found


def rules_of(prometheus: str) -> list[dict[str, Any]]:
    """Its rules, with how they are."""
    groups = _read(f"{prometheus}/api/v1/rules")["data"]["groups"]
    return [rule for group in groups for rule in group["rules"]]


def _resolved(alertmanager: str) -> float:
    """How many resolutions it has received."""
    with urllib.request.urlopen(f"{alertmanager}/metrics", timeout=10) as response:
        text = response.read().decode()
    counted = re.findall(r'^alertmanager_alerts_received_total\{status="resolved".*\} (\S+)$', text, re.MULTILINE)
    return sum(map(float, counted))


def _read(url: str) -> Any:
    with urllib.request.urlopen(url, timeout=10) as response:
        return json.load(response)
